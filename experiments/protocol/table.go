package protocol

import (
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/internal/finite"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

func positive(x float64) bool    { return x > 0 && finite.Is(x) }
func notNegative(x float64) bool { return x >= 0 && finite.Is(x) }
func atLeastOne(x float64) bool  { return x >= 1 }

const (
	positiveNumber = "a number above 0"
	weightNumber   = "a number, 0 or above"
	countNumber    = "a whole number, at least 1"
)

const (
	// defaultLRV is also what trials of variants without learned groups record.
	defaultLRV    = 0.1
	defaultK      = 30
	defaultEpochs = 200 // of the dev stage, which patience usually ends sooner
	defaultTest   = 50  // epochs of the test stage where neither a dev stage nor the paper gives them
)

// preprocessings are the searched chains: none, the usual single steps, and square root with
// L2 normalisation, not whitened for methods that have a ridge, and whitened.
var preprocessings = []preprocess.Chain{
	preprocess.None, preprocess.L2, "sqrt,l2", preprocess.Standardize, preprocess.Whiten, "sqrt,l2,whiten",
}

// docs/settings.md says how the defaults were chosen.
var settings = []Setting{
	{
		Key: "dataset", Group: DataGroup, Valid: "a name", standard: "glyphs",
		Help:  "`NAME` data set: glyphs, simulated-cub, -awa2, -sun, or a folder in --data-dir",
		field: func(c *Config) any { return &c.Dataset },
		trial: func(t *train.Trial) any { return &t.Dataset },
	},
	{
		Key: "variant", Group: ModelGroup, standard: model.SemanticHard, options: format.Strings(model.Variants),
		Help:  "variant of LAGO",
		field: func(c *Config) any { return &c.Variant },
		trial: func(t *train.Trial) any { return &t.Model.Variant },
	},
	{
		Key: "stage", Group: ProtocolGroup, standard: DevThenTest, options: format.Strings([]Stages{OnlyDev, OnlyTest, DevThenTest}),
		Help:  "dev trains on train classes, test on train and validation classes, full does both",
		field: func(c *Config) any { return &c.Stage },
		trial: func(t *train.Trial) any { return &t.Stage },
	},
	{
		Key: "dev_split", Group: DataGroup, Valid: "1, 2 or 3", standard: 1,
		inRange: func(x float64) bool { return x >= 1 && x <= 3 },
		Help:    "`N` split, 1 to 3, of the seen classes into train and validation classes",
		field:   func(c *Config) any { return &c.DevSplit },
	},
	{
		Key: "seeds", Group: ProtocolGroup, Valid: countNumber, inRange: atLeastOne, standard: 5,
		Help:  "`N` number of random seeds",
		field: func(c *Config) any { return &c.Seeds },
	},
	{
		Key: "seed", Group: ProtocolGroup, Valid: "a whole number from 0 to 2^64-1", inRange: notNegative, standard: uint64(0),
		Help:  "`SEED` first random seed",
		field: func(c *Config) any { return &c.Seed },
		trial: func(t *train.Trial) any { return &t.Training.Seed },
	},
	{
		Key: "hold_out", Group: DataGroup, Valid: "true or false", standard: false,
		Help:  "neither train nor validate on the samples of seen classes that evaluate --split gzsl needs",
		field: func(c *Config) any { return &c.HoldOut },
		trial: func(t *train.Trial) any { return &t.HoldOut },
	},
	{
		Key: "epochs", Group: TrainingGroup, Valid: countNumber, inRange: atLeastOne, standard: 0,
		note:  fmt.Sprintf("%d; with stage test: %d", defaultEpochs, defaultTest),
		Help:  "`N` number of epochs, at most in the dev stage, exactly in the test stage",
		field: func(c *Config) any { return &c.Epochs },
		trial: func(t *train.Trial) any { return &t.Training.Epochs },
	},
	{
		Key: "lr", Group: TrainingGroup, Valid: positiveNumber, inRange: positive,
		standard: 1e-3, byVariant: map[model.Variant]any{model.KSoft: 3e-3},
		Help:  "`RATE` learning rate of the attribute detectors W",
		field: func(c *Config) any { return &c.LR },
		trial: func(t *train.Trial) any { return &t.Training.LearningRate },
		// On features of another scale than the paper's, its highest rate is too low.
		space: numbers(slices.Concat(searchSpace.LearningRate, []float64{1e-3, 3e-3})),
	},
	{
		// On features with a mean of zero, as whitening makes them, only b can learn that an
		// attribute is rare, and at the rate of W it takes too many epochs.
		Key: "bias_factor", Group: TrainingGroup, Valid: positiveNumber, inRange: positive,
		standard: 3.0, byVariant: map[model.Variant]any{model.Singletons: 30.0, model.KSoft: 10.0, model.SemanticSoft: 5.0},
		Help:  "`FACTOR` learning rate of the biases b of the detectors, as a multiple of --lr",
		field: func(c *Config) any { return &c.BiasFactor },
		trial: func(t *train.Trial) any { return &t.Training.BiasFactor },
		space: numbers([]float64{1, 3, 10}),
	},
	{
		// Preprocessing and its ridge extend the search space of the paper.
		Key: "preprocess", Group: TrainingGroup,
		standard: AutoPreprocess,
		Valid:    "auto, none, or a comma-separated list of sqrt, l2, standardize and whiten",
		options:  format.Strings([]preprocess.Chain{AutoPreprocess, preprocess.None, preprocess.SignedRoot, preprocess.L2, preprocess.Standardize, preprocess.Whiten}),
		Help:     "`STEPS` preprocessing of the features, fitted on the training samples; auto is l2 for singletons and for features with negative values, otherwise sqrt,l2,whiten",
		field:    func(c *Config) any { return &c.Preprocess },
		trial:    func(t *train.Trial) any { return &t.Preprocess },
		space:    func(int) []any { return values(preprocessings) },
	},
	{
		Key: "ridge", Group: TrainingGroup, Valid: weightNumber, inRange: notNegative, standard: 0.0,
		For: "preprocess with whiten", applies: func(c Config) bool { return c.Preprocess.Has(preprocess.Whiten) },
		Help:  "`G` ridge of the whitening X (X'X + G I)^(-1/2) sqrt(n); 0 takes one from the scale of the features",
		field: func(c *Config) any { return &c.Ridge },
		trial: func(t *train.Trial) any { return &t.Ridge },
		space: numbers([]float64{1e2, 1e3, 1e4, 1e5, 1e6}),
	},
	{
		Key: "beta", Group: ModelGroup, Valid: weightNumber, inRange: notNegative, standard: 1e-6,
		Help:  "`VALUE` weight of |W|^2 in the loss (Eq. 6)",
		field: func(c *Config) any { return &c.Beta },
		trial: func(t *train.Trial) any { return &t.Model.Beta },
		space: numbers(searchSpace.Beta),
	},
	{
		Key: "lambda", Group: ModelGroup, Valid: weightNumber, inRange: notNegative, standard: 1e-4,
		Help:  "`VALUE` weight of |W U'|^2 in the loss (Eq. 6)",
		field: func(c *Config) any { return &c.Lambda },
		trial: func(t *train.Trial) any { return &t.Model.Lambda },
		space: numbers(searchSpace.Lambda),
	},
	{
		Key: "lr_v", Group: TrainingGroup, Valid: positiveNumber, inRange: positive,
		standard: defaultLRV, byVariant: map[model.Variant]any{model.KSoft: 0.05, model.SemanticSoft: 0.03},
		For: "variants k-soft and semantic-soft", applies: func(c Config) bool { return c.Variant.Learned() },
		Help:  "`RATE` learning rate of the group assignment V",
		field: func(c *Config) any { return &c.LRV },
		trial: func(t *train.Trial) any { return &t.Training.LearningRateV },
		space: numbers(searchSpace.LearningRateV),
	},
	{
		Key: "zeta", Group: ModelGroup, Valid: positiveNumber, inRange: positive,
		standard: 10.0, byVariant: map[model.Variant]any{model.KSoft: 1.0, model.SemanticSoft: 3.0},
		Help:  "`VALUE` softmax scale of the group assignment; from about 1000 on, groups are one-hot",
		field: func(c *Config) any { return &c.Zeta },
		trial: func(t *train.Trial) any { return &t.Model.Zeta },
		space: numbers(searchSpace.Zeta), searchIf: model.Variant.Learned,
	},
	{
		Key: "k", Group: ModelGroup, Valid: "a whole number, 0 or above", inRange: notNegative, standard: 0,
		For: "variant k-soft", applies: func(c Config) bool { return c.Variant == model.KSoft },
		Help:  "`K` number of groups; 0 takes 30, or the number of attributes if that is smaller",
		field: func(c *Config) any { return &c.K },
		trial: func(t *train.Trial) any { return &t.Model.K },
		space: func(attributes int) []any {
			var list []any
			for _, k := range published.KsUpTo(attributes) {
				list = append(list, float64(k))
			}
			return list
		},
	},
	{
		Key: "psi", Group: ModelGroup, Valid: weightNumber, inRange: notNegative,
		standard: 0.0, byVariant: map[model.Variant]any{model.SemanticSoft: 1e-4}, note: "0.0001",
		For: "variant semantic-soft", applies: func(c Config) bool { return c.Variant == model.SemanticSoft },
		Help:  "`VALUE` group prior strength, which keeps V near the semantic groups (Eq. 6)",
		field: func(c *Config) any { return &c.Psi },
		trial: func(t *train.Trial) any { return &t.Model.Psi },
		space: numbers(searchSpace.Psi),
	},
	{
		Key: "alpha", Group: ModelGroup, Valid: weightNumber, inRange: notNegative,
		standard: 0.1, byVariant: map[model.Variant]any{model.Singletons: 0.3, model.KSoft: 1.0, model.SemanticSoft: 0.3},
		Help:  "`VALUE` weight of explicit attribute supervision in the loss (Eq. 6)",
		field: func(c *Config) any { return &c.Alpha },
		trial: func(t *train.Trial) any { return &t.Model.Alpha },
		space: numbers([]float64{0, 0.1, 0.3, 1}),
	},
	{
		Key: "prior", Group: ModelGroup, standard: model.Uniform, options: format.Strings(model.Priors),
		Help:  "attribute prior p(a)",
		field: func(c *Config) any { return &c.Prior },
		trial: func(t *train.Trial) any { return &t.Model.Prior },
		space: func(int) []any { return values(model.Priors) },
	},
	{
		Key: "complement", Group: ModelGroup, standard: model.Const, options: format.Strings(model.Complements),
		Help:  "none-of-group term p(ac|x); none leaves it out",
		field: func(c *Config) any { return &c.Complement },
		trial: func(t *train.Trial) any { return &t.Model.Complement },
	},
	{
		Key: "batch", Group: TrainingGroup, Valid: countNumber, inRange: atLeastOne, standard: 64,
		Help:  "`N` samples per step",
		field: func(c *Config) any { return &c.Batch },
		trial: func(t *train.Trial) any { return &t.Training.Batch },
	},
	{
		Key: "patience", Group: TrainingGroup, Valid: countNumber, inRange: atLeastOne, standard: 50,
		For: "stages dev and full", applies: func(c Config) bool { return c.Stage != OnlyTest },
		Help:  "`N` epochs without a better validation accuracy after which the dev stage ends",
		field: func(c *Config) any { return &c.Patience },
		trial: func(t *train.Trial) any { return &t.Training.Patience },
	},
}

var searchSpace = published.All().SearchSpace

// numbers is a search space that does not depend on the data.
func numbers(list []float64) func(int) []any { return func(int) []any { return values(list) } }

func values[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

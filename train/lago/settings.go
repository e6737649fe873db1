// Package lago trains LAGO as a method.Method. Its epochs alternate between the attribute detectors W and, in
// the variants that learn it, the group assignment V, each with its own Adam.
package lago

import (
	"fmt"
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
)

// Settings are the settings of LAGO.
type Settings struct {
	model.Config         // with K = 0 for 30 groups, or as many as there are attributes
	LR           float64 // learning rate of W
	LRV          float64 // of V
	BiasFactor   float64 // of b, as a multiple of LR
	Batch        int
}

// New returns the defaults of a variant.
func New(v model.Variant) *Settings {
	s := &Settings{Config: model.Config{Variant: v}}
	s.Settings().SetDefaults()
	s.Variant = v
	return s
}

// defaults are those of settings, by key, where a variant has others than the general ones.
var defaults = map[model.Variant]map[string]float64{
	model.Singletons:   {"bias_factor": 30, "alpha": 0.3},
	model.KSoft:        {"lr": 3e-3, "bias_factor": 10, "lr_v": 0.05, "zeta": 1, "alpha": 1},
	model.SemanticSoft: {"bias_factor": 5, "lr_v": 0.03, "zeta": 3, "psi": 1e-4, "alpha": 0.3},
}

// defaultK is the number of free groups, where there are as many attributes.
const defaultK = 30

// The bounds of the default batch. An epoch of fewer steps learns so little that a run can end by its
// patience before it has learned anything.
const (
	leastSteps = 16
	leastBatch = 8
	mostBatch  = 64
)

// defaultSmoothing is that of descriptions in words. docs/describing-classes.md says what it was chosen on.
const defaultSmoothing = 0.1

// smoothing is the range of the setting, in which -1 leaves it to the data.
var smoothing = setting.Range{Least: -1, Most: 0.3, Text: "a number from 0 to 0.3, or -1"}

// Settings lists the settings, with the defaults of the variant that s has. A search draws
// those with search values in this order. docs/settings.md says how the defaults were chosen.
// Most search values are those of the authors' program (experiments/runs/config).
func (s *Settings) Settings() setting.List {
	learned := func(v model.VariantInfo) bool { return v.Learned }
	decay := []any{0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3}
	zeta := s.number("zeta", &s.Zeta, setting.Positive, 10).
		Describe("`VALUE` softmax scale of the group assignment; from about 1000 on, groups are one-hot")
	if s.Variant.Learned() {
		zeta = zeta.Try(1, 3, 10)
	}
	return setting.List{
		setting.Choice("variant", &s.Variant, model.SemanticHard, model.Variants...).Common().
			Describe("variant of LAGO"),
		// On features of another scale than the paper's, its highest rate, 3e-4, is too low.
		s.number("lr", &s.LR, setting.Positive, 1e-3).In(setting.Training).Common().
			Describe("`RATE` learning rate of the attribute detectors W").
			Try(3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3),
		// On features with a mean of zero, as whitening makes them, only b can learn that an
		// attribute is rare, and at the rate of W it takes too many epochs.
		s.number("bias_factor", &s.BiasFactor, setting.Positive, 3).In(setting.Training).
			Describe("`FACTOR` learning rate of the biases b of the detectors, as a multiple of --lr").
			Try(1, 3, 10, 30),
		s.number("beta", &s.Beta, setting.NotNegative, 1e-6).
			Describe("`VALUE` weight of |W|^2 in the loss (Eq. 6)").Try(decay...),
		s.number("lambda", &s.Lambda, setting.NotNegative, 1e-4).
			Describe("`VALUE` weight of |W U'|^2 in the loss (Eq. 6)").Try(decay...),
		s.only(learned, s.number("lr_v", &s.LRV, setting.Positive, 0.1).
			In(setting.Training).Describe("`RATE` learning rate of the group assignment V"), 0.01, 0.1, 1.),
		zeta,
		s.only(model.VariantInfo.HasK,
			setting.Whole("k", &s.K, 0, setting.Between(0, int(setting.Count.Most))).
				Describe(fmt.Sprintf("`K` number of groups; 0 takes %d, or the number of "+
					"attributes if that is smaller", defaultK)),
			1, 10, 20, 30, 40, 60).AtMostAttributes(),
		s.only(model.VariantInfo.HasGroupPenalty, s.number("psi", &s.Psi, setting.NotNegative, 0).
			Noted("0.0001").
			Describe("`VALUE` weight of the group penalty, which keeps V near the semantic groups (Eq. 6)"),
			1e-5, 1e-4, 1e-3, 1e-2),
		s.number("alpha", &s.Alpha, setting.NotNegative, 0.1).
			Describe("`VALUE` weight of explicit attribute supervision in the loss (Eq. 6)").
			Try(0, 0.1, 0.3, 1),
		setting.Choice("prior", &s.Prior, model.Uniform, model.Priors...).
			Describe("attribute prior p(a)").Try(setting.All(model.Priors...)...),
		setting.Switch("freeze_prior", &s.FreezePrior, true).
			Describe("p(a) is the mean over the train classes, also in evaluation; otherwise over the " +
				"candidate classes, as in the paper"),
		setting.Number("smoothing", &s.Smoothing, -1, smoothing).
			Describe("`S` label smoothing of descriptions d, S + (1 - 3 S) d, in semantic groups 0.3 S + "+
				"(1 - 2.3 S) d, or 1 - S in all without a yes; -1 takes 0.1 where they are said in words "+
				"such as yes and no, otherwise 0").
			Try(0, 0.02, 0.05, 0.1),
		setting.Choice("complement", &s.Complement, model.Const, model.Complements...).
			Describe("none-of-group term p(ac|x); none leaves it out"),
		setting.Whole("batch", &s.Batch, 0, setting.Between(0, int(setting.Count.Most))).In(setting.Training).
			Describe(fmt.Sprintf("`N` samples per step; 0 takes %d, with few training samples down to %d, "+
				"so that an epoch has at least %d steps",
				mostBatch, leastBatch, leastSteps)),
	}
}

// only marks a setting of the variants of which something holds. A search, which keeps the variant,
// tries the values where it is one of them.
func (s *Settings) only(holds func(model.VariantInfo) bool, of setting.Setting,
	values ...any,
) setting.Setting {
	names := model.VariantsWith(holds)
	which := "method " + string(names[0])
	if len(names) > 1 {
		which = "methods " + format.List(format.Strings(names), "and")
	}
	if of = of.If(slices.Contains(names, s.Variant), which); of.Unused {
		return of
	}
	return of.Try(values...)
}

// number is a setting whose default depends on the variant, which the help shows as "0.001; k-soft: 0.003".
func (s *Settings) number(key string, to *float64, r setting.Range, general float64) setting.Setting {
	standard, note := general, fmt.Sprint(general)
	for _, v := range model.Variants {
		value, differs := defaults[v][key]
		if !differs {
			continue
		}
		note += fmt.Sprintf("; %s: %v", v, value)
		if v == s.Variant {
			standard = value
		}
	}
	return setting.Number(key, to, standard, r).Noted(note)
}

// Resolve sets what the settings leave to the data, from the descriptions of the seen classes, with NaN for
// missing entries, and the number of training samples.
func (s *Settings) Resolve(u dataset.Matrix[float64], samples int) {
	if s.Smoothing < 0 && fewValues(u) {
		s.Smoothing = defaultSmoothing
	}
	s.complete(u.Cols, samples)
}

// complete sets what is left to the data, without smoothing.
func (s *Settings) complete(attributes, samples int) {
	s.Smoothing = max(s.Smoothing, 0)
	if s.Batch == 0 {
		s.Batch = min(max(samples/leastSteps, leastBatch), mostBatch)
	}
	if s.Variant.Info().HasK() && s.K == 0 {
		s.K = min(defaultK, attributes)
	}
}

// fewValues reports whether descriptions are said in words, such as yes and no: they have at most as many
// different values as the scale of words, with 0 or 1 among them.
func fewValues(u dataset.Matrix[float64]) bool {
	values := map[float64]bool{}
	for _, p := range u.Data {
		if !math.IsNaN(p) {
			values[p] = true
		}
		if len(values) > len(descriptions.Words) {
			return false
		}
	}
	return values[0] || values[1]
}

// Model is a trained LAGO.
type Model struct{ *model.LAGO }

func (m Model) Tensors() method.Tensors {
	p := m.Params
	t := method.Tensors{{Name: "W", Matrix: p.W}, method.Vector("b", p.B)}
	if p.V.Data != nil {
		t = append(t, method.Tensor{Name: "V", Matrix: p.V})
	}
	if m.Prior != nil {
		t = append(t, method.Vector("p", m.Prior))
	}
	return t
}

func (s *Settings) Restore(r *method.Reader, shape method.Shape) (method.Model, error) {
	own := *s
	own.complete(shape.Attributes, 0)
	k, _, err := own.Grouping(shape.Attributes, shape.Groups)
	if err != nil {
		return nil, err
	}
	p := &model.Parameters[float32]{
		W: r.Get("W", shape.Dims, shape.Attributes), B: r.Get("b", 1, shape.Attributes).Data,
		V: r.Get("V", shape.Attributes, k),
	}
	restored := &model.LAGO{Config: own.Config, Params: p, Semantic: shape.Groups}
	if s.FreezePrior {
		restored.Prior = r.Get("p", 1, shape.Attributes).Data
	}
	if i := slices.IndexFunc(restored.Prior, func(p float32) bool { return p < 0 || p > 1 }); i >= 0 {
		return nil, &invalid.Error{
			Field: "tensor p", Want: "probabilities from 0 to 1", Got: fmt.Sprint(restored.Prior[i]),
		}
	}
	return Model{restored}, r.Err
}

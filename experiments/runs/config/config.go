// Package config has the settings of a run: those of data and protocol, and the method with its
// own. They come from presets (the published settings, or general defaults), config files and
// flags, later ones over earlier ones. Published has the numbers of the paper.
package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

// Stages says which stages of the paper's protocol a run has.
type Stages string

// The choices of stages.
const (
	OnlyDev Stages = "dev" // on the train classes, stopped by the validation classes, for every seed
	// on train and validation classes for a fixed number of epochs, evaluated once on the test classes
	OnlyTest    Stages = "test"
	DevThenTest Stages = "full" // dev, the number of epochs from the average curve, then test
)

// Config is the settings of a run: those that all methods have, and the method with its own.
// Its JSON is that of config files. Copies share the method: see Clone.
type Config struct {
	Dataset    string
	DevSplit   int // 1 to 3
	HoldOut    bool
	Preprocess preprocess.Chain
	Ridge      float64 // of whiten; 0 takes one from the scale of the features
	Stage      Stages
	Seeds      int
	Seed       uint64 // the first
	Epochs     int    // of dev at most, of test exactly; 0 is the default of the stage
	Patience   int
	Method     methods.Named
	Correction model.Correction // of the scores, after training

	paperEpochs int // of the test stage in the settings of the paper, if these are the start; otherwise 0
}

const (
	defaultEpochs = 200 // of the dev stage, which patience usually ends sooner
	defaultTest   = 50  // epochs of the test stage where neither a dev stage nor the paper gives them
)

// AutoPreprocess leaves the preprocessing to the data, see Config.On.
const AutoPreprocess preprocess.Chain = "auto"

// searchedChains are none, the usual single steps, and square root with L2 normalisation, not
// whitened for methods that have a ridge, and whitened.
var searchedChains = setting.All[preprocess.Chain](
	preprocess.None, preprocess.L2, "sqrt,l2", preprocess.Standardise, preprocess.Whiten, "sqrt,l2,whiten",
)

// Defaults returns the general defaults of a method, for data without a preset.
// docs/settings.md says how they were chosen.
func Defaults(method methods.Named) Config {
	c := Config{Method: method.Clone()}
	c.Settings().SetDefaults()
	return c
}

// Settings lists the settings of the run and of its method, bound to the fields of c. Preprocessing and its
// ridge follow the learning rates of the method: a search draws the settings in this order.
func (c *Config) Settings() setting.List {
	list := c.Method.CorrectedSettings(&c.Correction).Without("variant") // see method
	after := 0
	for i, s := range list {
		if s.Scope == setting.Training && (after == 0 || after == i) {
			after = i + 1
		}
	}
	return slices.Concat(c.common(), setting.List{c.method()}, list[:after], c.preprocessing(), list[after:],
		setting.List{
			setting.Whole("patience", &c.Patience, 50, setting.Count).In(setting.Training).
				If(c.Stage != OnlyTest, "stages dev and full").
				Describe("`N` epochs without a better validation accuracy after which the dev stage ends"),
		})
}

func (c *Config) common() setting.List {
	return setting.List{
		setting.Text("dataset", &c.Dataset, "glyphs", catalog.Canonical).In(setting.Data).Common().
			Describe("`NAME` data set: glyphs, a folder in --data-dir, or the path of a folder"),
		setting.Choice("stage", &c.Stage, DevThenTest, OnlyDev, OnlyTest, DevThenTest).In(setting.Protocol).
			Common().
			Describe("dev trains on train classes, test on train and validation classes, full does both"),
		setting.Whole("dev_split", &c.DevSplit, 1, setting.Between(1, 3)).In(setting.Data).
			Describe("`N` split, 1 to 3, of the seen classes into train and validation classes"),
		setting.Whole("seeds", &c.Seeds, 5, setting.Seeds).In(setting.Protocol).Common().
			Describe("`N` number of random seeds"),
		setting.Seed("seed", &c.Seed).Describe("`SEED` first random seed"),
		setting.Switch("hold_out", &c.HoldOut, false).In(setting.Data).
			Describe("neither train nor validate on the samples of seen classes that evaluate " +
				"--candidates all needs"),
		setting.Whole("epochs", &c.Epochs, 0, setting.Count).In(setting.Training).If(c.Epochs != 0, "").
			Common().
			Noted(fmt.Sprintf("%d; with stage test: %d", defaultEpochs, defaultTest)).
			Describe("`N` number of epochs, at most in the dev stage, exactly in the test stage"),
	}
}

// method is the name of the method. Reading another one gives c that method with its defaults.
func (c *Config) method() setting.Setting {
	label := c.Method.Label()
	read := func(text string) (string, error) {
		m, err := methods.Labelled(text)
		if err != nil {
			return label, err
		}
		if m.Label() != label {
			c.Method = m
		}
		return m.Label(), nil
	}
	variants, baselines := strings.Join(format.Strings(model.Variants),
		", "), strings.Join(methods.Names()[1:], ", ")
	return setting.Of("method", &label, string(model.SemanticHard), "one of "+variants+", "+baselines, read).
		WithOptions(methods.Labels()...).OrAs("variant").Common().
		Describe(fmt.Sprintf("`NAME` variant of LAGO (%s) or baseline (%s)", variants, baselines))
}

func (c *Config) preprocessing() setting.List {
	return setting.List{
		setting.Steps("preprocess", &c.Preprocess, AutoPreprocess,
			"auto, none, or a comma-separated list of sqrt, l2, standardize and whiten",
			AutoPreprocess, preprocess.None, preprocess.SignedRoot, preprocess.L2, preprocess.Standardise,
			preprocess.Whiten).In(setting.Training).Common().
			Describe("`STEPS` preprocessing of the features: none, or a list of sqrt, l2, standardize and " +
				"whiten; auto: chosen from the data, --print-config of run shows it").
			Try(searchedChains...),
		setting.Number("ridge", &c.Ridge, 0, setting.NotNegative).In(setting.Training).
			If(c.mayWhiten(), "preprocess with whiten, or with auto and a method other than singletons").
			Describe("`G` ridge of the whitening X (X'X + G I)^(-1/2) sqrt(n); 0 takes one from "+
				"the scale of the features").
			Try(1e2, 1e3, 1e4, 1e5, 1e6),
	}
}

// CommonKeys are the settings of methods of any kind.
func CommonKeys() []string {
	var c Config
	return append(append(c.common().Keys(), c.preprocessing().Keys()...), "patience")
}

// Clone returns a copy that does not share the method.
func (c Config) Clone() Config {
	c.Method = c.Method.Clone()
	return c
}

// With returns a copy with another value of a setting.
func (c Config) With(key string, value any) Config {
	c = c.Clone()
	c.find(key).Set(value)
	return c
}

// WithCorrection returns a copy with another correction of the scores.
func (c Config) WithCorrection(by model.Correction) Config {
	c = c.Clone()
	if c.Correction.Kind = by.Kind; by.On() {
		c.Correction.Omega = by.Omega
	}
	return c
}

// Baseline returns a baseline with its defaults and, of c, the preprocessing and what all methods have: also
// the correction, if c has that of the paper, or one of the given keys sets it.
func (c Config) Baseline(name string, given []string) (Config, error) {
	m, err := methods.Labelled(name)
	if err != nil {
		return Config{}, err
	}
	b, start := c, Defaults(m)
	b.Method, b.Correction, b.paperEpochs = start.Method, start.Correction, 0
	settings := b.Settings()
	for _, key := range methods.CorrectionKeys {
		if slices.Contains(given, key) || key == "correction" && c.Paper() {
			text := fmt.Sprint(c.Value(key))
			if settings.Set(setting.Assignment{Key: key, Text: text}) != nil {
				return Config{}, invalid.Expected(key, text+", which "+name+" cannot",
					"one that all methods can have")
			}
		}
	}
	return b, nil
}

// ForBaselines returns the configuration whose preprocessing, seeds and epochs baselines have
// beside some variants: that of semantic-hard, which has the paper's main result, or the first.
// Without variants it is otherwise.
func ForBaselines(variants []Config, otherwise Config) Config {
	for i, c := range variants {
		if i == 0 || c.Method.Variant() == model.SemanticHard {
			otherwise = c
		}
	}
	return otherwise
}

func (c *Config) find(key string) setting.Setting {
	s, err := c.Settings().Find(key)
	if err != nil {
		panic("config: " + err.Error())
	}
	return s
}

// Value returns the value of a setting.
func (c Config) Value(key string) any { return c.find(key).Value() }

// resolver is a method with settings that it leaves to the data: the descriptions of the seen classes, with
// NaN for missing entries, and the number of training samples.
type resolver interface {
	Resolve(u dataset.Matrix[float64], samples int)
}

// On returns c with the settings that it leaves to the data: those of the method, such as the number of
// groups, and the preprocessing, which is l2 for singletons, sqrt,l2,whiten for others, without sqrt for
// features with negative values, and with standardize in its place for those of very different scales or far
// from zero.
func (c Config) On(d *dataset.Dataset) Config {
	c = c.Clone()
	if m, ok := c.Method.Method.(resolver); ok {
		m.Resolve(d.Describe(d.Split.Seen()), len(d.SamplesOf(d.Split.Train)))
	}
	if c.Preprocess == AutoPreprocess {
		rows := d.SamplesOf(d.Split.Train)
		// of a ReLU none, otherwise many in each sample
		signed := slices.ContainsFunc(rows[:min(100, len(rows))], func(row int) bool {
			return slices.ContainsFunc(d.Features.Row(row), func(v float32) bool { return v < 0 })
		})
		c.Preprocess = "l2,whiten"
		if c.alone() {
			c.Preprocess = preprocess.L2
		}
		if scaled(d, rows) {
			c.Preprocess = "standardize," + c.Preprocess
		} else if !signed && !c.alone() {
			c.Preprocess = "sqrt," + c.Preprocess
		}
	}
	return c
}

// mayWhiten reports whether a ridge makes a difference; the default leaves trials as they were named before.
func (c *Config) mayWhiten() bool {
	auto := c.Preprocess == AutoPreprocess && c.Ridge != 0 && !c.alone()
	return auto || c.Preprocess.Has(preprocess.Whiten)
}

// alone reports whether each attribute is a group, and so nothing is whitened unless it is asked for.
func (c *Config) alone() bool { return c.Method.Variant().Info().Groups == model.AttributeGroups }

func scaled(d *dataset.Dataset, rows []int) bool {
	const most = 500 // samples, which tell
	some := dataset.Dataset{Features: dataset.NewMatrix[float32](min(most, len(rows)), d.Features.Cols)}
	for i := range some.Features.Rows {
		copy(some.Features.Row(i), d.Features.Row(rows[i*len(rows)/some.Features.Rows]))
	}
	return check.Scales(&some) != nil
}

// DataName is the name of the data set in results, also where Dataset is a path.
func (c Config) DataName() string { return catalog.NameOf(c.Dataset) }

// DevEpochs returns the largest number of epochs of the dev stage.
func (c Config) DevEpochs() int { return cmp.Or(c.Epochs, defaultEpochs) }

// TestEpochs returns the number of epochs of the test stage without a dev stage.
func (c Config) TestEpochs() int { return cmp.Or(c.Epochs, c.paperEpochs, defaultTest) }

// FixedEpochs returns the number of epochs of the test stage where there are too few classes to choose it.
func (c Config) FixedEpochs() int {
	if c.Epochs > 0 {
		return min(c.Epochs, defaultTest)
	}
	return c.TestEpochs()
}

// Paper reports whether the settings start from those of the paper.
func (c Config) Paper() bool { return c.paperEpochs > 0 }

// Start returns the settings that another method starts from on the same data: those of the paper if c
// started from these.
func (c Config) Start(m methods.Named) Preset {
	if c.paperEpochs > 0 {
		return PresetFor(c.Dataset, m)
	}
	return GeneralFor(c.Dataset, m)
}

// Trials returns the trials of a stage on data with a fingerprint, one per seed.
func (c Config) Trials(d *dataset.Dataset, fingerprint string, stage train.Stage, epochs int) []train.Trial {
	c = c.On(d)
	c.Method = c.Method.Canonical()
	if !c.Preprocess.Has(preprocess.Whiten) {
		c.Ridge = 0 // what a run does not use must not tell two trials apart
	}
	if stage == train.Test {
		c.Patience = epochs
	}
	trials := make([]train.Trial, c.Seeds)
	for i := range trials {
		trials[i] = train.Trial{
			Dataset: c.DataName(), Fingerprint: fingerprint, Stage: stage, Preprocess: c.Preprocess,
			Ridge: c.Ridge, HoldOut: c.HoldOut,
			Epochs: epochs, Patience: c.Patience, Seed: c.Seed + uint64(i), Method: c.Method,
		}
	}
	return trials
}

// Check returns an *invalid.Error for the first setting that no run can have. Errors that
// only the data can show, such as more groups than attributes, are left to it.
func (c Config) Check() error { return c.Settings().Check() }

// MarshalJSON writes the settings that apply, in the form of a config file.
func (c Config) MarshalJSON() ([]byte, error) { return json.Marshal(c.Settings().Used()) }

// UnmarshalJSON reads a config file over c.
func (c *Config) UnmarshalJSON(data []byte) error {
	list, err := setting.ParseJSON(data)
	if err != nil {
		return err
	}
	p, err := Resolve(list, GeneralFor)
	*c = p.Config
	return err
}

// Write writes a config file with the fingerprint of the data set and split on which the
// settings were chosen.
func (c Config) Write(w io.Writer, fingerprint string) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	key := `{"` + fingerprintKey + `":` + strconv.Quote(fingerprint) + ","
	return format.WriteJSON(w, json.RawMessage(key+string(data[1:])))
}

// Package comparison compares LAGO with the baselines by one protocol, the paper's table 1.
package comparison

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/experiments/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// Config says which methods are compared, and by what protocol.
type Config struct {
	Methods []string        // of Names
	LAGO    []config.Config // of the variants that Methods need, see VariantsOf
	// Common has the seeds, epochs of the dev stage, patience, held-out samples and, for
	// baselines, the preprocessing from which their search starts.
	Common config.Config
	Budget int      // different settings of each method to try; 0 and 1 take those it starts from
	Folds  int      // of the seen classes, over which settings are chosen; 0 is 1
	Fixed  []Fixed  // settings of baselines
	Given  []string // keys of settings that no search varies

	Adapt  bool `json:",omitempty"` // also adapt to the samples of the evaluated classes
	Ladder bool `json:",omitempty"` // in place of Methods, LAGO and ESZSL step by step, see steps
	// Partitions of the classes into the parts of the lab, from RotateSeed on; settings are searched in
	// the first alone. 0 and 1 are the first.
	Partitions int    `json:",omitempty"`
	RotateSeed uint64 `json:",omitempty"`
}

// defaultTune is the number of settings of each method to try.
const defaultTune = 16

// Settings lists the settings of the study.
func (c *Config) Settings(r *config.Request) setting.List {
	return slices.Concat(r.SearchSettings(
		"variant", "lr", "lr_v", "bias_factor", "batch", "beta", "lambda", "alpha", "psi", "zeta", "k", "prior", "complement", "config",
	), r.RotationSettings(), setting.List{
		r.FolderSetting(),
		setting.Choices("methods", &c.Methods, methods.Names(), Names()...).In(setting.Methods).Common().Noted("lago and all baselines").Describe("variants of LAGO, lago for the best of them, and baselines"),
		setting.Switch("ladder", &c.Ladder, false).In(setting.Methods).
			Excludes("methods", "configs", "tune", "set", "correction", "omega", "preprocess", "ridge").
			Describe("in place of --methods, LAGO as published and ESZSL, with one setting after the other changed to its default"),
		setting.Switch("adapt", &c.Adapt, false).In(setting.Methods).Common().Describe("adapt the predictions to all samples together (transductive)"),
		setting.Whole("partitions", &c.Partitions, 1, setting.Between(1, 100)).In(setting.Data).Needs("rotate").
			Describe("`N` partitions of the classes into the parts of --rotate; settings are searched in the first alone"),
		setting.Whole("tune", &c.Budget, defaultTune, setting.Between(0, config.MaxBudget)).In(setting.Searching).Common().
			Describe("`N` settings to try for each method, and all of the grid of ESZSL; 0 takes its defaults"),
		setting.Several("set", &c.Fixed, nil, "", ParseFixed).In(setting.Methods).Common().
			Describe("`NAME=VALUE` setting of a baseline to fix, as in ale.lr=0.1"),
	})
}

// Resolve completes the configuration, and returns its presets.
func (c *Config) Resolve(ctx context.Context, r *config.Request) ([]config.Preset, error) {
	if r.Has("configs") && c.Budget != 0 {
		return nil, &invalid.Error{Field: "configs", Want: "--tune 0 beside it: a search of every method starts from the defaults"}
	}
	var variants []model.Variant
	for _, v := range model.Variants {
		if slices.Contains(c.Methods, engine.LAGOMethod) || slices.Contains(c.Methods, string(v)) {
			variants = append(variants, v)
		}
	}
	presets, configs, err := r.Presets(ctx, variants)
	if err != nil {
		return nil, err
	}
	c.Common, c.LAGO, c.Given, c.RotateSeed = presets[0].Config, configs, r.Keys(), r.RotateSeed
	if c.Folds, err = r.FoldsFor(presets[0]); err != nil {
		return nil, err
	}
	return presets, c.Check()
}

// Ask carries out the comparison.
func (c *Config) Ask(ctx context.Context, l *lab.Lab) (results.Result, error) { return Run(ctx, l, *c) }

// Fixed is a setting of a baseline that is not tuned.
type Fixed struct{ Method, Setting, Value string }

// ParseFixed reads "method.setting=value".
func ParseFixed(s string) (Fixed, error) {
	name, value, _ := strings.Cut(s, "=")
	method, key, _ := strings.Cut(name, ".")
	if method == "" || key == "" || value == "" {
		return Fixed{}, &invalid.Error{Want: "METHOD.SETTING=VALUE, as in ale.lr=0.1", Got: invalid.Quote(s)}
	}
	e, err := methods.Find(method)
	if err != nil {
		return Fixed{}, err
	}
	f := Fixed{e.Name, key, strings.Trim(value, `"`)}
	settings := e.Default().CorrectedSettings(&model.Correction{})
	settings.SetDefaults()
	if err := settings.Set(setting.Assignment{Key: f.Setting, Text: f.Value}); err != nil {
		return f, invalid.At(e.Name, err)
	}
	return f, invalid.At(e.Name, settings.Check())
}

// Names lists what can be compared: LAGO, its variants, and the baselines.
func Names() []string {
	return append(append([]string{engine.LAGOMethod}, format.Strings(model.Variants)...), methods.Names()[1:]...)
}

// Check returns an *invalid.Error for the first field that is wrong.
func (c Config) Check() error {
	if err := engine.CheckArms(c.Methods); err != nil {
		return err
	}
	for _, f := range c.Fixed {
		if !slices.Contains(c.Methods, f.Method) {
			return &invalid.Error{Field: "set", Want: "a setting of one of the methods " + strings.Join(c.Methods, ", "), Got: f.Method + "." + f.Setting}
		}
	}
	return nil
}

// plan has an arm for each method.
func (c Config) plan() (engine.Plan, error) {
	p := engine.Plan{Stage: config.DevThenTest, Folds: max(c.Folds, 1)}
	if c.Ladder {
		var err error
		p.Arms, err = c.steps()
		return p, err
	}
	for _, name := range c.Methods {
		arm := engine.Arm{Name: name, Tune: c.Budget}
		for _, l := range c.LAGO {
			if name == engine.LAGOMethod || name == l.Method.Label() {
				arm.Starts = append(arm.Starts, l)
				arm.Title = published.Method(l.Method.Variant())
			}
		}
		if name == engine.LAGOMethod {
			arm.Title = published.ResultRow
		}
		if arm.Starts == nil {
			var err error
			if arm, err = engine.BaselineArm(name, c.Common, c.Budget); err != nil {
				return p, err
			}
			settings := arm.Starts[0].Settings()
			for _, key := range methods.CorrectionKeys {
				if slices.Contains(c.Given, key) {
					text := fmt.Sprint(c.Common.Value(key))
					if err := settings.Set(setting.Assignment{Key: key, Text: text}); err != nil {
						return p, invalid.At(name, err)
					}
				}
			}
			for _, f := range c.Fixed {
				if f.Method == name {
					if err := settings.Set(setting.Assignment{Key: f.Setting, Text: f.Value}); err != nil {
						return p, invalid.At(name, err)
					}
					arm.Fixed = append(arm.Fixed, f.Setting)
				}
			}
		}
		arm.Fixed = append(arm.Fixed, c.Given...)
		p.Arms = append(p.Arms, arm)
	}
	return p, nil
}

// Result is table 1 of the paper on one data set: every method by one protocol.
type Result struct {
	results.Study
	Folds   int      `json:"folds"`    // over which settings were chosen
	HoldOut bool     `json:"hold_out"` // whether training left out the held-out samples of seen classes
	Methods []Method `json:"methods"`
	// whether each method is a step from the one before
	Ladder bool `json:"ladder"`
	// LAGO minus every baseline, or minus its other rows if there is none; without LAGO the first method
	// minus the others; in a ladder each step minus the one before
	Differences          []Difference `json:"differences"`
	AdaptedDifferences   []Difference `json:"adapted_differences,omitempty"`   // the same between adapted methods
	PartitionSeeds       []uint64     `json:"partition_seeds,omitempty"`       // of the partitions, if there are several
	PartitionDifferences []Difference `json:"partition_differences,omitempty"` // of the means over partitions
	Classes              []Class      `json:"classes"`
}

// Method is the result of one method.
type Method struct {
	results.Method
	Adapted    *Adapted  `json:"adapted,omitempty"`    // transductive predictions, with compare --adapt
	Partitions []float64 `json:"partitions,omitempty"` // test accuracy in each partition, if there are several

	adapted    []float64 // as Test.ByClass
	partitions [][]float64
}

// Difference is the test accuracy of the reference method minus that of another one.
type Difference struct {
	Reference string `json:"reference"` // from whose accuracy that of method is subtracted
	Method    string `json:"method"`
	metrics.Difference
	Holm float64   `json:"p_holm"` // p, corrected by Holm for the number of differences
	By   []float64 `json:"by"`     // the mean difference in each part, or in each partition
}

// Class is the test accuracy of each method on one class, in the order of Methods.
type Class struct {
	Class    string    `json:"class"`
	Part     int       `json:"part"` // in which it is unseen, from 1
	Samples  int       `json:"samples"`
	Accuracy []float64 `json:"accuracy"` // of each method, mean over seeds
}

// The kinds of stored comparisons: on the data set's own split, by rotation, and step by step.
const (
	Kind         = "compare"
	RotationKind = "rotation"
	LadderKind   = "ladder"
)

// Run trains and evaluates every method of c, which passes Check, by one protocol, and stores the
// result, if it has a method.
func Run(ctx context.Context, l *lab.Lab, c Config) (*Result, error) {
	p, err := c.plan()
	if err != nil {
		return nil, err
	}
	done, err := engine.Run(ctx, l, p)
	if err != nil {
		return nil, err
	}
	r := &Result{Study: results.NewStudy(l, done), Folds: p.Folds, HoldOut: c.Common.HoldOut, Ladder: c.Ladder, Methods: []Method{}}
	for _, row := range results.Methods(done) {
		r.Methods = append(r.Methods, Method{Method: row})
	}
	r.Classes = r.classes(l)
	if len(r.Methods) == 0 {
		r.Differences = []Difference{}
		return r, nil // Missing says why
	}
	r.Differences = r.differences(r.byPart)
	if c.Adapt {
		if err := adaptMethods(ctx, l, r.Methods); err != nil {
			return nil, err
		}
		r.AdaptedDifferences = r.differences(func(m Method) [][]float64 { return [][]float64{m.adapted} })
	}
	if c.Partitions > 1 {
		if err := r.partition(ctx, l, c, p); err != nil {
			return nil, err
		}
		r.PartitionDifferences = r.differences(func(m Method) [][]float64 { return m.partitions })
	}
	return r, l.Store(r.kind(), c, r)
}

func (r *Result) kind() string {
	switch {
	case r.Ladder:
		return LadderKind
	case r.Parts > 1:
		return RotationKind
	}
	return Kind
}

// classes lists the test classes of all parts.
func (r *Result) classes(l *lab.Lab) []Class {
	list := []Class{}
	index := map[string]int{}
	for i, part := range l.Parts {
		samples := part.Data.SamplesPerClass()
		for _, z := range part.Data.Split.Test {
			if samples[z] > 0 {
				index[l.Data.Classes[z]] = len(list)
				list = append(list, Class{l.Data.Classes[z], i + 1, samples[z], make([]float64, len(r.Methods))})
			}
		}
	}
	for j, m := range r.Methods {
		for i, class := range m.Test.ClassNames {
			list[index[class]].Accuracy[j] = m.Test.ByClass[i]
		}
	}
	return list
}

// byPart divides the accuracy of a method on each class into the parts of the rotation.
func (r *Result) byPart(m Method) [][]float64 {
	part := map[string]int{}
	for _, c := range r.Classes {
		part[c.Class] = c.Part - 1
	}
	parts := make([][]float64, r.Parts)
	for i, class := range m.Test.ClassNames {
		parts[part[class]] = append(parts[part[class]], m.Test.ByClass[i])
	}
	return parts
}

// pairs lists which methods are compared: the row of LAGO with the highest validation accuracy, or
// the first row if LAGO is in none, with all baselines, or with all others if there is none.
func (r *Result) pairs() (list [][2]int) {
	reference := -1
	for i, m := range r.Methods {
		if r.Ladder {
			if i > 0 && (m.Variant == "") == (r.Methods[i-1].Variant == "") {
				list = append(list, [2]int{i, i - 1})
			}
			continue
		}
		if m.Variant != "" && (reference < 0 || m.Val.PerClass.Mean > r.Methods[reference].Val.PerClass.Mean) {
			reference = i
		}
	}
	if r.Ladder {
		return list
	}
	onlyBaselines := reference >= 0 && slices.ContainsFunc(r.Methods, func(m Method) bool { return m.Variant == "" })
	reference = max(reference, 0)
	for i, m := range r.Methods {
		// The row of LAGO has the runs of one of its variants, unless the parts chose different ones.
		if !slices.Equal(m.RunDirs, r.Methods[reference].RunDirs) && !(onlyBaselines && m.Variant != "") {
			list = append(list, [2]int{reference, i})
		}
	}
	return list
}

// differences compares the accuracies of methods on each class, of which accuracies returns one
// list for each part, or for each partition of all classes.
func (r *Result) differences(accuracies func(Method) [][]float64) []Difference {
	list := []Difference{}
	var p []float64
	for _, pair := range r.pairs() {
		a, b := r.Methods[pair[0]], r.Methods[pair[1]]
		d := Difference{Reference: a.Name, Method: b.Name}
		x, y := accuracies(a), accuracies(b)
		for i := range x {
			d.By = append(d.By, (floats.Sum(x[i])-floats.Sum(y[i]))/float64(len(x[i])))
		}
		d.Difference = metrics.PairedDifference(joined(x, len(r.Classes)), joined(y, len(r.Classes)))
		list, p = append(list, d), append(p, d.P)
	}
	for i, corrected := range metrics.Holm(p) {
		list[i].Holm = corrected
	}
	return list
}

// joined returns the accuracy on each class of lists that divide the classes, or the mean of lists
// that each have all.
func joined(lists [][]float64, classes int) []float64 {
	all := slices.Concat(lists...)
	if len(all) == classes {
		return all
	}
	mean := make([]float64, classes)
	for _, list := range lists {
		floats.AddScaled(mean, 1/float64(len(lists)), list)
	}
	return mean
}

// method returns the method with a name on the command line.
func (r *Result) method(name string) (m Method) {
	if i := slices.IndexFunc(r.Methods, func(m Method) bool { return m.Name == name }); i >= 0 {
		m = r.Methods[i]
	}
	return m
}

// WriteCSV writes one line per class: its name, part and number of samples, and the accuracy
// of each method as a fraction.
func (r *Result) WriteCSV(w io.Writer) error {
	rows := [][]string{{"class", "part", "samples"}}
	for _, m := range r.Methods {
		rows[0] = append(rows[0], m.Name)
	}
	for _, class := range r.Classes {
		row := []string{class.Class, strconv.Itoa(class.Part), strconv.Itoa(class.Samples)}
		for _, a := range class.Accuracy {
			row = append(row, fmt.Sprint(a))
		}
		rows = append(rows, row)
	}
	return csv.NewWriter(w).WriteAll(rows)
}

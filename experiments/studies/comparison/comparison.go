// Package comparison compares LAGO with the baselines by one protocol, the paper's table 1.
package comparison

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/engine"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// Config says which methods are compared, and by what protocol. Plan sets LAGO to RotateSeed.
type Config struct {
	Methods []string        // of Names
	LAGO    []config.Config // of the variants among Methods
	// Common has the seeds, epochs of the dev stage, patience, held-out samples and, for
	// baselines, the preprocessing from which their search starts.
	Common     config.Config
	Folds      int      // of the seen classes, over which settings are chosen
	Given      []string // keys of settings that no search varies
	RotateSeed uint64   `json:",omitempty"`

	Budget int     // different settings of each method to try; 0 and 1 take those it starts from
	Fixed  []Fixed // settings of baselines
	Drawn  bool    `json:",omitempty"` // no default is tried
	Adapt  bool    `json:",omitempty"` // also adapt to the samples of the evaluated classes
	// Partitions of the classes into the parts of the lab, from RotateSeed on, each with its own search. 0
	// and 1 are the first.
	Partitions int `json:",omitempty"`

	file string // with the accuracy on each class
}

// Settings lists the settings of the study.
func (c *Config) Settings(r *config.Request) setting.List {
	r.Methods = &c.Methods
	return slices.Concat(r.SearchSettings(
		"method", "lr", "lr_v", "bias_factor", "batch", "beta", "lambda", "alpha", "psi", "zeta", "k", "prior", "complement", "freeze_prior", "omega", "ridge", "config",
	), r.RotationSettings(), setting.List{
		setting.Seed("rotate_seed", &r.RotateSeed).In(setting.Data).
			Describe("`SEED` random seed of the parts of --rotate").Needs("rotate"),
		r.FolderSetting(),
		setting.Choices("methods", &c.Methods, methods.Names(), Names()...).In(setting.Methods).Common().
			Noted("lago and all baselines").
			Describe("variants of LAGO, lago for the best of them, and baselines"),
		setting.Switch("adapt", &c.Adapt, false).In(setting.Methods).Common().
			Describe("adapt the predictions to all samples together (transductive)"),
		setting.Whole("partitions", &c.Partitions, 1, setting.Between(1, 100)).In(setting.Data).
			Needs("rotate").
			Describe("`N` partitions of the classes into the parts of --rotate, each with its own search"),
		setting.Whole("tune", &c.Budget, 16, setting.Between(0, config.MaxBudget)).In(setting.Searching).
			Common().
			Describe("`N` settings to try for each method; 0 takes its defaults"),
		setting.Switch("drawn", &c.Drawn, false).In(setting.Searching).
			Describe("draw all settings to try from their ranges: no default takes part"),
		setting.Several("set", &c.Fixed, nil, "", ParseFixed).In(setting.Methods).Common().
			Describe("`NAME=VALUE` setting of a baseline to fix, as in ale.lr=0.1"),
		setting.Raw("csv", &c.file, "").In(setting.Output).Common().
			Describe("`FILE` also write the accuracy of each method on each class, and the chosen settings " +
				"beside it, to this CSV file"),
	})
}

// Check implements results.Checker.
func (c *Config) Check(r *config.Request) (err error) {
	if r.Folder != "" && c.Budget != 0 {
		return &invalid.Error{
			Field: "configs", Want: "--tune 0 beside it: a search of every method starts from the defaults",
		}
	}
	if c.Drawn && c.Budget < engine.MinBudget {
		return &invalid.Error{
			Field: "drawn", Want: fmt.Sprintf("--tune %d or more beside it", engine.MinBudget),
			Got: fmt.Sprint("--tune ", c.Budget),
		}
	}
	if c.Folds, err = r.FoldsFor(r.Presets[0]); err != nil {
		return err
	}
	if err := engine.CheckArms(c.Methods); err != nil {
		return err
	}
	for _, f := range c.Fixed {
		if !slices.Contains(c.Methods, f.Method) {
			want := "a setting of one of the methods " + strings.Join(c.Methods, ", ")
			return &invalid.Error{Field: "set", Want: want, Got: f.Method + "." + f.Setting}
		}
	}
	return nil
}

// Files are the accuracy on each class and, beside it unless it is a pipe or device, the chosen settings.
func (c *Config) Files(found results.Result) []results.File {
	r, _ := found.(*Result)
	list := []results.File{{Flag: "csv", Path: c.file, Begins: "class,part,samples", Write: r.WriteCSV}}
	if name, ok := strings.CutSuffix(c.file, ".csv"); ok {
		list = append(list, results.File{
			Flag: "csv", Path: name + "-settings.csv", Begins: "method,part,variant", Write: r.WriteSettings,
		})
	}
	return list
}

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
	return append([]string{engine.LAGOMethod}, methods.Labels()...)
}

// Plan has an arm for each method and, of further partitions of the classes, for each method in each.
func (c *Config) Plan(r *config.Request, l *lab.Lab) (engine.Plan, error) {
	c.Common, c.LAGO, c.Given, c.RotateSeed = r.Presets[0].Config, r.Configs(), r.Keys(), r.RotateSeed
	p, err := c.plan()
	for n := 1; n < c.Partitions && err == nil; n++ {
		var parts []lab.View
		if parts, err = l.Rotations(len(l.Parts), c.RotateSeed+uint64(n)); err == nil {
			for _, arm := range p.Arms[:len(c.Methods)] {
				arm.Parts = parts
				p.Arms = append(p.Arms, arm)
			}
		}
	}
	return p, err
}

// plan has an arm for each method.
func (c *Config) plan() (engine.Plan, error) {
	p := engine.Plan{Stage: config.DevThenTest, Folds: max(c.Folds, 1)}
	for _, name := range c.Methods {
		arm := engine.Arm{Name: name, Tune: c.Budget}
		for _, l := range c.LAGO {
			if name == engine.LAGOMethod || name == l.Method.Label() {
				arm.Starts = append(arm.Starts, l)
				arm.Title = l.Method.Label()
			}
		}
		if name == engine.LAGOMethod {
			arm.Title = config.PublishedResult
		}
		if arm.Starts == nil {
			var err error
			if arm, err = engine.BaselineArm(name, c.Common, c.Budget, c.Given); err != nil {
				return p, err
			}
			settings := arm.Starts[0].Settings()
			for _, f := range c.Fixed {
				if f.Method == name {
					if err := settings.Set(setting.Assignment{Key: f.Setting, Text: f.Value}); err != nil {
						return p, invalid.At(name, err)
					}
					arm.Fixed = append(arm.Fixed, f.Setting)
				}
			}
		}
		arm.Fixed, arm.Drawn = append(arm.Fixed, c.Given...), c.Drawn
		p.Arms = append(p.Arms, arm)
	}
	return p, nil
}

// Result is table 1 of the paper on one data set: every method by one protocol.
type Result struct {
	results.Comparison
	HoldOut bool    `json:"hold_out"` // whether training left out the held-out samples of seen classes
	Classes []Class `json:"classes"`
	// LAGO minus every baseline, or minus its other rows if there is none; without LAGO the first method
	// minus the others
	Differences []Difference `json:"differences"`
	ByEpoch     []ByEpoch    `json:"by_epoch,omitempty"` // of methods with epochs
	// the methods in their order, with compare --hold-out, in a rotation or with --folds 1
	Generalised []Generalised `json:"generalised,omitempty"`
	// the methods in their order, with compare --adapt
	Adapted []Adapted `json:"adapted,omitempty"`
	// the same between adapted methods
	AdaptedDifferences []Difference `json:"adapted_differences,omitempty"`
	// of the classes, if there are several
	Partitions []Partition `json:"partitions,omitempty"`
	// of the means over partitions
	PartitionDifferences []Difference `json:"partition_differences,omitempty"`
}

// ByEpoch is the validation accuracy of a method after each epoch of the dev stage, mean over parts and
// seeds, with the settings that each part chose and without correction, as far as all parts have epochs.
type ByEpoch struct {
	Method   string    `json:"method"`
	Accuracy []float64 `json:"validation_accuracy"`
}

// Class is the test accuracy of each method on one class, in the order of Methods.
type Class struct {
	Class    string    `json:"class"`
	Part     int       `json:"part"` // in which it is unseen, from 1
	Samples  int       `json:"samples"`
	Accuracy []float64 `json:"accuracy"` // of each method, mean over seeds
}

// Partition is the test accuracy of each method, in the order of Methods, with one partition of the
// classes into parts.
type Partition struct {
	Seed     uint64    `json:"seed"`
	Accuracy []float64 `json:"accuracy"`
}

// The kinds of stored comparisons: on the data set's own split, and by rotation.
const (
	Kind         = "compare"
	RotationKind = "rotation"
)

// Kinds are the kinds of results.
var Kinds = []results.Kind{
	{
		Name: Kind, Title: "LAGO and its baselines", Command: "compare",
		Text: "Accuracy of every method by one protocol: settings and epochs are chosen on the seen " +
			"classes, then the method is trained on train and validation classes and evaluated once " +
			"on the test classes.",
		New: results.New[Result],
	},
	{
		Name: RotationKind, Title: "LAGO and its baselines, each class unseen once",
		Command: "compare --rotate 5",
		Text: "The classes are divided into parts, and each part in turn holds the unseen classes; " +
			"settings and epochs are chosen on the others.",
		New: results.New[Result],
	},
}

// Summarise compares the methods.
func (c *Config) Summarise(ctx context.Context, l *lab.Lab, done *engine.Result) (results.Result, error) {
	kind, title := Kind, "LAGO and its baselines"
	if len(l.Parts) > 1 {
		kind = RotationKind
	}
	if c.Drawn {
		title += ", without defaults"
	}
	first, further := *done, [][]results.Method(nil) // arms, and methods by partition
	first.Plan.Arms, first.Arms = done.Plan.Arms[:len(c.Methods)], done.Arms[:len(c.Methods)]
	r := &Result{
		Comparison: results.NewComparison(l, kind, title, &first),
		HoldOut:    c.Common.HoldOut, Differences: []Difference{},
	}
	for i := len(c.Methods); i < len(done.Arms); i += len(c.Methods) {
		one := *done
		one.Plan.Arms, one.Arms = done.Plan.Arms[i:i+len(c.Methods)], done.Arms[i:i+len(c.Methods)]
		further = append(further, results.Methods(&one))
	}
	r.setClasses(l)
	// of others Missing says why
	r.Differences = r.differences(func(x, y int) (metrics.Difference, []float64) {
		return metrics.PairedDifference(r.Methods[x].Test.ByClass, r.Methods[y].Test.ByClass), r.byPart(x, y)
	})
	if c.Common.HoldOut && done.Plan.Folds == 1 && len(r.Differences) > 0 {
		if err := r.generalise(ctx, l); err != nil {
			return nil, err
		}
	}
	if err := r.setEpochs(); err != nil {
		return nil, err
	}
	if c.Adapt {
		if err := r.adapt(ctx, l); err != nil {
			return nil, err
		}
	}
	if len(further) > 0 {
		r.partition(c.RotateSeed, further)
	}
	return r, nil
}

// setClasses lists the test classes of all parts, in the order of ByClass of the methods.
func (r *Result) setClasses(l *lab.Lab) {
	r.Classes = []Class{}
	for i, part := range l.Parts {
		samples := part.Data.SamplesPerClass()
		for _, z := range part.Data.Split.Test {
			if samples[z] == 0 {
				continue
			}
			c := Class{l.Data.Classes[z], i + 1, samples[z], make([]float64, len(r.Methods))}
			for j, m := range r.Methods {
				c.Accuracy[j] = m.Test.ByClass[len(r.Classes)]
			}
			r.Classes = append(r.Classes, c)
		}
	}
}

// setEpochs sets ByEpoch from the learning curves of the dev stage.
func (r *Result) setEpochs() error {
	for _, m := range r.Methods {
		by := ByEpoch{Method: m.Name}
		for i, o := range m.Outcomes {
			curves, err := engine.DevCurves(o.Val)
			if err != nil {
				return err
			}
			mean := engine.MeanCurve(curves)
			if i == 0 {
				by.Accuracy = make([]float64, len(mean))
			}
			by.Accuracy = by.Accuracy[:min(len(by.Accuracy), len(mean))]
			floats.AddScaled(by.Accuracy, 1/float64(len(m.Outcomes)), mean[:len(by.Accuracy)])
		}
		if len(by.Accuracy) > 1 {
			r.ByEpoch = append(r.ByEpoch, by)
		}
	}
	return nil
}

// partition compares the methods over partitions of the classes into as many parts: that of the result, and
// further ones. Classes and parts of all partitions are both resampled.
func (r *Result) partition(seed uint64, further [][]results.Method) {
	all := append([][]results.Method{r.Methods}, further...)
	for n, methods := range all {
		if len(methods) < len(r.Methods) {
			r.Partitions = nil
			return // Missing says why
		}
		one := Partition{Seed: seed + uint64(n)}
		for _, m := range methods {
			one.Accuracy = append(one.Accuracy, m.Test.PerClass.Mean)
		}
		r.Partitions = append(r.Partitions, one)
	}
	classes := map[string]int{}
	for i, c := range r.Classes {
		classes[c.Class] = i
	}
	r.PartitionDifferences = r.differences(func(x, y int) (metrics.Difference, []float64) {
		var crossed []metrics.Crossed
		var by []float64
		for n, methods := range all {
			a, b := methods[x].Test, methods[y].Test
			by = append(by, a.PerClass.Mean-b.PerClass.Mean)
			parts := map[string]int{} // in which a class is unseen
			for part, o := range methods[x].Outcomes {
				for _, z := range o.Part.Data.Split.Test {
					parts[o.Part.Data.Classes[z]] = part
				}
			}
			for k, name := range a.ClassNames {
				crossed = append(crossed, metrics.Crossed{
					Class: classes[name], Cluster: n*r.Parts + parts[name],
					Difference: a.ByClass[k] - b.ByClass[slices.Index(b.ClassNames, name)],
				})
			}
		}
		return metrics.CrossedDifference(crossed), by
	})
}

// Headline is the accuracy of LAGO on unseen classes, if it was compared, and the validation accuracy.
func (r *Result) Headline() (text string, validation float64) {
	i := r.find(engine.LAGOMethod)
	if i < 0 {
		return "", 0
	}
	m := r.Methods[i]
	return m.Test.Headline(m.Variant), m.Val.PerClass.Mean
}

// find returns the position of the method with a name on the command line, -1 for none.
func (r *Result) find(name string) int {
	return slices.IndexFunc(r.Methods, func(m results.Method) bool { return m.Name == name })
}

// WriteCSV writes one line per class: its name, part and number of samples, and the accuracy
// of each method as a fraction.
func (r *Result) WriteCSV(w io.Writer) error {
	t := table.New("", "class", "part", "samples")
	for _, m := range r.Methods {
		t.Header = append(t.Header, m.Name)
	}
	for _, class := range r.Classes {
		row := []any{class.Class, class.Part, class.Samples}
		for _, a := range class.Accuracy {
			row = append(row, a)
		}
		t.Row(row...)
	}
	return t.WriteCSV(w)
}

// WriteSettings writes, as CSV, one line for each setting that a method chose in a part, and says whether it
// is at an end of the searched values.
func (r *Result) WriteSettings(w io.Writer) error {
	t := table.New("", "method", "part", "variant", "epochs", "setting", "value",
		"end of the searched values")
	for _, m := range r.Methods {
		for i, p := range m.Parts {
			for _, key := range slices.Sorted(maps.Keys(p.Settings)) {
				end := ""
				if e := slices.IndexFunc(p.Edges, func(e engine.Edge) bool {
					return e.Setting == key
				}); e >= 0 {
					end = p.Edges[e].End
				}
				t.Row(m.Name, i+1, p.Variant, p.Epochs, key, p.Settings[key], end)
			}
		}
	}
	return t.WriteCSV(w)
}

package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

// Row is the result of an arm over all parts, by the full protocol.
type Row struct {
	Name      string    `json:"name"`
	Title     string    `json:"title"`             // in tables and figures
	Variant   string    `json:"variant,omitempty"` // of LAGO; Mixed if the parts chose different ones
	Val       *Measured `json:"val"`
	Test      *Measured `json:"test"`
	Seconds   float64   `json:"seconds"`                     // to train one model on train and validation classes
	Tried     int       `json:"tried"`                       // number of settings in each part
	Parts     []Part    `json:"parts"`                       // one, or one for each part of a rotation
	Published string    `json:"published_percent,omitempty"` // test accuracy in table A.1, a number or a range
	RunDirs   []string  `json:"run_dirs"`

	Models   []string   `json:"-"` // files of those that were evaluated on the test classes
	Outcomes []*Outcome `json:"-"` // of the parts
}

// Part is what an arm chose without the test classes of one part.
type Part struct {
	Variant  string         `json:"variant,omitempty"`
	Epochs   int            `json:"epochs"` // on train and validation classes
	Settings map[string]any `json:"settings"`
	Edges    []Edge         `json:"edges"` // settings at an end of the searched values
}

// Mixed is the Variant of a Row whose parts chose different variants.
const Mixed = "mixed"

// Label names the arm and, for LAGO, the chosen variant.
func (m Row) Label() string {
	if m.Name == LAGOMethod {
		return fmt.Sprintf("LAGO (%s)", m.Variant)
	}
	return m.Title
}

// Chosen describes what each part chose, one line each.
func (m Row) Chosen() []string {
	var lines []string
	for i, p := range m.Parts {
		line := m.Name
		if len(m.Parts) > 1 {
			line += fmt.Sprintf(", part %d", i+1)
		}
		line += ": " + format.Count(p.Epochs, "epoch")
		if m.Name == LAGOMethod {
			line += ", " + p.Variant
		}
		for _, name := range slices.Sorted(maps.Keys(p.Settings)) {
			line += fmt.Sprintf(", %s %v", name, p.Settings[name])
		}
		for j, e := range p.Edges {
			if j == 0 {
				line += "; at an end of the searched values: "
			} else {
				line += ", "
			}
			line += e.Setting
		}
		lines = append(lines, line)
	}
	return lines
}

// Rows returns the rows of the arms whose stages all have their runs, and what is missing
// from them.
func (r *Result) Rows(p Plan, dataset string) ([]Row, []lab.Missing) {
	rows := []Row{}
	for i, arm := range p.Arms {
		outcomes := r.Arms[i]
		if len(outcomes) > 0 && !slices.ContainsFunc(outcomes, func(o *Outcome) bool { return !o.Done(p.Stage) }) {
			rows = append(rows, rowOf(arm, outcomes, dataset))
		}
	}
	return rows, lab.MissingOf(r.Failed())
}

func rowOf(arm Arm, outcomes []*Outcome, dataset string) Row {
	r := Row{Name: arm.Name, Title: arm.Title, Parts: []Part{}, Tried: outcomes[0].Tried, Outcomes: outcomes}
	var val, test []lab.Run
	for i, o := range outcomes {
		p := Part{Variant: string(o.Chosen.Method.Variant()), Epochs: o.Epochs, Settings: methodSettings(o.Chosen), Edges: o.Edges}
		if i == 0 {
			r.Variant = p.Variant
		} else if r.Variant != p.Variant {
			r.Variant = Mixed
		}
		r.Parts = append(r.Parts, p)
		val, test = append(val, o.Val...), append(test, o.Test...)
	}
	r.Val, r.Test, r.Models = Measure(val), Measure(test), ModelFiles(test)
	r.Published, _ = published.TestAccuracy(dataset, r.Title)
	for _, run := range slices.Concat(val, test) {
		r.RunDirs = append(r.RunDirs, run.Dir)
	}
	for _, run := range test {
		r.Seconds += run.Result.Seconds / float64(len(test))
	}
	return r
}

// methodSettings lists the settings that apply, without those of data and protocol.
func methodSettings(c Config) map[string]any {
	values := map[string]any{}
	for _, s := range c.Settings().Used() {
		if s.Scope == setting.Data || s.Scope == setting.Protocol || slices.Contains([]string{"variant", "epochs", "patience"}, s.Key) {
			continue
		}
		values[s.Key] = s.Value()
	}
	return values
}

// BaselineArm is the arm of a baseline with its defaults and, of common, the preprocessing and
// what all methods have.
func BaselineArm(name string, common Config, tune int) (Arm, error) {
	e, err := methods.Find(name)
	if err != nil {
		return Arm{}, err
	}
	c := common
	c.Method = e.Spec()
	return Arm{Name: e.Name, Title: e.Title, Starts: []Config{c}, Tune: tune}, nil
}

// SearchedBudget is the number of settings that a baseline tries beside variants that are not
// searched.
const SearchedBudget = 16

// FullPlan is the full protocol for variants with their settings, and for baselines, which
// try SearchedBudget settings with the preprocessing, seeds, epochs, patience and held-out
// samples of like.
func FullPlan(variants []Config, baselines []string, like Config) (Plan, error) {
	p := Plan{Stage: DevThenTest}
	for _, c := range variants {
		p.Arms = append(p.Arms, Arm{Name: c.Method.Label(), Title: published.Method(c.Method.Variant()), Starts: []Config{c}})
	}
	for _, name := range baselines {
		arm, err := BaselineArm(name, like, SearchedBudget)
		if err != nil {
			return p, err
		}
		arm.Fixed = []string{"preprocess", "ridge"}
		p.Arms = append(p.Arms, arm)
	}
	return p, nil
}

// ForBaselines returns the configuration whose preprocessing, seeds and epochs baselines have
// beside some variants: that of semantic-hard, which has the paper's main result, or the first.
func ForBaselines(variants []Config) Config {
	i := slices.IndexFunc(variants, func(c Config) bool { return c.Method.Variant() == model.SemanticHard })
	return variants[max(i, 0)]
}

// ChooseAdaptation chooses the settings of the adaptation to unlabelled samples on the
// validation classes of the outcome, by the dev run of one seed for each fold, since further
// seeds have the same samples, and stores them in the models of all its runs. Without a dev
// stage it does nothing.
func (o *Outcome) ChooseAdaptation(ctx context.Context) (*train.Adaptation, error) {
	var folds []adaptation.Fold
	for _, v := range o.Folds {
		i := slices.IndexFunc(o.Val, func(r lab.Run) bool { return r.Fingerprint == v.Fingerprint })
		if i >= 0 {
			folds = append(folds, adaptation.Fold{Model: ModelFiles(o.Val[i : i+1])[0], Data: v.Data, HoldOut: o.Val[i].HoldOut})
		}
	}
	return adaptation.ChooseAndStore(ctx, folds, ModelFiles(slices.Concat(o.Val, o.Test)))
}

package studies

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/methods"
)

// Sweep asks for validation accuracy against the number of groups.
type Sweep struct {
	Base config.Config `json:"base"` // of k-soft, set by Plan
	// numbers of groups; empty for those of the paper that the attributes can form
	Ks []int `json:"ks"`

	groups []int // number of each arm
}

// Settings lists the settings of the study.
func (c *Sweep) Settings(r *config.Request) setting.List {
	r.Variants = []model.Variant{model.KSoft}
	return slices.Concat(r.DevSettings("method"), r.RotationSettings(), setting.List{
		setting.Several("ks", &c.Ks, nil, "whole numbers, separated by commas", strconv.Atoi).
			Noted("1,10,20,30,40,60, as far as there are attributes").Common(),
	})
}

var sweepEntry = Entry{"sweep-k", func() results.Study { return new(Sweep) }, []results.Kind{{
	Name: "sweep-k", Title: "Number of groups", Command: "sweep-k",
	Text: "Validation accuracy of k-soft against its number of groups K, and of singletons and " +
		"semantic-hard with the same features and training.",
	New: func() results.Result { return new(results.Accuracies) },
}}}

// Plan has k-soft on the dev stage with each number of groups and, for comparison, singletons and, if the
// data set has groups, semantic-hard, with their own presets and the data, seeds and training of k-soft.
func (c *Sweep) Plan(r *config.Request, l *lab.Lab) (lab.Plan, error) {
	plan := lab.Plan{Stage: config.OnlyDev}
	// the same preprocessing for the variants that k-soft is compared with
	c.Base = r.Presets[0].Config.On(l.Data)
	ks, err := sweptKs(c.Ks, len(l.Data.Attributes))
	if err != nil {
		return plan, err
	}
	c.groups = nil
	add := func(start config.Config, k int) {
		plan.Arms, c.groups = append(plan.Arms, lab.NewArm(start)), append(c.groups, k)
	}
	for _, k := range ks {
		add(c.Base.With("k", k), k)
	}
	add(trainedAlike(c.Base, model.Singletons), len(l.Data.Attributes))
	if l.Data.Groups != nil {
		add(trainedAlike(c.Base, model.SemanticHard), len(l.Data.Groups))
	}
	return plan, nil
}

// Summarise has a row for each number of groups and each variant to compare with.
func (c *Sweep) Summarise(_ context.Context, l *lab.Lab, done *lab.Outcomes) (results.Result, error) {
	a := results.NewAccuracies(l, "sweep-k", "by number of groups", c.Base, "validation")
	a.Columns, a.X, a.Missing = []string{"variant", "K"}, "number of groups K", done.Missing
	a.Notes = []string{"The other variants have the same features and training."}
	for i, arm := range done.Plan.Arms {
		v := arm.Starts[0].Method.Variant()
		row := results.Row{
			Labels: []string{string(v), strconv.Itoa(c.groups[i])}, Number: float64(c.groups[i]),
			Reference: v != model.KSoft,
		}
		a.Add(row, results.Validation(done, i))
	}
	return a, nil
}

// sweptKs returns the numbers of groups to try, ascending.
func sweptKs(ks []int, attributes int) ([]int, error) {
	tooMany := func(k int) bool { return k > attributes }
	if len(ks) == 0 {
		return slices.DeleteFunc(slices.Clone(config.Published.Ks), tooMany), nil
	}
	ks = slices.Compact(slices.Sorted(slices.Values(ks)))
	if ks[0] < 1 || slices.ContainsFunc(ks, tooMany) {
		return nil, &invalid.Error{
			Field: "ks", Want: fmt.Sprintf("numbers from 1 to the number of attributes, %d", attributes),
			Got: format.Join(ks),
		}
	}
	return ks, nil
}

// trainedAlike returns the settings of another variant for comparison with c: its preset, with what
// c has for all variants.
func trainedAlike(c config.Config, v model.Variant) config.Config {
	other := c.Start(methods.Variant(v)).Config
	shared := append(config.CommonKeys(), "batch", "prior", "complement")
	c.Settings().CopyTo(slices.DeleteFunc(other.Settings(), func(s setting.Setting) bool {
		return !slices.Contains(shared, s.Key)
	}))
	return other
}

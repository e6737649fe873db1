// Package sweep measures accuracy against a number: the number of groups of k-soft (section 4.3 of
// the paper), or of seen classes, samples, attributes, groups or described entries.
package sweep

import (
	"context"
	"fmt"
	"slices"
	"strconv"

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
)

// GroupNumbers asks for validation accuracy against the number of groups.
type GroupNumbers struct {
	Base config.Config `json:"base"` // of k-soft
	Ks   []int         `json:"ks"`   // numbers of groups; empty for those of the paper that the attributes can form
}

// Settings lists the settings of the study.
func (c *GroupNumbers) Settings(r *config.Request) setting.List {
	return slices.Concat(r.DevSettings("variant", "k"), r.RotationSettings(), setting.List{
		setting.Several("ks", &c.Ks, nil, "whole numbers, separated by commas", strconv.Atoi).
			Noted("1,10,20,30,40,60, as far as there are attributes").Common().Describe("`K,...` numbers of groups"),
	})
}

// Resolve completes the configuration, and returns its preset.
func (c *GroupNumbers) Resolve(ctx context.Context, r *config.Request) ([]config.Preset, error) {
	p, err := r.Preset(ctx, model.KSoft)
	c.Base = p.Config
	return []config.Preset{p}, err
}

// KKind is the first word of the names of its stored results.
const KKind = "sweep-k"

// Ask trains k-soft on the dev stage with each number of groups and, for comparison,
// singletons and, if the data set has groups, semantic-hard, with their own presets and the
// data, seeds and training of c. It stores the result.
func (c *GroupNumbers) Ask(ctx context.Context, l *lab.Lab) (results.Result, error) {
	if v := c.Base.Method.Variant(); v != model.KSoft {
		return nil, &invalid.Error{Field: "variant", Want: "k-soft, the variant with a number of groups", Got: string(v)}
	}
	ks, err := sweptKs(c.Ks, len(l.Data.Attributes))
	if err != nil {
		return nil, err
	}
	start := c.Base.On(l.Data) // the same preprocessing for the variants that k-soft is compared with
	plan := engine.Plan{Stage: config.OnlyDev}
	var rows []results.Row
	add := func(c config.Config, k int) {
		plan.Arms = append(plan.Arms, engine.Arm{Name: fmt.Sprint(c.Method.Label(), k), Starts: []config.Config{c}})
		v := c.Method.Variant()
		rows = append(rows, results.Row{Labels: []string{string(v), fmt.Sprint(k)}, Number: float64(k), Reference: v != model.KSoft})
	}
	for _, k := range ks {
		add(start.With("k", k), k)
	}
	add(comparable(start, model.Singletons), len(l.Data.Attributes))
	if l.Data.Groups != nil {
		add(comparable(start, model.SemanticHard), len(l.Data.Groups))
	}
	done, err := engine.Run(ctx, l, plan)
	if err != nil {
		return nil, err
	}
	a := results.NewAccuracies(l, KKind, "by number of groups", start, "validation")
	a.Columns, a.X, a.Missing = []string{"variant", "K"}, "number of groups K", done.Missing
	a.Notes = []string{"The other variants have the same features and training."}
	for i := range rows {
		a.Add(rows[i], results.Validation(done, i))
	}
	return a, l.Store(KKind, c, a)
}

// sweptKs returns the numbers of groups to try, ascending.
func sweptKs(ks []int, attributes int) ([]int, error) {
	if len(ks) == 0 {
		return published.KsUpTo(attributes), nil
	}
	ks = slices.Compact(slices.Sorted(slices.Values(ks)))
	if low, high := ks[0], ks[len(ks)-1]; low < 1 || high > attributes {
		return nil, &invalid.Error{
			Field: "ks", Want: fmt.Sprintf("numbers from 1 to the number of attributes, %d", attributes), Got: format.Join(ks),
		}
	}
	return ks, nil
}

// comparable returns the settings of another variant for comparison with c: its preset, with what
// c has for all variants.
func comparable(c config.Config, v model.Variant) config.Config {
	other := config.PresetFor(c.Dataset, methods.Variant(v)).Config
	shared := append(config.CommonKeys(), "batch", "prior", "complement")
	c.Settings().CopyTo(slices.DeleteFunc(other.Settings(), func(s setting.Setting) bool { return !slices.Contains(shared, s.Key) }))
	return other
}

// Package ksweep measures validation accuracy against the number of groups of k-soft
// (section 4.3 of the paper).
package ksweep

import (
	"context"
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/experiments/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// Config says what is swept.
type Config struct {
	Base config.Config `json:"base"` // of k-soft
	Ks   []int         `json:"ks"`   // numbers of groups; empty for those of the paper that the attributes can form
}

// Kind is the first word of the names of stored results.
const Kind = "sweep-k"

// Result is validation accuracy against the number of groups on one data set.
type Result struct {
	Dataset string        `json:"dataset"`
	Seeds   int           `json:"seeds"`
	Parts   int           `json:"parts"`   // 1, or the parts of a rotation over classes
	Classes int           `json:"classes"` // validation classes
	Points  []Point       `json:"points"`  // k-soft, by K
	Lines   []Point       `json:"lines"`   // what k-soft is compared with
	Missing []lab.Missing `json:"missing"`
}

// Point is the accuracy of a variant with a number of groups.
type Point struct {
	Variant  model.Variant    `json:"variant"`
	K        int              `json:"k"` // number of groups
	Accuracy lab.Summary      `json:"val_accuracy"`
	Interval metrics.Interval `json:"interval"` // over classes
}

// Run trains k-soft on the dev stage with each number of groups and, for comparison,
// singletons and, if the data set has groups, semantic-hard, with their own presets and the
// data, seeds and training of c. It stores the result.
func Run(ctx context.Context, l *lab.Lab, c Config) (*Result, error) {
	if v := c.Base.Method.Variant(); v != model.KSoft {
		return nil, &invalid.Error{Field: "variant", Want: "k-soft, the variant with a number of groups", Got: string(v)}
	}
	ks, err := sweptKs(c.Ks, len(l.Data.Attributes))
	if err != nil {
		return nil, err
	}
	start := c.Base.On(l.Data) // the same preprocessing for the variants that k-soft is compared with
	plan := engine.Plan{Stage: config.OnlyDev}
	s := &Result{Dataset: start.DataName(), Seeds: start.Seeds, Parts: len(l.Parts)}
	var points []Point
	add := func(c config.Config, k int) {
		plan.Arms = append(plan.Arms, engine.Arm{Name: fmt.Sprint(c.Method.Label(), k), Starts: []config.Config{c}})
		points = append(points, Point{Variant: c.Method.Variant(), K: k})
	}
	for _, k := range ks {
		add(start.With("k", k), k)
	}
	add(line(start, model.Singletons), len(l.Data.Attributes))
	if l.Data.Groups != nil {
		add(line(start, model.SemanticHard), len(l.Data.Groups))
	}
	done, err := engine.Run(ctx, l, plan)
	if err != nil {
		return nil, err
	}
	s.Missing = done.Missing
	for i := range plan.Arms {
		p, m := &points[i], results.Validation(done, i)
		p.Accuracy, p.Interval, s.Classes = m.PerClass, m.Interval, max(s.Classes, m.Classes)
	}
	s.Points, s.Lines = points[:len(ks)], points[len(ks):]
	return s, l.Store(Kind, c, s)
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

// line returns the settings of another variant for comparison with c: its preset, with what c
// has for all variants.
func line(c config.Config, v model.Variant) config.Config {
	line := config.PresetFor(c.Dataset, methods.Of(v)).Config
	shared := append(config.CommonKeys(), "batch", "prior", "complement")
	c.Settings().CopyTo(slices.DeleteFunc(line.Settings(), func(s setting.Setting) bool { return !slices.Contains(shared, s.Key) }))
	return line
}

// Tables has one row per number of groups, the variants for comparison, and the missing
// trials.
func (s *Result) Tables() []*table.Table {
	t := table.New(fmt.Sprintf("%s: validation accuracy against the number of groups, %s%s",
		s.Dataset, format.Count(s.Seeds, "seed"), results.InParts("a validation class", s.Parts)),
		"variant", "K", "validation accuracy", "95 % over classes", "s.e.m. over seeds", "seeds").Right(3, 5)
	for i, p := range slices.Concat(s.Points, s.Lines) {
		if i == len(s.Points) {
			t.Line()
		}
		t.Row(p.Variant, p.K, p.Accuracy.MeanText(), p.Interval, p.Accuracy.SEMText(), len(p.Accuracy.Values))
	}
	return []*table.Table{t, lab.MissingTable(s.Missing)}
}

// Figures are the accuracy against K, as figure 2 of the paper.
func (s *Result) Figures(string) ([]plot.Figure, error) {
	if len(s.Points) == 0 {
		return nil, nil
	}
	line := plot.Series{Name: string(model.KSoft), Look: plot.Look{Method: plot.Focus}, Measured: true}
	for _, p := range s.Points {
		line.Points = append(line.Points, results.Point(float64(p.K), p.Accuracy.Mean, p.Interval))
	}
	p := &plot.Lines{X: "number of groups K", Y: "validation accuracy (%)", Percent: true, Chance: results.Chance(s.Parts, s.Classes), Series: []plot.Series{line}}
	low, high := float64(s.Points[0].K), float64(s.Points[len(s.Points)-1].K)
	for i, l := range s.Lines {
		p.Series = append(p.Series, plot.Series{
			Name: string(l.Variant), Look: plot.Look{Condition: plot.Dashed + plot.Condition(i)},
			Points: []plot.Point{results.Point(low, l.Accuracy.Mean, l.Interval), results.Point(high, l.Accuracy.Mean, l.Interval)},
		})
	}
	return []plot.Figure{{
		Name: "sweep-k", Title: "Validation accuracy by number of groups K", Picture: p,
		Caption: fmt.Sprintf("Mean over %s; bars and bands are 95 %% bootstrap intervals over classes. The horizontal lines are variants with the same features and training.", format.Count(s.Seeds, "seed")),
	}}, nil
}

// Check returns an *invalid.Error if a result, as read from a file, is incomplete.
func (s *Result) Check() error { return lab.NotEmpty("points", len(s.Points)) }

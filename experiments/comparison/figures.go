package comparison

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/internal/format"
)

// Figures are the accuracy of all methods, best first, and the differences from LAGO.
func (r *Result) Figures(string) ([]plot.Figure, error) {
	p := &plot.Dots{X: engine.AccuracyAxis, Series: []plot.DotSeries{{Name: "val", Condition: plot.Dashed}, {Name: "unseen"}}}
	kind := Kind // a report can show both kinds
	if r.Parts > 1 {
		kind = RotationKind
	}
	var seeds []int
	byMean := func(a, b Method) int { return cmp.Compare(b.Test.PerClass.Mean, a.Test.PerClass.Mean) }
	for i, m := range slices.SortedStableFunc(slices.Values(r.Methods), byMean) {
		p.Rows = append(p.Rows, plotRow(m))
		for j, stage := range []*engine.Measured{m.Val, m.Test} {
			p.Series[j].Dots = append(p.Series[j].Dots, engine.Dot(i, stage.PerClass.Mean, stage.Interval))
		}
		seeds = append(seeds, len(m.Test.PerClass.Values))
	}
	test := r.Methods[0].Test
	figures := []plot.Figure{{
		Name: kind, Title: "LAGO and its baselines" + engine.InParts("unseen", r.Parts), Picture: p,
		Caption: fmt.Sprintf("%s, %s; bars are 95 %% bootstrap intervals over classes.", engine.ClassesText(test, "unseen"), engine.SeedsText(seeds)),
	}}
	if len(r.Differences) == 0 {
		return figures, nil
	}
	reference := r.method(r.Differences[0].Reference).Label()
	q := &plot.Dots{X: reference + " minus the method (% points)", Series: []plot.DotSeries{{Name: "difference"}}}
	byDifference := func(a, b Difference) int { return cmp.Compare(b.Mean, a.Mean) }
	for i, one := range slices.SortedStableFunc(slices.Values(r.Differences), byDifference) {
		q.Rows = append(q.Rows, plotRow(*r.method(one.Method)))
		q.Series[0].Dots = append(q.Series[0].Dots, engine.Dot(i, one.Mean, one.Interval))
	}
	return append(figures, plot.Figure{
		Name: kind + "-differences", Title: "Differences between " + reference + " and the other methods", Picture: q,
		Caption: fmt.Sprintf("%s; bars are 95 %% bootstrap intervals of the mean difference over classes.", format.Count(test.Classes, "unseen class")),
	}), nil
}

// plotRow emphasises LAGO.
func plotRow(m Method) plot.Row {
	return plot.Row{Name: m.Label(), Method: cmp.Or(m.Variant, m.Name), Emphatic: m.Variant != ""}
}

package comparison

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/train/metrics"
)

// Tables are the methods, their adaptation, the differences, and the chosen settings.
func (r *Result) Tables() []*table.Table {
	chosen, test := "settings chosen on the validation classes", "test"
	if r.Folds > 1 {
		chosen = fmt.Sprintf("settings chosen over %d folds of the seen classes", r.Folds)
	}
	if r.Parts > 1 {
		test = "unseen"
	}
	t := table.New(fmt.Sprintf("Methods on %s: per-class accuracy%s, %s", r.Dataset, engine.InParts("unseen", r.Parts), chosen),
		"method", "validation", test, "95 % over classes", "s.e.m. over seeds", "published", "seconds", "seeds", "tried").Right(2, 3, 5, 6, 7, 8, 9)
	for _, m := range r.Methods {
		t.Row(
			m.Label(), m.Val.PerClass.MeanText(), m.Test.PerClass.MeanText(), m.Test.Interval, m.Test.PerClass.SEMText(),
			cmp.Or(m.Published, "-"), fmt.Sprintf("%.1f", m.Seconds), len(m.Test.PerClass.Values), m.Tried,
		)
	}
	if slices.ContainsFunc(r.Methods, func(m Method) bool { return m.Published != "" }) {
		held := "with them"
		if r.HoldOut {
			held = "without them"
		}
		t.Note("published: table A.1 of the paper, on the data set's own test classes.")
		t.Note("Its baselines were trained without the held-out samples of seen classes (trainval_loc), its LAGO with them.")
		t.Note("Here every method is trained %s.", held)
	}
	settings := table.New("settings chosen:")
	for _, m := range r.Methods {
		for _, line := range m.Chosen() {
			settings.Note("  %s", line)
		}
	}
	settings.Notes = append(settings.Notes, engine.LeftOutText(r.LeftOut)...)
	return []*table.Table{t, r.adaptedTable(), r.differencesTable(), settings, lab.MissingTable(r.Missing)}
}

// differencesTable has the differences and what may be concluded from them.
func (r *Result) differencesTable() *table.Table {
	if len(r.Differences) == 0 {
		return nil
	}
	reference := r.method(r.Differences[0].Reference).Label()
	t := table.New(fmt.Sprintf("%s minus each method, over %d classes:", reference, len(r.Classes)),
		"method", "difference (%)", "95 % over classes", "p", "p (Holm)").Right(2, 3, 4, 5)
	var more, less, undecided []string
	for _, d := range r.Differences {
		method := r.method(d.Method).Label()
		t.Row(method, format.Points(d.Mean), d.Interval, fmt.Sprintf("%.2g", d.P), fmt.Sprintf("%.2g", d.Holm))
		switch {
		case d.Holm >= metrics.Significance:
			undecided = append(undecided, method)
		case d.Mean > 0:
			more = append(more, method)
		default:
			less = append(less, method)
		}
	}
	list := func(names []string) string {
		if len(names) == 0 {
			return "none"
		}
		return strings.Join(names, ", ")
	}
	return t.Note("%s is more accurate than: %s; less accurate than: %s; cannot be ranked on these classes (p by Holm at least %g): %s",
		reference, list(more), list(less), metrics.Significance, list(undecided))
}

// adaptedTable has the effect of adaptation on the test classes.
func (r *Result) adaptedTable() *table.Table {
	t := table.New(fmt.Sprintf("transductive (adapted to the unlabelled samples) minus inductive, over %d classes:", len(r.Classes)),
		"method", "transductive", "95 % over classes", "difference (%)", "95 % over classes", "temperature, tau").Right(2, 4)
	for _, m := range r.Methods {
		a := m.Adapted
		if a == nil {
			continue
		}
		var settings []string
		for _, s := range a.Settings {
			if s.Tau == 0 {
				settings = append(settings, "off")
				continue
			}
			settings = append(settings, fmt.Sprintf("%.3g, %g", s.Temperature, s.Tau))
		}
		t.Row(m.Label(), format.Percent(a.Test), a.Interval, format.Points(a.Difference.Mean), a.Difference.Interval, strings.Join(settings, "; "))
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

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
		for j, stage := range []engine.Measured{m.Val, m.Test} {
			p.Series[j].Dots = append(p.Series[j].Dots, engine.Dot(i, stage.PerClass.Mean, stage.Interval))
		}
		seeds = append(seeds, len(m.Test.PerClass.Values))
	}
	test := r.Methods[0].Test
	figures := []plot.Figure{{
		Name: kind, Title: "LAGO and its baselines" + engine.InParts("unseen", r.Parts), Picture: p,
		Caption: fmt.Sprintf("%s, %s; bars are 95 %% bootstrap intervals over classes.", test.ClassesText("unseen"), engine.SeedsText(seeds)),
	}}
	if len(r.Differences) == 0 {
		return figures, nil
	}
	reference := r.method(r.Differences[0].Reference).Label()
	q := &plot.Dots{X: reference + " minus the method (% points)", Series: []plot.DotSeries{{Name: "difference"}}}
	byDifference := func(a, b Difference) int { return cmp.Compare(b.Mean, a.Mean) }
	for i, one := range slices.SortedStableFunc(slices.Values(r.Differences), byDifference) {
		q.Rows = append(q.Rows, plotRow(r.method(one.Method)))
		q.Series[0].Dots = append(q.Series[0].Dots, engine.Dot(i, one.Mean, one.Interval))
	}
	return append(figures, plot.Figure{
		Name: kind + "-differences", Title: "Differences between " + reference + " and the other methods", Picture: q,
		Caption: fmt.Sprintf("%s; bars are 95 %% bootstrap intervals of the mean difference over classes.",
			format.Count(test.Classes, "unseen class")),
	}), nil
}

// plotRow emphasises LAGO.
func plotRow(m Method) plot.Row {
	return plot.Row{Name: m.Label(), Method: cmp.Or(m.Variant, m.Name), Emphatic: m.Variant != ""}
}

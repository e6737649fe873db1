package comparison

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/results"
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
	t := table.New(fmt.Sprintf("Methods on %s: per-class accuracy%s, %s", r.Dataset, results.InParts("unseen", r.Parts), chosen),
		"method", "validation", test, "95 % over classes", "s.e.m. over seeds", "published").Right(2, 3, 4, 5, 6)
	settings := table.New("", "method", "seeds", "tried", "seconds", "settings chosen that are not the default").Right(4)
	for _, m := range r.sorted() {
		t.Row(m.Label(), m.Val.PerClass.MeanText(), m.Test.PerClass.MeanText(), m.Test.Interval, m.Test.PerClass.SEMText(), cmp.Or(m.Published, format.Missing))
		settings.Row(m.Label(), len(m.Test.PerClass.Values), m.Tried, fmt.Sprintf("%.1f", m.Seconds), m.Chosen())
	}
	t.OmitEmpty()
	if slices.ContainsFunc(r.Methods, func(m Method) bool { return m.Published != "" }) {
		held := "with them"
		if r.HoldOut {
			held = "without them"
		}
		t.Note("published: table A.1 of the paper, on the data set's own test classes.")
		t.Note("Its baselines were trained without the held-out samples of seen classes (trainval_loc), its LAGO with them.")
		t.Note("Here every method is trained %s.", held)
	}
	over := fmt.Sprintf("%s, over %s", "%s", format.Count(len(r.Classes), "class"))
	return append(append([]*table.Table{t}, r.adaptedTables()...),
		r.differencesTable(over+":", "by part", r.Differences),
		r.differencesTable("adapted, "+over+":", "by part", r.AdaptedDifferences),
		r.differencesTable(over+fmt.Sprintf(", mean over %d partitions into parts (seeds %s):", len(r.PartitionSeeds), strings.Trim(fmt.Sprint(r.PartitionSeeds), "[]")), "by partition", r.PartitionDifferences),
		r.partitionsTable(), settings, results.MissingTable(r.Missing),
	)
}

// sorted returns the methods by accuracy, the best first, and the steps of a ladder in their order.
func (r *Result) sorted() []Method {
	if r.Ladder {
		return r.Methods
	}
	return slices.SortedStableFunc(slices.Values(r.Methods), func(a, b Method) int { return cmp.Compare(b.Test.PerClass.Mean, a.Test.PerClass.Mean) })
}

// differencesTable has differences and what may be concluded from them. The title has a verb for what
// is compared.
func (r *Result) differencesTable(title, by string, list []Difference) *table.Table {
	if len(list) == 0 {
		return nil
	}
	reference := r.method(list[0].Reference).Label()
	what, method := reference+" minus each method", "method"
	if r.Ladder {
		what, method = "each step minus the one before", "step"
	}
	t := table.New(fmt.Sprintf(title, what), method, "difference", "95 % over classes", "p", "p (Holm)").Right(2, 3, 4, 5)
	several := len(list[0].By) > 1
	if several {
		t.Header = append(t.Header, by)
	}
	if !r.Ladder {
		list = slices.SortedStableFunc(slices.Values(list), func(a, b Difference) int { return cmp.Compare(a.Mean, b.Mean) })
	}
	var more, less, undecided []string
	for _, d := range list {
		method := r.method(d.Method).Label()
		if r.Ladder {
			method = r.method(d.Reference).Label()
		}
		row := []any{method, points(d.Mean), d.Interval, fmt.Sprintf("%.2g", d.P), fmt.Sprintf("%.2g", d.Holm)}
		if several {
			each := make([]string, len(d.By))
			for i, part := range d.By {
				each[i] = format.Points(part)
			}
			row = append(row, strings.Join(each, " "))
		}
		t.Row(row...)
		switch {
		case d.Holm >= metrics.Significance:
			undecided = append(undecided, method)
		case d.Mean > 0:
			more = append(more, method)
		default:
			less = append(less, method)
		}
	}
	if r.Ladder {
		return t
	}
	names := func(list []string) string { return cmp.Or(strings.Join(list, ", "), "none") }
	return t.Note("%s is more accurate than: %s; less accurate than: %s; cannot be ranked on these classes (p by Holm at least %g): %s",
		reference, names(more), names(less), metrics.Significance, names(undecided))
}

// partitionsTable has the accuracies in each partition.
func (r *Result) partitionsTable() *table.Table {
	if len(r.PartitionSeeds) == 0 {
		return nil
	}
	t := table.New("accuracy in each partition, settings of the first:", "method")
	for i, seed := range r.PartitionSeeds {
		t.Header = append(t.Header, fmt.Sprintf("seed %d", seed))
		t.Right(i + 2)
	}
	for _, m := range r.sorted() {
		row := []any{m.Label()}
		for _, accuracy := range m.Partitions {
			row = append(row, format.Percent(accuracy))
		}
		t.Row(row...)
	}
	return t
}

// adaptedTables has the effect of adaptation on the test classes; none without adaptation.
func (r *Result) adaptedTables() []*table.Table {
	effect := table.New(fmt.Sprintf("transductive (adapted to the unlabelled samples) minus inductive, over %d classes:", len(r.Classes)),
		"method", "transductive", "95 % over classes", "points gained", "95 % over classes").Right(2, 3, 4, 5)
	for _, m := range r.sorted() {
		if a := m.Adapted; a != nil {
			effect.Row(m.Label(), format.Percent(a.Test), a.Interval, format.Points(a.Difference.Mean), a.Difference.Interval)
		}
	}
	if len(effect.Rows) == 0 {
		return nil
	}
	return []*table.Table{effect}
}

// points is a difference with its unit.
func points(difference float64) string { return format.Points(difference) + " points" }

// Headline is the accuracy of LAGO on unseen classes, if it was compared, and the validation accuracy.
func (r *Result) Headline() (text string, validation float64) {
	m := r.method(engine.LAGOMethod)
	if m.Variant == "" {
		return "", 0
	}
	return m.Test.Headline(m.Variant), m.Val.PerClass.Mean
}

// Figures are the accuracy of all methods, best first, or step by step, and the differences from
// LAGO.
func (r *Result) Figures(string) ([]plot.Figure, error) {
	p := &plot.Dots{X: results.AccuracyAxis, Percent: true}
	kind, title := r.kind(), "LAGO and its baselines" // a report can show all
	list := slices.SortedStableFunc(slices.Values(r.Methods), func(a, b Method) int { return cmp.Compare(b.Test.PerClass.Mean, a.Test.PerClass.Mean) })
	if r.Ladder {
		list, title = r.Methods, "LAGO and ESZSL step by step"
	}
	var val, test []results.Measured
	var seeds []int
	for _, m := range list {
		p.Rows = append(p.Rows, plotRow(m))
		val, test, seeds = append(val, m.Val), append(test, m.Test), append(seeds, len(m.Test.PerClass.Values))
	}
	p.Panels = []plot.Panel{results.Panel("validation", val), results.Panel("unseen", test)}
	figures := []plot.Figure{{
		Name: kind, Title: title + results.InParts("unseen", r.Parts), Picture: p,
		Caption: fmt.Sprintf("Mean over %s; %s.", results.SeedsText(seeds), results.IntervalText),
	}}
	if q := r.tries(); len(q.Series) > 0 && !r.Ladder {
		figures = append(figures, plot.Figure{
			Name: kind + "-tries", Title: "Accuracy by the number of settings tried", Picture: q,
			Caption: "Validation accuracy of the best settings so far, by one seed, mean over parts. LAGO tries its variants one after the other; of a closed form the whole grid is tried, in its order.",
		})
	}
	if len(r.Differences) == 0 || r.Ladder {
		return figures, nil
	}
	reference := r.method(r.Differences[0].Reference).Label()
	q, s := &plot.Dots{X: reference + " minus the method (points)"}, plot.DotSeries{Name: "difference"}
	byDifference := func(a, b Difference) int { return cmp.Compare(b.Mean, a.Mean) }
	for i, one := range slices.SortedStableFunc(slices.Values(r.Differences), byDifference) {
		q.Rows = append(q.Rows, plot.Row{Name: r.method(one.Method).Label(), Focus: one.Holm < metrics.Significance})
		s.Dots = append(s.Dots, results.Dot(i, one.Mean, one.Interval))
	}
	q.Panels = []plot.Panel{{Series: []plot.DotSeries{s}}}
	return append(figures, plot.Figure{
		Name: kind + "-differences", Title: "Differences between " + reference + " and the other methods", Picture: q,
		Caption: fmt.Sprintf("Difference of accuracies in percentage points, %s; bars are 95 %% bootstrap intervals over classes. Differences in colour are significant (p by Holm below %g).",
			format.Count(len(r.Classes), "unseen class"), metrics.Significance),
	}), nil
}

// tries draws the accuracy by the number of settings of methods that tried several.
func (r *Result) tries() *plot.Lines {
	p := &plot.Lines{X: "number of settings tried", Y: "validation accuracy (%)", Percent: true, Log2: true, Chance: 100 * r.Methods[0].Val.Chance()}
	for i, m := range r.Methods {
		if len(m.Tries) < engine.MinBudget {
			continue
		}
		s := plot.Series{Name: m.Label(), Look: plot.Look{Method: m.Name, Condition: plot.Condition(i % 3)}}
		if m.Variant != "" {
			s.Look = plot.Look{Method: plot.Focus}
		}
		for i, accuracy := range m.Tries {
			s.Points = append(s.Points, plot.PercentPoint(float64(i+1), accuracy, accuracy, accuracy))
		}
		p.Series = append(p.Series, s)
	}
	return p
}

// plotRow emphasises LAGO.
func plotRow(m Method) plot.Row { return plot.Row{Name: m.Label(), Focus: m.Variant != ""} }

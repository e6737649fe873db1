package results

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/table"
)

// Comparison is the result of a study of methods by the full protocol.
type Comparison struct {
	Study
	Folds   int      `json:"folds"`   // of the seen classes, over which settings were chosen
	Ordered bool     `json:"ordered"` // the methods are shown in their order, otherwise by accuracy
	Methods []Method `json:"methods"`
}

// NewComparison summarises a plan on the parts of a lab.
func NewComparison(l *lab.Lab, kind, title string, done *engine.Result) Comparison {
	return Comparison{
		Study: Study{Kind: kind, Title: title, Dataset: l.Data.Name, Parts: len(l.Parts), Missing: done.Missing},
		Folds: max(done.Plan.Folds, 1), Methods: Methods(done),
	}
}

// Sorted returns the methods in the order in which they are shown.
func (c *Comparison) Sorted() []Method {
	if c.Ordered {
		return c.Methods
	}
	return slices.SortedStableFunc(slices.Values(c.Methods), func(a, b Method) int { return cmp.Compare(b.Test.PerClass.Mean, a.Test.PerClass.Mean) })
}

// Tables are the accuracies, the chosen settings, and what is missing.
func (c *Comparison) Tables() []*table.Table {
	chosen, test := "settings chosen on the validation classes", "test"
	if c.Folds > 1 {
		chosen = fmt.Sprintf("settings chosen over %d folds of the seen classes", c.Folds)
	}
	if c.Parts > 1 {
		test = "unseen"
	}
	t := table.New(fmt.Sprintf("%s on %s: per-class accuracy%s, %s", c.Title, c.Dataset, InParts("unseen", c.Parts), chosen),
		"method", "validation", test, "95 % over classes", "s.e.m. over seeds", "published").Right(2, 3, 4, 5, 6)
	settings := table.New("", "method", "seeds", "tried", "seconds", "settings chosen that are not the default").Right(4)
	for _, m := range c.Sorted() {
		t.Row(m.Label(), m.Val.PerClass.MeanText(), m.Test.PerClass.MeanText(), m.Test.Interval, m.Test.PerClass.SEMText(), cmp.Or(m.Published, format.Missing))
		settings.Row(m.Label(), len(m.Test.PerClass.Values), m.Tried, fmt.Sprintf("%.1f", m.Seconds), m.Chosen())
	}
	return []*table.Table{t.OmitEmpty(), settings, MissingTable(c.Missing)}
}

// Figures are the accuracies. LAGO is shaded.
func (c *Comparison) Figures(string) ([]plot.Figure, error) {
	return c.Draw(func(m Method) bool { return m.Variant != "" }), nil
}

// Draw draws the accuracies, with the published ones, if there are methods. Those with focus are shaded.
func (c *Comparison) Draw(focus func(Method) bool) []plot.Figure {
	if len(c.Methods) == 0 {
		return nil
	}
	p, paper := &plot.Dots{X: AccuracyAxis, Percent: true}, plot.DotSeries{Name: "published", Condition: plot.Dotted}
	var val, test []Measured
	var seeds []int
	for i, m := range c.Sorted() {
		p.Rows = append(p.Rows, plot.Row{Name: m.Label(), Focus: focus(m)})
		val, test, seeds = append(val, m.Val), append(test, m.Test), append(seeds, len(m.Test.PerClass.Values))
		if percent, err := strconv.ParseFloat(m.Published, 64); err == nil { // otherwise a range, or none
			paper.Dots = append(paper.Dots, plot.Dot{Row: i, Value: percent, Low: percent, High: percent})
		}
	}
	p.Panels = []plot.Panel{Panel("validation", val), Panel("unseen", test)}
	p.Panels[1].Series = append(p.Panels[1].Series, paper)
	return []plot.Figure{{
		Name: c.Kind, Title: c.Title + InParts("unseen", c.Parts), Picture: p,
		Caption: fmt.Sprintf("Mean over %s; %s.", SeedsText(seeds), IntervalText),
	}}
}

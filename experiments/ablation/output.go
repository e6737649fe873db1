package ablation

import (
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/train/metrics"
)

// Tables are the table in the form of the paper's, its findings, and the missing trials.
func (a *Result) Tables() []*table.Table {
	return []*table.Table{a.table(), a.findingsTable(), lab.MissingTable(a.Missing)}
}

func (a *Result) table() *table.Table {
	explicit := "alpha " + format.Join(a.Alphas) + " where explicit"
	if len(a.Alphas) > 1 {
		explicit = "explicit with the best alpha of " + format.Join(a.Alphas) + " by the same accuracy"
	}
	title := fmt.Sprintf("%s on %s: validation accuracy by design, %s, %s%s",
		a.Variant, a.Dataset, format.Count(len(a.Seeds), "seed"), explicit, results.InParts("a validation class", a.Parts))
	t := table.New(title, "p(a_m)", "p(ac|x)", "supervision", "accuracy ± s.e.m.", "points", "p", "published").Right(4, 6, 7)
	for _, r := range a.Rows {
		supervision := string(r.Supervision)
		if r.Supervision == Explicit && len(a.Alphas) > 1 {
			supervision += fmt.Sprintf(", alpha %v", r.Alpha)
		}
		difference, p := "-", "-"
		if d := r.Difference; d != nil {
			difference, p = points(*d), fmt.Sprintf("%.2g", d.P)
		}
		row := []any{r.Prior, r.Complement, supervision, r.Accuracy.PlusMinus(), difference, p}
		if r.Published != nil {
			row = append(row, format.Percent(*r.Published))
		}
		t.Row(row...)
	}
	if slices.ContainsFunc(a.Rows, func(r Row) bool { return r.Difference != nil }) {
		t.Note("points: difference from uniform, const, implicit, with 95 %% interval over classes; p: by permutation, Holm")
	}
	return t.OmitEmpty()
}

func (a *Result) findingsTable() *table.Table {
	if len(a.Findings) == 0 {
		return nil
	}
	t := table.New("findings of the paper (table A.2), each with the difference that it states to be above 0:")
	for _, f := range a.Findings {
		verdict := "holds"
		if !f.Holds {
			verdict = "differs"
		}
		if f.Difference.P >= metrics.Significance {
			verdict = "unclear"
		}
		t.Note("%s: %s: %s, p %.2g", verdict, f.Text, points(f.Difference), f.Difference.P)
	}
	return t
}

// points returns a difference in percentage points.
func points(d metrics.Difference) string {
	return fmt.Sprintf("%s (%s)", format.Points(d.Mean), d.Interval)
}

// Figures are the accuracy of the designs, in rows named by prior, none-of-group term and supervision.
func (a *Result) Figures(string) ([]plot.Figure, error) {
	p := &plot.Dots{X: "validation accuracy (%)", Percent: true}
	here, paper := plot.DotSeries{Name: "here"}, plot.DotSeries{Name: "published", Condition: plot.Dotted}
	var seeds []int
	for _, row := range a.Rows {
		if len(row.Accuracy.Values) == 0 {
			continue
		}
		seeds = append(seeds, len(row.Accuracy.Values))
		i := len(p.Rows)
		p.Rows = append(p.Rows, plot.Row{Name: fmt.Sprintf("%s, %s, %s", row.Prior, row.Complement, row.Supervision), Focus: row.Design == lago})
		here.Dots = append(here.Dots, results.Dot(i, row.Accuracy.Mean, row.Interval))
		if row.Published != nil {
			paper.Dots = append(paper.Dots, plot.PercentDot(i, *row.Published, *row.Published, *row.Published))
		}
	}
	if len(p.Rows) == 0 {
		return nil, nil
	}
	p.Panels = []plot.Panel{{Chance: results.Chance(a.Parts, a.Classes), Series: []plot.DotSeries{here, paper}}}
	return []plot.Figure{{
		Name: "ablation-" + string(a.Variant), Title: "Design decisions, " + string(a.Variant), Picture: p,
		Caption: fmt.Sprintf("%s, mean over %s; %s. Rows are prior p(a), none-of-group term and supervision of attributes; LAGO's design is shaded.",
			format.Count(a.Classes, "validation class"), results.SeedsText(seeds), results.IntervalText),
	}}, nil
}

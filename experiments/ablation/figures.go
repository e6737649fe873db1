package ablation

import (
	"fmt"

	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/internal/format"
)

// Figures are the accuracy of the designs, in rows named by prior, none-of-group term and supervision.
func (a *Result) Figures(string) ([]plot.Figure, error) {
	ours := plot.DotSeries{Name: "here"}
	paper := plot.DotSeries{Name: "published", Condition: plot.Dotted}
	p := &plot.Dots{X: "val " + engine.AccuracyAxis}
	var seeds []int
	for _, row := range a.Rows {
		if len(row.Accuracy.Values) == 0 {
			continue
		}
		seeds = append(seeds, len(row.Accuracy.Values))
		i := len(p.Rows)
		p.Rows = append(p.Rows, plot.Row{
			Name: fmt.Sprintf("%s, %s, %s", row.Prior, row.Complement, row.Supervision), Method: string(a.Variant), Emphatic: row.Design == lago,
		})
		ours.Dots = append(ours.Dots, engine.Dot(i, row.Accuracy.Mean, row.Interval))
		if row.Published != nil {
			paper.Dots = append(paper.Dots, plot.PercentDot(i, *row.Published, *row.Published, *row.Published))
		}
	}
	if len(ours.Dots) == 0 {
		return nil, nil
	}
	p.Series = []plot.DotSeries{ours, paper}
	return []plot.Figure{{
		Name: "ablation-" + string(a.Variant), Title: "Design decisions, " + string(a.Variant), Picture: p,
		Caption: fmt.Sprintf("%s; mean over %s; bars are 95 %% bootstrap intervals over classes. "+
			"Rows are prior p(a), none-of-group term and supervision of attributes; LAGO's design is shaded.",
			format.Count(a.Classes, "validation class"), engine.SeedsText(seeds)),
	}}, nil
}

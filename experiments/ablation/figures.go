package ablation

import (
	"fmt"

	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/model"
)

// Figures are the accuracy of the designs, with a mark for each decision.
func (a *Result) Figures(string) ([]plot.Figure, error) {
	ours := plot.DotSeries{Name: "here"}
	paper := plot.DotSeries{Name: "published", Condition: plot.Dotted}
	p := &plot.Dots{X: "val " + engine.AccuracyAxis, Factors: []string{"uniform prior", "const none-of-group", "implicit supervision"}}
	var seeds []int
	for _, row := range a.Rows {
		if len(row.Accuracy.Values) == 0 {
			continue
		}
		seeds = append(seeds, len(row.Accuracy.Values))
		i := len(p.Rows)
		p.Rows = append(p.Rows, plot.Row{Method: string(a.Variant), Marks: row.marks(), Emphatic: row.Design == lago})
		dot := engine.Dot(i, row.Accuracy.Mean, row.Interval)
		dot.Text = row.Accuracy.PlusMinus()
		ours.Dots = append(ours.Dots, dot)
		if row.Published != nil {
			paper.Dots = append(paper.Dots, plot.Dot{Row: i, Value: 100 * *row.Published, Text: format.Percent(*row.Published)})
		}
	}
	if len(ours.Dots) == 0 {
		return nil, nil
	}
	p.Series = append(p.Series, ours)
	if len(paper.Dots) > 0 {
		p.Series = append(p.Series, paper)
	}
	return []plot.Figure{{
		Name: "ablation-" + string(a.Variant), Title: "Design decisions, " + string(a.Variant), Picture: p,
		Caption: fmt.Sprintf("%s; mean over %s, ± is one standard error over seeds; bars are 95 %% bootstrap intervals over classes. "+
			"LAGO's design is shaded; circles differ from it: prior per attribute (diamond: per group), De Morgan, explicit supervision with the printed alpha.",
			format.Count(a.Classes, "validation class"), engine.SeedsText(seeds)),
	}}, nil
}

// marks has a disc for each decision of LAGO's design.
func (d Design) marks() []plot.Condition {
	result := make([]plot.Condition, 3)
	switch d.Prior {
	case model.PerAttribute:
		result[0] = plot.Dashed
	case model.PerGroup:
		result[0] = plot.Dotted
	}
	if d.Complement == model.DeMorgan {
		result[1] = plot.Dashed
	}
	if d.Supervision == Explicit {
		result[2] = plot.Dashed
	}
	return result
}

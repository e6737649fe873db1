package report

import (
	"errors"
	"fmt"

	"github.com/lago-train/lago-train/experiments/ablation"

	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model"
)

// ablation shows the design decisions, as table A.2 of the paper does.
func ablationSection(r *Runs, d *Dataset) Section {
	s := Section{
		Name: "ablation", Title: "Design decisions",
		Text: "Accuracy on the val classes by the prior p(a), by what stands for p(none of the group | x), and by whether the " +
			"loss supervises attributes, best first, of the logged curves. Error bars are one standard error over seeds.",
	}
	for _, v := range model.Variants {
		c := protocol.PresetFor(d.Name, v).Config
		a, err := ablation.From(r.Dir, c, []string{"dataset", "variant"})
		var several *ablation.Ambiguous
		switch {
		case err == nil:
			s.addAblation(r, d, a)
		case errors.As(err, &several):
			s.Notes = append(s.Notes, fmt.Sprintf("%s: %v. Each of them needs a folder of its own.", v, err))
		default: // there is none of this variant
		}
	}
	if len(s.Figures) == 0 && len(s.Notes) == 0 {
		s.Notes = []string{"No configuration was run in two designs or more."}
		s.Command = r.command(d, "ablate")
	}
	return s
}

// addAblation shows one ablation, best first, without the designs that have no trial.
func (s *Section) addAblation(r *Runs, d *Dataset, a *ablation.Result) {
	ours := plot.DotSeries{Name: "here", Look: 0}
	paper := plot.DotSeries{Name: "published", Look: 5}
	p := &plot.Dots{X: "val " + accuracyAxis}
	for _, row := range a.Rows {
		if len(row.Accuracy.Values) == 0 {
			continue
		}
		i := len(p.Rows)
		p.Rows = append(p.Rows, designName(row.Design))
		ours.Dots = append(ours.Dots, dot(i, row.Accuracy))
		if row.Published != nil {
			paper.Dots = append(paper.Dots, plot.Dot{Row: i, Value: 100 * *row.Published, Text: percent(*row.Published)})
		}
	}
	if n := len(a.Missing); n > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%s of %s without a curve.", count(n, "trial"), a.Variant))
		s.Command = r.command(d, "ablate --variant "+string(a.Variant))
	}
	if len(ours.Dots) == 0 {
		return
	}
	p.Series = append(p.Series, ours)
	if len(paper.Dots) > 0 {
		p.Series = append(p.Series, paper)
	}
	caption := fmt.Sprintf("%s, %s: val accuracy by design; explicit supervision has alpha %g.", a.Variant, count(len(a.Seeds), "seed"), a.Alpha)
	s.Figures = append(s.Figures, r.figure(d, "ablation-"+string(a.Variant), caption, p))
}

func designName(d ablation.Design) string {
	return fmt.Sprintf("%s, %s, %s", d.Prior, d.Complement, d.Supervision)
}

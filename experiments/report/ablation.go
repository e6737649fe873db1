package report

import (
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/experiments/ablation"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/model"
)

// ablationSection shows the design decisions, as table A.2 of the paper does.
func ablationSection(f *folder, d *datasetRuns) Section {
	s := Section{
		Name: "ablation", Title: "Design decisions",
		Text: "Validation accuracy by the prior p(a), the none-of-group term and the supervision of attributes in the loss, best " +
			"first. Each figure has one set of settings otherwise. Error bars are one standard error over seeds.",
	}
	for _, v := range model.Variants {
		list, err := ablation.All(f.dir, d.name, d.fingerprint, v)
		if err != nil {
			s.Notes = append(s.Notes, err.Error())
			continue
		}
		for i, a := range list {
			f.addAblation(&s, d, a, i, len(list))
		}
	}
	if len(s.Figures)+len(s.Notes)+len(s.Missing) == 0 {
		flags := ""
		if len(d.dev) > 0 {
			flags = "--variant " + string(d.dev[0].variant()) + " " + d.dev[0].flags("prior", "complement", "alpha")
		}
		s.todo("ablation of the design decisions", f.command(d, "ablate", flags))
	}
	return s
}

// addAblation adds the i-th of n ablations of a variant, without designs that were not run.
func (f *folder) addAblation(s *Section, d *datasetRuns, a ablation.Family, i, n int) {
	ours := plot.DotSeries{Name: "here", Look: 0}
	paper := plot.DotSeries{Name: "published", Look: publishedLook}
	p := &plot.Dots{X: "val " + accuracyAxis}
	for _, row := range a.Rows {
		if len(row.Accuracy.Values) == 0 {
			continue
		}
		at := len(p.Rows)
		p.Rows = append(p.Rows, fmt.Sprintf("%s, %s, %s", row.Prior, row.Complement, row.Supervision))
		ours.Dots = append(ours.Dots, dot(at, row.Accuracy))
		if row.Published != nil {
			paper.Dots = append(paper.Dots, plot.Dot{Row: at, Value: 100 * *row.Published, Text: percent(*row.Published)})
		}
	}
	label, flags := string(a.Variant), "--variant "+string(a.Variant)
	if j := slices.IndexFunc(d.dev, func(c *configuration) bool { return a.Has(c.trial()) }); j >= 0 {
		flags += " " + d.dev[j].flags("prior", "complement", "alpha")
		if n > 1 {
			label = d.dev[j].label
		}
	}
	if missing := len(a.Missing); missing > 0 {
		s.todo(fmt.Sprintf("%s of the ablation of %s", format.Count(missing, "run"), label), f.command(d, "ablate", flags, fmt.Sprintf("--alpha %v", a.Alphas[0])))
	}
	if len(ours.Dots) == 0 {
		return
	}
	p.Series = append(p.Series, ours)
	if len(paper.Dots) > 0 {
		p.Series = append(p.Series, paper)
	}
	name := "ablation-" + string(a.Variant)
	if n > 1 {
		name += fmt.Sprintf("-%d", i+1)
	}
	caption := fmt.Sprintf("%s, %s: validation accuracy by design; explicit supervision has alpha %g.", label, format.Count(len(a.Seeds), "seed"), a.Alphas[0])
	s.Figures = append(s.Figures, f.figure(d, name, caption, p))
}

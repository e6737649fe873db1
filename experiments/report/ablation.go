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
			"first. All other settings are the same within a figure.",
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
	ours := plot.DotSeries{Name: "here"}
	paper := plot.DotSeries{Name: "published", Condition: plot.Dotted}
	p := &plot.Dots{X: "val " + accuracyAxis, Factors: []string{"uniform prior", "const none-of-group", "implicit supervision"}}
	var seeds []int
	for _, row := range a.Rows {
		if len(row.Accuracy.Values) == 0 {
			continue
		}
		seeds = append(seeds, len(row.Accuracy.Values))
		at := len(p.Rows)
		p.Rows = append(p.Rows, plot.Row{Method: string(a.Variant), Marks: marks(row.Design), Emphatic: row.IsLAGO()})
		one := intervalDot(at, row.Accuracy.Mean, row.Interval())
		one.Text = plusMinus(row.Accuracy)
		ours.Dots = append(ours.Dots, one)
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
	caption := fmt.Sprintf("%s; mean over %s, ± is one standard error over seeds; bars are 95 %% bootstrap intervals over classes. "+
		"LAGO's design is shaded; circles differ from it: prior per attribute (diamond: per group), De Morgan, explicit supervision with alpha %g.",
		d.dev[0].classesOf(), countSeeds(seeds), a.Alphas[0])
	s.Figures = append(s.Figures, f.figure(d, name, "Design decisions, "+label, caption, p))
}

// marks has a disc for each decision of LAGO's design.
func marks(d ablation.Design) []plot.Condition {
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
	if d.Supervision == ablation.Explicit {
		result[2] = plot.Dashed
	}
	return result
}

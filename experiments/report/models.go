package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// groupsSection shows the groups that the best soft model learned.
func groupsSection(f *folder, d *datasetRuns) Section {
	s := Section{
		Name: "groups", Title: "Learned groups",
		Text: "Gamma, the share of each attribute in each group, of the soft model with the best validation accuracy. Rows sum " +
			"to 1; attributes are sorted by their strongest group.",
	}
	c, ok := best(d.choices(), func(c choice) bool { return c.variant.Learned() })
	if !ok {
		s.Notes = []string{"No runs of a variant that learns its groups."}
		s.Commands = []string{f.command(d, "run --variant", string(model.KSoft), sharedFlags(d.choices()))}
		return s
	}
	var run lab.Run
	if c.dev != nil {
		run = slices.MaxFunc(c.dev.runs, func(a, b lab.Run) int {
			return cmp.Compare(a.Result.Evaluation.PerClass, b.Result.Evaluation.PerClass)
		})
	} else {
		run = c.test.runs[0]
	}
	saved, err := train.Load(filepath.Join(run.Dir, train.ModelFile))
	if err != nil {
		s.Notes = []string{err.Error()}
		return s
	}
	lago, err := saved.LAGO("groups")
	if err != nil {
		s.Notes = []string{err.Error()}
		return s
	}
	caption := fmt.Sprintf("Gamma of %s, seed %d (%s).", c.label(), run.Training.Seed, run.Dir)
	s.Figures = []Figure{f.figure(d, "groups", caption, gammaPicture(lago, saved))}
	return s
}

func gammaPicture(l *model.LAGO, m *train.Saved) *plot.Heat {
	gamma := l.Params.Groups(l.Config.Zeta)
	p := &plot.Heat{
		RowTitle: "attribute", ColTitle: "group", Unit: "share of the attribute", Cols: groupNames(l.Config.Variant, m.Groups, gamma.Cols),
	}
	order := byStrongest(gamma)
	for i, a := range order {
		p.Rows = append(p.Rows, m.Attributes[a])
		row := make([]float64, gamma.Cols)
		for k, v := range gamma.Row(a) {
			row[k] = float64(v)
		}
		p.Values = append(p.Values, row)
		if k := strongest(gamma.Row(a)); i == 0 || k != strongest(gamma.Row(order[i-1])) {
			p.Blocks = append(p.Blocks, plot.Block{Row: i, Name: p.Cols[k]})
		}
	}
	return p
}

// groupNames returns the names of the data set for semantic-soft, and numbers for k-soft.
func groupNames(v model.Variant, groups []string, k int) []string {
	if v.Semantic() && len(groups) == k {
		return groups
	}
	names := make([]string, k)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}

// byStrongest orders attributes by their strongest group and, within one, by their share.
func byStrongest(gamma dataset.Matrix[float32]) []int {
	order := make([]int, gamma.Rows)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		ka, kb := strongest(gamma.Row(a)), strongest(gamma.Row(b))
		return cmp.Or(cmp.Compare(ka, kb), cmp.Compare(gamma.Row(b)[kb], gamma.Row(a)[ka]))
	})
	return order
}

// strongest returns the group with the largest share of an attribute.
func strongest(row []float32) int {
	top := 0
	for k, v := range row {
		if v > row[top] {
			top = k
		}
	}
	return top
}

// confusionSection shows which unseen classes the best model confuses.
func confusionSection(f *folder, d *datasetRuns) Section {
	s := Section{
		Name: "confusion", Title: "Confusion between unseen classes",
		Text: "The share of the samples of the row's class that was predicted as the column's class, over all seeds of the " +
			"configuration with the best validation accuracy.",
	}
	c, ok := best(d.choices(), func(c choice) bool { return c.test != nil })
	shown, classes := c.test, "test"
	if !ok {
		c, _ = best(d.choices(), func(choice) bool { return true })
		shown, classes = c.dev, "val"
		s.Notes = []string{"The best configurations have no runs of the test stage. The figure shows the val classes, which are unseen in the dev stage."}
		s.Commands = []string{f.command(d, "run --stage full --variant", string(c.variant), shown.flags())}
	}
	caption := fmt.Sprintf("%s, %s: confusion between the %d %s classes, in percent of the row's samples.",
		shown.label, countSeeds(shown), shown.Classes, classes)
	s.Figures = []Figure{f.figure(d, "confusion", caption, confusionPicture(shown))}
	return s
}

func confusionPicture(c *configuration) *plot.Heat {
	classes := c.runs[0].Result.Evaluation.Classes
	p := &plot.Heat{
		Rows: classes, Cols: classes, RowTitle: "true class", ColTitle: "predicted class",
		Unit: "samples of the class (%)", Percent: true,
	}
	for z := range classes {
		row := make([]float64, len(classes))
		var samples float64
		for _, r := range c.runs {
			for k, n := range r.Result.Evaluation.Confusion[z] {
				row[k] += float64(n)
				samples += float64(n)
			}
		}
		for k := range row {
			if samples > 0 {
				row[k] /= samples
			}
		}
		p.Values = append(p.Values, row)
	}
	return p
}

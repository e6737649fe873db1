package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
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
		s.todo(string(model.KSoft), f.command(d, "run --variant", string(model.KSoft), sharedFlags(d.choices())))
		return s
	}
	run := c.shown().runs[0] // of the test stage: its accuracy must not choose the seed
	if c.dev != nil {
		run = slices.MaxFunc(c.dev.runs, func(a, b lab.Run) int {
			return cmp.Compare(a.Result.Evaluation.PerClass, b.Result.Evaluation.PerClass)
		})
	}
	p, err := gammaPicture(run.Dir)
	if err != nil {
		s.Notes = []string{err.Error()}
		return s
	}
	s.Figures = []Figure{f.figure(d, "groups", fmt.Sprintf("Gamma of %s, seed %d (%s).", c.shown().label, run.Training.Seed, run.Dir), p)}
	return s
}

// gammaPicture orders attributes by their strongest group and, within one, by their share.
func gammaPicture(dir string) (*plot.Heat, error) {
	m, err := train.Load(filepath.Join(dir, train.ModelFile))
	if err != nil {
		return nil, err
	}
	l, err := m.LAGO("groups")
	if err != nil {
		return nil, err
	}
	gamma := l.Params.Groups(l.Config.Zeta)
	p := &plot.Heat{
		RowTitle: "attribute", ColTitle: "group", Unit: "share of the attribute", Cols: groupNames(l.Config.Variant, m.Groups, gamma.Cols),
	}
	strongest := func(a int) int { return metrics.Argmax(gamma.Row(a)) }
	order := make([]int, gamma.Rows)
	for a := range order {
		order[a] = a
	}
	slices.SortStableFunc(order, func(a, b int) int {
		k := strongest(a)
		return cmp.Or(cmp.Compare(k, strongest(b)), cmp.Compare(gamma.Row(b)[k], gamma.Row(a)[k]))
	})
	for i, a := range order {
		p.Rows = append(p.Rows, m.Attributes[a])
		row := make([]float64, gamma.Cols)
		for k, v := range gamma.Row(a) {
			row[k] = float64(v)
		}
		p.Values = append(p.Values, row)
		if k := strongest(a); i == 0 || k != strongest(order[i-1]) {
			p.Blocks = append(p.Blocks, plot.Block{Row: i, Name: p.Cols[k]})
		}
	}
	return p, nil
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
		s.Notes = []string{"The best configuration has no runs of the test stage. The figure shows the val classes, which are unseen in the dev stage."}
		s.todo("test stage of "+shown.label, f.command(d, "run --variant", string(c.variant), shown.flags()))
	}
	caption := fmt.Sprintf("%s, %s: confusion between the %d %s classes, in percent of the row's samples.",
		shown.label, format.Count(shown.seeds(), "seed"), shown.Classes, classes)
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

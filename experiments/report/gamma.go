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

// gamma shows the groups that the best soft model learned.
func gamma(r *Runs, d *Dataset) Section {
	s := Section{
		Name: "groups", Title: "Learned groups",
		Text: "Gamma, the share of each attribute that each group has, of the soft model with the best accuracy on the val " +
			"classes. Rows sum to 1; attributes are sorted by their strongest group.",
	}
	t, ok := d.bestSoft()
	if !ok {
		s.Notes = []string{"No trials of a variant that learns its groups."}
		s.Command = r.command(d, "run --variant k-soft")
		return s
	}
	saved, err := train.Load(filepath.Join(t.Dir, train.ModelFile))
	if err != nil {
		s.Notes = []string{err.Error()}
		return s
	}
	lago, err := saved.LAGO("groups")
	if err != nil {
		s.Notes = []string{err.Error()}
		return s
	}
	caption := fmt.Sprintf("Gamma of %s, seed %d (%s).", t.Model.Variant, t.Training.Seed, t.Dir)
	s.Figures = []Figure{r.figure(d, "groups", caption, gammaPicture(lago, saved))}
	return s
}

// bestSoft is the trial with the best val accuracy among those that learn groups,
// or the first of the test stage where none has one.
func (d *Dataset) bestSoft() (t lab.Run, ok bool) {
	c, ok := best(d.choices(), func(c choice) bool { return c.Variant.Learned() })
	if !ok {
		return t, false
	}
	if c.Dev == nil {
		return c.Test.Trials[0], true
	}
	return slices.MaxFunc(c.Dev.Trials, func(a, b lab.Run) int {
		return cmp.Compare(a.Result.Evaluation.PerClass, b.Result.Evaluation.PerClass)
	}), true
}

func gammaPicture(l *model.LAGO, m *train.Saved) *plot.Heat {
	g := l.Params.Groups(l.Config.Zeta)
	p := &plot.Heat{
		RowTitle: "attribute", ColTitle: "group", Unit: "share of the attribute", Cols: groupNames(l.Config.Variant, m.Groups, g.Cols),
	}
	order := byStrongest(g)
	for i, a := range order {
		p.Rows = append(p.Rows, m.Attributes[a])
		row := make([]float64, g.Cols)
		for k, v := range g.Row(a) {
			row[k] = float64(v)
		}
		p.Values = append(p.Values, row)
		if k := strongest(g.Row(a)); i == 0 || k != strongest(g.Row(order[i-1])) {
			p.Blocks = append(p.Blocks, plot.Block{Row: i, Name: p.Cols[k]})
		}
	}
	return p
}

// groupNames are those of the data set for semantic-soft, which starts from them,
// and numbers for k-soft.
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

// byStrongest orders attributes by their strongest group and, within one, by how
// much of them it has.
func byStrongest(g dataset.Matrix[float32]) []int {
	order := make([]int, g.Rows)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		ka, kb := strongest(g.Row(a)), strongest(g.Row(b))
		return cmp.Or(cmp.Compare(ka, kb), cmp.Compare(g.Row(b)[kb], g.Row(a)[ka]))
	})
	return order
}

// strongest is the group that has the most of an attribute.
func strongest(row []float32) int {
	top := 0
	for k, v := range row {
		if v > row[top] {
			top = k
		}
	}
	return top
}

package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// sweep shows val accuracy against K, as figure 2 of the paper does.
func sweep(r *Runs, d *Dataset) Section {
	s := Section{
		Name: "sweep", Title: "Number of groups",
		Text: "Accuracy of k-soft on the val classes against its number of groups K, with the best configurations here of " +
			"singletons and semantic-hard as lines. Error bars and bands are one standard error over seeds.",
	}
	byK := d.byK()
	if len(byK) < 2 {
		s.Notes = []string{"No trials of k-soft that differ in K alone."}
		s.Command = r.command(d, "sweep-k")
		return s
	}
	s.Table = &Table{Header: []string{"K", "val (%)", "seeds"}}
	line := plot.Series{Name: string(model.KSoft), Look: lookOf(string(model.KSoft)), Measured: true}
	for _, c := range byK {
		k := c.Trial().Model.K
		line.Points = append(line.Points, point(float64(k), c.PerClass))
		s.Table.Rows = append(s.Table.Rows, []string{fmt.Sprint(k), plusMinus(c.PerClass), fmt.Sprint(len(c.Trials))})
	}
	p := &plot.Lines{X: "number of groups K", Y: "val " + accuracyAxis, Width: 520, Height: 260, Series: []plot.Series{line}}
	first, last := line.Points[0].X, line.Points[len(line.Points)-1].X
	for _, c := range d.choices() {
		if c.Dev == nil || c.Variant != model.Singletons && c.Variant != model.SemanticHard {
			continue
		}
		p.Series = append(p.Series, plot.Series{
			Name: string(c.Variant), Look: lookOf(string(c.Variant)),
			Points: []plot.Point{point(first, c.Dev.PerClass), point(last, c.Dev.PerClass)},
		})
		s.Table.Rows = append(s.Table.Rows, []string{string(c.Variant), plusMinus(c.Dev.PerClass), fmt.Sprint(len(c.Dev.Trials))})
	}
	s.Figures = []Figure{r.figure(d, "sweep-k", "Val accuracy against the number of groups K.", p)}
	return s
}

// point shows a summary in percent, with its standard error as spread.
func point(x float64, s lab.Summary) plot.Point {
	return plot.Point{X: x, Y: 100 * s.Mean, Low: 100 * (s.Mean - s.SEM), High: 100 * (s.Mean + s.SEM)}
}

// byK returns the configurations of k-soft that differ in K alone, by K. Of several
// such families it is the one with the most K and, of those, the one that holds the
// best configuration.
func (d *Dataset) byK() []*Configuration {
	families := map[train.Trial][]*Configuration{}
	var most []*Configuration
	for _, c := range d.Dev {
		if c.Variant() == model.KSoft {
			families[family(c)] = append(families[family(c)], c)
		}
	}
	for _, c := range d.Dev { // the best first
		if f := families[family(c)]; len(f) > len(most) {
			most = f
		}
	}
	return slices.SortedFunc(slices.Values(most), func(a, b *Configuration) int {
		return cmp.Compare(a.Trial().Model.K, b.Trial().Model.K)
	})
}

// family is what configurations that differ in K alone have in common.
func family(c *Configuration) train.Trial {
	t := c.Trial()
	t.Model.K, t.Training.Seed = 0, 0
	return t
}

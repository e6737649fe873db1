package report

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/internal/format"
)

// confusionSection shows which unseen classes the best model confuses.
func confusionSection(f *folder, d *datasetRuns) Section {
	s := Section{
		Name: "confusion", Title: "Confusion between unseen classes",
		Text: "The share of the samples of the row's class that was predicted as the column's class, over all seeds of the " +
			"configuration with the best validation accuracy among those evaluated on the test classes.",
	}
	c, ok := best(d.choices(), func(c choice) bool { return c.test != nil })
	shown := c.test
	if !ok {
		c, _ = best(d.choices(), func(choice) bool { return true })
		shown = c.dev
		s.Notes = []string{"The best configuration has no runs of the test stage. The figure shows the val classes, which are unseen in the dev stage."}
		s.todo("test stage of "+shown.label, f.command(d, "run --variant", string(c.variant), shown.flags()))
	}
	caption := fmt.Sprintf("%s; %s, %s. Each cell is a percentage of the samples of the true class; classes that are often confused are neighbours.",
		shown.label, shown.classesOf(), format.Count(shown.seeds(), "seed"))
	s.Figures = []Figure{f.figure(d, "confusion", "Confusion of unseen classes", caption, confusionPicture(shown))}
	return s
}

// confusionPicture draws the mean over seeds.
func confusionPicture(c *configuration) *plot.Heat {
	classes := c.runs[0].Result.Evaluation.Classes
	shares := make([][]float64, len(classes))
	for z := range classes {
		shares[z] = make([]float64, len(classes))
		for _, r := range c.runs {
			for k, n := range r.Result.Evaluation.Confusion[z] {
				shares[z][k] += float64(n)
			}
		}
		if samples := floats.Sum(shares[z]); samples > 0 {
			floats.Scale(1/samples, shares[z])
		}
	}
	p := &plot.Heat{RowTitle: "true class", ColTitle: "predicted class", Unit: "samples of the true class (%)", Percent: true}
	order := clustered(shares)
	for _, z := range order {
		p.Rows = append(p.Rows, format.ClassName(classes[z]))
		p.Values = append(p.Values, permuted(shares[z], order))
	}
	p.Cols = p.Rows
	return p
}

// clustered returns an order in which classes that are often confused are neighbours: that
// of the leaves of a hierarchical clustering by the mean confusion between clusters.
func clustered(confusion [][]float64) []int {
	n := len(confusion)
	clusters := make([][]int, n)
	near := make([][]float64, n) // mean confusion of two clusters, in both directions
	for i := range n {
		clusters[i] = []int{i}
		near[i] = make([]float64, n)
		for k := range n {
			near[i][k] = confusion[i][k] + confusion[k][i]
		}
	}
	for range n - 1 {
		a, b := -1, -1
		for i := range n {
			for k := range i {
				if clusters[i] != nil && clusters[k] != nil && (a < 0 || near[k][i] > near[a][b]) {
					a, b = k, i
				}
			}
		}
		sizeA, sizeB := float64(len(clusters[a])), float64(len(clusters[b]))
		for k := range n {
			near[a][k] = (sizeA*near[a][k] + sizeB*near[b][k]) / (sizeA + sizeB)
			near[k][a] = near[a][k]
		}
		clusters[a], clusters[b] = append(clusters[a], clusters[b]...), nil
	}
	return clusters[0]
}

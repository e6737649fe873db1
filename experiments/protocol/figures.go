package protocol

import (
	"fmt"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/train"
)

// Figures are the learning curves of the dev stage, and which unseen classes are confused.
// dir holds the runs.
func (r *Result) Figures(dir string) ([]plot.Figure, error) {
	var curves []train.Curve
	byStage := map[train.Stage][]lab.Run{}
	for _, d := range r.RunDirs {
		run, _, err := lab.ReadRun(filepath.Join(dir, filepath.Base(d)))
		if err != nil {
			return nil, err
		}
		if run.Err != nil {
			return nil, fmt.Errorf("%s: %w", run.Dir, run.Err)
		}
		byStage[run.Stage] = append(byStage[run.Stage], run)
		if run.Stage == train.Dev {
			curve, err := run.Curve()
			if err != nil {
				return nil, err
			}
			curves = append(curves, curve)
		}
	}
	var figures []plot.Figure
	seeds := format.Count(r.Seeds, "seed")
	if r.Val != nil && len(curves) > 0 {
		figures = append(figures, plot.Figure{
			Name: "curve", Title: "Learning curves, " + r.Variant, Picture: r.curves(curves),
			Caption: fmt.Sprintf("%s; lines are means over %s, bands from the lowest to the highest seed; the mark is the best epoch of the mean, the number of epochs of the test stage. "+
				"Accuracy at the best epoch of each seed: %s.", engine.ClassesText(r.Val, "validation"), seeds, r.Val.PerClass.PlusMinus()),
		})
	}
	stage, runs, m := "test", byStage[train.Test], r.Test
	if len(runs) == 0 {
		stage, runs, m = "validation", byStage[train.Dev], r.Val
	}
	if len(runs) > 0 && m != nil {
		figures = append(figures, plot.Figure{
			Name: "confusion", Title: "Confusion of unseen classes, " + r.Variant, Picture: confusion(runs),
			Caption: fmt.Sprintf("%s, %s. Each cell is a percentage of the samples of the true class; classes that are often confused are neighbours.",
				engine.ClassesText(m, stage), seeds),
		})
	}
	return figures, nil
}

// curves draws train and validation accuracy.
func (r *Result) curves(curves []train.Curve) *plot.Lines {
	look := plot.Look{Method: r.Variant}
	val := plot.Series{
		Name: "val", Look: look, Points: averaged(curves, func(e train.Epoch) float64 { return *e.ValAccuracy }),
		Stop: float64(engine.BestEpoch(curves)),
	}
	look.Condition = plot.Dashed
	seen := plot.Series{Name: "train", Look: look, Points: averaged(curves, func(e train.Epoch) float64 { return e.TrainAccuracy })}
	return &plot.Lines{X: "epoch", Y: engine.AccuracyAxis, FromZero: true, Chance: 100 * r.Val.Chance(), Series: []plot.Series{seen, val}}
}

// averaged returns mean, lowest and highest of curves, in percent, over the epochs that
// all of them have.
func averaged(curves []train.Curve, value func(train.Epoch) float64) []plot.Point {
	shortest := slices.MinFunc(curves, func(a, b train.Curve) int { return len(a) - len(b) })
	points := make([]plot.Point, len(shortest))
	for e := range points {
		values := make([]float64, len(curves))
		for i, c := range curves {
			values[i] = 100 * value(c[e])
		}
		points[e] = plot.Point{
			X: float64(e + 1), Y: lab.Summarise(values).Mean, Low: slices.Min(values), High: slices.Max(values),
		}
	}
	return points
}

// confusion draws the mean over seeds.
func confusion(runs []lab.Run) *plot.Heat {
	classes := runs[0].Result.Evaluation.Classes
	shares := make([][]float64, len(classes))
	for z := range classes {
		shares[z] = make([]float64, len(classes))
		for _, r := range runs {
			for k, n := range r.Result.Evaluation.Confusion[z] {
				shares[z][k] += float64(n)
			}
		}
		if samples := floats.Sum(shares[z]); samples > 0 {
			floats.Scale(1/samples, shares[z])
		}
	}
	p := &plot.Heat{RowTitle: "true class", ColTitle: "predicted class", Unit: "share of the class (%)"}
	order := clustered(shares)
	for _, z := range order {
		p.Rows = append(p.Rows, format.ClassName(classes[z]))
		row := make([]float64, len(order))
		for i, k := range order {
			row[i] = shares[z][k]
		}
		p.Values = append(p.Values, row)
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

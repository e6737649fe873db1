package report

import (
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/train"
)

// curves shows how each configuration learned in the dev stage.
func curves(r *Runs, d *Dataset) Section {
	s := Section{
		Name: "curves", Title: "Learning curves",
		Text: "Lines are means over seeds, bands reach from the lowest to the highest seed, over the epochs that all " +
			"seeds ran. The mark is where the mean on the val classes is highest, the epoch up to which train and val " +
			"classes are then trained on together. The number below a picture is the mean over seeds of the best epoch of each.",
	}
	if len(d.Dev) == 0 {
		s.Notes = []string{"No trials of the dev stage."}
		s.Command = r.command(d, "run --stage dev")
		return s
	}
	s.Figures = append(s.Figures, r.figure(d, "curves",
		"Val accuracy of the best configuration of each variant.", curvesOfVariants(d.choices())))
	for i, c := range d.Dev {
		s.Figures = append(s.Figures, r.figure(d, fmt.Sprintf("curve-%02d-%s", i+1, c.Variant()),
			fmt.Sprintf("%s (%s): %s %% on the val classes.", c.Label, count(len(c.Trials), "seed"), plusMinus(c.PerClass)),
			curvesOf(c)))
	}
	return s
}

// stop is the epoch at which the average curve is best.
func (c *Configuration) stop() int { return protocol.BestEpoch(c.Curves) }

// curvesOfVariants draws the val accuracy of several configurations.
func curvesOfVariants(choices []choice) *plot.Lines {
	p := &plot.Lines{X: "epoch", Y: "val " + accuracyAxis, Width: 520, Height: 260, FromZero: true}
	for _, c := range choices {
		if c.Dev != nil {
			p.Series = append(p.Series, plot.Series{
				Name: fmt.Sprintf("%s, epoch %d", c.Variant, c.Dev.stop()), Look: lookOf(string(c.Variant)),
				Points: spread(c.Dev.Curves, valAccuracy), Stop: float64(c.Dev.stop()),
			})
		}
	}
	return p
}

// curvesOf draws the accuracy of one configuration.
func curvesOf(c *Configuration) *plot.Lines {
	return &plot.Lines{
		X: "epoch", Y: accuracyAxis, Width: 330, Height: 190, FromZero: true,
		Series: []plot.Series{
			{Name: "train", Look: 1, Points: spread(c.Curves, trainAccuracy)},
			{Name: fmt.Sprintf("val, epoch %d", c.stop()), Look: 0, Points: spread(c.Curves, valAccuracy), Stop: float64(c.stop())},
		},
	}
}

func trainAccuracy(e train.Epoch) float64 { return e.TrainAccuracy }

// valAccuracy is of a curve of the dev stage.
func valAccuracy(e train.Epoch) float64 { return *e.ValAccuracy }

// spread returns mean, lowest and highest over curves, in percent, of the epochs
// that all of them have.
func spread(curves []train.Curve, of func(train.Epoch) float64) []plot.Point {
	shortest := len(curves[0])
	for _, c := range curves {
		shortest = min(shortest, len(c))
	}
	points := make([]plot.Point, shortest)
	for e := range points {
		values := make([]float64, len(curves))
		for i, c := range curves {
			values[i] = 100 * of(c[e])
		}
		points[e] = plot.Point{
			X: float64(e + 1), Y: lab.Summarise(values).Mean, Low: slices.Min(values), High: slices.Max(values),
		}
	}
	return points
}

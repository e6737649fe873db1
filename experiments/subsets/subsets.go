// Package subsets measures accuracy on the test classes when a data set has less: fewer seen
// classes, samples of each, attributes, groups, or described entries of each class.
package subsets

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/metrics"
)

// Config says which subsets are drawn.
type Config struct {
	Base  engine.Config `json:"base"`
	Of    Axis          `json:"of"`
	Sizes []int         `json:"sizes"` // empty for 10, 20, 40, 60 and 100 % of all
	Draws int           `json:"draws"`
}

// Kind is the first word of the names of stored results, and of figures.
func Kind(of Axis) string { return "subsets-" + string(of) }

// Result is the accuracy on the test classes against the size of a subset of the data.
type Result struct {
	Dataset string        `json:"dataset"`
	Variant model.Variant `json:"variant"`
	Of      Axis          `json:"of"`
	Classes int           `json:"classes"` // test classes
	Parts   int           `json:"parts"`   // 1, or the parts of a rotation over classes
	Seeds   int           `json:"seeds"`
	Points  []Point       `json:"points"` // sizes ascending; the last is all
	Missing []lab.Missing `json:"missing"`
}

// Point is the accuracy with subsets of one size.
type Point struct {
	Size     int              `json:"size"`
	Accuracy lab.Summary      `json:"test_per_class_accuracy"` // over draws, each a mean over seeds
	Interval metrics.Interval `json:"interval"`                // over classes, whose accuracies are means over draws and seeds
	// Difference is that of this size minus the largest one; null for the latter.
	Difference *metrics.Difference `json:"difference"`
}

// Run trains a method by the full protocol on subsets, which are drawn Draws times for each size
// and each part of the classes, and stores the result.
func Run(ctx context.Context, l *lab.Lab, c Config) (*Result, error) {
	sizes, err := c.sizes(l)
	if err != nil {
		return nil, err
	}
	base := c.Base.On(l.Data)
	r := &Result{Dataset: base.DataName(), Variant: base.Method.Variant(), Of: c.Of, Parts: len(l.Parts), Seeds: base.Seeds}
	var byClass [][]float64
	all := sizes[len(sizes)-1]
	for _, n := range sizes {
		l.Step("%d %s", n, c.Of.Words())
		in, draws, start := *l, c.Draws, base
		start.HoldOut = base.HoldOut || c.Of == Samples && n < all // samples left out are held out
		if n == all {
			draws = 1
		}
		in.Parts = nil
		for i := range draws * len(l.Parts) {
			part := l.Parts[i%len(l.Parts)]
			if n < all {
				part = l.ViewOf(c.Of.subset(part.Data, n, uint64(i)))
			}
			in.Parts = append(in.Parts, part)
		}
		done, err := engine.Run(ctx, &in, engine.Plan{Arms: []engine.Arm{{Starts: []engine.Config{start}}}, Stage: engine.DevThenTest})
		if err != nil {
			return nil, err
		}
		r.Missing = append(r.Missing, done.Missing...)
		var runs []lab.Run
		var accuracies []float64
		for draw := range slices.Chunk(done.Arms[0], len(l.Parts)) {
			var tested []lab.Run
			for _, o := range draw {
				tested = append(tested, o.Test...)
			}
			if len(tested) == len(draw)*base.Seeds { // otherwise Missing says why
				runs, accuracies = append(runs, tested...), append(accuracies, engine.Measure(tested).PerClass.Mean)
			}
		}
		if runs != nil {
			m := engine.Measure(runs)
			r.Classes, byClass = len(m.ByClass), append(byClass, m.ByClass)
			r.Points = append(r.Points, Point{Size: n, Accuracy: lab.Summarise(accuracies), Interval: m.Interval})
		}
	}
	if last := len(r.Points) - 1; last >= 0 && r.Points[last].Size == all {
		for i := range r.Points[:last] {
			d := metrics.PairedDifference(byClass[i], byClass[last])
			r.Points[i].Difference = &d
		}
	}
	return r, l.Store(Kind(c.Of), c, r)
}

// sizes returns the sizes to try, ascending, and that of all as the last.
func (c Config) sizes(l *lab.Lab) ([]int, error) {
	least, most := c.Of.least(), math.MaxInt
	for _, p := range l.Parts {
		most = min(most, c.Of.size(p.Data))
	}
	if most == 0 {
		return nil, &invalid.Error{Field: "of", Want: "something that the data set has", Got: string(c.Of)}
	}
	sizes := slices.Clone(c.Sizes)
	if len(sizes) == 0 {
		for _, share := range []float64{0.1, 0.2, 0.4, 0.6} {
			sizes = append(sizes, max(least, int(math.Round(share*float64(most)))))
		}
	}
	sizes = slices.Compact(slices.Sorted(slices.Values(append(sizes, most))))
	if sizes[0] < least || sizes[len(sizes)-1] > most {
		return nil, &invalid.Error{
			Field: "sizes", Want: fmt.Sprintf("numbers of %s from %d to %d", c.Of.Words(), least, most), Got: strings.Trim(fmt.Sprint(c.Sizes), "[]"),
		}
	}
	return sizes, nil
}

// Tables has a row for each size.
func (r *Result) Tables() []*table.Table {
	t := table.New(fmt.Sprintf("%s on %s: per-class accuracy by number of %s, %s, %s%s", r.Variant, r.Dataset, r.Of.Words(),
		format.Count(r.Classes, "test class"), format.Count(r.Seeds, "seed"), engine.InParts("unseen", r.Parts)),
		string(r.Of), "accuracy", "95 % over classes", "minus that of all", "s.e.m. over draws", "draws").Right(2, 4, 5)
	for _, p := range r.Points {
		difference := "-"
		if d := p.Difference; d != nil {
			difference = fmt.Sprintf("%s (%s)", format.Points(d.Mean), d.Interval)
		}
		t.Row(p.Size, p.Accuracy.MeanText(), p.Interval, difference, p.Accuracy.SEMText(), len(p.Accuracy.Values))
	}
	t.Note("random subsets, each contained in the larger ones of its draw; chance %s", format.Percent(r.chance()))
	return []*table.Table{t, lab.MissingTable(r.Missing)}
}

func (r *Result) chance() float64 { return float64(r.Parts) / float64(r.Classes) }

// Figures are the accuracies against the size.
func (r *Result) Figures(string) ([]plot.Figure, error) {
	line := plot.Series{Name: string(r.Variant), Look: plot.Look{Method: string(r.Variant)}, Measured: true}
	most := 0
	for _, p := range r.Points {
		line.Points = append(line.Points, plot.Point{X: float64(p.Size), Y: 100 * p.Accuracy.Mean, Low: 100 * p.Interval.Low, High: 100 * p.Interval.High})
		most = max(most, len(p.Accuracy.Values))
	}
	return []plot.Figure{{
		Name: Kind(r.Of), Title: "Accuracy by number of " + r.Of.Words(),
		Picture: &plot.Lines{X: "number of " + r.Of.Words(), Y: engine.AccuracyAxis, Series: []plot.Series{line}, FromZero: true, Chance: 100 * r.chance()},
		Caption: fmt.Sprintf("%s (chance %s); mean over %s and %s; bars are 95 %% bootstrap intervals over classes.", format.Count(r.Classes, "test class"),
			format.Percent(r.chance()), format.Count(most, "nested random draw"), format.Count(r.Seeds, "seed")),
	}}, nil
}

// Check returns an *invalid.Error if a result, as read from a file, is incomplete.
func (r *Result) Check() error { return lab.NotEmpty("points", len(r.Points)) }

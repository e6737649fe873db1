package robustness

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/table"
)

// Tables have one row per degree: accuracy and, with noise, relative accuracy.
func (r *Result) Tables() []*table.Table {
	if r.Given == "" {
		return []*table.Table{
			table.New(fmt.Sprintf("%s: test accuracy with salt and pepper noise in the descriptions, over %s of the noise", r.Dataset, format.Count(r.NoiseSeeds, "seed"))),
			r.table("relative to the same model without noise: mean ± s.e.m. over noise seeds", "noise", func(m Method, i int) string {
				return fmt.Sprintf("%s ± %s", m.Relative[i].MeanText(), errorText(m.Relative[i]))
			}),
			r.accuracyTable("per-class accuracy: mean ± s.e.m. over noise seeds / over training seeds", "noise", 0, "no noise"),
			lab.MissingTable(r.Missing),
		}
	}
	which := "random ones"
	if r.Given == Strongest {
		which = "the strongest ones"
	}
	title := fmt.Sprintf("%s: test accuracy with a part of each class's attributes, %s\nmean ± s.e.m. over %s / over training seeds",
		r.Dataset, which, format.Count(r.MaskSeeds, "mask"))
	return []*table.Table{r.accuracyTable(title, "given", 1, "all"), lab.MissingTable(r.Missing)}
}

// table has a row for each degree of distortion and a column for each method.
func (r *Result) table(title, degree string, cell func(m Method, i int) string) *table.Table {
	t := table.New(title, degree)
	for _, m := range r.Methods {
		t.Header = append(t.Header, m.Method)
	}
	_, degrees, _ := r.degrees()
	for i, d := range degrees {
		row := []any{format.Percent(d)}
		for _, m := range r.Methods {
			row = append(row, cell(m, i))
		}
		t.Row(row...)
	}
	return t
}

// accuracyTable has the mean with its s.e.m. over distortions and over seeds, and, below a line, that
// with the given descriptions unless undistorted is one of the degrees.
func (r *Result) accuracyTable(title, degree string, undistorted float64, given string) *table.Table {
	t := r.table(title, degree, func(m Method, i int) string {
		return fmt.Sprintf("%s ± %s / %s", m.Accuracy[i].MeanText(), errorText(m.Accuracy[i]), errorText(m.BySeed[i]))
	})
	if _, degrees, _ := r.degrees(); slices.Contains(degrees, undistorted) {
		return t
	}
	row := []any{given}
	for _, m := range r.Methods {
		row = append(row, fmt.Sprintf("%s ± - / %s", m.Start.MeanText(), errorText(m.Start)))
	}
	return t.Line().Row(row...)
}

// errorText is the s.e.m. in percent without the sign.
func errorText(s lab.Summary) string { return strings.TrimSuffix(s.SEMText(), " %") }

// Figures are the accuracy relative to that without noise, as figure A.1 of the paper, or the
// accuracy against the share of given attributes.
func (r *Result) Figures(string) ([]plot.Figure, error) {
	f := plot.Figure{Name: r.kind()}
	classes := format.Count(r.Classes, "test class")
	if r.Given == "" {
		low, high := math.Inf(1), math.Inf(-1)
		for _, m := range r.Methods {
			low, high = min(low, m.Start.Mean), max(high, m.Start.Mean)
		}
		f.Title = "Accuracy with noisy descriptions"
		f.Caption = fmt.Sprintf("%s; 100 %% is %s to %s accuracy; bars are one standard error over %s.",
			classes, format.Percent(low), format.Percent(high), format.Count(r.NoiseSeeds, "noise seed"))
		f.Picture = r.lines("share of entries replaced by 0 or 1 (%)", "accuracy (% of that without noise)", func(m Method) []lab.Summary { return m.Relative })
		return []plot.Figure{f}, nil
	}
	how, bars := "attributes given at random", format.Count(r.MaskSeeds, "random choice")+" of attributes"
	if r.Given == Strongest {
		how, bars = "strongest attributes first", format.Count(r.MaskSeeds, "random order")+" of equally strong attributes"
	}
	p := r.lines("share of attributes given (%)", engine.AccuracyAxis, func(m Method) []lab.Summary { return m.Accuracy })
	if r.Classes > 0 {
		p.Chance = 100 / float64(r.Classes)
	}
	f.Picture, f.Title = p, "Accuracy with partial descriptions, "+how
	f.Caption = fmt.Sprintf("%s; bars are one standard error over %s.", classes, bars)
	return []plot.Figure{f}, nil
}

// lines draws a line for each method.
func (r *Result) lines(x, y string, of func(Method) []lab.Summary) *plot.Lines {
	p := &plot.Lines{X: x, Y: y, FromZero: true}
	_, degrees, _ := r.degrees()
	for _, m := range r.Methods {
		name, _, inferred := strings.Cut(m.Method, ", ")
		line := plot.Series{Name: m.Method, Look: plot.Look{Method: name}, Measured: true}
		if inferred {
			line.Look.Condition = plot.Dashed
		}
		for j, degree := range degrees {
			line.Points = append(line.Points, engine.Point(100*degree, of(m)[j]))
		}
		slices.SortStableFunc(line.Points, func(a, b plot.Point) int { return cmp.Compare(a.X, b.X) })
		p.Series = append(p.Series, line)
	}
	return p
}

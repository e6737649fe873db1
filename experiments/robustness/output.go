package robustness

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/results"
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
			results.MissingTable(r.Missing),
		}
	}
	which := "random ones"
	if r.Given == Strongest {
		which = "the strongest ones"
	}
	title := fmt.Sprintf("%s: test accuracy with a part of each class's attributes, %s\nmean ± s.e.m. over %s / over training seeds",
		r.Dataset, which, format.Count(r.MaskSeeds, "mask"))
	return []*table.Table{r.accuracyTable(title, "given", 1, "all"), results.MissingTable(r.Missing)}
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

// Figures are the accuracy against the share of noisy entries, as figure A.1 of the paper, or of
// given attributes.
func (r *Result) Figures(string) ([]plot.Figure, error) {
	f := plot.Figure{Name: r.kind(), Title: "Accuracy with noisy descriptions"}
	x, seeds := "share of entries replaced by 0 or 1 (%)", format.Count(r.NoiseSeeds, "noise seed")
	if r.Given != "" {
		f.Title, x = "Accuracy with partial descriptions, attributes given at random", "share of attributes given (%)"
		seeds = format.Count(r.MaskSeeds, "random choice") + " of attributes"
	}
	if r.Given == Strongest {
		f.Title, seeds = "Accuracy with partial descriptions, strongest attributes first", format.Count(r.MaskSeeds, "random order")+" of equally strong attributes"
	}
	f.Picture = r.lines(x)
	f.Caption = fmt.Sprintf("%s, mean over %s; %s.", format.Count(r.Classes, "test class"), seeds, results.IntervalText)
	return []plot.Figure{f}, nil
}

// lines draws a line for each method.
func (r *Result) lines(x string) *plot.Lines {
	p := &plot.Lines{X: x, Y: results.AccuracyAxis, Percent: true, Chance: results.Chance(1, r.Classes)}
	_, degrees, _ := r.degrees()
	for _, m := range r.Methods {
		name, _, inferred := strings.Cut(m.Method, ", ")
		line := plot.Series{Name: m.Method, Look: plot.Look{Method: name}, Measured: true}
		if inferred {
			line.Look.Condition = plot.Dashed
		}
		for j, degree := range degrees {
			line.Points = append(line.Points, results.Point(100*degree, m.Accuracy[j].Mean, m.Intervals[j]))
		}
		slices.SortStableFunc(line.Points, func(a, b plot.Point) int { return cmp.Compare(a.X, b.X) })
		p.Series = append(p.Series, line)
	}
	return p
}

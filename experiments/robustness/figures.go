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
)

// Figures are the accuracy relative to that without noise, as figure A.1 of the paper.
func (r *NoiseResult) Figures(string) ([]plot.Figure, error) {
	p := lines("share of entries replaced by 0 or 1 (%)", "accuracy (% of that without noise)", r.Ratios, r.Methods, func(m Method) []lab.Summary { return m.Relative })
	low, high := math.Inf(1), math.Inf(-1)
	for _, m := range r.Methods {
		low, high = min(low, m.Start.Mean), max(high, m.Start.Mean)
	}
	return []plot.Figure{{
		Name: NoiseKind, Title: "Accuracy with noisy descriptions", Picture: p,
		Caption: fmt.Sprintf("%s; 100 %% is %s to %s accuracy; bars are one standard error over %s.",
			format.Count(r.Classes, "test class"), format.Percent(low), format.Percent(high), format.Count(r.NoiseSeeds, "noise seed")),
	}}, nil
}

// Figures are the accuracy against the share of given attributes.
func (r *PartialResult) Figures(string) ([]plot.Figure, error) {
	name, how, bars := PartialKind, "attributes given at random", format.Count(r.MaskSeeds, "random choice")+" of attributes"
	if r.Given == Strongest {
		name, how, bars = StrongestKind, "strongest attributes first", format.Count(r.MaskSeeds, "random order")+" of equally strong attributes"
	}
	p := lines("share of attributes given (%)", engine.AccuracyAxis, r.Shares, r.Methods, func(m Method) []lab.Summary { return m.Accuracy })
	if r.Classes > 0 {
		p.Chance = 100 / float64(r.Classes)
	}
	return []plot.Figure{{
		Name: name, Title: "Accuracy with partial descriptions, " + how, Picture: p,
		Caption: fmt.Sprintf("%s; bars are one standard error over %s.", format.Count(r.Classes, "test class"), bars),
	}}, nil
}

// lines draws a line for each method.
func lines(x, y string, degrees []float64, methods []Method, of func(Method) []lab.Summary) *plot.Lines {
	p := &plot.Lines{X: x, Y: y, FromZero: true}
	for _, m := range methods {
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

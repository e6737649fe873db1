package synclassifier

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
)

// Of three classes, the second is right: (1 - 0.5)^2, (1 + 0.2)^2 and nothing of the
// third, which is below its margin; slopes are 2 y times what is violated. All by 3.
func TestOneVersusOther(t *testing.T) {
	scores := []float64{0.2, 0.5, -1.5}
	loss := oneVersusOther(scores, 1)
	baselinetest.Near(t, "loss", 1e-12, []float64{loss}, []float64{(1.44 + 0.25) / 3})
	baselinetest.Near(t, "gradient", 1e-12, scores, []float64{2.4 / 3, -1. / 3, 0})
	one, slope := squaredHinge(0.5, true, 3)
	baselinetest.Near(t, "of the class", 1e-12, []float64{one, slope}, []float64{0.25 / 3, -1. / 3})
}

// Samples at which the smooth hinge can be told by hand, with gamma = 0.1 and margins of
// 1.
func TestHinge(t *testing.T) {
	for name, c := range map[string]struct {
		scores   []float64
		loss     float64
		gradient []float64
	}{
		// Violations of 0, -1 and -0.1: just ahead by margin and gamma.
		"ahead": {[]float64{2, 0, 0.9}, 0, []float64{0, 0, 0}},
		// Violations of 0, 1.5 and 0.5: one is worse than the others by more than gamma.
		"one is worst": {[]float64{0, 0.5, -0.5}, 1.5, []float64{-1, 1, 0}},
		// Violations of 0, 1 and 1, so p = (0, 1/2, 1/2): 1 + gamma/2 (1 - 1/2).
		"two are": {[]float64{0, 0, 0}, 1.025, []float64{-1, 0.5, 0.5}},
		// Violations of 0, 0.04 and -1: p = (0.3, 0.7, 0), as 0.4 apart over gamma:
		// 0.7 x 0.04 + gamma/2 (1 - 0.09 - 0.49).
		"at the hinge": {[]float64{1, 0.04, -1}, 0.028 + 0.021, []float64{-0.7, 0.7, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			gradient := slices.Clone(c.scores)
			loss := hinge(gradient, []float64{0, 1, 1}, 0)
			baselinetest.Near(t, "loss", 1e-12, []float64{loss}, []float64{c.loss})
			baselinetest.Near(t, "gradient", 1e-12, gradient, c.gradient)
		})
	}
}

// The gradient of each loss is what small changes of the scores make of it.
func TestGradientsOfLosses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		classes := rapid.IntRange(1, 6).Draw(t, "classes")
		margins := Config.margins(Config{Loss: rapid.SampledFrom(losses).Draw(t, "loss")}, draw(t, "u", classes, 2))
		y := rapid.IntRange(0, classes-1).Draw(t, "y")
		at := rapid.SliceOfN(rapid.Float64Range(-2, 2), classes, classes).Draw(t, "scores")
		for name, loss := range map[string]func([]float64) float64{
			"one-versus-other": func(s []float64) float64 { return oneVersusOther(s, y) },
			"hinge":            func(s []float64) float64 { return hinge(s, margins.Row(y), y) },
		} {
			gradient := slices.Clone(at)
			loss(gradient)
			const h = 1e-6
			for c := range at {
				above, below := slices.Clone(at), slices.Clone(at)
				above[c] += h
				below[c] -= h
				baselinetest.Near(t, name, 3e-5, gradient[c:c+1], []float64{(loss(above) - loss(below)) / (2 * h)})
			}
		}
	})
}

// The smooth hinge is the hinge or up to gamma/2 above it, and pulls the class up by as
// much as the others down.
func TestHingeIsSmooth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		classes := rapid.IntRange(1, 9).Draw(t, "classes")
		y := rapid.IntRange(0, classes-1).Draw(t, "y")
		value := rapid.OneOf(rapid.Float64Range(-2, 2), rapid.Float64Range(-1e9, 1e9), rapid.SampledFrom([]float64{0, 1, 1.05}))
		scores := rapid.SliceOfN(value, classes, classes).Draw(t, "scores")
		margins := rapid.SliceOfN(rapid.Float64Range(0, 2), classes, classes).Draw(t, "margins")
		margins[y] = 0
		var worst float64
		for c, s := range scores {
			worst = max(worst, margins[c]+s-scores[y])
		}
		gradient := slices.Clone(scores)
		loss := hinge(gradient, margins, y)
		rounding := 1e-9 * (1 + worst)
		if loss < worst-rounding || loss > worst+smoothing/2+rounding {
			t.Fatalf("a loss of %g, the hinge is %g", loss, worst)
		}
		var sum float64
		for c, g := range gradient {
			sum += g
			if c != y && g < 0 || c == y && (g > 0 || g < -1-1e-6) {
				t.Fatalf("gradient %v of class %d", gradient, y)
			}
		}
		baselinetest.Near(t, "sum of the gradient", 1e-6, []float64{sum}, []float64{0})
	})
}

// Descriptions are 5 apart, and 1 and sqrt(20) from the third.
func TestMargins(t *testing.T) {
	classes := baselinetest.Matrix(2, 0, 0, 3, 4, 1, 0)
	for loss, want := range map[Loss]dataset.Matrix[float64]{
		CrammerSinger: baselinetest.Matrix(3, 0, 1, 1, 1, 0, 1, 1, 1, 0),
		Structured:    baselinetest.Matrix(3, 0, 5, 1, 5, 0, math.Sqrt(20), 1, math.Sqrt(20), 0),
	} {
		baselinetest.Near(t, string(loss), 1e-12, Config.margins(Config{Loss: loss}, classes).Data, want.Data)
	}
}

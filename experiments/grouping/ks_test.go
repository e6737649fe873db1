package grouping

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Critical values from tables of the test.
func TestKolmogorovTailAtCriticalValues(t *testing.T) {
	for _, c := range []struct{ l, p float64 }{{1.22385, 0.1}, {1.35810, 0.05}, {1.62762, 0.01}, {1.94947, 0.001}} {
		if got := kolmogorovTail(c.l); math.Abs(got-c.p) > 1e-4*c.p {
			t.Errorf("the tail above %g is %.7f, expected %g", c.l, got, c.p)
		}
	}
}

// Another series of the distribution function converges fast where that of the tail is
// slow: sqrt(2 pi) / l  sum_j exp(-(2j-1)^2 pi^2 / (8 l^2)).
func TestKolmogorovTailAgainstAnotherSeries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.Float64Range(0.05, 3).Draw(t, "l")
		var below float64
		for j := 1.0; j < 50; j++ {
			below += math.Sqrt(2*math.Pi) / l * math.Exp(-(2*j-1)*(2*j-1)*math.Pi*math.Pi/(8*l*l))
		}
		if got := kolmogorovTail(l); math.Abs(got-(1-below)) > 1e-11 {
			t.Fatalf("the tail above %g is %.15f, expected %.15f", l, got, 1-below)
		}
	})
}

func TestKolmogorovSmirnov(t *testing.T) {
	for _, c := range []struct {
		name        string
		x, y        []float64
		distance, p float64
	}{
		{"the same", []float64{3, 1, 2}, []float64{1, 2, 3}, 0, 1},
		// The distribution functions are 1 and 2/5 at 5; sqrt(25/10) 3/5 = 0.9487.
		{"shifted", []float64{5, 4, 3, 2, 1}, []float64{8, 4, 5, 7, 6}, 0.6, 2 * (math.Exp(-1.8) - math.Exp(-7.2) + math.Exp(-16.2))},
		// Nothing in common; sqrt(8/6) = 1.1547.
		{"apart", []float64{1, 2}, []float64{3, 4, 5, 6}, 1, 2 * (math.Exp(-8./3) - math.Exp(-32./3) + math.Exp(-24))},
	} {
		got := kolmogorovSmirnov(c.x, c.y)
		if math.Abs(got.Distance-c.distance) > 1e-12 || math.Abs(got.P-c.p) > 1e-9 {
			t.Errorf("%s: %+v, expected distance %g, p %g", c.name, got, c.distance, c.p)
		}
	}
}

// The distance follows the definition, is symmetric, and leaves the samples unchanged.
func TestKolmogorovSmirnovByDefinition(t *testing.T) {
	values := rapid.SliceOfN(rapid.Map(rapid.IntRange(-6, 6), func(i int) float64 { return float64(i) }), 1, 30)
	rapid.Check(t, func(t *rapid.T) {
		x, y := values.Draw(t, "x"), values.Draw(t, "y")
		before := slices.Concat(x, y)
		got, other := kolmogorovSmirnov(x, y), kolmogorovSmirnov(y, x)
		share := func(of []float64, v float64) float64 {
			var n float64
			for _, o := range of {
				if o <= v {
					n++
				}
			}
			return n / float64(len(of))
		}
		var want float64
		for _, v := range before {
			want = max(want, math.Abs(share(x, v)-share(y, v)))
		}
		if math.Abs(got.Distance-want) > 1e-12 || got != other {
			t.Fatalf("%+v and %+v, expected distance %g", got, other, want)
		}
		if !slices.Equal(before, slices.Concat(x, y)) {
			t.Fatal("the samples were changed")
		}
	})
}

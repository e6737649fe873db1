package plot

import (
	"math"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/plot"
	"pgregory.net/rapid"
)

func TestNiceStep(t *testing.T) {
	for _, c := range []struct {
		least, step float64
		decimals    int
	}{
		{0.3, 0.5, 1}, {0.04, 0.05, 2}, {1, 1, 0}, {1.1, 2, 0}, {4, 5, 0}, {6, 10, 0}, {20, 20, 0}, {0.0011, 0.002, 3},
	} {
		step, decimals := niceStep(c.least)
		if math.Abs(step-c.step) > 1e-12 || decimals != c.decimals {
			t.Errorf("niceStep(%g): expected %g with %d decimals, found %g with %d", c.least, c.step, c.decimals, step, decimals)
		}
	}
}

func TestScaleHoldsTheData(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Float64Range(-1e3, 1e3).Draw(t, "low")
		high := low + rapid.Float64Range(0, 1e3).Draw(t, "range")
		var a plot.Axis
		scale(&a, low, high, 5, 0)
		const slack = 1e-6
		if a.Min > low+slack || a.Max < high-slack {
			t.Fatalf("expected a range around %g to %g, found %g to %g", low, high, a.Min, a.Max)
		}
		ticks := a.Tick.Marker.Ticks(a.Min, a.Max)
		if len(ticks) < 2 || len(ticks) > 8 {
			t.Fatalf("expected 2 to 8 ticks from %g to %g, found %d", low, high, len(ticks))
		}
		for _, tick := range ticks {
			labelled, err := strconv.ParseFloat(tick.Label, 64)
			if err != nil || math.Abs(labelled-tick.Value) > slack {
				t.Fatalf("expected a label for %g, found %q", tick.Value, tick.Label)
			}
		}
	})
}

func TestScaleKeepsToTheLeastStep(t *testing.T) {
	var a plot.Axis
	scale(&a, 1, 3, 5, 1)
	var labels []string
	for _, tick := range a.Tick.Marker.Ticks(a.Min, a.Max) {
		labels = append(labels, tick.Label)
	}
	if diff := cmp.Diff([]string{"1", "2", "3"}, labels); diff != "" {
		t.Errorf("labels (-expected +found):\n%s", diff)
	}
}

// Damaged files must not make an axis endless.
func TestScaleOfExtremeValues(t *testing.T) {
	for _, c := range [][2]float64{{-1e20, 1}, {-1e20, -1e20}, {1e20, 1e20}, {-1e300, 1e300}, {math.NaN(), 1}, {math.Inf(1), math.Inf(-1)}} {
		var a plot.Axis
		scale(&a, c[0], c[1], 5, 0)
		if n := len(a.Tick.Marker.Ticks(a.Min, a.Max)); n < 2 || n > 8 {
			t.Errorf("from %g to %g: %d ticks", c[0], c[1], n)
		}
	}
}

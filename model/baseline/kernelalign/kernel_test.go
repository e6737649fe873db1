package kernelalign

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestKernelsByHand(t *testing.T) {
	for _, c := range []struct {
		config   Config
		number   float64 // v'w, or |v - w|^2
		k, slope float64
	}{
		{Config{Kernel: Linear}, 0.25, 0.25, 1},
		{Config{Kernel: Polynomial, Degree: 2}, 0.5, 0.25, 1},                 // v^2, 2 v
		{Config{Kernel: Polynomial, Degree: 2, Offset: 1}, 0.5, 0.5625, 0.75}, // ((v + 1)/2)^2, (v + 1)/2
		{Config{Kernel: Polynomial, Degree: 3, Offset: 1}, -1, 0, 0},
		{Config{Kernel: Polynomial, Degree: 1, Offset: 3}, -3, 0, 0.25}, // (v + 3)/4
		{Config{Kernel: Gaussian, Sigma: 2}, 8, math.Exp(-1), -math.Exp(-1) / 8},
		{Config{Kernel: Gaussian, Sigma: 0.5}, 0, 1, -2},
		{Config{Kernel: Cauchy, Sigma: 2}, 4, 0.5, -0.0625}, // 1/(1 + d/4), -1/(4 (1 + d/4)^2)
		{Config{Kernel: Cauchy, Sigma: 0.5}, 0, 1, -4},
	} {
		if k, slope := c.config.kernel().at(c.number); math.Abs(k-c.k) > 1e-15 || math.Abs(slope-c.slope) > 1e-15 {
			t.Errorf("%+v at %g: %g with slope %g, expected %g and %g", c.config, c.number, k, slope, c.k, c.slope)
		}
	}
}

// Between a vector of length 1 and itself every kernel is 1, and no shift-invariant
// one is above 1 or below 0 anywhere.
func TestKernelsAreOneBetweenEquals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawConfig(t).kernel()
		if v, _ := k.at(k.number(1, 1, 1)); math.Abs(v-1) > 1e-12 {
			t.Errorf("%g between equals", v)
		}
		if v, slope := k.at(rapid.Float64Range(0, 1e6).Draw(t, "d")); k.distance && (v < 0 || v > 1 || slope > 0) {
			t.Errorf("%g with slope %g", v, slope)
		}
	})
}

func TestSlopesAreDerivatives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawConfig(t).kernel()
		at, h := rapid.Float64Range(0.01, 3).Draw(t, "at"), 1e-6
		above, _ := k.at(at + h)
		below, _ := k.at(at - h)
		_, slope := k.at(at)
		if want := (above - below) / (2 * h); math.Abs(slope-want) > 1e-6*(1+math.Abs(want)) {
			t.Errorf("slope %g at %g, expected %g", slope, at, want)
		}
	})
}

func TestNumberOfAKernel(t *testing.T) {
	// v = (1, 2), w = (3, 1)
	if d := (kernel{distance: true}).number(5, 5, 10); d != 5 {
		t.Errorf("the square of the distance is %g, expected 2^2 + 1^2", d)
	}
	if d := (kernel{distance: true}).number(1, 1+1e-9, 1); d != 0 {
		t.Errorf("rounding makes the square of a distance %g", d)
	}
	if v := (kernel{}).number(5, -5, 10); v != -5 {
		t.Errorf("the inner product is %g, expected -5", v)
	}
}

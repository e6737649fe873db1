package dap

import (
	"math"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
)

// The columns have means of 1/2, 1/4, 3/4 and 1/8, where they are described, and all of
// them one of 0.4, of ten numbers.
func TestThresholds(t *testing.T) {
	u := baselinetest.Matrix(5,
		0.1, 0.5, nan, 0.25, nan,
		0.6, 0.0, 0.75, 0, nan,
		0.8, 0.25, 0.75, nan, nan)
	baselinetest.Near(t, "mean", 1e-7, baselinetest.Floats(thresholdsOf(u, Mean)), []float64{0.4, 0.4, 0.4, 0.4, 0.4})
	baselinetest.Near(t, "attribute-mean", 1e-7, baselinetest.Floats(thresholdsOf(u, AttributeMean)), []float64{0.5, 0.25, 0.75, 0.125, 0.4})
	baselinetest.Near(t, "of nothing", 0, baselinetest.Floats(thresholdsOf(baselinetest.Matrix(2, nan, nan), Mean)), []float64{0.5, 0.5})
}

// An attribute is there above the threshold.
func TestBinary(t *testing.T) {
	has := binary(baselinetest.Matrix(3, 0.25, 0.5, nan, 0.75, 0.25, 1), []float32{0.5, 0.25, 0.5})
	equal(t, has, 0, 1, nan, 1, 0, 1)
}

func equal(t *testing.T, m dataset.Matrix[float64], want ...float64) {
	t.Helper()
	for i, v := range m.Data {
		if v != want[i] && !(math.IsNaN(v) && math.IsNaN(want[i])) {
			t.Errorf("%v, expected %v", m.Data, want)
			return
		}
	}
}

// What all classes have, or none, or what none describes is taken out, at even odds.
func TestShares(t *testing.T) {
	has := baselinetest.Matrix(5,
		1, 1, 0, nan, 1,
		0, 1, 0, nan, nan,
		0, 1, nan, nan, 0)
	baselinetest.Near(t, "share", 1e-12, fractions(has), []float64{1. / 3, 0.5, 0.5, 0.5, 0.5})
	equal(t, has,
		1, nan, nan, nan, 1,
		0, nan, nan, nan, nan,
		0, nan, nan, nan, 0)
}

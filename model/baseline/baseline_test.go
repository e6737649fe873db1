package baseline_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
)

// More samples than a block holds.
func TestProject(t *testing.T) {
	const samples = 600
	x, w := dataset.NewMatrix[float32](samples, 3), baselinetest.Single(2, 1, 0, 0, 1, 2, -1)
	for i := range x.Data {
		x.Data[i] = float32(i % 11)
	}
	var rows []int
	for i := range 2*samples - 90 {
		rows = append(rows, (7*i)%samples)
	}
	a, err := baseline.Project(w, x, rows, baseline.CopyRows)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		v := x.Row(r)
		if got := a.Row(i); got[0] != v[0]+2*v[2] || got[1] != v[1]-v[2] {
			t.Fatalf("row %d, sample %d: %v of %v", i, r, got, v)
		}
	}
	_, err = baseline.Project(w, dataset.NewMatrix[float32](1, 2), []int{0}, baseline.CopyRows)
	testkit.WantError(t, err, "features: ")
}

func TestDescribe(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		u         dataset.Matrix[float64]
		normalise bool
		want      []float64
	}{
		"complete":           {baselinetest.Matrix(2, 0.3, 0.4, 0, 1), false, []float64{0.3, 0.4, 0, 1}},
		"length 1":           {baselinetest.Matrix(2, 0.3, 0.4, 0, 1), true, []float64{0.6, 0.8, 0, 1}},
		"zeros":              {baselinetest.Matrix(2, 0, 0, 0, 0.5), true, []float64{0, 0, 0, 1}},
		"missing":            {baselinetest.Matrix(2, 0.2, 1, nan, 0.5, 0.6, 0), false, []float64{0.2, 1, 0.4, 0.5, 0.6, 0}},
		"missing and scaled": {baselinetest.Matrix(2, 0.2, 1, nan, 0.3, 0.6, 0), true, []float64{0.2 / math.Sqrt(1.04), 1 / math.Sqrt(1.04), 0.8, 0.6, 1, 0}},
	} {
		before := slices.Clone(c.u.Data)
		d, err := baseline.Describe(c.u, c.normalise)
		if err != nil {
			t.Fatal(err)
		}
		testkit.NearAll(t, name, d.Data, c.want, 1e-12)
		if !floats.Same(before, c.u.Data) {
			t.Errorf("%s: the argument changed", name)
		}
	}
	for _, wrong := range []float64{-0.1, 1.1, math.Inf(1)} {
		_, err := baseline.Describe(baselinetest.Matrix(2, 0.3, wrong), false)
		testkit.WantError(t, err, "descriptions: ")
	}
}

package baseline_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
)

func TestDescribe(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		u         dataset.Matrix[float64]
		normalise bool
		want      []float64
	}{
		"as it is":      {baselinetest.Matrix(2, 0.3, 0.4, 0, 1), false, []float64{0.3, 0.4, 0, 1}},
		"length 1":      {baselinetest.Matrix(2, 0.3, 0.4, 0, 1), true, []float64{0.6, 0.8, 0, 1}},
		"zeros":         {baselinetest.Matrix(2, 0, 0, 0, 0.5), true, []float64{0, 0, 0, 1}},
		"gap":           {baselinetest.Matrix(2, 0.2, 1, nan, 0.5, 0.6, 0), false, []float64{0.2, 1, 0.4, 0.5, 0.6, 0}},
		"gap, length 1": {baselinetest.Matrix(2, 0.2, 1, nan, 0.3, 0.6, 0), true, []float64{0.2 / math.Sqrt(1.04), 1 / math.Sqrt(1.04), 0.8, 0.6, 1, 0}},
	} {
		d, err := baseline.Describe(c.u, c.normalise)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, v := range d.Data {
			if !(math.Abs(v-c.want[i]) <= 1e-12) {
				t.Errorf("%s: %v, expected %v", name, d.Data, c.want)
				break
			}
		}
	}
	for _, wrong := range []float64{-0.1, 1.1, math.Inf(1)} {
		if _, err := baseline.Describe(baselinetest.Matrix(2, 0.3, wrong), false); fieldOf(err) != "descriptions" {
			t.Errorf("%g: %v, expected an error of descriptions", wrong, err)
		}
	}
}

// Descriptions have length 1, or 0 where there is nothing to scale, and what was
// given is left alone.
func TestDescribeScales(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := dataset.NewMatrix[float64](rapid.IntRange(1, 6).Draw(t, "classes"), rapid.IntRange(1, 6).Draw(t, "attributes"))
		for i := range u.Data {
			u.Data[i] = rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 1)).Draw(t, "p")
		}
		before := slices.Clone(u.Data)
		d, err := baseline.Describe(u, true)
		if err != nil {
			t.Fatal(err)
		}
		for z := range u.Rows {
			want := 0.0
			if slices.Max(u.Row(z)) > 0 {
				want = 1
			}
			if got := floats.Norm(d.Row(z), 2); !(math.Abs(got-want) <= 1e-9) {
				t.Fatalf("class %d has the length %g, expected %g", z, got, want)
			}
		}
		if !slices.Equal(u.Data, before) {
			t.Fatal("the descriptions that were given changed")
		}
	})
}

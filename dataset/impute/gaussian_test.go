package impute

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
)

// TestGolden compares with an independent program in float64.
func TestGolden(t *testing.T) {
	var cases []struct {
		Given, Filled, Covariance [][]*float64
		Mean, SD, Mu              []float64
		Expected                  [][4]float64
	}
	testkit.NoError(t, json.Unmarshal(testkit.Must(os.ReadFile("testdata/golden.json"))(t), &cases))
	for i, c := range cases {
		u := numbers(c.Given)
		g := Fit(u)
		near := func(what string, got, want []float64) {
			t.Helper()
			for j, v := range want {
				if math.Abs(got[j]-v) > 1e-9 {
					t.Errorf("case %d, %s, %d: found %g, expected %g", i, what, j, got[j], v)
				}
			}
		}
		near("mean", g.mean, c.Mean)
		near("sd", g.sd, c.SD)
		near("mu", g.mu, c.Mu)
		near("filled", g.Fill(u).Data, numbers(c.Filled).Data)
		want := numbers(c.Covariance)
		mean, sd := g.Expected(u)
		for a := range want.Rows {
			for b := range want.Cols {
				near("covariance", []float64{g.covariance.At(a, b)}, []float64{want.Row(a)[b]})
			}
		}
		for _, e := range c.Expected {
			z, a := int(e[0]), int(e[1])
			near("expected", []float64{mean.Row(z)[a], sd.Row(z)[a]}, e[2:])
		}
	}
}

func numbers(rows [][]*float64) dataset.Matrix[float64] {
	m := dataset.NewMatrix[float64](len(rows), len(rows[0]))
	for i, row := range rows {
		for j, v := range row {
			if m.Row(i)[j] = math.NaN(); v != nil {
				m.Row(i)[j] = *v
			}
		}
	}
	return m
}

// A table that is too large for one Gaussian is filled and checked by several.
func TestParts(t *testing.T) {
	u := dataset.NewMatrix[float64](2, 5000)
	for i := range u.Data {
		u.Data[i] = float64(i%7) / 7
	}
	u.Data[0] = math.NaN()
	p := FitParts(u)
	full := p.Fill(u)
	mean, sd := p.Expected(u)
	if p.Whole() || math.IsNaN(full.Data[0]) || full.Data[4999] != u.Data[4999] || math.IsNaN(mean.Data[4999]) || !(sd.Data[9999] > 0) {
		t.Errorf("%d parts: %g, %g, %g", len(p), full.Data[0], full.Data[4999], mean.Data[4999])
	}
}

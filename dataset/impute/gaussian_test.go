package impute

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
)

// TestGolden compares with an independent program in float64.
func TestGolden(t *testing.T) {
	var cases []struct {
		Given, Filled, Covariance [][]*float64
		Mean, SD, Mu              []float64
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
		for a := range want.Rows {
			for b := range want.Cols {
				near("covariance", []float64{g.covariance.At(a, b)}, []float64{want.Row(a)[b]})
			}
		}
	}
}

// What an entry is expected to be follows from the covariance of the other classes.
func TestExpected(t *testing.T) {
	u := dataset.NewMatrix[float64](20, 3)
	r := rand.New(rand.NewPCG(1, 1))
	for z := range u.Rows {
		copy(u.Row(z), []float64{r.Float64(), r.Float64(), r.Float64()})
		u.Row(z)[1] = 0.7*u.Row(z)[0] + 0.3*u.Row(z)[1]
	}
	u.Row(4)[2] = math.NaN()
	g := Fit(u)
	mean, sd := g.Expected(u)
	for z, given := range map[int]int{3: 3, 4: 2} {
		d := make([]float64, given)
		for a := range d {
			d[a] = (u.Row(z)[a]-g.mean[a])/g.sd[a] - g.mu[a]
		}
		others := gatherSym(g.covariance, []int{0, 1, 2}[:given])
		others.SymRankK(others, -1/g.weight, mat.NewDense(given, 1, d))
		k := inverse(others)
		left := g.mu[0]
		for a := 1; a < given; a++ {
			left -= k.At(0, a) * d[a] / k.At(0, 0)
		}
		testkit.Near(t, "expected", mean.Row(z)[0], g.mean[0]+g.sd[0]*left, 1e-12)
		testkit.Near(t, "deviation", sd.Row(z)[0],
			math.Hypot(g.sd[0]/math.Sqrt(k.At(0, 0)), ownDeviation), 1e-12)
	}
	if !math.IsNaN(mean.Row(4)[2]) {
		t.Errorf("found %g for a missing entry", mean.Row(4)[2])
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

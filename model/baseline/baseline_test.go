package baseline_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
	"github.com/lago-train/lago-train/model/method"
)

// random returns normal numbers.
func random(rows, cols int, rng *rand.Rand) dataset.Matrix[float32] {
	m := dataset.NewMatrix[float32](rows, cols)
	for i := range m.Data {
		m.Data[i] = float32(rng.NormFloat64())
	}
	return m
}

// form returns the normalised features of the rows, computed in float64.
func form(f baseline.Features, x dataset.Matrix[float32], learned, rows []int) [][]float64 {
	to := make([][]float64, len(rows))
	for i, r := range rows {
		to[i] = baselinetest.Floats(x.Row(r))
		if f == baseline.Unit {
			floats.Scale(1/floats.Norm(to[i], 2), to[i])
		}
	}
	for d := 0; d < x.Cols && f == baseline.Standardize; d++ {
		var column []float64
		for _, r := range learned {
			column = append(column, float64(x.Row(r)[d]))
		}
		mean, deviation := stat.PopMeanStdDev(column, nil)
		for i := range to {
			to[i][d] = (to[i][d] - mean) / deviation / math.Sqrt(float64(x.Cols))
		}
	}
	return to
}

// Scores are x W u_z with each normalisation, also of a restored model.
func TestScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 8)
		dims, attributes, classes := size.Draw(t, "dims"), size.Draw(t, "attributes"), size.Draw(t, "classes")
		f := rapid.SampledFrom([]baseline.Features{"", baseline.None, baseline.Unit, baseline.Standardize}).Draw(t, "features")
		normalise := rapid.Bool().Draw(t, "normalise")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		x := random(9, dims, rng)
		u := baselinetest.Matrix(attributes, rapid.SliceOfN(rapid.Float64Range(0, 1), classes*attributes, classes*attributes).Draw(t, "u")...)
		learned, rows := []int{3, 1, 4, 8}, []int{5, 0, 3}
		m := &baseline.Bilinear{W: random(dims, attributes, rng), Normalise: normalise}
		testkit.NoError(t, m.Fit(f, method.Examples{X: x, Rows: learned}))
		scores := testkit.Must(model.Score(m, x, rows, u))(t)
		d := testkit.Must(baseline.Describe(u, normalise))(t)
		for i, v := range form(f, x, learned, rows) {
			for z := range classes {
				var want float64
				for k, w := range m.W.Data {
					want += v[k/attributes] * float64(w) * d.Row(z)[k%attributes]
				}
				testkit.Near(t, "score", float64(scores.Row(i)[z]), want, 1e-4)
			}
		}
		shape := method.Shape{Dims: dims, Attributes: attributes}
		again := testkit.Must(baseline.RestoreBilinear(m.Tensors(), shape, normalise, f))(t)
		// rounding depends on the alignment of memory
		testkit.NearAll(t, "restored", testkit.Must(model.Score(again, x, rows, u))(t).Data, scores.Data, 1e-4)
	})
}

// Samples of zeros stay zero, and so do dimensions that do not vary.
func TestZeros(t *testing.T) {
	x := dataset.Matrix[float32]{Rows: 3, Cols: 2, Data: []float32{0, 0, 0, 4, 0, 8}}
	for f, want := range map[baseline.Features][]float32{
		baseline.Unit:        {0, 0, 0, 1, 0, 1},
		baseline.Standardize: {0, -0.8660254, 0, 0, 0, 0.8660254}, // -4 / sqrt(32/3) / sqrt(2)
	} {
		var m baseline.Bilinear
		testkit.NoError(t, m.Fit(f, method.Examples{X: x, Rows: []int{0, 1, 2}}))
		got := dataset.NewMatrix[float32](3, 2)
		m.Gather(got, x, []int{0, 1, 2})
		testkit.NearAll(t, string(f), got.Data, want, 1e-6)
	}
}

// Means and variances are computed once for all learners of the same examples, but models
// do not share memory.
func TestFitShares(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	e := method.Examples{X: random(6, 3, rng), Rows: []int{0, 1, 2, 3}, Cache: new(method.Cache)}
	var a, b baseline.Bilinear
	testkit.NoError(t, a.Fit(baseline.Standardize, e))
	first := a.Tensors()
	shift := slices.Clone(first[1].Matrix.Data)
	clear(first[1].Matrix.Data)
	e.X = random(6, 3, rng) // not used
	testkit.NoError(t, b.Fit(baseline.Standardize, e))
	testkit.NearAll(t, "shift", b.Tensors()[1].Matrix.Data, shift, 0)
}

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
	a := testkit.Must(baseline.Project(w, x, rows, baseline.CopyRows))(t)
	for i, r := range rows {
		v := x.Row(r)
		if got := a.Row(i); got[0] != v[0]+2*v[2] || got[1] != v[1]-v[2] {
			t.Fatalf("row %d, sample %d: %v of %v", i, r, got, v)
		}
	}
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
		d := testkit.Must(baseline.Describe(c.u, c.normalise))(t)
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

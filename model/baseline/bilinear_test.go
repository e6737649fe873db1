package baseline_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
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

func describe(classes, attributes int, rng *rand.Rand) dataset.Matrix[float64] {
	u := dataset.NewMatrix[float64](classes, attributes)
	for i := range u.Data {
		u.Data[i] = rng.Float64()
	}
	return u
}

// form returns the normalised features of a sample, computed in float64.
func form(f baseline.Features, x dataset.Matrix[float32], learned []int, row int) []float64 {
	v := make([]float64, x.Cols)
	for d := range v {
		v[d] = float64(x.Row(row)[d])
	}
	switch f {
	case baseline.Unit:
		var squares float64
		for _, v := range v {
			squares += v * v
		}
		for d := range v {
			v[d] /= math.Sqrt(squares)
		}
	case baseline.Standardize:
		for d := range v {
			var mean, variance float64
			for _, r := range learned {
				mean += float64(x.Row(r)[d]) / float64(len(learned))
			}
			for _, r := range learned {
				variance += math.Pow(float64(x.Row(r)[d])-mean, 2) / float64(len(learned))
			}
			v[d] = (v[d] - mean) / math.Sqrt(variance*float64(x.Cols))
		}
	}
	return v
}

// Scores are x W u_z with each normalisation, also of a restored model.
func TestScore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 8)
		dims, attributes, classes := size.Draw(t, "dims"), size.Draw(t, "attributes"), size.Draw(t, "classes")
		f := rapid.SampledFrom([]baseline.Features{"", baseline.None, baseline.Unit, baseline.Standardize}).Draw(t, "features")
		normalise := rapid.Bool().Draw(t, "normalise")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		x, u := random(9, dims, rng), describe(classes, attributes, rng)
		learned, rows := []int{3, 1, 4, 8}, []int{5, 0, 3}
		m := &baseline.Bilinear{W: random(dims, attributes, rng), Normalise: normalise}
		if err := m.Fit(f, method.Examples{X: x, Rows: learned}); err != nil {
			t.Fatal(err)
		}
		scores, err := model.Score(m, x, rows, u)
		if err != nil {
			t.Fatal(err)
		}
		d, err := baseline.Describe(u, normalise)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range rows {
			v := form(f, x, learned, r)
			for z := range classes {
				var want float64
				for k, w := range m.W.Data {
					want += v[k/attributes] * float64(w) * d.Row(z)[k%attributes]
				}
				if got := float64(scores.Row(i)[z]); !(math.Abs(got-want) <= 1e-4*(1+math.Abs(want))) {
					t.Fatalf("sample %d scores %g for class %d, expected %g", r, got, z, want)
				}
			}
		}
		again, err := baseline.RestoreBilinear(m.Tensors(), method.Shape{Dims: dims, Attributes: attributes}, normalise, f)
		if err != nil {
			t.Fatal(err)
		}
		other, err := model.Score(again, x, rows, u)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range other.Data { // rounding depends on the alignment of memory
			if !(math.Abs(float64(v-scores.Data[i])) <= 1e-4) {
				t.Fatalf("restored: %v, expected %v", other.Data, scores.Data)
			}
		}
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
		if err := m.Fit(f, method.Examples{X: x, Rows: []int{0, 1, 2}}); err != nil {
			t.Fatal(err)
		}
		got := dataset.NewMatrix[float32](3, 2)
		m.Gather(got, x, []int{0, 1, 2})
		for i, v := range got.Data {
			if !(math.Abs(float64(v-want[i])) <= 1e-6) {
				t.Errorf("%s: %v, expected %v", f, got.Data, want)
				break
			}
		}
	}
}

// Means and variances are computed once for all learners of the same examples, but models
// do not share memory.
func TestFitShares(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	e := method.Examples{X: random(6, 3, rng), Rows: []int{0, 1, 2, 3}, Cache: new(method.Cache)}
	var a, b baseline.Bilinear
	if err := a.Fit(baseline.Standardize, e); err != nil {
		t.Fatal(err)
	}
	first := a.Tensors()
	shift := slices.Clone(first[1].Matrix.Data)
	clear(first[1].Matrix.Data)
	e.X = random(6, 3, rng) // not used
	if err := b.Fit(baseline.Standardize, e); err != nil {
		t.Fatal(err)
	}
	if got := b.Tensors()[1].Matrix.Data; !slices.Equal(got, shift) {
		t.Errorf("the second shift is %v, expected the first, %v", got, shift)
	}
}

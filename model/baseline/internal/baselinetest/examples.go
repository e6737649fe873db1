package baselinetest

import (
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/baseline"
)

// Matrix has the values row by row.
func Matrix(cols int, values ...float64) dataset.Matrix[float64] {
	return dataset.Matrix[float64]{Rows: len(values) / cols, Cols: cols, Data: values}
}

// Single has the values row by row.
func Single(cols int, values ...float32) dataset.Matrix[float32] {
	return dataset.Matrix[float32]{Rows: len(values) / cols, Cols: cols, Data: values}
}

// Examples are random samples of random classes, of each in turn, that show their
// attributes: feature d is twice attribute d of the class, in turn again, and normal
// noise of the given standard deviation. Rows count down.
func Examples(samples, dims, attributes, classes int, noise float64, seed uint64) baseline.Examples {
	rng := rand.New(rand.NewPCG(seed, 0))
	e := baseline.Examples{X: dataset.NewMatrix[float32](samples, dims), U: dataset.NewMatrix[float64](classes, attributes)}
	for i := range e.U.Data {
		e.U.Data[i] = rng.Float64()
	}
	for i := range samples {
		z := i % classes
		e.Rows, e.Labels = append(e.Rows, samples-1-i), append(e.Labels, z)
		for d := range dims {
			e.X.Row(samples - 1 - i)[d] = float32(noise*rng.NormFloat64() + 2*e.U.Row(z)[d%attributes])
		}
	}
	return e
}

// Learn returns the model of a method that is done after one epoch.
func Learn(t rapid.TB, s baseline.Hyperparameters, e baseline.Examples) baseline.Model {
	t.Helper()
	l, err := s.Learn(e, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, done, err := l.Epoch(1); err != nil || !done {
		t.Fatalf("done %t, %v", done, err)
	}
	return l.Model()
}

// Score returns the scores of the examples for descriptions u, row by row.
func Score(t rapid.TB, m baseline.Model, e baseline.Examples, u dataset.Matrix[float64]) []float64 {
	t.Helper()
	s, err := m.Score(e.X, e.Rows, u)
	if err != nil {
		t.Fatal(err)
	}
	return Floats(s.Data)
}

// Floats returns the values in float64.
func Floats(values []float32) []float64 {
	to := make([]float64, len(values))
	for i, v := range values {
		to[i] = float64(v)
	}
	return to
}

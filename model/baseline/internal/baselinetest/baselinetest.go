// Package baselinetest has what the tests of several baselines share: small matrices,
// examples, and comparisons of numbers. Only tests import it.
package baselinetest

import (
	"errors"
	"math"
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
)

// Near checks that numbers differ from those expected by at most the tolerance, relative
// for numbers above 1. NaN is never near.
func Near(t rapid.TB, name string, tolerance float64, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, expected %d", name, len(got), len(want))
	}
	for i, v := range got {
		if !(math.Abs(v-want[i]) <= tolerance*max(1, math.Abs(want[i]))) {
			t.Fatalf("%s[%d] is %g, expected %g", name, i, v, want[i])
		}
	}
}

// WantField checks that an error is an *invalid.Error of a field.
func WantField(t rapid.TB, field string, err error) {
	t.Helper()
	var wrong *invalid.Error
	if !errors.As(err, &wrong) || wrong.Field != field {
		t.Errorf("%v, expected an error of %s", err, field)
	}
}

// Matrix has the values row by row.
func Matrix(cols int, values ...float64) dataset.Matrix[float64] {
	return dataset.Matrix[float64]{Rows: len(values) / cols, Cols: cols, Data: values}
}

// Single has the values row by row.
func Single(cols int, values ...float32) dataset.Matrix[float32] {
	return dataset.Matrix[float32]{Rows: len(values) / cols, Cols: cols, Data: values}
}

// Examples returns random samples of random classes, with labels 0, 1, ... in turn.
// Feature d is twice attribute d (modulo attributes) of the class, plus normal noise of
// the given standard deviation. Rows are in reverse.
func Examples(samples, dims, attributes, classes int, noise float64, seed uint64) method.Examples {
	rng := rand.New(rand.NewPCG(seed, 0))
	e := method.Examples{X: dataset.NewMatrix[float32](samples, dims), U: dataset.NewMatrix[float64](classes, attributes)}
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

// Learn returns the model of a method that converges in one epoch, and its loss.
func Learn(t rapid.TB, m method.Method, e method.Examples) (method.Model, float64) {
	t.Helper()
	l, err := method.Learn(m, e, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.Epoch(1)
	if err != nil || !p.Converged {
		t.Fatalf("converged %t, %v", p.Converged, err)
	}
	return l.Model(), p.Phases[0].Loss
}

// Score returns the scores of the examples for descriptions u, row by row.
func Score(t rapid.TB, m method.Model, e method.Examples, u dataset.Matrix[float64]) []float64 {
	t.Helper()
	s, err := model.Score(m, e.X, e.Rows, u)
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

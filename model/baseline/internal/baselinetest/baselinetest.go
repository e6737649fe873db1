// Package baselinetest has what the tests of several baselines share: small matrices,
// examples, and their scores. Only tests import it.
package baselinetest

import (
	"errors"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/diff/fd"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
)

// Matrix has the values row by row.
func Matrix[T model.Float](cols int, values ...T) dataset.Matrix[T] {
	return dataset.Matrix[T]{Rows: len(values) / cols, Cols: cols, Data: values}
}

// Examples returns random samples of random classes, with labels 0, 1, ... in turn.
// Feature d is twice attribute d (modulo attributes) of the class, plus normal noise of
// the given standard deviation. Rows are in reverse.
func Examples(samples, dims, attributes, classes int, noise float64, seed uint64) method.Examples {
	rng := rand.New(rand.NewPCG(seed, 0))
	e := method.Examples{
		X: dataset.NewMatrix[float32](samples, dims), U: dataset.NewMatrix[float64](classes, attributes),
	}
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

// Learner returns a learner before its first epoch.
func Learner(t testkit.TB, m method.Method, e method.Examples, seed uint64) method.Learner {
	t.Helper()
	return testkit.Must(method.Learn(m, e, seed))(t)
}

// Epoch trains for an epoch.
func Epoch(t testkit.TB, l method.Learner, number int) (loss float64, converged bool) {
	t.Helper()
	p := testkit.Must(l.Epoch(number))(t)
	return p.Phases[0].Loss, p.Converged
}

// Learn returns the model of a method that converges in one epoch, and its loss.
func Learn(t testkit.TB, m method.Method, e method.Examples) (method.Model, float64) {
	t.Helper()
	l := Learner(t, m, e, 1)
	loss, converged := Epoch(t, l, 1)
	if !converged {
		t.Fatalf("not converged in one epoch")
	}
	return l.Model(), loss
}

// Tensor returns the numbers of a tensor of a model.
func Tensor(m method.Model, name string) dataset.Matrix[float32] {
	i := slices.IndexFunc(m.Tensors(), func(t method.Tensor) bool { return t.Name == name })
	return m.Tensors()[i].Matrix
}

// Score returns the scores of the examples for descriptions u.
func Score(t testkit.TB, m method.Model, e method.Examples,
	u dataset.Matrix[float64],
) dataset.Matrix[float32] {
	t.Helper()
	return testkit.Must(model.Score(m, e.X, e.Rows, u))(t)
}

// WantNotFinite reports an error other than that of a term that is not finite.
func WantNotFinite(t testkit.TB, err error, term string) {
	t.Helper()
	if e := (*model.NotFinite)(nil); !errors.As(err, &e) || e.Term != term {
		t.Errorf("%v, expected %s not to be finite", err, term)
	}
}

// Gradient returns the central differences of f at x with steps of h.
func Gradient(f func(x []float64) float64, x []float64, h float64) []float64 {
	return fd.Gradient(nil, f, x, &fd.Settings{Formula: fd.Central, Step: h})
}

// Floats returns the values in float64.
func Floats(values []float32) []float64 {
	return dataset.Convert[float64](Matrix(len(values), values...)).Data
}

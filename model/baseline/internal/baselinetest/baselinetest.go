// Package baselinetest has what the tests of several baselines share: small matrices,
// examples, and their scores. Only tests import it.
package baselinetest

import (
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
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

// Normalised returns the normalised features of the rows, computed in float64; learned
// are those that Standardise is fitted on.
func Normalised(f baseline.Features, x dataset.Matrix[float32], learned, rows []int) [][]float64 {
	to := make([][]float64, len(rows))
	for i, r := range rows {
		to[i] = Floats(x.Row(r))
		if f == baseline.Unit {
			floats.Scale(1/floats.Norm(to[i], 2), to[i])
		}
	}
	for d := 0; d < x.Cols && f == baseline.Standardise; d++ {
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

// Floats returns the values in float64.
func Floats(values []float32) []float64 {
	return dataset.Convert[float64](Matrix(len(values), values...)).Data
}

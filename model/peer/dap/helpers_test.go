package dap_test

import (
	"math"
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/peer"
	"github.com/lago-train/lago-train/model/peer/dap"
)

var nan = math.NaN()

func matrix(cols int, values ...float64) dataset.Matrix[float64] {
	return dataset.Matrix[float64]{Rows: len(values) / cols, Cols: cols, Data: values}
}

func single(cols int, values ...float32) dataset.Matrix[float32] {
	return dataset.Matrix[float32]{Rows: len(values) / cols, Cols: cols, Data: values}
}

// examples are random samples of random classes, of each at least one, that show their
// attributes.
func examples(samples, dims, attributes, classes int, seed uint64) peer.Examples {
	rng := rand.New(rand.NewPCG(seed, 0))
	e := peer.Examples{X: dataset.NewMatrix[float32](samples, dims), U: dataset.NewMatrix[float64](classes, attributes)}
	for i := range e.U.Data {
		e.U.Data[i] = rng.Float64()
	}
	for i := range samples {
		z := i % classes
		e.Rows, e.Labels = append(e.Rows, samples-1-i), append(e.Labels, z)
		for d := range dims {
			e.X.Row(samples - 1 - i)[d] = float32(rng.NormFloat64() + 2*e.U.Row(z)[d%attributes])
		}
	}
	return e
}

func learn(t rapid.TB, c dap.Config, e peer.Examples) *dap.Model {
	t.Helper()
	l, err := c.Learn(e, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, done, err := l.Epoch(1); err != nil || !done {
		t.Fatalf("done %t, %v", done, err)
	}
	return l.Model().(*dap.Model)
}

func score(t rapid.TB, m peer.Model, e peer.Examples, u dataset.Matrix[float64]) []float64 {
	t.Helper()
	s, err := m.Score(e.X, e.Rows, u)
	if err != nil {
		t.Fatal(err)
	}
	return floats(s.Data)
}

func floats(values []float32) []float64 {
	to := make([]float64, len(values))
	for i, v := range values {
		to[i] = float64(v)
	}
	return to
}

func near(t rapid.TB, name string, tolerance float64, got, want []float64) {
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

// drawConfig is any setting of either method.
func drawConfig(t *rapid.T) dap.Config {
	return dap.Config{
		Prediction: rapid.SampledFrom([]dap.Prediction{dap.Direct, dap.Indirect}).Draw(t, "prediction"),
		C:          math.Pow(10, rapid.Float64Range(-3, 0).Draw(t, "log c")),
		Threshold:  rapid.SampledFrom([]dap.Threshold{dap.Mean, dap.AttributeMean}).Draw(t, "threshold"),
		Prior:      rapid.SampledFrom([]dap.Prior{dap.Empirical, dap.Half}).Draw(t, "prior"),
	}
}

package synthesised_test

import (
	"math"
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/peer"
	"github.com/lago-train/lago-train/model/peer/synthesised"
)

var nan = math.NaN()

var losses = []synthesised.Loss{synthesised.OneVersusOther, synthesised.CrammerSinger, synthesised.Structured}

func matrix(cols int, values ...float64) dataset.Matrix[float64] {
	return dataset.Matrix[float64]{Rows: len(values) / cols, Cols: cols, Data: values}
}

func single(cols int, values ...float32) dataset.Matrix[float32] {
	return dataset.Matrix[float32]{Rows: len(values) / cols, Cols: cols, Data: values}
}

// examples are random samples of random classes that show their attributes.
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
			e.X.Row(samples - 1 - i)[d] = float32(rng.NormFloat64()/2 + 2*e.U.Row(z)[d%attributes])
		}
	}
	return e
}

func learn(t rapid.TB, c synthesised.Config, e peer.Examples) *synthesised.Model {
	t.Helper()
	l, err := c.Learn(e, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, done, err := l.Epoch(1); err != nil || !done {
		t.Fatalf("done %t, %v", done, err)
	}
	return l.Model().(*synthesised.Model)
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

// draw is a matrix of numbers from 0 to 1.
func draw(t *rapid.T, name string, rows, cols int) dataset.Matrix[float64] {
	return matrix(cols, rapid.SliceOfN(rapid.Float64Range(0, 1), rows*cols, rows*cols).Draw(t, name)...)
}

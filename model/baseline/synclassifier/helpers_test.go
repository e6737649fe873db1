package synclassifier_test

import (
	"math"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
	"github.com/lago-train/lago-train/model/baseline/synclassifier"
)

var nan = math.NaN()

var losses = []synclassifier.Loss{synclassifier.OneVersusOther, synclassifier.CrammerSinger, synclassifier.Structured}

func examples(samples, dims, attributes, classes int, seed uint64) baseline.Examples {
	return baselinetest.Examples(samples, dims, attributes, classes, 0.5, seed)
}

func learn(t rapid.TB, c synclassifier.Config, e baseline.Examples) *synclassifier.Model {
	t.Helper()
	return baselinetest.Learn(t, c, e).(*synclassifier.Model)
}

// draw is a matrix of numbers from 0 to 1.
func draw(t *rapid.T, name string, rows, cols int) dataset.Matrix[float64] {
	return baselinetest.Matrix(cols, rapid.SliceOfN(rapid.Float64Range(0, 1), rows*cols, rows*cols).Draw(t, name)...)
}

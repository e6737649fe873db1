package synclassifier

import (
	"math"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
)

var nan = math.NaN()

var losses = []Loss{OneVersusOther, CrammerSinger, Structured}

func examples(samples, dims, attributes, classes int, seed uint64) baseline.Examples {
	return baselinetest.Examples(samples, dims, attributes, classes, 0.5, seed)
}

func learn(t rapid.TB, c Config, e baseline.Examples) *Model {
	t.Helper()
	m, _ := baselinetest.Learn(t, c, e)
	return m.(*Model)
}

// draw is a matrix of numbers from 0 to 1.
func draw(t *rapid.T, name string, rows, cols int) dataset.Matrix[float64] {
	return baselinetest.Matrix(cols, rapid.SliceOfN(rapid.Float64Range(0, 1), rows*cols, rows*cols).Draw(t, name)...)
}

package metrics

import (
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
)

// rows makes a matrix of rows.
func rows(rows ...[]float32) dataset.Matrix[float32] {
	m := dataset.Matrix[float32]{Rows: len(rows), Cols: len(rows[0])}
	for _, r := range rows {
		m.Data = append(m.Data, r...)
	}
	return m
}

// problem holds scores and labels. Drawn scores are small whole numbers, so that many are
// equal and sums are exact.
type problem struct {
	scores dataset.Matrix[float32]
	labels []int
}

func drawProblem(t *rapid.T) problem {
	n, classes := rapid.IntRange(1, 12).Draw(t, "samples"), rapid.IntRange(1, 6).Draw(t, "classes")
	p := problem{dataset.NewMatrix[float32](n, classes), make([]int, n)}
	for i := range p.scores.Data {
		p.scores.Data[i] = float32(rapid.IntRange(-4, 4).Draw(t, "score"))
	}
	for i := range p.labels {
		p.labels[i] = rapid.IntRange(0, classes-1).Draw(t, "label")
	}
	return p
}

// drawGeneralised draws a problem with samples of seen and of unseen classes.
func drawGeneralised(t *rapid.T) (problem, Sides) {
	p := drawProblem(t)
	sides := make(Sides, p.scores.Cols)
	for z := range sides {
		sides[z] = rapid.Bool().Draw(t, "unseen")
	}
	if sides.Check(p.labels) != nil {
		t.Skip("a side without samples")
	}
	return p, sides
}

package metrics

import (
	"math/rand/v2"

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

// shuffled returns the samples in another order.
func (p problem) shuffled(seed uint64) problem {
	q := problem{dataset.NewMatrix[float32](p.scores.Rows, p.scores.Cols), make([]int, len(p.labels))}
	for i, from := range rand.New(rand.NewPCG(seed, 0)).Perm(len(p.labels)) {
		copy(q.scores.Row(i), p.scores.Row(from))
		q.labels[i] = p.labels[from]
	}
	return q
}

// shifted adds a different constant to the scores of each sample.
func (p problem) shifted() problem {
	q := problem{dataset.NewMatrix[float32](p.scores.Rows, p.scores.Cols), p.labels}
	for i, v := range p.scores.Data {
		q.scores.Data[i] = v + float32(i/p.scores.Cols*3-7)
	}
	return q
}

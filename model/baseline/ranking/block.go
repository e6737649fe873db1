package ranking

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/finite"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/method"
)

// blockSize is the number of samples in a block.
const blockSize = 64

// block computes the SGD steps of consecutive samples with two passes over W per block,
// where one step at a time needs two per sample.
//
// The step of sample j is W += lr x_j' c_j U, where c_j is minus the gradient of its loss
// by the scores of the Z classes. So sample i of the block scores
//
//	x_i W U' + lr sum over j < i of (x_i x_j') (c_j U U'),
//
// with the W before the block. The first term, the x_i x_j' and finally W += lr X' (C U)
// are matrix products for the whole block; in between, steps only involve the classes.
type block struct {
	loss       lossFunc[float32]
	lr, margin float32
	model      *baseline.Bilinear
	u          dataset.Matrix[float32] // Z x M
	uu         dataset.Matrix[float32] // U U', Z x Z

	rows   []int
	x      dataset.Matrix[float32] // B x D, the samples
	xx     dataset.Matrix[float32] // X X', B x B
	a      dataset.Matrix[float32] // B x M, X W before the steps and C U after them
	scores dataset.Matrix[float32] // B x Z
	c      dataset.Matrix[float32] // B x Z, the steps
	moves  dataset.Matrix[float32] // C U U', B x Z
}

func newBlock(c *Config, m *baseline.Bilinear, u dataset.Matrix[float32], size int) *block {
	matrix := dataset.NewMatrix[float32]
	b := &block{
		loss: lossOf[float32](c.Loss), lr: float32(c.LR), margin: float32(c.Margin),
		model: m, u: u, uu: matrix(u.Rows, u.Rows),
		x: matrix(size, m.W.Rows), xx: matrix(size, size), a: matrix(size, u.Cols),
		scores: matrix(size, u.Rows), c: matrix(size, u.Rows), moves: matrix(size, u.Rows),
	}
	baseline.Gemm(blas.NoTrans, blas.Trans, 1, u, u, 0, b.uu)
	return b
}

// learn takes the steps of the given examples. It returns the sum of their losses, and
// whether W changed.
func (b *block) learn(e method.Examples, part []int) (loss float64, moved bool, err error) {
	b.rows = b.rows[:0]
	for _, i := range part {
		b.rows = append(b.rows, e.Rows[i])
	}
	b.model.Gather(b.x, e.X, b.rows)
	n := len(part)
	x, a, scores := b.x.Slice(0, n), b.a.Slice(0, n), b.scores.Slice(0, n)
	baseline.Gemm(blas.NoTrans, blas.NoTrans, 1, x, b.model.W, 0, a)
	baseline.Gemm(blas.NoTrans, blas.Trans, 1, a, b.u, 0, scores)
	xx := dataset.Matrix[float32]{Rows: n, Cols: n, Data: b.xx.Data[:n*n]}
	baseline.Gemm(blas.NoTrans, blas.Trans, 1, x, x, 0, xx)

	for i, example := range part {
		stepped, l, err := b.step(i, xx.Row(i), e.Labels[example])
		if err != nil {
			return 0, false, err
		}
		loss += l
		moved = moved || stepped
	}
	if moved {
		baseline.Gemm(blas.NoTrans, blas.NoTrans, 1, b.c.Slice(0, n), b.u, 0, a)
		baseline.Gemm(blas.Trans, blas.NoTrans, b.lr, x, a, 1, b.model.W)
	}
	return loss, moved, nil
}

// step takes the step of the i-th sample of the block, of class y; xx are its products
// with the samples of the block.
func (b *block) step(i int, xx []float32, y int) (stepped bool, loss float64, err error) {
	scores, c, moves, classes := b.scores.Row(i), b.c.Row(i), b.moves.Row(i), b.u.Rows
	impl := blas32.Implementation()
	if i > 0 {
		impl.Sgemv(blas.Trans, i, classes, b.lr, b.moves.Data, classes, xx, 1, 1, scores, 1)
	}
	if z := finite.Index(scores); z >= 0 {
		return false, 0, &model.NotFinite{Term: "W", Value: float64(scores[z])}
	}
	loss = b.loss(scores, y, b.margin, c)
	clear(moves)
	for z, v := range c {
		if v != 0 {
			impl.Saxpy(classes, v, b.uu.Row(z), 1, moves, 1)
			stepped = true
		}
	}
	return stepped, loss, nil
}

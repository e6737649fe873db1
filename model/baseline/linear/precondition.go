package linear

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/lago-train/lago-train/model"
)

// preconditioner changes the variables of the optimisers from a classifier w to v = U w,
// where U'U is the Hessian if every score has the curvature of the objective:
//
//	U'U = curvature X'X / n + penalty I.
//
// Features of networks are correlated: in these variables L-BFGS takes a fraction of the
// steps.
type preconditioner struct {
	factor blas64.Triangular // U, width x width
}

// jitter is added to the diagonal, relative to its mean, so that the factorisation of
// finite numbers does not fail by rounding.
const jitter = 1e-10

// newPreconditioner returns a *model.NotFinite if the squares of features are not finite.
func newPreconditioner(e *evaluator) (*preconditioner, error) {
	h := blas64.Symmetric{N: e.width, Stride: e.width, Data: make([]float64, e.width*e.width), Uplo: blas.Upper}
	for part := range slices.Chunk(e.Rows, blockSize) {
		e.gather(part)
		x := blas64.General{Rows: len(part), Cols: e.width, Stride: e.width, Data: e.block.Data}
		blas64.Syrk(blas.Trans, e.Curvature/float64(len(e.Rows)), x, 1, h)
	}
	var mean float64
	for d := range e.width {
		mean += h.Data[d*e.width+d] / float64(e.width)
	}
	for d := range e.width {
		h.Data[d*e.width+d] += jitter * mean
		if d < e.X.Cols {
			h.Data[d*e.width+d] += e.Penalty
		}
	}
	factor, ok := lapack64.Potrf(h)
	if !ok {
		return nil, &model.NotFinite{Term: "loss", Value: mean}
	}
	return &preconditioner{factor}, nil
}

// weights replaces points of the optimisers, rows of width numbers, by classifiers.
func (p *preconditioner) weights(v []float64) { p.solve(blas.Trans, v) }

// gradient replaces gradients by classifiers by those by the points of the optimisers.
func (p *preconditioner) gradient(g []float64) { p.solve(blas.NoTrans, g) }

// solve multiplies rows by the inverse of U or of its transpose, from the right.
func (p *preconditioner) solve(t blas.Transpose, rows []float64) {
	n := p.factor.N
	blas64.Implementation().Dtrsm(blas.Right, blas.Upper, t, blas.NonUnit, len(rows)/n, n, 1, p.factor.Data, n, rows, n)
}

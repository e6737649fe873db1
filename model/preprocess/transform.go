package preprocess

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Transform is a fitted preprocessing: x <- (x - Shift) Scale, dimension by dimension,
// for Standardize, and x <- x Matrix for Whiten. What a kind does not use is
// empty.
type Transform struct {
	Kind   Kind
	Shift  []float32               // D
	Scale  []float32               // D
	Matrix dataset.Matrix[float32] // D x D, symmetric
}

// Fit fits a map on the given rows of x alone. ridge is the g of Whiten; 0 stands
// for DefaultRidge times the mean eigenvalue of X'X. With a ridge the map is defined
// where samples are fewer than dimensions, too.
func Fit(kind Kind, ridge float64, x dataset.Matrix[float32], rows []int) (*Transform, error) {
	if kind == None {
		return &Transform{Kind: None}, nil
	}
	if len(rows) == 0 {
		return nil, &invalid.Error{Field: "samples", Want: "at least one to fit on", Got: fmt.Sprint(0)}
	}
	switch kind {
	case Standardize:
		return standardize(x, rows)
	case Whiten:
		return whiten(ridge, x, rows)
	}
	return nil, &invalid.Error{Field: "kind", Want: "none, standardize or whiten", Got: fmt.Sprint(string(kind))}
}

// Apply returns the given rows of x, preprocessed, in a matrix of their own.
func (m *Transform) Apply(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	if d := m.dims(); d != 0 && d != x.Cols {
		return dataset.Matrix[float32]{}, &invalid.Error{Field: "features", Want: "the dimensions that the map was fitted on", Got: fmt.Sprint(x.Cols)}
	}
	to := dataset.NewMatrix[float32](len(rows), x.Cols)
	block := dataset.NewMatrix[float32](min(applyBlock, len(rows)), x.Cols)
	for start := 0; start < len(rows); start += applyBlock {
		part := rows[start:min(start+applyBlock, len(rows))]
		out := to.Data[start*x.Cols : (start+len(part))*x.Cols]
		switch m.Kind {
		case Whiten:
			gather(block.Data, x, part)
			blas32.Implementation().Sgemm(blas.NoTrans, blas.NoTrans, len(part), x.Cols, x.Cols,
				1, block.Data, x.Cols, m.Matrix.Data, x.Cols, 0, out, x.Cols)
		case Standardize:
			gather(out, x, part)
			for i := range out {
				d := i % x.Cols
				out[i] = (out[i] - m.Shift[d]) * m.Scale[d]
			}
		default:
			gather(out, x, part)
		}
	}
	return to, nil
}

// applyBlock is how many samples are preprocessed at a time.
const applyBlock = 256

// dims is the D that the map was fitted on, 0 where any will do.
func (m *Transform) dims() int { return max(len(m.Shift), m.Matrix.Rows) }

func gather(to []float32, x dataset.Matrix[float32], rows []int) {
	for i, r := range rows {
		copy(to[i*x.Cols:(i+1)*x.Cols], x.Row(r))
	}
}

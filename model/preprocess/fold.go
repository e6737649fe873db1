package preprocess

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Fold returns what a linear layer W, b (D x M, M) behind the map is on features as
// they are, so that the map need not be carried out sample by sample:
//
//	(x Matrix) W + b         = x (Matrix W) + b
//	((x - Shift) Scale) W + b = x (Scale W) + (b - (Shift Scale) W)
//
// Sums are in float64. What is given is returned where there is nothing to fold.
func (m *Transform) Fold(w dataset.Matrix[float32], b []float32) (dataset.Matrix[float32], []float32, error) {
	if d := m.dims(); d != 0 && d != w.Rows {
		return w, b, &invalid.Error{Field: "features", Want: "the dimensions that the map was fitted on", Got: fmt.Sprint(w.Rows)}
	}
	folded := dataset.NewMatrix[float32](w.Rows, w.Cols)
	switch m.Kind {
	case Whiten:
		product := make([]float64, w.Rows*w.Cols)
		blas64.Implementation().Dgemm(blas.NoTrans, blas.NoTrans, w.Rows, w.Cols, w.Rows,
			1, widen(m.Matrix.Data), w.Rows, widen(w.Data), w.Cols, 0, product, w.Cols)
		narrow(folded.Data, product)
		return folded, b, nil
	case Standardize:
		bias := widen(b)
		for d := range w.Rows {
			for j, v := range w.Row(d) {
				scaled := float64(m.Scale[d]) * float64(v)
				folded.Row(d)[j] = float32(scaled)
				bias[j] -= float64(m.Shift[d]) * scaled
			}
		}
		shifted := make([]float32, len(b))
		narrow(shifted, bias)
		return folded, shifted, nil
	}
	return w, b, nil
}

func widen(x []float32) []float64 {
	w := make([]float64, len(x))
	for i, v := range x {
		w[i] = float64(v)
	}
	return w
}

func narrow(to []float32, x []float64) {
	for i, v := range x {
		to[i] = float32(v)
	}
}

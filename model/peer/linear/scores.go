package linear

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

// Scores returns the scores of the given rows of x by classifiers as models keep them, w
// (D x K): X W, len(rows) x K. With unit, samples are scaled to length 1.
func Scores(w dataset.Matrix[float32], unit bool, x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	s := dataset.NewMatrix[float32](len(rows), w.Cols)
	if x.Cols != w.Rows {
		return s, &model.Error{Field: "features", Want: "as many dimensions as the model was fitted to", Got: x.Cols}
	}
	b := blas32.Implementation()
	block := dataset.NewMatrix[float32](min(blockSize, len(rows)), x.Cols)
	done := 0
	for part := range slices.Chunk(rows, blockSize) {
		for i, r := range part {
			copy(block.Row(i), x.Row(r))
			if length := b.Snrm2(x.Cols, block.Row(i), 1); unit && length > 0 { // else a sample of zeros, which stays
				b.Sscal(x.Cols, 1/length, block.Row(i), 1)
			}
		}
		b.Sgemm(blas.NoTrans, blas.NoTrans, len(part), s.Cols, x.Cols,
			1, block.Data, x.Cols, w.Data, s.Cols, 0, s.Data[done*s.Cols:], s.Cols)
		done += len(part)
	}
	return s, nil
}

package linear

import (
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/baseline"
)

// Scores returns the scores of the given rows of x by classifiers as models keep them, w
// (D x K): X W, len(rows) x K. With unit, samples are scaled to length 1.
func Scores(w dataset.Matrix[float32], unit bool, x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	b := blas32.Implementation()
	return baseline.Project(w, x, rows, func(block, x dataset.Matrix[float32], part []int) {
		for i, r := range part {
			copy(block.Row(i), x.Row(r))
			if length := b.Snrm2(x.Cols, block.Row(i), 1); unit && length > 0 { // else a sample of zeros, which stays
				b.Sscal(x.Cols, 1/length, block.Row(i), 1)
			}
		}
	})
}

package baseline

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// projectBlock is how many samples are projected at a time.
const projectBlock = 256

// Project returns X W of the given rows of x, len(rows) x w.Cols: the first step of
// every method whose model begins with a linear map w, D x K. gather copies samples,
// in the form that the map was learned in, into the first rows of block.
func Project(
	w, x dataset.Matrix[float32], rows []int, gather func(block, x dataset.Matrix[float32], part []int),
) (dataset.Matrix[float32], error) {
	a := dataset.NewMatrix[float32](len(rows), w.Cols)
	if x.Cols != w.Rows {
		return a, &invalid.Error{Field: "features", Want: "as many dimensions as the model was fitted to", Got: fmt.Sprint(x.Cols)}
	}
	block := dataset.NewMatrix[float32](min(projectBlock, len(rows)), x.Cols)
	done := 0
	for part := range slices.Chunk(rows, projectBlock) {
		gather(block, x, part)
		blas32.Implementation().Sgemm(blas.NoTrans, blas.NoTrans, len(part), w.Cols, x.Cols,
			1, block.Data, x.Cols, w.Data, w.Cols, 0, a.Data[done*w.Cols:], w.Cols)
		done += len(part)
	}
	return a, nil
}

package model

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
)

// linearDetectors are detectors that learn no more, without a graph of their own.
type linearDetectors struct {
	w dataset.Matrix[float32] // D x M
	b []float32
}

func (d linearDetectors) check(x dataset.Matrix[float32]) error {
	if x.Cols != d.w.Rows {
		return &invalid.Error{Field: "features", Want: fmt.Sprintf("%d dimensions, as many as the model was trained on", d.w.Rows), Got: fmt.Sprint(x.Cols)}
	}
	return nil
}

// detect writes A = sigmoid(X W + b) of the rows of x into a, n x M.
func (d linearDetectors) detect(x, a dataset.Matrix[float32]) {
	if x.Rows == 0 {
		return
	}
	for i := range x.Rows {
		copy(a.Row(i), d.b)
	}
	blas32.Implementation().Sgemm(blas.NoTrans, blas.NoTrans, x.Rows, a.Cols, x.Cols,
		1, x.Data, x.Cols, d.w.Data, d.w.Cols, 1, a.Data, a.Cols)
	parallel.For(len(a.Data), 4096, func(lo, hi int) {
		for i, v := range a.Data[lo:hi] {
			a.Data[lo+i] = float32(1 / (1 + math.Exp(-float64(v))))
		}
	})
}

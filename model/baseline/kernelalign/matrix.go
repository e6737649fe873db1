package kernelalign

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

// gemm is C = alpha op(A) op(B) + beta C, by the BLAS that is in use.
func gemm[T model.Float](tA, tB blas.Transpose, alpha T, a, b dataset.Matrix[T], beta T, c dataset.Matrix[T]) {
	inner := a.Cols
	if tA == blas.Trans {
		inner = a.Rows
	}
	switch a := any(a).(type) {
	case dataset.Matrix[float32]:
		b, c := any(b).(dataset.Matrix[float32]), any(c).(dataset.Matrix[float32])
		blas32.Implementation().Sgemm(tA, tB, c.Rows, c.Cols, inner, float32(alpha), a.Data, a.Cols, b.Data, b.Cols, float32(beta), c.Data, c.Cols)
	case dataset.Matrix[float64]:
		b, c := any(b).(dataset.Matrix[float64]), any(c).(dataset.Matrix[float64])
		blas64.Implementation().Dgemm(tA, tB, c.Rows, c.Cols, inner, float64(alpha), a.Data, a.Cols, b.Data, b.Cols, float64(beta), c.Data, c.Cols)
	}
}

// head returns the first rows of a matrix, sharing its memory.
func head[T model.Float](m dataset.Matrix[T], rows int) dataset.Matrix[T] {
	return dataset.Matrix[T]{Rows: rows, Cols: m.Cols, Data: m.Data[:rows*m.Cols]}
}

// squaredLengths are those of the rows.
func squaredLengths[T model.Float](m dataset.Matrix[T]) []float64 {
	s := make([]float64, m.Rows)
	for i := range s {
		s[i] = squaredLength(m.Row(i))
	}
	return s
}

func squaredLength[T model.Float](v []T) float64 {
	var s float64
	for _, x := range v {
		s += float64(x) * float64(x)
	}
	return s
}

// means are those of the columns over the given rows.
func means(m dataset.Matrix[float32], rows []int) []float64 {
	s := make([]float64, m.Cols)
	for _, r := range rows {
		for j, v := range m.Row(r) {
			s[j] += float64(v)
		}
	}
	for j := range s {
		s[j] /= float64(len(rows))
	}
	return s
}

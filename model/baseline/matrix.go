package baseline

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
)

// Tensor is a named matrix of a model or of a learner's state.
type Tensor struct {
	Name   string
	Matrix dataset.Matrix[float32]
}

// Tensors are tensors with unique names.
type Tensors []Tensor

// Get returns the matrix with the given name and size; -1 stands for any size above 0.
// The error is an *invalid.Error that names the tensor.
func (t Tensors) Get(name string, rows, cols int) (dataset.Matrix[float32], error) {
	i := slices.IndexFunc(t, func(t Tensor) bool { return t.Name == name })
	want := fmt.Sprintf("a matrix of %s x %s", size(rows), size(cols))
	if i < 0 {
		return dataset.Matrix[float32]{}, &invalid.Error{Field: name, Want: want, Got: "none"}
	}
	m := t[i].Matrix
	fits := func(want, got int) bool { return got == want || want < 0 && got > 0 }
	if !fits(rows, m.Rows) || !fits(cols, m.Cols) || len(m.Data) != m.Rows*m.Cols {
		return m, &invalid.Error{Field: name, Want: want, Got: fmt.Sprintf("%d x %d", m.Rows, m.Cols)}
	}
	return m, nil
}

func size(n int) string {
	if n < 0 {
		return "any"
	}
	return fmt.Sprint(n)
}

// Gemm computes C = alpha op(A) op(B) + beta C.
func Gemm[T model.Float](tA, tB blas.Transpose, alpha T, a, b dataset.Matrix[T], beta T, c dataset.Matrix[T]) {
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

// Convert returns a copy of a matrix in another precision.
func Convert[To, From model.Float](m dataset.Matrix[From]) dataset.Matrix[To] {
	c := dataset.NewMatrix[To](m.Rows, m.Cols)
	for i, v := range m.Data {
		c.Data[i] = To(v)
	}
	return c
}

// Head returns the first rows of a matrix, without copying them.
func Head[T model.Float](m dataset.Matrix[T], rows int) dataset.Matrix[T] {
	return dataset.Matrix[T]{Rows: rows, Cols: m.Cols, Data: m.Data[:rows*m.Cols]}
}

// Means returns the mean of each column of u over the entries that are not NaN, or none
// if all of them are.
func Means(u dataset.Matrix[float64], none float64) []float64 {
	means := make([]float64, u.Cols)
	for m := range means {
		var sum, n float64
		for z := range u.Rows {
			if v := u.Row(z)[m]; !math.IsNaN(v) {
				sum += v
				n++
			}
		}
		means[m] = none
		if n > 0 {
			means[m] = sum / n
		}
	}
	return means
}

// Gather copies rows of x into the first rows of to.
type Gather func(to, x dataset.Matrix[float32], rows []int)

// CopyRows is the Gather of unchanged features.
func CopyRows(to, x dataset.Matrix[float32], rows []int) {
	for i, r := range rows {
		copy(to.Row(i), x.Row(r))
	}
}

// CopyUnitRows is the Gather of features scaled to length 1; rows of zeros stay zero.
func CopyUnitRows(to, x dataset.Matrix[float32], rows []int) {
	b := blas32.Implementation()
	CopyRows(to, x, rows)
	for i := range rows {
		row := to.Row(i)
		if length := b.Snrm2(len(row), row, 1); length > 0 {
			b.Sscal(len(row), 1/length, row, 1)
		}
	}
}

// projectBlock is the number of samples projected at a time.
const projectBlock = 256

// Project returns X W for the given rows of x, len(rows) x w.Cols: the first step of
// every model that begins with a linear map w, D x K. gather returns the features in the
// form that w was trained on.
func Project(w, x dataset.Matrix[float32], rows []int, gather Gather) (dataset.Matrix[float32], error) {
	a := dataset.NewMatrix[float32](len(rows), w.Cols)
	if x.Cols != w.Rows {
		return a, &invalid.Error{Field: "features", Want: fmt.Sprintf("%d dimensions, as in training", w.Rows), Got: fmt.Sprint(x.Cols)}
	}
	block := dataset.NewMatrix[float32](min(projectBlock, len(rows)), x.Cols)
	done := 0
	for part := range slices.Chunk(rows, projectBlock) {
		gather(block, x, part)
		to := dataset.Matrix[float32]{Rows: len(part), Cols: w.Cols, Data: a.Data[done*w.Cols : (done+len(part))*w.Cols]}
		Gemm(blas.NoTrans, blas.NoTrans, 1, Head(block, len(part)), w, 0, to)
		done += len(part)
	}
	return a, nil
}

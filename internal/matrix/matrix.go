// Package matrix has dense matrices, views of them, and their products.
//
// A Matrix owns consecutive memory and is what the program stores. A View is an operand of a
// product: some columns of a matrix, its transpose, or a multiple of it, without a copy.
// Products run on the library of package blas.
package matrix

import (
	"fmt"

	"github.com/lago-train/lago-train/internal/blas"
)

// Float is a number that matrices hold.
type Float interface{ float32 | float64 }

// Matrix is a dense matrix in row-major order.
type Matrix[T Float] struct {
	Rows, Cols int
	Data       []T // Rows x Cols
}

// New returns a matrix of zeros.
func New[T Float](rows, cols int) Matrix[T] {
	return Matrix[T]{Rows: rows, Cols: cols, Data: make([]T, rows*cols)}
}

// Of returns the matrix of the rows that data holds, each of so many columns.
func Of[T Float](data []T, cols int) Matrix[T] {
	return Matrix[T]{Rows: len(data) / cols, Cols: cols, Data: data}
}

// Convert returns a copy of a matrix in another precision.
func Convert[To, From Float](m Matrix[From]) Matrix[To] {
	c := New[To](m.Rows, m.Cols)
	for i, v := range m.Data {
		c.Data[i] = To(v)
	}
	return c
}

// Row returns row i, sharing its memory.
func (m Matrix[T]) Row(i int) []T { return m.Data[i*m.Cols : (i+1)*m.Cols] }

// Slice returns the rows from first to end-1, sharing their memory.
func (m Matrix[T]) Slice(first, end int) Matrix[T] {
	return Matrix[T]{Rows: end - first, Cols: m.Cols, Data: m.Data[first*m.Cols : end*m.Cols]}
}

// Gather returns a copy of the given rows.
func (m Matrix[T]) Gather(rows []int) Matrix[T] {
	to := New[T](len(rows), m.Cols)
	to.CopyRows(m, rows)
	return to
}

// CopyRows copies the given rows of x into the first rows of m.
func (m Matrix[T]) CopyRows(x Matrix[T], rows []int) {
	for i, r := range rows {
		copy(m.Row(i), x.Row(r))
	}
}

// AllRows returns the indices of all rows, from 0 to Rows-1.
func (m Matrix[T]) AllRows() []int {
	rows := make([]int, m.Rows)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// View is a part of a matrix in a product, sharing its memory.
type View[T Float] struct {
	rows, cols, stride int
	data               []T
	factor             T
	transposed         bool // rows, cols and stride are those before
}

// Operand is a Matrix or a View.
type Operand[T Float] interface{ operand(T) }

func (m Matrix[T]) operand(T) {}
func (v View[T]) operand(T)   {}

func (m Matrix[T]) view() View[T] { return View[T]{m.Rows, m.Cols, m.Cols, m.Data, 1, false} }

// T returns the transpose.
func (m Matrix[T]) T() View[T] { return m.view().T() }

// Times returns a multiple.
func (m Matrix[T]) Times(factor T) View[T] { return m.view().Times(factor) }

// Columns returns the columns from first to end-1.
func (m Matrix[T]) Columns(first, end int) View[T] {
	v := m.view()
	v.cols, v.data = end-first, m.Data[min(first, len(m.Data)):]
	return v
}

// T returns the transpose.
func (v View[T]) T() View[T] {
	v.transposed = !v.transposed
	return v
}

// Times returns a multiple.
func (v View[T]) Times(factor T) View[T] {
	v.factor *= factor
	return v
}

// size returns the rows and columns after transposition.
func (v View[T]) size() (rows, cols int) {
	if v.transposed {
		return v.cols, v.rows
	}
	return v.rows, v.cols
}

func (v View[T]) transpose() blas.Transpose {
	if v.transposed {
		return blas.Trans
	}
	return blas.NoTrans
}

// Mul writes the product a b into dst, which shares no memory with them. It panics if the
// sizes do not fit, or if dst is a transpose or a multiple.
func Mul[T Float](dst, a, b Operand[T]) { multiply(viewOf(dst), viewOf(a), viewOf(b), 0) }

// AddMul adds the product a b to dst, as Mul writes it.
func AddMul[T Float](dst, a, b Operand[T]) { multiply(viewOf(dst), viewOf(a), viewOf(b), 1) }

// Product returns the product a b.
func Product[T Float](a, b Operand[T]) Matrix[T] {
	x, y := viewOf(a), viewOf(b)
	rows, _ := x.size()
	_, cols := y.size()
	c := New[T](rows, cols)
	multiply(c.view(), x, y, 0)
	return c
}

// viewOf is no method of Operand, so that operands need no memory of the heap.
func viewOf[T Float](o Operand[T]) View[T] {
	switch o := o.(type) {
	case Matrix[T]:
		return o.view()
	case View[T]:
		return o
	}
	panic("matrix: an operand is neither a Matrix nor a View")
}

func multiply[T Float](c, a, b View[T], share T) {
	m, k := a.size()
	inner, n := b.size()
	if k != inner || c.rows != m || c.cols != n || c.transposed || c.factor != 1 {
		panic(fmt.Sprintf("matrix: the product of %d x %d and %d x %d is written into %d x %d", m, k, inner,
			n, c.rows, c.cols))
	}
	blas.Gemm(a.transpose(), b.transpose(), m, n, k, a.factor*b.factor, a.data, a.stride, b.data, b.stride,
		share, c.data, c.stride)
}

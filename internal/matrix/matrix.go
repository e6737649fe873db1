// Package matrix has dense matrices, views of them, and their products.
//
// A Matrix owns consecutive memory and is what the program stores. A View is an operand of a
// product: some columns of a matrix, its transpose, or a multiple of it, without a copy.
// Products run on the library of package blas.
package matrix

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

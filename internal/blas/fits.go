package blas

import (
	"math"

	"gonum.org/v1/gonum/blas"
)

// The functions here check arguments against what gonum documents. If one returns
// false, the call goes to gonum, which computes or panics, so a library never reads or
// writes beyond a slice.

// matrix reports whether a row-major rows x cols matrix lies in its slice. Libraries
// take sizes as 32-bit integers.
func matrix(rows, cols, ld, length int) bool {
	return 0 < rows && 0 < cols && cols <= ld &&
		rows <= math.MaxInt32 && ld <= math.MaxInt32 &&
		(rows-1)*ld+cols <= length
}

// vector reports whether n elements with an increment lie in their slice.
func vector(n, inc, length int) bool {
	if inc < 0 {
		inc = -inc
	}
	return 0 < n && n <= math.MaxInt32 && 0 < inc && inc <= math.MaxInt32 && (n-1)*inc < length
}

func transpose(t blas.Transpose) bool {
	return t == blas.NoTrans || t == blas.Trans || t == blas.ConjTrans
}

func uplo(u blas.Uplo) bool { return u == blas.Upper || u == blas.Lower }

// stored returns the rows and columns in memory of A, where op(A) is rows x cols.
func stored(t blas.Transpose, rows, cols int) (int, int) {
	if t == blas.NoTrans {
		return rows, cols
	}
	return cols, rows
}

func gemmFits(tA, tB blas.Transpose, m, n, k, lenA, lda, lenB, ldb, lenC, ldc int) bool {
	rowsA, colsA := stored(tA, m, k)
	rowsB, colsB := stored(tB, k, n)
	return transpose(tA) && transpose(tB) &&
		matrix(rowsA, colsA, lda, lenA) && matrix(rowsB, colsB, ldb, lenB) && matrix(m, n, ldc, lenC)
}

func gemvFits(t blas.Transpose, m, n, lenA, lda, lenX, incX, lenY, incY int) bool {
	sizeY, sizeX := stored(t, m, n)
	return transpose(t) && matrix(m, n, lda, lenA) && vector(sizeX, incX, lenX) && vector(sizeY, incY, lenY)
}

func syrkFits(u blas.Uplo, t blas.Transpose, n, k, lenA, lda, lenC, ldc int) bool {
	rowsA, colsA := stored(t, n, k)
	return uplo(u) && transpose(t) && matrix(rowsA, colsA, lda, lenA) && matrix(n, n, ldc, lenC)
}

func triangleFits(s blas.Side, u blas.Uplo, t blas.Transpose, d blas.Diag, m, n, lenA, lda, lenB, ldb int) bool {
	k := order(s, m, n)
	known := (s == blas.Left || s == blas.Right) && uplo(u) && transpose(t) && (d == blas.NonUnit || d == blas.Unit)
	return known && matrix(k, k, lda, lenA) && matrix(m, n, ldb, lenB)
}

// order returns the rows and columns of a triangular matrix beside an m x n one.
func order(s blas.Side, m, n int) int {
	if s == blas.Left {
		return m
	}
	return n
}

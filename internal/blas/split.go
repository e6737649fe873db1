//go:build (linux || darwin) && (amd64 || arm64) && !android && !ios

package blas

import (
	"gonum.org/v1/gonum/blas"

	"github.com/lago-train/lago-train/internal/parallel"
)

const (
	// leastSplit is the number of multiplications from which a product is worth
	// more than one goroutine.
	leastSplit = 1 << 22
	// partLength is how many rows or columns of the result one part has at the
	// least, so that packing the other operand again for each costs little.
	partLength = 128
	mostParts  = 16
)

// parts is into how many parts a product is cut along its longer side. It depends
// on the sizes alone, so that the bits do not depend on the number of workers.
func parts(m, n, k int) int {
	if m*n*k < leastSplit {
		return 1
	}
	return min(max(max(m, n)/partLength, 1), mostParts)
}

// split computes C = alpha op(A) op(B) + beta C in parts side by side.
func split[T float32 | float64](r *routines[T], tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
	p := parts(m, n, k)
	if p == 1 {
		r.multiply(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	parallel.For(p, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if m >= n { // rows of A and C
				from, to := i*m/p, (i+1)*m/p
				r.multiply(tA, tB, to-from, n, k, alpha, a[offset(tA, from, lda):], lda, b, ldb, beta, c[from*ldc:], ldc)
			} else { // columns of B and C
				from, to := i*n/p, (i+1)*n/p
				r.multiply(tA, tB, m, to-from, k, alpha, a, lda, b[offset(flipTranspose(tB), from, ldb):], ldb, beta, c[from:], ldc)
			}
		}
	})
}

// offset is where row from of op(A) starts in memory.
func offset(t blas.Transpose, from, lda int) int {
	if t == blas.NoTrans {
		return from * lda
	}
	return from
}

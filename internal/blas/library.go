//go:build (linux || darwin) && (amd64 || arm64) && !android && !ios

package blas

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/lago-train/lago-train/internal/parallel"
)

// library is a BLAS library behind gonum's interfaces, and gonum itself for what the
// library does not compute.
type library struct {
	gonum.Implementation
	single routines[float32] // gemm and gemv only
	double routines[float64]

	product
}

func (l *library) info() Info {
	return Info{Name: l.name, Version: l.version, Path: l.path}
}

// Below these numbers of multiplications gonum is faster than a call into a library,
// which takes about 100 ns (BenchmarkGemm).
const (
	leastProduct = 1 << 7
	leastVector  = 1 << 14
)

func pays(m, n, k int) bool { return m*n*k >= leastProduct }

// Sgemm computes C = alpha op(A) op(B) + beta C.
func (l *library) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if !pays(m, n, k) || !gemmFits(tA, tB, m, n, k, len(a), lda, len(b), ldb, len(c), ldc) {
		l.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	split(&l.single, tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Dgemm computes C = alpha op(A) op(B) + beta C.
func (l *library) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if !pays(m, n, k) || !gemmFits(tA, tB, m, n, k, len(a), lda, len(b), ldb, len(c), ldc) {
		l.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	split(&l.double, tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Sgemv computes y = alpha op(A) x + beta y.
func (l *library) Sgemv(t blas.Transpose, m, n int, alpha float32, a []float32, lda int, x []float32, incX int, beta float32, y []float32, incY int) {
	if m*n < leastVector || !gemvFits(t, m, n, len(a), lda, len(x), incX, len(y), incY) {
		l.Implementation.Sgemv(t, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	l.single.multiplyVector(t, m, n, alpha, a, lda, x, incX, beta, y, incY)
}

// Dgemv computes y = alpha op(A) x + beta y.
func (l *library) Dgemv(t blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	if m*n < leastVector || !gemvFits(t, m, n, len(a), lda, len(x), incX, len(y), incY) {
		l.Implementation.Dgemv(t, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	l.double.multiplyVector(t, m, n, alpha, a, lda, x, incX, beta, y, incY)
}

// Dsyrk computes one triangle of C = alpha op(A) op(A)' + beta C.
func (l *library) Dsyrk(u blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	if !pays(n, n, k) || !syrkFits(u, t, n, k, len(a), lda, len(c), ldc) {
		l.Implementation.Dsyrk(u, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	l.double.square(u, t, n, k, alpha, a, lda, beta, c, ldc)
}

// Dtrsm computes B = alpha op(A)^-1 B, or B = alpha B op(A)^-1.
func (l *library) Dtrsm(s blas.Side, u blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	if !pays(m, n, order(s, m, n)) || !triangleFits(s, u, t, d, m, n, len(a), lda, len(b), ldb) {
		l.Implementation.Dtrsm(s, u, t, d, m, n, alpha, a, lda, b, ldb)
		return
	}
	l.double.triangular(l.double.trsm, s, u, t, d, m, n, alpha, a, lda, b, ldb)
}

// Dtrmm computes B = alpha op(A) B, or B = alpha B op(A).
func (l *library) Dtrmm(s blas.Side, u blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, b []float64, ldb int) {
	if !pays(m, n, order(s, m, n)) || !triangleFits(s, u, t, d, m, n, len(a), lda, len(b), ldb) {
		l.Implementation.Dtrmm(s, u, t, d, m, n, alpha, a, lda, b, ldb)
		return
	}
	l.double.triangular(l.double.trmm, s, u, t, d, m, n, alpha, a, lda, b, ldb)
}

const (
	// leastSplit is the number of multiplications from which a product is worth more than
	// one goroutine.
	leastSplit = 1 << 22
	// partLength is the least number of rows or columns of the result in one part, so
	// that packing the other operand again for each costs little.
	partLength = 128
	mostParts  = 16
)

// parts returns into how many parts a product is cut along its longer side. It depends
// on the sizes alone, so that results do not depend on the number of workers.
func parts(m, n, k int) int {
	if m*n*k < leastSplit {
		return 1
	}
	return min(max(max(m, n)/partLength, 1), mostParts)
}

// split computes C = alpha op(A) op(B) + beta C in parts, in parallel.
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

// offset returns where a row of op(A) starts in memory.
func offset(t blas.Transpose, from, lda int) int {
	if t == blas.NoTrans {
		return from * lda
	}
	return from
}

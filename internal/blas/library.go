//go:build (linux || darwin) && (amd64 || arm64) && !android && !ios && !static

package blas

import (
	"math"
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/lago-train/lago-train/internal/parallel"
)

// library is a BLAS library behind gonum's interfaces, and gonum itself for what the
// library does not compute.
type library struct {
	gonum.Implementation
	single routines[float32] // gemm only
	double routines[float64]

	description Info
}

func (l *library) info() Info { return l.description }

// Below these numbers of multiplications gonum is faster than a call into a library,
// which takes about 100 ns.
const (
	leastProduct = 1 << 7
	leastVector  = 1 << 14
)

func pays(m, n, k int) bool { return m*n*k >= leastProduct }

// Sgemm computes C = alpha op(A) op(B) + beta C.
func (l *library) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32,
	ldb int, beta float32, c []float32, ldc int,
) {
	if !pays(m, n, k) || !gemmFits(tA, tB, m, n, k, len(a), lda, len(b), ldb, len(c), ldc) {
		l.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	split(&l.single, tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Dgemm computes C = alpha op(A) op(B) + beta C.
func (l *library) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64,
	ldb int, beta float64, c []float64, ldc int,
) {
	if !pays(m, n, k) || !gemmFits(tA, tB, m, n, k, len(a), lda, len(b), ldb, len(c), ldc) {
		l.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	split(&l.double, tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
}

// Dgemv computes y = alpha op(A) x + beta y.
func (l *library) Dgemv(t blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64,
	incX int, beta float64, y []float64, incY int,
) {
	sizeY, sizeX := stored(t, m, n)
	if m*n < leastVector || !(transpose(t) && matrix(m, n, lda, len(a)) && vector(sizeX, incX, len(x)) &&
		vector(sizeY, incY, len(y))) {
		l.Implementation.Dgemv(t, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	l.double.multiplyVector(t, m, n, alpha, a, lda, x, incX, beta, y, incY)
}

// Dsyrk computes one triangle of C = alpha op(A) op(A)' + beta C.
func (l *library) Dsyrk(u blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int,
	beta float64, c []float64, ldc int,
) {
	rowsA, colsA := stored(t, n, k)
	if !pays(n, n, k) ||
		!(uplo(u) && transpose(t) && matrix(rowsA, colsA, lda, len(a)) && matrix(n, n, ldc, len(c))) {
		l.Implementation.Dsyrk(u, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	l.double.square(u, t, n, k, alpha, a, lda, beta, c, ldc)
}

// Dtrsm computes B = alpha op(A)^-1 B, or B = alpha B op(A)^-1.
func (l *library) Dtrsm(s blas.Side, u blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha float64,
	a []float64, lda int, b []float64, ldb int,
) {
	if !pays(m, n, order(s, m, n)) || !triangleFits(s, u, t, d, m, n, len(a), lda, len(b), ldb) {
		l.Implementation.Dtrsm(s, u, t, d, m, n, alpha, a, lda, b, ldb)
		return
	}
	l.double.triangular(l.double.trsm, s, u, t, d, m, n, alpha, a, lda, b, ldb)
}

// Dtrmm computes B = alpha op(A) B, or B = alpha B op(A).
func (l *library) Dtrmm(s blas.Side, u blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha float64,
	a []float64, lda int, b []float64, ldb int,
) {
	if !pays(m, n, order(s, m, n)) || !triangleFits(s, u, t, d, m, n, len(a), lda, len(b), ldb) {
		l.Implementation.Dtrmm(s, u, t, d, m, n, alpha, a, lda, b, ldb)
		return
	}
	l.double.triangular(l.double.trmm, s, u, t, d, m, n, alpha, a, lda, b, ldb)
}

const (
	// leastSplit is the number of multiplications from which a product is worth more than one goroutine.
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
func split[T float32 | float64](r *routines[T], tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int,
	b []T, ldb int, beta T, c []T, ldc int,
) {
	p := parts(m, n, k)
	if p == 1 {
		r.multiply(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	parallel.For(p, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if m >= n { // rows of A and C
				from, to := i*m/p, (i+1)*m/p
				r.multiply(tA, tB, to-from, n, k, alpha, a[offset(tA, from, lda):], lda, b, ldb, beta,
					c[from*ldc:], ldc)
			} else { // columns of B and C
				from, to := i*n/p, (i+1)*n/p
				r.multiply(tA, tB, m, to-from, k, alpha, a, lda, b[offset(flipTranspose(tB), from, ldb):],
					ldb, beta, c[from:], ldc)
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

// routines are the entry points of one precision. They are the Fortran ones: each of
// their arguments is a pointer, so that a call needs no floating-point register, which
// purego would fill through reflection and with allocations.
//
// Fortran stores matrices by column. A row-major matrix read by column is its transpose, so each method
// requests the transposed product, which then stands row by row in the result.
type routines[T float32 | float64] struct {
	gemm, gemv, syrk, trsm, trmm uintptr

	frames sync.Pool // of *frame[T]
}

// frame is the memory of one call: the scalars, which are passed by address, the operands, and the list of
// all addresses. It is on the heap, which does not move, and so is all that a, b and c point to.
//
// Sizes have 64 bits, low half first on the architectures of this file, so that libraries
// with 32-bit and with 64-bit integers both read them.
type frame[T float32 | float64] struct {
	side, uplo, transA, transB, diag byte
	m, n, k, lda, ldb, ldc           int64
	alpha, beta                      T
	a, b, c                          *T

	addresses [15]uintptr
}

// charLength is the hidden argument that Fortran compilers append for each
// character argument. C implementations leave it unread.
const charLength = 1

func (r *routines[T]) frame() *frame[T] {
	if f := r.frames.Get(); f != nil {
		return f.(*frame[T])
	}
	return new(frame[T])
}

// call runs a routine on the addresses in f and puts f back.
func (r *routines[T]) call(routine uintptr, f *frame[T], arguments int) {
	purego.SyscallN(routine, f.addresses[:arguments]...)
	runtime.KeepAlive(f)
	f.a, f.b, f.c = nil, nil, nil
	r.frames.Put(f)
}

func address[V any](v *V) uintptr { return uintptr(unsafe.Pointer(v)) }

// multiply computes C = alpha op(A) op(B) + beta C, as C' = op(B)' op(A)'.
func (r *routines[T]) multiply(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int,
	beta T, c []T, ldc int,
) {
	f := r.frame()
	f.transA, f.transB = byte(tA), byte(tB)
	f.m, f.n, f.k = int64(m), int64(n), int64(k)
	f.lda, f.ldb, f.ldc = int64(lda), int64(ldb), int64(ldc)
	f.alpha, f.beta = alpha, beta
	f.a, f.b, f.c = &a[0], &b[0], &c[0]
	f.addresses = [...]uintptr{
		address(&f.transB), address(&f.transA),
		address(&f.n), address(&f.m), address(&f.k),
		address(&f.alpha), address(f.b), address(&f.ldb), address(f.a), address(&f.lda),
		address(&f.beta), address(f.c), address(&f.ldc),
		charLength, charLength,
	}
	r.call(r.gemm, f, 15)
}

// multiplyVector computes y = alpha op(A) x + beta y.
func (r *routines[T]) multiplyVector(t blas.Transpose, m, n int, alpha T, a []T, lda int, x []T, incX int,
	beta T, y []T, incY int,
) {
	f := r.frame()
	f.transA = byte(flipTranspose(t))
	f.m, f.n = int64(m), int64(n)
	f.lda, f.ldb, f.ldc = int64(lda), int64(incX), int64(incY)
	f.alpha, f.beta = alpha, beta
	f.a, f.b, f.c = &a[0], &x[0], &y[0]
	f.addresses = [15]uintptr{
		address(&f.transA), address(&f.n), address(&f.m),
		address(&f.alpha), address(f.a), address(&f.lda), address(f.b), address(&f.ldb),
		address(&f.beta), address(f.c), address(&f.ldc),
		charLength,
	}
	r.call(r.gemv, f, 12)
}

// square computes one triangle of C = alpha op(A) op(A)' + beta C.
func (r *routines[T]) square(u blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, beta T, c []T,
	ldc int,
) {
	f := r.frame()
	f.uplo, f.transA = byte(flipUplo(u)), byte(flipTranspose(t))
	f.n, f.k = int64(n), int64(k)
	f.lda, f.ldc = int64(lda), int64(ldc)
	f.alpha, f.beta = alpha, beta
	f.a, f.c = &a[0], &c[0]
	f.addresses = [15]uintptr{
		address(&f.uplo), address(&f.transA), address(&f.n), address(&f.k),
		address(&f.alpha), address(f.a), address(&f.lda),
		address(&f.beta), address(f.c), address(&f.ldc),
		charLength, charLength,
	}
	r.call(r.syrk, f, 12)
}

// triangular runs r.trsm or r.trmm: B = alpha op(A)^-1 B or B = alpha op(A) B,
// or the same with A on the right. Transposed, A changes sides.
func (r *routines[T]) triangular(routine uintptr, s blas.Side, u blas.Uplo, t blas.Transpose, d blas.Diag, m,
	n int, alpha T, a []T, lda int, b []T, ldb int,
) {
	f := r.frame()
	f.side, f.uplo, f.transA, f.diag = byte(flip(s, blas.Left,
		blas.Right)), byte(flipUplo(u)), byte(t), byte(d)
	f.m, f.n = int64(m), int64(n)
	f.lda, f.ldb = int64(lda), int64(ldb)
	f.alpha = alpha
	f.a, f.b = &a[0], &b[0]
	f.addresses = [15]uintptr{
		address(&f.side), address(&f.uplo), address(&f.transA), address(&f.diag), address(&f.n),
		address(&f.m),
		address(&f.alpha), address(f.a), address(&f.lda), address(f.b), address(&f.ldb),
		charLength, charLength, charLength, charLength,
	}
	r.call(routine, f, 15)
}

// flip returns the other of two flags.
func flip[F ~byte](flag, one, other F) F {
	if flag == one {
		return other
	}
	return one
}

func flipTranspose(t blas.Transpose) blas.Transpose { return flip(t, blas.NoTrans, blas.Trans) }
func flipUplo(u blas.Uplo) blas.Uplo                { return flip(u, blas.Upper, blas.Lower) }

// The functions here check arguments against what gonum documents. If one returns false, the call goes to
// gonum, which computes or panics, so a library never reads or writes beyond a slice.

// matrix reports whether a row-major rows x cols matrix lies in its slice. Libraries
// take sizes as 32-bit integers.
func matrix(rows, cols, ld, length int) bool {
	return 0 < rows && 0 < cols && cols <= ld &&
		rows <= math.MaxInt32 && ld <= math.MaxInt32 &&
		(rows-1)*ld+cols <= length
}

// vector reports whether n elements with an increment lie in their slice.
func vector(n, inc, length int) bool { return matrix(n, 1, max(inc, -inc), length) }

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

func triangleFits(s blas.Side, u blas.Uplo, t blas.Transpose, d blas.Diag, m, n, lenA, lda, lenB,
	ldb int,
) bool {
	k := order(s, m, n)
	known := (s == blas.Left || s == blas.Right) && uplo(u) && transpose(t) &&
		(d == blas.NonUnit || d == blas.Unit)
	return known && matrix(k, k, lda, lenA) && matrix(m, n, ldb, lenB)
}

// order returns the rows and columns of a triangular matrix beside an m x n one.
func order(s blas.Side, m, n int) int {
	if s == blas.Left {
		return m
	}
	return n
}

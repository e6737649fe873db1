//go:build (linux || darwin) && (amd64 || arm64) && !android && !ios

package blas

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
	"gonum.org/v1/gonum/blas"
)

// routines are the entry points of one precision. They are the Fortran ones: each of
// their arguments is a pointer, so that a call needs no floating-point register, which
// purego would fill through reflection and with allocations.
//
// Fortran stores matrices by column. A row-major matrix read by column is its transpose,
// so each method requests the transposed product, which then stands row by row in the
// result.
type routines[T float32 | float64] struct {
	gemm, gemv, syrk, trsm, trmm uintptr

	frames sync.Pool // of *frame[T]
}

// frame is the memory of one call: the scalars, which are passed by address, the
// operands, and the list of all addresses. It is on the heap, which does not move, and so
// is all that a, b and c point to.
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
func (r *routines[T]) multiply(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) {
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
func (r *routines[T]) multiplyVector(t blas.Transpose, m, n int, alpha T, a []T, lda int, x []T, incX int, beta T, y []T, incY int) {
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
func (r *routines[T]) square(u blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, beta T, c []T, ldc int) {
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
func (r *routines[T]) triangular(routine uintptr, s blas.Side, u blas.Uplo, t blas.Transpose, d blas.Diag, m, n int, alpha T, a []T, lda int, b []T, ldb int) {
	f := r.frame()
	f.side, f.uplo, f.transA, f.diag = byte(flipSide(s)), byte(flipUplo(u)), byte(t), byte(d)
	f.m, f.n = int64(m), int64(n)
	f.lda, f.ldb = int64(lda), int64(ldb)
	f.alpha = alpha
	f.a, f.b = &a[0], &b[0]
	f.addresses = [15]uintptr{
		address(&f.side), address(&f.uplo), address(&f.transA), address(&f.diag), address(&f.n), address(&f.m),
		address(&f.alpha), address(f.a), address(&f.lda), address(f.b), address(&f.ldb),
		charLength, charLength, charLength, charLength,
	}
	r.call(routine, f, 15)
}

func flipTranspose(t blas.Transpose) blas.Transpose {
	if t == blas.NoTrans {
		return blas.Trans
	}
	return blas.NoTrans
}

func flipUplo(u blas.Uplo) blas.Uplo {
	if u == blas.Upper {
		return blas.Lower
	}
	return blas.Upper
}

func flipSide(s blas.Side) blas.Side {
	if s == blas.Left {
		return blas.Right
	}
	return blas.Left
}

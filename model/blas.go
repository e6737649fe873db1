package model

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/internal/parallel"
)

// gemm is C = alpha op(A) op(B) + beta C on row-major matrices, where op(A) is
// m x k and op(B) k x n.
type gemm[T Float] func(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)

// newGemm returns the matrix product of the BLAS in use.
func newGemm[T Float]() gemm[T] {
	var product any = gemm[float32](blas32.Implementation().Sgemm)
	if _, ok := any(*new(T)).(float64); ok {
		product = gemm[float64](blas64.Implementation().Dgemm)
	}
	return product.(gemm[T])
}

// dotChunk is the length of the parts that dot sums separately, so that the sum is the
// same for any number of workers.
const dotChunk = 1 << 13

// dot is the inner product of x and y. Parts are summed in the precision of T, and added
// in float64.
func dot[T Float](x, y []T) float64 {
	parts := make([]float64, (len(x)+dotChunk-1)/dotChunk)
	parallel.For(len(parts), 4, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			end := min((p+1)*dotChunk, len(x))
			parts[p] = dotPart(x[p*dotChunk:end], y[p*dotChunk:end])
		}
	})
	return sum(parts)
}

func dotPart[T Float](x, y []T) float64 {
	if dtype[T]() == tensor.Float32 {
		x, y := same[float32](x), same[float32](y)
		return float64(blas32.Implementation().Sdot(len(x), x, 1, y, 1))
	}
	return blas64.Implementation().Ddot(len(x), same[float64](x), 1, same[float64](y), 1)
}

// addScaled adds alpha x to y.
func addScaled[T Float](y []T, alpha T, x []T) {
	if dtype[T]() == tensor.Float32 {
		blas32.Implementation().Saxpy(len(x), float32(alpha), same[float32](x), 1, same[float32](y), 1)
		return
	}
	blas64.Implementation().Daxpy(len(x), float64(alpha), same[float64](x), 1, same[float64](y), 1)
}

func sum[T Float](x []T) float64 {
	var s float64
	for _, v := range x {
		s += float64(v)
	}
	return s
}

package blas

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/blas"
)

var transposes = []struct{ a, b blas.Transpose }{
	{blas.NoTrans, blas.NoTrans},
	{blas.Trans, blas.NoTrans},
	{blas.NoTrans, blas.Trans},
}

// The sizes of the model (a batch of 64 samples, D = 2048, 312 attributes, 11 groups), and
// those from which a library is faster than gonum.
func BenchmarkGemm(b *testing.B) {
	for _, size := range []struct{ m, k, n int }{
		{1, 1, 1},
		{4, 4, 4},
		{8, 8, 8},
		{64, 11, 64},
		{64, 312, 64},
		{64, 2048, 312},
		{2048, 64, 312},
	} {
		for _, t := range transposes {
			for _, impl := range implementations(b) {
				name := fmt.Sprintf("%dx%dx%d/%c%c/%s", size.m, size.k, size.n, t.a, t.b, impl.info().Name)
				b.Run(name, func(b *testing.B) {
					x := ramp[float32](size.m * size.k)
					y := ramp[float32](size.k * size.n)
					z := ramp[float32](size.m * size.n)
					_, ldx := stored(t.a, size.m, size.k)
					_, ldy := stored(t.b, size.k, size.n)
					b.ReportAllocs()
					for b.Loop() {
						impl.Sgemm(t.a, t.b, size.m, size.n, size.k, 1, x, ldx, y, ldy, 0, z, size.n)
					}
				})
			}
		}
	}
}

// implementations returns gonum and the library of this machine, if it has one.
func implementations(tb testing.TB) []backend {
	tb.Helper()
	impls := []backend{pureGo{}}
	if l, err := search(); err == nil {
		impls = append(impls, l)
	}
	return impls
}

// ramp returns n small numbers of both signs.
func ramp[T float32 | float64](n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(i%7) - 3
	}
	return x
}

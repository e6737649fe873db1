//go:build installed

package blas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/internal/testkit"
)

// aLibrary returns the library of this machine.
func aLibrary(t testing.TB) backend { return testkit.Must(search())(t) }

// gemm is that of one precision of a backend, so that each test runs in both.
type gemm[T Float] func(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)

// shape is what a random case is drawn from.
type shape struct {
	m, n, k    int
	pad        int // added to every leading dimension
	incX, incY int
	tA, tB     blas.Transpose
	side       blas.Side
	uplo       blas.Uplo
	diag       blas.Diag
	alpha      float64
	beta       float64
	seed       uint64
}

func drawShape(t *rapid.T) shape {
	size := rapid.OneOf(rapid.IntRange(1, 8), rapid.IntRange(1, 100), rapid.IntRange(128, 140)) // the last beyond leastVector
	inc := rapid.SampledFrom([]int{1, 1, 2, -1, -3})
	transpose := rapid.SampledFrom([]blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans})
	scalar := rapid.SampledFrom([]float64{0, 1, -1, 0.3})
	return shape{
		m: size.Draw(t, "m"), n: size.Draw(t, "n"), k: size.Draw(t, "k"),
		pad:  rapid.IntRange(0, 3).Draw(t, "pad"),
		incX: inc.Draw(t, "incX"), incY: inc.Draw(t, "incY"),
		tA: transpose.Draw(t, "tA"), tB: transpose.Draw(t, "tB"),
		side:  rapid.SampledFrom([]blas.Side{blas.Left, blas.Right}).Draw(t, "side"),
		uplo:  rapid.SampledFrom([]blas.Uplo{blas.Upper, blas.Lower}).Draw(t, "uplo"),
		diag:  rapid.SampledFrom([]blas.Diag{blas.Unit, blas.NonUnit}).Draw(t, "diag"),
		alpha: scalar.Draw(t, "alpha"), beta: scalar.Draw(t, "beta"),
		seed: rapid.Uint64().Draw(t, "seed"),
	}
}

// output returns random numbers to add to, or what must be overwritten.
func output[T Float](rng *rand.Rand, n int, beta float64) []T {
	x := normal[T](rng, n)
	if beta == 0 {
		for i := range x {
			x[i] = T(math.NaN())
		}
	}
	return x
}

// product runs a random case. As the functions of cases, it returns all of the output, padding
// included, which must not change.
func product[T float32 | float64](multiply gemm[T], s shape) []T {
	rng := rand.New(rand.NewPCG(s.seed, 0))
	rowsA, colsA := stored(s.tA, s.m, s.k)
	rowsB, colsB := stored(s.tB, s.k, s.n)
	a, b := normal[T](rng, rowsA*(colsA+s.pad)), normal[T](rng, rowsB*(colsB+s.pad))
	c := output[T](rng, s.m*(s.n+s.pad), s.beta)
	multiply(s.tA, s.tB, s.m, s.n, s.k, T(s.alpha), a, colsA+s.pad, b, colsB+s.pad, T(s.beta), c, s.n+s.pad)
	return c
}

// cases returns the routines of float64, each run on a random case.
func cases() map[string]func(backend, shape) []float64 {
	triangular := func(f func(blas.Side, blas.Uplo, blas.Transpose, blas.Diag, int, int, float64, []float64, int, []float64, int), s shape) []float64 {
		rng := rand.New(rand.NewPCG(s.seed, 0))
		k := pick(s.side == blas.Left, s.m, s.n)
		a, b := normal[float64](rng, k*(k+s.pad)), normal[float64](rng, s.m*(s.n+s.pad))
		for i := range a { // a triangle with so small a rest is well conditioned
			a[i] /= float64(4 * k)
		}
		for i := range k {
			a[i*(k+s.pad)+i] += 2
		}
		f(s.side, s.uplo, s.tA, s.diag, s.m, s.n, s.alpha, a, k+s.pad, b, s.n+s.pad)
		return b
	}
	return map[string]func(backend, shape) []float64{
		"gemm": func(b backend, s shape) []float64 { return product(b.Dgemm, s) },
		"gemv": func(b backend, s shape) []float64 {
			rng := rand.New(rand.NewPCG(s.seed, 0))
			sizeY, sizeX := stored(s.tA, s.m, s.n)
			a := normal[float64](rng, s.m*(s.n+s.pad))
			// gonum may clear what is in y beyond the vector.
			x, y := normal[float64](rng, 3*sizeX), output[float64](rng, 1+(sizeY-1)*max(s.incY, -s.incY), s.beta)
			b.Dgemv(s.tA, s.m, s.n, s.alpha, a, s.n+s.pad, x, s.incX, s.beta, y, s.incY)
			return y
		},
		"syrk": func(b backend, s shape) []float64 {
			rng := rand.New(rand.NewPCG(s.seed, 0))
			rowsA, colsA := stored(s.tA, s.n, s.k)
			a, c := normal[float64](rng, rowsA*(colsA+s.pad)), normal[float64](rng, s.n*(s.n+s.pad))
			if s.tA == blas.NoTrans { // else gonum reads what it overwrites
				c = output[float64](rng, len(c), s.beta)
			}
			b.Dsyrk(s.uplo, s.tA, s.n, s.k, s.alpha, a, colsA+s.pad, s.beta, c, s.n+s.pad)
			return c
		},
		"trsm": func(b backend, s shape) []float64 { return triangular(b.Dtrsm, s) },
		"trmm": func(b backend, s shape) []float64 { return triangular(b.Dtrmm, s) },
	}
}

// agree compares a library with gonum on random cases of one precision. eps is the
// distance from 1 to the next number.
func agree[T float32 | float64](t *testing.T, cases map[string]func(backend, shape) []T, library backend, eps float64) {
	for name, run := range cases {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			s := drawShape(t)
			got, want := run(library, s), run(pureGo{}, s)
			// Sums of at most 140 products of normal numbers, in another order.
			tolerance := 2000 * eps
			for i := range want {
				if difference := math.Abs(float64(got[i] - want[i])); difference > tolerance || (got[i] != got[i]) != (want[i] != want[i]) {
					t.Fatalf("element %d: %v, gonum gives %v", i, got[i], want[i])
				}
			}
		}))
	}
}

func TestLibraryAgreesWithGonum(t *testing.T) {
	l := aLibrary(t)
	single := map[string]func(backend, shape) []float32{"gemm": func(b backend, s shape) []float32 { return product(b.Sgemm, s) }}
	t.Run("float32", func(t *testing.T) { agree(t, single, l, 0x1p-23) })
	t.Run("float64", func(t *testing.T) { agree(t, cases(), l, 0x1p-52) })
}

// Products are bit-identical for any alignment of the operands and number of workers.
func TestProductsAreReproducible(t *testing.T) {
	l := aLibrary(t)
	t.Cleanup(func() { parallel.Limit(0) })
	const m, k, n = 64, 512, 312
	rng := rand.New(rand.NewPCG(1, 2))
	a, b := normal[float32](rng, m*k), normal[float32](rng, k*n)
	var first []float32
	for run := range 40 {
		shift := run % 16
		parallel.Limit(1 + run%3)
		x := append(make([]float32, shift, shift+m*k), a...)[shift:]
		y := append(make([]float32, shift, shift+k*n), b...)[shift:]
		z := make([]float32, shift+m*n)[shift:]
		l.Sgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, x, k, y, n, 0, z, n)
		if run == 0 {
			first = z
		} else if diff := cmp.Diff(first, z); diff != "" {
			t.Fatalf("run %d differs from the first:\n%s", run, diff)
		}
	}
}

// Products that are cut along rows and along columns, with strides beyond the columns.
func TestSplitAgreesWithGonum(t *testing.T) {
	l := aLibrary(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for _, size := range []struct{ m, n, k int }{{700, 90, 80}, {90, 700, 80}, {1030, 65, 64}, {64, 312, 300}} {
		for _, tr := range []struct{ a, b blas.Transpose }{{blas.NoTrans, blas.NoTrans}, {blas.Trans, blas.NoTrans}, {blas.NoTrans, blas.Trans}} {
			rowsA, colsA := stored(tr.a, size.m, size.k)
			rowsB, colsB := stored(tr.b, size.k, size.n)
			lda, ldb, ldc := colsA+3, colsB+1, size.n+2
			a, b := normal[float64](rng, rowsA*lda), normal[float64](rng, rowsB*ldb)
			got := normal[float64](rng, size.m*ldc)
			want := slices.Clone(got)
			l.Dgemm(tr.a, tr.b, size.m, size.n, size.k, 2, a, lda, b, ldb, 0.5, got, ldc)
			pureGo{}.Dgemm(tr.a, tr.b, size.m, size.n, size.k, 2, a, lda, b, ldb, 0.5, want, ldc)
			testkit.NearAll(t, fmt.Sprintf("%+v, %c%c", size, tr.a, tr.b), got, want, 1e-10)
		}
	}
}

// Wrong arguments cause gonum's panics, at sizes that a library would compute.
func TestPanicsAreGonums(t *testing.T) {
	const n = 160
	a := ramp[float64](n * n)
	short := a[:n*n-1]
	tests := map[string]func(b backend){
		"gemm transpose": func(b backend) { b.Dgemm('x', 'N', n, n, n, 1, a, n, a, n, 0, a, n) },
		"gemm short a":   func(b backend) { b.Dgemm('T', 'N', n, n, n, 1, short, n, a, n, 0, a, n) },
		"gemv increment": func(b backend) { b.Dgemv('N', n, n, 1, a, n, a, 0, 0, a, 1) },
		"gemv short x":   func(b backend) { b.Dgemv('N', n, n, 1, a, n, a[:n-1], 1, 0, a, 1) },
		"syrk short c":   func(b backend) { b.Dsyrk('U', 'N', n, n, 1, a, n, 0, short, n) },
		"trsm side":      func(b backend) { b.Dtrsm('x', 'U', 'N', 'N', n, n, 1, a, n, a, n) },
		"trmm ldb":       func(b backend) { b.Dtrmm('L', 'L', 'N', 'U', n, n, 1, a, n, a, n-1) },
	}
	l := aLibrary(t)
	for name, call := range tests {
		if got, want := panicOf(call, l), panicOf(call, pureGo{}); got != want || want == "" {
			t.Errorf("%s: panic %q, gonum's is %q", name, got, want)
		}
	}
}

func panicOf(call func(backend), b backend) (message string) {
	defer func() {
		if p := recover(); p != nil {
			message = fmt.Sprint(p)
		}
	}()
	call(b)
	return ""
}

// ramp returns n small numbers of both signs.
func ramp[T float32 | float64](n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(i%7) - 3
	}
	return x
}

package blas

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas"
)

// Wrong arguments cause gonum's panics, at sizes that a library would compute.
func TestPanicsAreGonums(t *testing.T) {
	const n = 160
	a := ramp[float64](n * n)
	short := a[:n*n-1]
	tests := map[string]func(b backend){
		"gemm transpose": func(b backend) { b.Dgemm('x', 'N', n, n, n, 1, a, n, a, n, 0, a, n) },
		"gemm negative":  func(b backend) { b.Dgemm('N', 'N', -n, -n, n, 1, a, n, a, n, 0, a, n) },
		"gemm lda":       func(b backend) { b.Dgemm('N', 'N', n, n, n, 1, a, n-1, a, n, 0, a, n) },
		"gemm short a":   func(b backend) { b.Dgemm('T', 'N', n, n, n, 1, short, n, a, n, 0, a, n) },
		"gemm short b":   func(b backend) { b.Dgemm('N', 'T', n, n, n, 1, a, n, short, n, 0, a, n) },
		"gemm short c":   func(b backend) { b.Dgemm('N', 'N', n, n, n, 1, a, n, a, n, 0, short, n) },
		"gemm nil c":     func(b backend) { b.Dgemm('N', 'N', n, n, n, 1, a, n, a, n, 0, nil, n) },
		"gemv transpose": func(b backend) { b.Dgemv('x', n, n, 1, a, n, a, 1, 0, a, 1) },
		"gemv lda":       func(b backend) { b.Dgemv('N', n, n, 1, a, n-1, a, 1, 0, a, 1) },
		"gemv increment": func(b backend) { b.Dgemv('N', n, n, 1, a, n, a, 0, 0, a, 1) },
		"gemv short x":   func(b backend) { b.Dgemv('N', n, n, 1, a, n, a[:n-1], 1, 0, a, 1) },
		"gemv short y":   func(b backend) { b.Dgemv('N', n, n, 1, a, n, a, 1, 0, a[:2*n-2], -2) },
		"syrk uplo":      func(b backend) { b.Dsyrk('x', 'N', n, n, 1, a, n, 0, a, n) },
		"syrk short c":   func(b backend) { b.Dsyrk('U', 'N', n, n, 1, a, n, 0, short, n) },
		"trsm side":      func(b backend) { b.Dtrsm('x', 'U', 'N', 'N', n, n, 1, a, n, a, n) },
		"trsm diag":      func(b backend) { b.Dtrsm('L', 'U', 'N', 'x', n, n, 1, a, n, a, n) },
		"trsm short a":   func(b backend) { b.Dtrsm('R', 'U', 'N', 'N', n, n, 1, short, n, a, n) },
		"trmm ldb":       func(b backend) { b.Dtrmm('L', 'L', 'N', 'U', n, n, 1, a, n, a, n-1) },
		"trmm short b":   func(b backend) { b.Dtrmm('L', 'L', 'N', 'U', n, n, 1, a, n, short, n) },
	}
	l := aLibrary(t)
	for name, call := range tests {
		t.Run(name, func(t *testing.T) {
			got, want := panicOf(call, l), panicOf(call, pureGo{})
			if want == "" {
				t.Fatal("gonum takes these arguments: the case tests nothing")
			}
			if got != want {
				t.Errorf("panic %q, want %q", got, want)
			}
		})
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

// The limits that decide between the library and gonum.
func TestFits(t *testing.T) {
	tests := []struct {
		name string
		got  bool
		want bool
	}{
		{"whole matrix", matrix(3, 4, 4, 12), true},
		{"last row without padding", matrix(3, 4, 6, 16), true},
		{"one short", matrix(3, 4, 6, 15), false},
		{"rows overlap", matrix(3, 4, 3, 12), false},
		{"empty", matrix(0, 4, 4, 12), false},
		{"beyond 32 bits", matrix(1, 1, math.MaxInt, math.MaxInt), math.MaxInt == math.MaxInt32},
		{"whole vector", vector(4, 2, 7), true},
		{"whole vector, backwards", vector(4, -2, 7), true},
		{"vector one short", vector(4, -2, 6), false},
		{"no increment", vector(4, 0, 7), false},
		{"wide times tall", gemmFits(blas.NoTrans, blas.Trans, 2, 3, 4, 8, 4, 12, 4, 6, 3), true},
		{"leading dimension of the other transpose", gemmFits(blas.Trans, blas.Trans, 2, 5, 4, 8, 2, 20, 4, 10, 4), false},
		{"triangle on the right", triangleFits(blas.Right, blas.Upper, blas.NoTrans, blas.Unit, 2, 3, 9, 3, 6, 3), true},
		{"triangle on the left", triangleFits(blas.Left, blas.Upper, blas.NoTrans, blas.Unit, 4, 3, 9, 3, 12, 3), false},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, tt.got, tt.want)
		}
	}
}

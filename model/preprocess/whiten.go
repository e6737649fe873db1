package preprocess

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
)

// DefaultRidge is the ridge that 0 stands for, in mean eigenvalues of X'X: near the
// best on the val classes of photographs of birds and of drawn letters alike, whose
// features differ in scale by a factor of ten.
const DefaultRidge = 2

// whiten fits P = (X'X + g I)^(-1/2) sqrt(n).
func whiten(ridge float64, x dataset.Matrix[float32], rows []int) (*Transform, error) {
	if !(ridge >= 0) || math.IsInf(ridge, 0) {
		return nil, &invalid.Error{Field: "ridge", Want: "a finite number above 0, or 0 for one by the scale of the features", Got: fmt.Sprint(ridge)}
	}
	a := Moments(x, rows)
	if ridge == 0 {
		ridge = DefaultRidge * mat.Trace(a) / float64(x.Cols)
	}
	for d := range x.Cols {
		v := a.At(d, d)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, notFinite(d)
		}
		a.SetSym(d, d, v+ridge)
	}
	if ridge == 0 {
		return nil, &invalid.Error{Field: "features", Want: "numbers that are not all zero", Got: fmt.Sprint(0)}
	}
	p, err := inverseRoot(a, ridge)
	if err != nil {
		return nil, err
	}
	m := &Transform{Kind: Whiten, Matrix: dataset.NewMatrix[float32](x.Cols, x.Cols)}
	scale := math.Sqrt(float64(len(rows)))
	for i := range x.Cols {
		for j := range x.Cols {
			m.Matrix.Data[i*x.Cols+j] = float32(scale * p.At(i, j))
		}
	}
	return m, nil
}

// fitBlock is how many samples are added to the moments at a time.
const fitBlock = 512

// Moments returns X'X of the given rows, D x D, summed in float64.
func Moments(x dataset.Matrix[float32], rows []int) *mat.SymDense {
	a := mat.NewSymDense(x.Cols, nil)
	block := make([]float64, min(fitBlock, len(rows))*x.Cols)
	for start := 0; start < len(rows); start += fitBlock {
		part := rows[start:min(start+fitBlock, len(rows))]
		for i, r := range part {
			to := block[i*x.Cols : (i+1)*x.Cols]
			for d, v := range x.Row(r) {
				to[d] = float64(v)
			}
		}
		blas64.Syrk(blas.Trans, 1, blas64.General{Rows: len(part), Cols: x.Cols, Stride: x.Cols, Data: block}, 1, a.RawSymmetric())
	}
	return a
}

// accuracy is the relative error that inverseRoot stays below, about the
// rounding of float32.
const accuracy = 1e-7

// inverseRoot returns A^(-1/2) of a symmetric A whose eigenvalues are at least
// least. It is a sum of N resolvents, each a Cholesky factorisation and its
// inverse,
//
//	x^(-1/2) = 2/pi int_0^inf dt / (t^2 + x)  ~  sum_j w_j / (s_j + x),
//
// the midpoint rule after t = sqrt(least) sc(u), which Hale, Higham and Trefethen
// (2008, method 3) show to converge as exp(-2 pi^2 N / (log kappa + 3)). A few
// resolvents do, where an eigendecomposition of the size of the features would
// take a minute.
func inverseRoot(a *mat.SymDense, least float64) (*mat.SymDense, error) {
	n := a.SymmetricDim()
	kappa := mat.Norm(a, 1) / least // the 1-norm bounds the greatest eigenvalue
	poles := int(math.Ceil((math.Log(kappa) + 3) * -math.Log(accuracy) / (2 * math.Pi * math.Pi)))
	parameter := 1 - 1/kappa
	k := mathext.CompleteK(parameter)
	weights := make([]float64, poles)
	shifts := make([]float64, poles)
	for j := range poles {
		sn, cn, dn := jacobi((float64(j)+0.5)*k/float64(poles), parameter)
		shifts[j] = least * (sn / cn) * (sn / cn)
		weights[j] = 2 / math.Pi * math.Sqrt(least) * k / float64(poles) * dn / (cn * cn)
	}

	sum := mat.NewSymDense(n, nil)
	terms := make([]*mat.SymDense, min(poles, parallel.Workers(), mostTerms))
	for i := range terms {
		terms[i] = mat.NewSymDense(n, nil)
	}
	definite := make([]bool, poles)
	for first := 0; first < poles; first += len(terms) {
		side := terms[:min(len(terms), poles-first)]
		parallel.For(len(side), 1, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				definite[first+i] = resolvent(side[i], a, shifts[first+i])
			}
		})
		for i, term := range side { // in order, so that workers do not change the bits
			if !definite[first+i] {
				return nil, &invalid.Error{Field: "ridge", Want: "one large enough for the features", Got: fmt.Sprint(least)}
			}
			term.ScaleSym(weights[first+i], term)
			sum.AddSym(sum, term)
		}
	}
	return sum, nil
}

// mostTerms bounds the resolvents in work beside each other, and with them the
// memory: each is as large as A.
const mostTerms = 4

// resolvent sets to to (A + s I)^-1 and reports whether A + s I is positive
// definite.
func resolvent(to, a *mat.SymDense, s float64) bool {
	to.CopySym(a)
	for d := range to.SymmetricDim() {
		to.SetSym(d, d, to.At(d, d)+s)
	}
	factor, ok := lapack64.Potrf(to.RawSymmetric())
	if ok {
		_, ok = lapack64.Potri(factor)
	}
	return ok
}

package preprocess

import (
	"math"

	gonumblas "gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/parallel"
)

// DefaultRidge is the default ridge in units of the mean eigenvalue of X'X. It is near the best on the
// validation classes of bird photographs and of glyphs, whose features differ in scale by a factor of ten.
const DefaultRidge = 2

// fitWhiten fits P = (X'X + g I)^(-1/2) sqrt(n) on the rows, transformed by t so far.
func (t *Transform) fitWhiten(ridge float64, x dataset.Matrix[float32], rows []int) error {
	wide := len(rows) < x.Cols
	var a *mat.SymDense
	var samples dataset.Matrix[float32]
	if wide {
		var err error
		if samples, err = t.Apply(x, rows); err != nil {
			return err
		}
		if i := matrix.NotFinite(samples.Data); i >= 0 {
			return notFinite(i % x.Cols)
		}
		a = SamplesGram(samples, samples.AllRows())
	} else {
		a = t.gram(x, rows)
	}
	if ridge == 0 {
		ridge = DefaultRidge * mat.Trace(a) / float64(x.Cols)
	}
	for i := range a.SymmetricDim() {
		v := a.At(i, i)
		if !matrix.Finite(v) {
			return notFinite(i)
		}
		a.SetSym(i, i, v+ridge)
	}
	if ridge == 0 {
		return invalid.Expected("features", "only 0", "numbers that are not all 0")
	}
	p, root, err := inverseRoot(a, ridge, wide)
	if err != nil {
		return err
	}
	scale := math.Sqrt(float64(len(rows)))
	if wide {
		t.Diagonal, t.Matrix = []float32{float32(scale * root)}, samples
		return t.factorise(p, scale, ridge)
	}
	t.Matrix = dataset.NewMatrix[float32](x.Cols, x.Cols)
	for i := range t.Matrix.Data {
		t.Matrix.Data[i] = float32(scale * p.At(i/x.Cols, i%x.Cols))
	}
	return nil
}

// factorise replaces the samples X in Matrix by F = U X sqrt(scale), where C = U'U. With a = Diagonal,
//
//	P = a I - scale X' C X = a I - F'F.
func (t *Transform) factorise(c *mat.SymDense, scale, ridge float64) error {
	u, ok := lapack64.Potrf(c.RawSymmetric())
	if !ok {
		return tooSmall(ridge)
	}
	columns(t.Matrix, t.Matrix.AllRows(), func(first int, block blas64.General) {
		blas64.Trmm(gonumblas.Left, blas.NoTrans, math.Sqrt(scale), u, block)
		for i := range block.Rows {
			to := t.Matrix.Row(i)[first : first+block.Cols]
			for j := range to {
				to[j] = float32(block.Data[i*block.Stride+j])
			}
		}
	})
	return nil
}

func (t *Transform) whiten(to, x dataset.Matrix[float32]) {
	if len(t.Diagonal) == 0 {
		matrix.Mul(to, x, t.Matrix)
		return
	}
	for i, v := range x.Data {
		to.Data[i] = t.Diagonal[0] * v
	}
	matrix.AddMul(to, matrix.Product(x, t.Matrix.T()).Times(-1), t.Matrix)
}

// foldWhiten returns P W, with sums in float64.
func (t *Transform) foldWhiten(w dataset.Matrix[float32]) dataset.Matrix[float32] {
	p, wide := dataset.Convert[float64](t.Matrix), dataset.Convert[float64](w)
	if len(t.Diagonal) == 0 {
		return dataset.Convert[float32](matrix.Product(p, wide))
	}
	folded := dataset.NewMatrix[float64](w.Rows, w.Cols)
	for i, v := range wide.Data {
		folded.Data[i] = float64(t.Diagonal[0]) * v
	}
	matrix.AddMul(folded, p.T().Times(-1), matrix.Product(p, wide))
	return dataset.Convert[float32](folded)
}

// fitBlock is the number of samples added to X'X at a time, and of dimensions added to XX'.
const fitBlock = 512

// Gram returns X'X of the given rows, D x D, summed in float64.
func Gram(x dataset.Matrix[float32], rows []int) *mat.SymDense {
	return (*Transform)(nil).gram(x, rows)
}

func (t *Transform) gram(x dataset.Matrix[float32], rows []int) *mat.SymDense {
	a := mat.NewSymDense(x.Cols, nil)
	wide := blas64.General{
		Cols: x.Cols, Stride: x.Cols, Data: make([]float64, min(fitBlock, len(rows))*x.Cols),
	}
	for block := range t.blocks(x, rows, fitBlock) {
		for i, v := range block.Data {
			wide.Data[i] = float64(v)
		}
		wide.Rows = block.Rows
		blas64.Syrk(blas.Trans, 1, wide, 1, a.RawSymmetric())
	}
	return a
}

// SamplesGram returns XX' of the given rows, summed in float64. It is smaller than X'X where there are
// fewer samples than dimensions.
func SamplesGram(x dataset.Matrix[float32], rows []int) *mat.SymDense {
	a := mat.NewSymDense(len(rows), nil)
	columns(x, rows, func(_ int, block blas64.General) {
		blas64.Syrk(blas.NoTrans, 1, block, 1, a.RawSymmetric())
	})
	return a
}

// Combine returns X'Y of the given rows of x, and of y one for each, in float64.
func Combine(x dataset.Matrix[float32], rows []int, y *mat.Dense) *mat.Dense {
	to := mat.NewDense(x.Cols, y.RawMatrix().Cols, nil)
	columns(x, rows, func(first int, block blas64.General) {
		part := to.Slice(first, first+block.Cols, 0, y.RawMatrix().Cols).(*mat.Dense)
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, block, y.RawMatrix(), 0, part.RawMatrix())
	})
	return to
}

// columns yields the columns of the given rows in float64, fitBlock at a time, with the number of the first.
func columns(x dataset.Matrix[float32], rows []int, yield func(first int, block blas64.General)) {
	data := make([]float64, len(rows)*min(fitBlock, x.Cols))
	for first := 0; first < x.Cols; first += fitBlock {
		block := blas64.General{Rows: len(rows), Cols: min(fitBlock, x.Cols-first), Data: data}
		block.Stride = block.Cols
		for i, r := range rows {
			for j, v := range x.Row(r)[first : first+block.Cols] {
				data[i*block.Stride+j] = float64(v)
			}
		}
		yield(first, block)
	}
}

// accuracy bounds the relative error of inverseRoot; it is about the rounding of float32.
const accuracy = 1e-7

// inverseRoot returns A^(-1/2) of a symmetric A with eigenvalues of at least least; or, as difference, C and
// root with A^(-1/2) = root I - C (A - least I), where C is positive definite. With A = XX' + least I then
// (X'X + least I)^(-1/2) = root I - X' C X. It sums N resolvents, each a Cholesky factorisation and its
// inverse,
//
//	x^(-1/2) = 2/pi int_0^inf dt / (t^2 + x)  ~  sum_j w_j / (s_j + x),
//
// the midpoint rule after t = sqrt(least) sc(u), which Hale, Higham and Trefethen
// (2008, method 3) show to converge as exp(-2 pi^2 N / (log kappa + 3)). A few
// resolvents suffice; an eigendecomposition of this size takes a minute. The difference follows by
//
//	1/(s + x) = 1/(s + least) - (x - least) / ((s + least) (s + x)).
func inverseRoot(a *mat.SymDense, least float64,
	difference bool,
) (sum *mat.SymDense, root float64, err error) {
	n := a.SymmetricDim()
	kappa := mat.Norm(a, 1) / least // the 1-norm bounds the greatest eigenvalue
	parameter := 1 - 1/kappa
	if parameter == 1 { // by rounding
		return nil, 0, tooSmall(least)
	}
	poles := int(math.Ceil((math.Log(kappa) + 3) * -math.Log(accuracy) / (2 * math.Pi * math.Pi)))
	k := mathext.CompleteK(parameter)
	weights, shifts := make([]float64, poles), make([]float64, poles)
	for j := range poles {
		sn, cn, dn := jacobi((float64(j)+0.5)*k/float64(poles), parameter)
		shifts[j] = least * (sn / cn) * (sn / cn)
		weights[j] = 2 / math.Pi * math.Sqrt(least) * k / float64(poles) * dn / (cn * cn)
		if difference {
			weights[j] /= shifts[j] + least
			root += weights[j]
		}
	}

	sum = mat.NewSymDense(n, nil)
	terms := make([]*mat.SymDense, min(poles, parallel.Workers(), maxTerms))
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
		for i, term := range side { // in order, so that the result does not depend on the number of workers
			if !definite[first+i] {
				return nil, 0, tooSmall(least)
			}
			term.ScaleSym(weights[first+i], term)
			sum.AddSym(sum, term)
		}
	}
	return sum, root, nil
}

func tooSmall(ridge float64) error {
	return invalid.Expected("ridge", ridge, "one large enough for the features")
}

// maxTerms bounds the resolvents computed in parallel, and so the memory: each is as large as A.
const maxTerms = 4

// resolvent sets to = (A + s I)^-1 and reports whether A + s I is positive definite.
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

// jacobi returns the elliptic functions sn, cn and dn of u for the parameter
// 0 <= m < 1, by the arithmetic-geometric mean (Abramowitz & Stegun 16.4).
func jacobi(u, m float64) (sn, cn, dn float64) {
	const tolerance = 1e-15
	a, b := 1.0, math.Sqrt(1-m)
	var ratios []float64 // c_i / a_i
	scale := 1.0
	for c := math.Sqrt(m); c > tolerance*a; scale *= 2 {
		a, b, c = (a+b)/2, math.Sqrt(a*b), (a-b)/2
		ratios = append(ratios, c/a)
	}
	phi := scale * a * u
	for i := len(ratios) - 1; i >= 0; i-- {
		phi = (phi + math.Asin(ratios[i]*math.Sin(phi))) / 2
	}
	sn, cn = math.Sincos(phi)
	// 1 - m sn^2, without the cancellation for m near 1.
	return sn, cn, math.Sqrt(cn*cn + (1-m)*sn*sn)
}

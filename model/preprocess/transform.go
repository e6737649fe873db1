package preprocess

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/finite"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
)

// Kind names a transform of the features.
type Kind string

// The kinds of preprocessing.
const (
	None        Kind = "none"        // the identity
	Standardize Kind = "standardize" // mean 0 and variance 1 in each dimension
	Whiten      Kind = "whiten"      // X (X'X + g I)^(-1/2) sqrt(n), with a ridge g
)

// Kinds lists all kinds.
var Kinds = []Kind{None, Standardize, Whiten}

// UnmarshalText parses the name of a kind. The error is an *invalid.Error.
func (k *Kind) UnmarshalText(text []byte) error {
	return invalid.SetOneOf(k, text, Kinds...)
}

// Transform is a fitted preprocessing: x <- (x - Shift) Scale in each dimension for
// Standardize, and x <- x Matrix for Whiten. The fields of other kinds are empty. A nil or
// zero Transform is the identity.
type Transform struct {
	Kind   Kind
	Shift  []float32               // D
	Scale  []float32               // D
	Matrix dataset.Matrix[float32] // D x D, symmetric
}

// Fit fits a transform on the given rows of x. ridge is the g of Whiten; 0 stands for
// DefaultRidge times the mean eigenvalue of X'X. Whitening works with fewer samples than
// dimensions, too. The error is an *invalid.Error.
func Fit(kind Kind, ridge float64, x dataset.Matrix[float32], rows []int) (*Transform, error) {
	kind, err := invalid.OneOf(string(kind), Kinds...)
	if err != nil {
		return nil, invalid.At("preprocess", err)
	}
	if kind == None {
		return &Transform{Kind: None}, nil
	}
	if len(rows) == 0 {
		return nil, &invalid.Error{Field: "samples", Want: "at least one training sample", Got: "none"}
	}
	if kind == Standardize {
		return standardize(x, rows)
	}
	return whiten(ridge, x, rows)
}

// standardize fits mean and standard deviation of each dimension in float64. A dimension
// that does not vary is only shifted.
func standardize(x dataset.Matrix[float32], rows []int) (*Transform, error) {
	mean, square := make([]float64, x.Cols), make([]float64, x.Cols)
	n := float64(len(rows))
	for _, r := range rows {
		for d, v := range x.Row(r) {
			mean[d] += float64(v) / n
		}
	}
	for _, r := range rows {
		for d, v := range x.Row(r) {
			c := float64(v) - mean[d]
			square[d] += c * c / n
		}
	}
	t := &Transform{Kind: Standardize, Shift: make([]float32, x.Cols), Scale: make([]float32, x.Cols)}
	for d := range mean {
		if !finite.Is(square[d]) {
			return nil, notFinite(d)
		}
		t.Shift[d], t.Scale[d] = float32(mean[d]), 1
		if sd := math.Sqrt(square[d]); sd > 1e-6*math.Abs(mean[d]) {
			t.Scale[d] = float32(1 / sd)
		}
	}
	return t, nil
}

func notFinite(dimension int) error {
	return &invalid.Error{Field: "features", Want: "finite numbers", Got: fmt.Sprintf("NaN or infinity in dimension %d", dimension)}
}

// Identity reports whether the transform leaves features unchanged.
func (t *Transform) Identity() bool { return t == nil || t.Kind == None || t.Kind == "" }

// check returns an error unless the features have the dimensions of the transform.
func (t *Transform) check(dims int) error {
	if t.Identity() {
		return nil
	}
	if want := max(len(t.Shift), t.Matrix.Rows); want != dims {
		return &invalid.Error{Field: "features", Want: fmt.Sprintf("%d dimensions, as in training", want), Got: fmt.Sprint(dims)}
	}
	return nil
}

// applyBlock is the number of samples transformed at a time.
const applyBlock = 256

// Apply returns a transformed copy of the given rows of x.
func (t *Transform) Apply(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	if err := t.check(x.Cols); err != nil {
		return dataset.Matrix[float32]{}, err
	}
	to := dataset.NewMatrix[float32](len(rows), x.Cols)
	if t.Identity() {
		gather(to.Data, x, rows)
		return to, nil
	}
	if t.Kind == Standardize {
		gather(to.Data, x, rows)
		for i := range to.Data {
			d := i % x.Cols
			to.Data[i] = (to.Data[i] - t.Shift[d]) * t.Scale[d]
		}
		return to, nil
	}
	block := dataset.NewMatrix[float32](min(applyBlock, len(rows)), x.Cols)
	rest := to.Data
	for part := range slices.Chunk(rows, applyBlock) {
		gather(block.Data, x, part)
		blas32.Implementation().Sgemm(blas.NoTrans, blas.NoTrans, len(part), x.Cols, x.Cols,
			1, block.Data, x.Cols, t.Matrix.Data, x.Cols, 0, rest, x.Cols)
		rest = rest[len(part)*x.Cols:]
	}
	return to, nil
}

func gather(to []float32, x dataset.Matrix[float32], rows []int) {
	for i, r := range rows {
		copy(to[i*x.Cols:(i+1)*x.Cols], x.Row(r))
	}
}

// Fold returns the linear layer on untransformed features that equals the layer W, b
// (D x M, M) on transformed ones:
//
//	(x Matrix) W + b          = x (Matrix W) + b
//	((x - Shift) Scale) W + b = x (Scale W) + (b - (Shift Scale) W)
//
// Sums are in float64. For the identity it returns W and b.
func (t *Transform) Fold(w dataset.Matrix[float32], b []float32) (dataset.Matrix[float32], []float32, error) {
	if err := t.check(w.Rows); err != nil || t.Identity() {
		return w, b, err
	}
	folded := dataset.NewMatrix[float32](w.Rows, w.Cols)
	if t.Kind == Whiten {
		product := make([]float64, w.Rows*w.Cols)
		blas64.Implementation().Dgemm(blas.NoTrans, blas.NoTrans, w.Rows, w.Cols, w.Rows,
			1, widen(t.Matrix.Data), w.Rows, widen(w.Data), w.Cols, 0, product, w.Cols)
		narrow(folded.Data, product)
		return folded, b, nil
	}
	bias := widen(b)
	for d := range w.Rows {
		for j, v := range w.Row(d) {
			scaled := float64(t.Scale[d]) * float64(v)
			folded.Row(d)[j] = float32(scaled)
			bias[j] -= float64(t.Shift[d]) * scaled
		}
	}
	shifted := make([]float32, len(b))
	narrow(shifted, bias)
	return folded, shifted, nil
}

func widen(x []float32) []float64 {
	w := make([]float64, len(x))
	for i, v := range x {
		w[i] = float64(v)
	}
	return w
}

func narrow(to []float32, x []float64) {
	for i, v := range x {
		to[i] = float32(v)
	}
}

// DefaultRidge is the default ridge in units of the mean eigenvalue of X'X. It is near the
// best on the validation classes of bird photographs and of glyphs, whose features differ
// in scale by a factor of ten.
const DefaultRidge = 2

// whiten fits P = (X'X + g I)^(-1/2) sqrt(n).
func whiten(ridge float64, x dataset.Matrix[float32], rows []int) (*Transform, error) {
	if !(ridge >= 0 && finite.Is(ridge)) {
		return nil, &invalid.Error{Field: "ridge", Want: "a finite number above 0, or 0 for the default", Got: fmt.Sprint(ridge)}
	}
	a := Gram(x, rows)
	if ridge == 0 {
		ridge = DefaultRidge * mat.Trace(a) / float64(x.Cols)
	}
	for d := range x.Cols {
		v := a.At(d, d)
		if !finite.Is(v) {
			return nil, notFinite(d)
		}
		a.SetSym(d, d, v+ridge)
	}
	if ridge == 0 {
		return nil, &invalid.Error{Field: "features", Want: "numbers that are not all 0", Got: "only 0"}
	}
	p, err := inverseRoot(a, ridge)
	if err != nil {
		return nil, err
	}
	t := &Transform{Kind: Whiten, Matrix: dataset.NewMatrix[float32](x.Cols, x.Cols)}
	scale := math.Sqrt(float64(len(rows)))
	for i := range x.Cols {
		for j := range x.Cols {
			t.Matrix.Data[i*x.Cols+j] = float32(scale * p.At(i, j))
		}
	}
	return t, nil
}

// fitBlock is the number of samples added to X'X at a time.
const fitBlock = 512

// Gram returns X'X of the given rows, D x D, summed in float64.
func Gram(x dataset.Matrix[float32], rows []int) *mat.SymDense {
	a := mat.NewSymDense(x.Cols, nil)
	block := make([]float64, min(fitBlock, len(rows))*x.Cols)
	for part := range slices.Chunk(rows, fitBlock) {
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

// accuracy bounds the relative error of inverseRoot; it is about the rounding of float32.
const accuracy = 1e-7

// inverseRoot returns A^(-1/2) of a symmetric A with eigenvalues of at least least. It sums
// N resolvents, each a Cholesky factorisation and its inverse,
//
//	x^(-1/2) = 2/pi int_0^inf dt / (t^2 + x)  ~  sum_j w_j / (s_j + x),
//
// the midpoint rule after t = sqrt(least) sc(u), which Hale, Higham and Trefethen
// (2008, method 3) show to converge as exp(-2 pi^2 N / (log kappa + 3)). A few
// resolvents suffice; an eigendecomposition of this size takes a minute.
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
				return nil, &invalid.Error{Field: "ridge", Want: "one large enough for the features", Got: fmt.Sprint(least)}
			}
			term.ScaleSym(weights[first+i], term)
			sum.AddSym(sum, term)
		}
	}
	return sum, nil
}

// maxTerms bounds the resolvents computed in parallel, and so the memory: each is as large
// as A.
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

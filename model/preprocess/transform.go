package preprocess

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
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
func (k *Kind) UnmarshalText(text []byte) (err error) {
	*k, err = invalid.OneOf(string(text), Kinds...)
	return err
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
		if math.IsNaN(square[d]) || math.IsInf(square[d], 0) {
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
	if t.Identity() || t.Kind == Standardize {
		gather(to.Data, x, rows)
		if t.Identity() {
			return to, nil
		}
		for i := range to.Data {
			d := i % x.Cols
			to.Data[i] = (to.Data[i] - t.Shift[d]) * t.Scale[d]
		}
		return to, nil
	}
	block := dataset.NewMatrix[float32](min(applyBlock, len(rows)), x.Cols)
	for start := 0; start < len(rows); start += applyBlock {
		part := rows[start:min(start+applyBlock, len(rows))]
		gather(block.Data, x, part)
		blas32.Implementation().Sgemm(blas.NoTrans, blas.NoTrans, len(part), x.Cols, x.Cols,
			1, block.Data, x.Cols, t.Matrix.Data, x.Cols, 0, to.Data[start*x.Cols:(start+len(part))*x.Cols], x.Cols)
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

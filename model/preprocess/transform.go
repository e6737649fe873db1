package preprocess

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/mapped"
	"github.com/lago-train/lago-train/internal/numeric"
)

// Chain is a comma-separated list of preprocessing steps in the order in which they are
// applied, each at most once: "sqrt,l2,whiten". Chains are comparable in the form that
// UnmarshalText returns; Fit parses its argument in the same way.
type Chain string

// The steps. Each is a chain by itself.
const (
	None        Chain = "none"        // the identity, only alone
	SignedRoot  Chain = "sqrt"        // x <- sign(x) sqrt(|x|) in each dimension
	L2          Chain = "l2"          // samples scaled to norm sqrt(D); one of zeros stays
	Standardize Chain = "standardize" // mean 0 and variance 1 in each dimension
	Whiten      Chain = "whiten"      // X (X'X + g I)^(-1/2) sqrt(n), with a ridge g
)

// UnmarshalText parses a chain, ignoring case and spaces. The error is an *invalid.Error.
func (c *Chain) UnmarshalText(text []byte) error {
	var list []string
	for word := range strings.SplitSeq(string(text), ",") {
		var step Chain
		if err := invalid.SetOneOf(&step, []byte(strings.TrimSpace(word)), None, SignedRoot, L2, Standardize, Whiten); err != nil {
			return err
		}
		if slices.Contains(list, string(step)) {
			return &invalid.Error{Want: "each step at most once", Got: string(step) + " twice"}
		}
		list = append(list, string(step))
	}
	if len(list) > 1 && slices.Contains(list, string(None)) {
		return &invalid.Error{Want: "none alone, or a list of other steps", Got: strings.Join(list, ",")}
	}
	*c = Chain(strings.Join(list, ","))
	return nil
}

// Has reports whether a step is part of the chain.
func (c Chain) Has(step Chain) bool { return slices.Contains(c.steps(), step) }

// steps lists the steps; there are none of the identity.
func (c Chain) steps() []Chain {
	if c == None || c == "" {
		return nil
	}
	var list []Chain
	for step := range strings.SplitSeq(string(c), ",") {
		list = append(list, Chain(step))
	}
	return list
}

// chainOf joins steps.
func chainOf(steps []Chain) Chain {
	words := make([]string, len(steps))
	for i, s := range steps {
		words[i] = string(s)
	}
	return Chain(strings.Join(words, ","))
}

// Transform is a fitted chain: Standardize is x <- (x - Shift) Scale in each dimension,
// and Whiten is x <- x Matrix. The fields of steps that are not part of the chain are
// empty. A nil or zero Transform is the identity.
type Transform struct {
	Chain  Chain
	Shift  []float32               // D
	Scale  []float32               // D
	Matrix dataset.Matrix[float32] // D x D, symmetric
}

// Fit fits a chain on the given rows of x, each step on the output of those before it.
// ridge is the g of Whiten; 0 stands for DefaultRidge times the mean eigenvalue of X'X.
// Whitening works with fewer samples than dimensions, too. The error is an
// *invalid.Error.
func Fit(chain Chain, ridge float64, x dataset.Matrix[float32], rows []int) (*Transform, error) {
	if err := chain.UnmarshalText([]byte(chain)); err != nil {
		return nil, invalid.At("preprocess", err)
	}
	if chain == None {
		return &Transform{Chain: None}, nil
	}
	if len(rows) == 0 {
		return nil, &invalid.Error{Field: "samples", Want: "at least one training sample", Got: "none"}
	}
	t := &Transform{}
	steps := chain.steps()
	for i, step := range steps {
		var err error
		switch step {
		case Standardize:
			err = t.fitStandardize(x, rows)
		case Whiten:
			err = t.fitWhiten(ridge, x, rows)
		}
		if err != nil {
			return nil, err
		}
		t.Chain = chainOf(steps[:i+1])
	}
	return t, nil
}

// fitStandardize fits mean and standard deviation of each dimension in float64, on the
// rows transformed by t so far. A dimension that does not vary is only shifted.
func (t *Transform) fitStandardize(x dataset.Matrix[float32], rows []int) error {
	mean, square := make([]float64, x.Cols), make([]float64, x.Cols)
	n := float64(len(rows))
	for block := range t.blocks(x, rows, fitBlock) {
		for i := range block.Rows {
			for d, v := range block.Row(i) {
				mean[d] += float64(v) / n
			}
		}
	}
	for block := range t.blocks(x, rows, fitBlock) {
		for i := range block.Rows {
			for d, v := range block.Row(i) {
				c := float64(v) - mean[d]
				square[d] += c * c / n
			}
		}
	}
	t.Shift, t.Scale = make([]float32, x.Cols), make([]float32, x.Cols)
	for d := range mean {
		if !numeric.Finite(square[d]) {
			return notFinite(d)
		}
		t.Shift[d], t.Scale[d] = float32(mean[d]), 1
		if sd := math.Sqrt(square[d]); sd > 1e-6*math.Abs(mean[d]) {
			t.Scale[d] = float32(1 / sd)
		}
	}
	return nil
}

func notFinite(dimension int) error {
	return &invalid.Error{Field: "features", Want: "finite numbers", Got: fmt.Sprintf("NaN or infinity in dimension %d", dimension)}
}

// Identity reports whether the transform leaves features unchanged.
func (t *Transform) Identity() bool { return t == nil || len(t.Chain.steps()) == 0 }

// check returns an error unless the features have the dimensions of the transform.
func (t *Transform) check(dims int) error {
	if t.Identity() {
		return nil
	}
	if want := max(len(t.Shift), t.Matrix.Rows); want != 0 && want != dims {
		return &invalid.Error{Field: "features", Want: fmt.Sprintf("%d dimensions, as in training", want), Got: fmt.Sprint(dims)}
	}
	return nil
}

// applyBlock is the number of samples transformed at a time.
const applyBlock = 256

// Apply returns a transformed copy of the given rows of x.
func (t *Transform) Apply(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	to := dataset.NewMatrix[float32](len(rows), x.Cols)
	return to, t.apply(to.Data, x, rows)
}

// ApplyInPlace transforms all rows of x.
func (t *Transform) ApplyInPlace(x dataset.Matrix[float32]) error {
	return t.apply(x.Data, x, x.AllRows())
}

// apply writes transformed rows of x to a slice, which may be where these rows are.
func (t *Transform) apply(to []float32, x dataset.Matrix[float32], rows []int) error {
	if err := t.check(x.Cols); err != nil {
		return err
	}
	for block := range t.blocks(x, rows, applyBlock) {
		to = to[copy(to, block.Data):]
	}
	return nil
}

// blocks yields transformed copies of the rows of x, size at a time. A block is valid
// until the next.
func (t *Transform) blocks(x dataset.Matrix[float32], rows []int, size int) iter.Seq[dataset.Matrix[float32]] {
	return func(yield func(dataset.Matrix[float32]) bool) {
		block := dataset.NewMatrix[float32](min(size, len(rows)), x.Cols)
		spare := block // of whiten, which swaps them
		if slices.Contains(t.steps(), Whiten) {
			spare = dataset.NewMatrix[float32](block.Rows, block.Cols)
		}
		for part := range slices.Chunk(rows, size) {
			block.Rows, block.Data = len(part), block.Data[:len(part)*x.Cols]
			block.CopyRows(x, part)
			mapped.Drop(x.Data)
			for _, step := range t.steps() {
				if step == Whiten {
					blas.Gemm(blas.NoTrans, blas.NoTrans, block.Rows, x.Cols, x.Cols, 1, block.Data, x.Cols, t.Matrix.Data, x.Cols, 0, spare.Data, x.Cols)
					block.Data, spare.Data = spare.Data[:len(block.Data)], block.Data
					continue
				}
				for i := range block.Rows {
					t.applyRow(step, block.Row(i))
				}
			}
			if !yield(block) {
				return
			}
		}
	}
}

func (t *Transform) steps() []Chain {
	if t == nil {
		return nil
	}
	return t.Chain.steps()
}

// applyRow applies a step other than Whiten to one sample.
func (t *Transform) applyRow(step Chain, x []float32) {
	switch step {
	case SignedRoot:
		for i, v := range x {
			x[i] = float32(math.Copysign(math.Sqrt(math.Abs(float64(v))), float64(v)))
		}
	case L2:
		scaleToRoot(x)
	case Standardize:
		for d, v := range x {
			x[d] = (v - t.Shift[d]) * t.Scale[d]
		}
	}
}

// scaleToRoot scales a vector of length D to norm sqrt(D), so that its entries have the
// second moment 1. A vector of zeros stays.
func scaleToRoot(x []float32) {
	var square float64
	for _, v := range x {
		square += float64(v) * float64(v)
	}
	if square == 0 {
		return
	}
	scale := math.Sqrt(float64(len(x)) / square)
	for i, v := range x {
		x[i] = float32(float64(v) * scale)
	}
}

// Fold folds the last steps that are affine into a linear layer W, b (D x M, M). The
// returned layer on features transformed by rest, the steps before these, equals W, b on
// features transformed by t:
//
//	(x Matrix) W + b          = x (Matrix W) + b
//	((x - Shift) Scale) W + b = x (Scale W) + (b - (Shift Scale) W)
//
// Sums are in float64. Without such steps it returns W and b.
func (t *Transform) Fold(w dataset.Matrix[float32], b []float32) (folded dataset.Matrix[float32], bias []float32, rest *Transform, err error) {
	if err := t.check(w.Rows); err != nil {
		return w, b, t, err
	}
	steps := t.steps()
	for ; len(steps) > 0; steps = steps[:len(steps)-1] {
		switch steps[len(steps)-1] {
		case Standardize:
			w, b = t.foldStandardize(w, b)
		case Whiten:
			w = t.foldWhiten(w)
		default:
			before := *t
			before.Chain = chainOf(steps)
			return w, b, &before, nil
		}
	}
	return w, b, nil, nil
}

func (t *Transform) foldWhiten(w dataset.Matrix[float32]) dataset.Matrix[float32] {
	product := dataset.NewMatrix[float64](w.Rows, w.Cols)
	p, wide := dataset.Convert[float64](t.Matrix), dataset.Convert[float64](w)
	blas.Gemm(blas.NoTrans, blas.NoTrans, w.Rows, w.Cols, w.Rows, 1, p.Data, w.Rows, wide.Data, w.Cols, 0, product.Data, w.Cols)
	return dataset.Convert[float32](product)
}

func (t *Transform) foldStandardize(w dataset.Matrix[float32], b []float32) (dataset.Matrix[float32], []float32) {
	folded := dataset.NewMatrix[float32](w.Rows, w.Cols)
	shifted := make([]float32, len(b))
	for j := range b {
		bias := float64(b[j])
		for d := range w.Rows {
			scaled := float64(t.Scale[d]) * float64(w.Row(d)[j])
			folded.Row(d)[j] = float32(scaled)
			bias -= float64(t.Shift[d]) * scaled
		}
		shifted[j] = float32(bias)
	}
	return folded, shifted
}

// Package preprocess transforms features by a chain of steps, fitted on the training samples: signed square
// root, L2 normalisation, standardisation and ridge whitening. The paper uses none. Adam scales each
// coordinate by itself, so after a few epochs its result depends on the basis of the features. Ridge
// whitening brings the directions of the features to a similar variance, so that they are learned at a
// similar rate. Square root and L2 normalisation reduce the weight of a few large activations.
//
// A Transform belongs to the model trained on its output and is saved with it. The
// package neither selects features nor reduces their number.
package preprocess

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
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
	Standardise Chain = "standardize" // mean 0 and variance 1 in each dimension
	Whiten      Chain = "whiten"      // X (X'X + g I)^(-1/2) sqrt(n), with a ridge g
)

// UnmarshalText parses a chain, ignoring case and spaces. The error is an *invalid.Error.
func (c *Chain) UnmarshalText(text []byte) error {
	var list []string
	for word := range strings.SplitSeq(string(text), ",") {
		step, err := invalid.OneOf(strings.TrimSpace(word), None, SignedRoot, L2, Standardise, Whiten)
		if err != nil {
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
func (c Chain) Has(step Chain) bool { return slices.Contains(c.steps(), string(step)) }

// steps lists the steps; there are none of the identity.
func (c Chain) steps() []string {
	if c == None || c == "" {
		return nil
	}
	return strings.Split(string(c), ",")
}

// Transform is a fitted chain: Standardise is x <- (x - Shift) Scale in each dimension,
// and Whiten is x <- x P, where P is Matrix or, fitted on n < D samples, Diagonal I - Matrix' Matrix.
// The fields of steps that are not part of the chain are empty. A nil or zero Transform is the identity.
type Transform struct {
	Chain    Chain
	Shift    []float32               // D
	Scale    []float32               // D
	Matrix   dataset.Matrix[float32] // D x D, symmetric; n x D with Diagonal
	Diagonal []float32               // 1, or none
}

// Fit fits a chain on the given rows of x, each step on the output of those before it. ridge is the g of
// Whiten, 0 or above; 0 stands for DefaultRidge times the mean eigenvalue of X'X. Whitening works with fewer
// samples than dimensions, too. The error is an *invalid.Error.
func Fit(chain Chain, ridge float64, x dataset.Matrix[float32], rows []int) (*Transform, error) {
	if err := chain.UnmarshalText([]byte(chain)); err != nil {
		return nil, invalid.At("preprocess", err)
	}
	if chain == None {
		return &Transform{Chain: None}, nil
	}
	if len(rows) == 0 {
		return nil, invalid.Expected("samples", "none", "at least one training sample")
	}
	t, steps := &Transform{}, chain.steps()
	for i, step := range steps {
		var err error
		switch Chain(step) {
		case Standardise:
			err = t.fitStandardise(x, rows)
		case Whiten:
			err = t.fitWhiten(ridge, x, rows)
		}
		if err != nil {
			return nil, err
		}
		t.Chain = Chain(strings.Join(steps[:i+1], ","))
	}
	return t, nil
}

// fitStandardise fits mean and standard deviation of each dimension in float64, on the
// rows transformed by t so far. A dimension that does not vary is only shifted.
func (t *Transform) fitStandardise(x dataset.Matrix[float32], rows []int) error {
	mean, square := make([]float64, x.Cols), make([]float64, x.Cols)
	n := float64(len(rows))
	each := func(add func(d int, v float64)) {
		for block := range t.blocks(x, rows, fitBlock) {
			for i := range block.Rows {
				for d, v := range block.Row(i) {
					add(d, float64(v))
				}
			}
		}
	}
	each(func(d int, v float64) { mean[d] += v / n })
	each(func(d int, v float64) { square[d] += (v - mean[d]) * (v - mean[d]) / n })
	t.Shift, t.Scale = make([]float32, x.Cols), make([]float32, x.Cols)
	for d := range mean {
		if !matrix.Finite(square[d]) {
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
	found := fmt.Sprint("NaN or infinity in dimension ", dimension)
	return invalid.Expected("features", found, "finite numbers")
}

// Identity reports whether the transform leaves features unchanged.
func (t *Transform) Identity() bool { return len(t.steps()) == 0 }

func (t *Transform) check(dims int) error {
	if t.Identity() {
		return nil
	}
	if want := max(len(t.Shift), t.Matrix.Cols); want != 0 && want != dims {
		return invalid.Expected("features", dims, "%d dimensions, as in training", want)
	}
	return nil
}

// applyBlock is the number of samples transformed at a time.
const applyBlock = 256

// Apply returns a transformed copy of the given rows of x.
func (t *Transform) Apply(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	to := dataset.NewMatrix[float32](len(rows), x.Cols)
	if err := t.check(x.Cols); err != nil {
		return to, err
	}
	left := to.Data
	for block := range t.blocks(x, rows, applyBlock) {
		left = left[copy(left, block.Data):]
	}
	return to, nil
}

func (t *Transform) blocks(x dataset.Matrix[float32], rows []int,
	size int,
) iter.Seq[dataset.Matrix[float32]] {
	return func(yield func(dataset.Matrix[float32]) bool) {
		block := dataset.NewMatrix[float32](min(size, len(rows)), x.Cols)
		spare := block // of whiten, which swaps them
		if t != nil && t.Chain.Has(Whiten) {
			spare = dataset.NewMatrix[float32](block.Rows, block.Cols)
		}
		for part := range slices.Chunk(rows, size) {
			block.Rows, block.Data = len(part), block.Data[:len(part)*x.Cols]
			block.CopyRows(x, part)
			for _, step := range t.steps() {
				if Chain(step) == Whiten {
					spare.Rows, spare.Data = block.Rows, spare.Data[:len(block.Data)]
					t.whiten(spare, block)
					block, spare = spare, block
					continue
				}
				for row := range slices.Chunk(block.Data, x.Cols) {
					t.applyRow(Chain(step), row)
				}
			}
			if !yield(block) {
				return
			}
		}
	}
}

func (t *Transform) steps() []string {
	if t == nil {
		return nil
	}
	return t.Chain.steps()
}

func (t *Transform) applyRow(step Chain, x []float32) {
	switch step {
	case SignedRoot:
		for i, v := range x {
			x[i] = float32(math.Copysign(math.Sqrt(math.Abs(float64(v))), float64(v)))
		}
	case L2: // to norm sqrt(D), so that entries have the second moment 1
		var square float64
		for _, v := range x {
			square += float64(v) * float64(v)
		}
		scale := math.Sqrt(float64(len(x)) / square)
		for i := 0; square > 0 && i < len(x); i++ {
			x[i] = float32(float64(x[i]) * scale)
		}
	case Standardise:
		for d, v := range x {
			x[d] = (v - t.Shift[d]) * t.Scale[d]
		}
	}
}

// Fold folds the last steps that are affine into a linear layer W, b (D x M, M). The returned layer on
// features transformed by rest, the steps before these, equals W, b on features transformed by t:
//
//	(x P) W + b               = x (P W) + b
//	((x - Shift) Scale) W + b = x (Scale W) + (b - (Shift Scale) W)
//
// Sums are in float64. Without such steps it returns W and b.
func (t *Transform) Fold(w dataset.Matrix[float32],
	b []float32,
) (folded dataset.Matrix[float32], bias []float32, rest *Transform, err error) {
	if err := t.check(w.Rows); err != nil {
		return w, b, t, err
	}
	steps := t.steps()
	for ; len(steps) > 0; steps = steps[:len(steps)-1] {
		switch Chain(steps[len(steps)-1]) {
		case Standardise:
			scaled, shifted := dataset.NewMatrix[float32](w.Rows, w.Cols), make([]float32, len(b))
			for j := range b {
				bias := float64(b[j])
				for d, scale := range t.Scale {
					v := float64(scale) * float64(w.Row(d)[j])
					scaled.Row(d)[j] = float32(v)
					bias -= float64(t.Shift[d]) * v
				}
				shifted[j] = float32(bias)
			}
			w, b = scaled, shifted
		case Whiten:
			w = t.foldWhiten(w)
		default:
			before := *t
			before.Chain = Chain(strings.Join(steps, ","))
			return w, b, &before, nil
		}
	}
	return w, b, nil, nil
}

package model

import (
	"gonum.org/v1/gonum/blas"
	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/dataset"
)

// penalties are the two terms of the loss that depend on W alone. As in the paper, the
// biases are not penalised; the authors' program adds |b|^2.
type penalties[T Float] struct {
	w2, wu2      *G.Node // |W|^2 and |W U^T|^2, before their weights
	beta, lambda T
	product      *descriptionProduct[T]
}

func newPenalties[T Float](w *G.Node, u dataset.Matrix[T], c Config) *penalties[T] {
	p := &penalties[T]{beta: T(c.Beta), lambda: T(c.Lambda), product: newDescriptionProduct(w.Shape()[0], u)}
	p.w2 = kernel[T]{name: "|W|^2", forward: func(out []T, in [][]T) { out[0] = T(dot(in[0], in[0])) }}.apply(w)
	p.wu2 = kernel[T]{name: "|W U^T|^2", forward: func(out []T, in [][]T) { out[0] = T(p.product.squared(in[0])) }}.apply(w)
	return p
}

// writeGradient writes the gradient of the weighted penalties by the rows of W from one
// on. w must be what wu2 was last computed from.
func (p *penalties[T]) writeGradient(dw, w []T, from int) {
	clear(dw)
	addScaled(dw, 2*p.beta, w)
	if p.lambda != 0 {
		p.product.addGradient(dw, p.lambda, from)
	}
}

// DetectorTerms returns the terms W2 and WU2 of the loss, which do not change while V
// trains.
func DetectorTerms[T Float](params *Parameters[T], classes *Description) Terms {
	p := newDescriptionProduct(params.W.Rows, dataset.Convert[T](classes.U))
	return Terms{W2: dot(params.W.Data, params.W.Data), WU2: p.squared(params.W.Data)}
}

// descriptionProduct computes |W U^T|^2 the cheaper way: from W U^T or, if there are
// many classes, from W (U^T U).
type descriptionProduct[T Float] struct {
	d, m    int
	factor  dataset.Matrix[T] // U, or U^T U
	square  bool              // factor is U^T U
	product []T               // W times the factor
	mul     gemm[T]
}

func newDescriptionProduct[T Float](d int, u dataset.Matrix[T]) *descriptionProduct[T] {
	p := &descriptionProduct[T]{d: d, m: u.Cols, factor: u, square: 2*u.Rows > u.Cols, mul: newGemm[T]()}
	if p.square {
		p.factor = dataset.NewMatrix[T](u.Cols, u.Cols)
		p.mul(blas.Trans, blas.NoTrans, u.Cols, u.Cols, u.Rows, 1, u.Data, u.Cols, u.Data, u.Cols, 0, p.factor.Data, u.Cols)
	}
	p.product = make([]T, d*p.factor.Rows)
	return p
}

// squared returns |W U^T|^2.
func (p *descriptionProduct[T]) squared(w []T) float64 {
	r := p.factor.Rows
	p.mul(blas.NoTrans, blas.Trans, p.d, r, p.m, 1, w, p.m, p.factor.Data, p.m, 0, p.product, r)
	if p.square {
		return dot(w, p.product)
	}
	return dot(p.product, p.product)
}

// addGradient adds scale times the gradient, by the rows of W from one on, at the W of the
// last call of squared.
func (p *descriptionProduct[T]) addGradient(dw []T, scale T, from int) {
	r := p.factor.Rows
	product := p.product[from*r:]
	if p.square {
		addScaled(dw, 2*scale, product[:len(dw)])
		return
	}
	p.mul(blas.NoTrans, blas.NoTrans, len(dw)/p.m, p.m, r, 2*scale, product, r, p.factor.Data, p.m, 1, dw, p.m)
}

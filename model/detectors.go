package model

import (
	"math"

	"gonum.org/v1/gonum/blas"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/parallel"
)

// Logits writes S = X W + b of the samples x, n x D, into s, n x M.
func (p *Parameters[T]) Logits(x, s dataset.Matrix[T]) {
	if x.Rows > 0 {
		writeLogits(newGemm[T](), s.Data, x.Data, p.W.Data, p.B, x.Rows, p.W.Rows, p.W.Cols)
	}
}

// Sigmoid replaces logits S by the attribute probabilities A = sigmoid(S).
func Sigmoid[T Float](s []T) { writeSigmoid(s, s) }

func writeLogits[T Float](mul gemm[T], s, x, w, b []T, n, d, m int) {
	for i := range n {
		copy(s[i*m:(i+1)*m], b)
	}
	mul(blas.NoTrans, blas.NoTrans, n, m, d, 1, x, d, w, m, 1, s, m)
}

func writeSigmoid[T Float](a, s []T) {
	parallel.For(len(s), 4096, func(lo, hi int) { sigmoids(a[lo:hi], s[lo:hi]) })
}

// sigmoids is a function rather than a closure, for which the compiler makes each
// conversion to float64 wait for the last exponential: four times slower.
func sigmoids[T Float](a, s []T) {
	for i, v := range s {
		a[i] = T(1 / (1 + math.Exp(-float64(v))))
	}
}

// gradientRows is the number of rows of the gradient by W that are computed at a time, so
// that they stay in the cache between the terms.
const gradientRows = 128

// linear makes S = X W + b, n x M. Its gradient by W includes that of the penalties on
// W: the largest matrix of a step is then written once. p is nil in tests of the layer
// alone.
func linear[T Float](x, w, b *G.Node, p *penalties[T]) *G.Node {
	n, d, m := x.Shape()[0], w.Shape()[0], w.Shape()[1]
	mul := newGemm[T]()
	return kernel[T]{
		name:    "linear",
		shape:   tensor.Shape{n, m},
		forward: func(s []T, in [][]T) { writeLogits(mul, s, in[0], in[1], in[2], n, d, m) },
		gradients: []gradient[T]{
			nil,
			func(inputs G.Nodes, _, ds *G.Node) *G.Node {
				k := kernel[T]{name: "linear by W", shape: tensor.Shape{d, m}}
				if p == nil {
					k.forward = func(dw []T, in [][]T) { mul(blas.Trans, blas.NoTrans, d, m, n, 1, in[0], d, in[1], m, 0, dw, m) }
					return k.apply(inputs[0], ds)
				}
				k.forward = func(dw []T, in [][]T) {
					x, ds, w := in[0], in[1], in[2]
					parallel.For((d+gradientRows-1)/gradientRows, 1, func(lo, hi int) {
						for from := lo * gradientRows; from < min(hi*gradientRows, d); from += gradientRows {
							to := min(from+gradientRows, d)
							part := dw[from*m : to*m]
							p.writeGradient(part, w[from*m:to*m], from)
							mul(blas.Trans, blas.NoTrans, to-from, m, n, 1, x[from:], d, ds, m, 1, part, m)
						}
					})
				}
				return k.apply(inputs[0], ds, inputs[1], p.wu2) // after wu2, whose W U^T is read
			},
			by(kernel[T]{name: "linear by b", shape: tensor.Shape{m}, forward: func(db []T, in [][]T) {
				ds := in[4]
				clear(db)
				for i := range n {
					for j, v := range ds[i*m : (i+1)*m] {
						db[j] += v
					}
				}
			}}),
		},
	}.apply(x, w, b)
}

// sigmoid makes A = 1 / (1 + exp(-S)), p(a_m|x).
func sigmoid[T Float](s *G.Node) *G.Node {
	shape := s.Shape()
	return kernel[T]{
		name:    "sigmoid",
		shape:   shape,
		forward: func(a []T, in [][]T) { writeSigmoid(a, in[0]) },
		gradients: []gradient[T]{
			by(kernel[T]{name: "sigmoid by S", shape: shape, forward: func(ds []T, in [][]T) {
				a, da := in[1], in[2]
				for i, p := range a {
					ds[i] = da[i] * p * (1 - p)
				}
			}}),
		},
	}.apply(s)
}

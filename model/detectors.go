package model

import (
	"math"

	"gonum.org/v1/gonum/blas"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/internal/parallel"
)

// detectors makes A = sigmoid(S), S = X W + b: the probability of each attribute
// in each sample, p(a_m | x). Both are n x M. on holds the penalties on W, nil
// where nothing is learned.
func detectors[T Float](x, w, b *G.Node, on *penalties[T]) (s, a *G.Node, err error) {
	if s, err = linear(x, w, b, on); err != nil {
		return nil, nil, err
	}
	a, err = sigmoid[T](s)
	return s, a, err
}

// linear is X W + b. The penalties on W belong to the layer, as in Keras: their
// gradient is added where that of X W is made, so that the largest matrix of a
// step is written once.
func linear[T Float](x, w, b *G.Node, on *penalties[T]) (*G.Node, error) {
	n, d, m := x.Shape()[0], w.Shape()[0], w.Shape()[1]
	mul := newGemm[T]()
	return kernel[T]{
		name:  "linear",
		shape: tensor.Shape{n, m},
		forward: func(s []T, in [][]T) {
			x, w, b := in[0], in[1], in[2]
			for i := range n {
				copy(s[i*m:(i+1)*m], b)
			}
			mul(blas.NoTrans, blas.NoTrans, n, m, d, 1, x, d, w, m, 1, s, m)
		},
		gradients: []gradient[T]{
			nil,
			func(inputs G.Nodes, _, ds *G.Node) (*G.Node, error) {
				k := kernel[T]{name: "linear by W", shape: tensor.Shape{d, m}}
				if on == nil {
					k.forward = func(dw []T, in [][]T) { mul(blas.Trans, blas.NoTrans, d, m, n, 1, in[0], d, in[1], m, 0, dw, m) }
					return k.apply(inputs[0], ds)
				}
				k.forward = func(dw []T, in [][]T) {
					on.gradient(dw, in[2])
					mul(blas.Trans, blas.NoTrans, d, m, n, 1, in[0], d, in[1], m, 1, dw, m)
				}
				return k.apply(inputs[0], ds, inputs[1], on.node) // the node must come first: its projection is read
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

// sigmoid is 1 / (1 + exp(-S)).
func sigmoid[T Float](s *G.Node) (*G.Node, error) {
	shape := s.Shape()
	return kernel[T]{
		name:  "sigmoid",
		shape: shape,
		forward: func(a []T, in [][]T) {
			s := in[0]
			parallel.For(len(s), 4096, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					a[i] = T(1 / (1 + math.Exp(-float64(s[i]))))
				}
			})
		},
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

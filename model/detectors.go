package model

import (
	"math"

	"gonum.org/v1/gonum/blas"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/internal/parallel"
)

// detectors makes A = sigmoid(S), S = X W + b: the probability of each attribute
// in each sample, p(a_m | x). Both are n x M.
func detectors[T Float](x, w, b *G.Node) (s, a *G.Node, err error) {
	if s, err = linear[T](x, w, b); err != nil {
		return nil, nil, err
	}
	a, err = sigmoid[T](s)
	return s, a, err
}

// linear is X W + b.
func linear[T Float](x, w, b *G.Node) (*G.Node, error) {
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
			by(kernel[T]{name: "linear by W", shape: tensor.Shape{d, m}, forward: func(dw []T, in [][]T) {
				x, ds := in[0], in[4]
				mul(blas.Trans, blas.NoTrans, d, m, n, 1, x, d, ds, m, 0, dw, m)
			}}),
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

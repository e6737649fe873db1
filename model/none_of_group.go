package model

import (
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/parallel"
)

// noneOf makes the none-of-group probabilities (the paper's complementary attribute): for
// each row of attribute probabilities R, the probability of having no attribute of group
// k, by De Morgan (supplement C.3.1):
//
//	Q[r,k] = prod_m (1 - Gamma[m,k] R[r,m])
//
// R = U gives Uc, R = p gives pc, and R = A gives Ac. R is rows x M, Gamma M x K and Q
// rows x K. wrt is the input, r or gamma, that the gradient is taken by: Gorgonia would
// compute both.
func noneOf[T Float](r, gamma, wrt *G.Node) *G.Node {
	rows, m, k := r.Shape()[0], gamma.Shape()[0], gamma.Shape()[1]
	share := make([]float64, rows*k)
	gradientOf := func(in [][]T) noneOfGrad[T] {
		for i, q := range in[2] {
			share[i] = float64(in[3][i]) * float64(q)
		}
		return noneOfGrad[T]{
			r:     dataset.Matrix[T]{Rows: rows, Cols: m, Data: in[0]},
			gamma: dataset.Matrix[T]{Rows: m, Cols: k, Data: in[1]},
			dq:    dataset.Matrix[T]{Rows: rows, Cols: k, Data: in[3]},
			share: share,
		}
	}
	gradients := make([]gradient[T], 2)
	switch wrt {
	case r:
		gradients[0] = by(kernel[T]{name: "none of by R", shape: r.Shape(), forward: func(dr []T, in [][]T) {
			noneOfByRows(dr, gradientOf(in))
		}})
	case gamma:
		gradients[1] = by(kernel[T]{name: "none of by Gamma", shape: gamma.Shape(), forward: func(dgamma []T, in [][]T) {
			noneOfByGroups(dgamma, gradientOf(in))
		}})
	}
	return kernel[T]{
		name:  "none of",
		shape: tensor.Shape{rows, k},
		forward: func(q []T, in [][]T) {
			writeNoneOf(q, dataset.Matrix[T]{Rows: rows, Cols: m, Data: in[0]}, dataset.Matrix[T]{Rows: m, Cols: k, Data: in[1]})
		},
		gradients: gradients,
	}.apply(r, gamma)
}

// writeNoneOf writes Q.
func writeNoneOf[T Float](q []T, r, gamma dataset.Matrix[T]) {
	k := gamma.Cols
	parallel.For(r.Rows, 1+20000/(r.Cols*k), func(lo, hi int) {
		product := make([]float64, k)
		for i := lo; i < hi; i++ {
			for j := range product {
				product[j] = 1
			}
			for m, p := range r.Row(i) {
				if p == 0 {
					continue
				}
				p := float64(p)
				for j, g := range gamma.Row(m) {
					product[j] *= 1 - float64(g)*p
				}
			}
			for j, p := range product {
				q[i*k+j] = T(p)
			}
		}
	})
}

// noneOfGrad holds what both gradients of Q need.
type noneOfGrad[T Float] struct {
	r, gamma, dq dataset.Matrix[T]
	share        []float64 // rows x K, dQ Q; divided by a factor it is the gradient by that factor
}

// others is dQ[i,k] times the product of all factors but that of attribute m. It
// replaces share/factor where the factor is zero.
func (g noneOfGrad[T]) others(i, m, k int) float64 {
	product := float64(g.dq.Data[i*g.gamma.Cols+k])
	for other, p := range g.r.Row(i) {
		if other != m {
			product *= 1 - float64(g.gamma.Data[other*g.gamma.Cols+k])*float64(p)
		}
	}
	return product
}

func noneOfByRows[T Float](dr []T, g noneOfGrad[T]) {
	m, k := g.r.Cols, g.gamma.Cols
	parallel.For(g.r.Rows, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			share := g.share[i*k : (i+1)*k]
			for j, p := range g.r.Row(i) {
				p := float64(p)
				var sum float64
				for c, gamma := range g.gamma.Row(j)[:len(share)] {
					if factor := 1 - float64(gamma)*p; factor != 0 {
						sum -= float64(gamma) * share[c] / factor
					} else {
						sum -= float64(gamma) * g.others(i, j, c)
					}
				}
				dr[i*m+j] = T(sum)
			}
		}
	})
}

func noneOfByGroups[T Float](dgamma []T, g noneOfGrad[T]) {
	k := g.gamma.Cols
	parallel.For(g.gamma.Rows, 1, func(lo, hi int) {
		sums := make([]float64, k)
		for j := lo; j < hi; j++ {
			clear(sums)
			for i := range g.r.Rows {
				p := float64(g.r.Data[i*g.r.Cols+j])
				if p == 0 {
					continue
				}
				share := g.share[i*k : (i+1)*k][:len(sums)]
				for c, gamma := range g.gamma.Row(j)[:len(sums)] {
					if factor := 1 - float64(gamma)*p; factor != 0 {
						sums[c] -= p * share[c] / factor
					} else {
						sums[c] -= p * g.others(i, j, c)
					}
				}
			}
			for c, s := range sums {
				dgamma[j*k+c] = T(s)
			}
		}
	})
}

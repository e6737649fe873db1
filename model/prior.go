package model

import (
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/dataset"
)

// groupedPrior computes p(a_m) of PerGroup. It depends on V through Gamma:
//
//	q[k] = sum_m Gamma[m,k] P[m] / sum_m Gamma[m,k]    mean of group k
//	p[m] = sum_k Gamma[m,k] q[k]                       mean of the group of attribute m
//
// with P the mean of U over the candidate classes. Gamma[m,k] is the probability that m is
// in group k, and p stays a function of the attribute. Undescribed attributes do not
// count. With one attribute per group it is the per-attribute prior, with a single group
// the uniform one.
type groupedPrior[T Float] struct {
	classes *Description
	q, size []float64 // K, the mean and the sum of Gamma of each group
	p       []float64 // M
}

func newGroupedPrior[T Float](d *Description, k int) *groupedPrior[T] {
	return &groupedPrior[T]{classes: d, q: make([]float64, k), size: make([]float64, k), p: make([]float64, d.U.Cols)}
}

// set computes p from Gamma, M x K.
func (g *groupedPrior[T]) set(gamma []T) {
	k := len(g.q)
	clear(g.q)
	clear(g.size)
	for m, mean := range g.classes.P {
		if g.classes.undescribed(m) {
			continue
		}
		for j, w := range gamma[m*k : (m+1)*k] {
			g.q[j] += float64(w) * mean
			g.size[j] += float64(w)
		}
	}
	for j, size := range g.size {
		if size > 0 {
			g.q[j] /= size
		}
	}
	for m := range g.p {
		g.p[m] = 0
		if g.classes.undescribed(m) {
			continue
		}
		for j, w := range gamma[m*k : (m+1)*k] {
			g.p[m] += float64(w) * g.q[j]
		}
	}
}

// byGamma is the gradient by Gamma from that by p:
//
//	dGamma[m,k] = dp[m] q[k] + (P[m] - q[k]) / size[k] sum_i dp[i] Gamma[i,k]
func (g *groupedPrior[T]) byGamma(dgamma, gamma, dp []T) {
	k := len(g.q)
	byMean := make([]float64, k) // the gradient by q
	for m, d := range dp {
		if g.classes.undescribed(m) {
			continue
		}
		for j, w := range gamma[m*k : (m+1)*k] {
			byMean[j] += float64(d) * float64(w)
		}
	}
	clear(dgamma)
	for m, d := range dp {
		if g.classes.undescribed(m) {
			continue
		}
		for j, q := range g.q {
			sum := float64(d) * q
			if g.size[j] > 0 {
				sum += (g.classes.P[m] - q) / g.size[j] * byMean[j]
			}
			dgamma[m*k+j] = T(sum)
		}
	}
}

// withGroupedPrior makes U with p of PerGroup as its last row, (Z+1) x M, from Gamma.
func withGroupedPrior[T Float](gamma *G.Node, d *Description) *G.Node {
	g := newGroupedPrior[T](d, gamma.Shape()[1])
	z, m := d.U.Rows, d.U.Cols
	u := dataset.Convert[T](d.U)
	return kernel[T]{
		name:  "U and p of groups",
		shape: tensor.Shape{z + 1, m},
		forward: func(out []T, in [][]T) {
			g.set(in[0])
			copy(out, u.Data)
			for i, p := range g.p {
				out[z*m+i] = T(p)
			}
		},
		gradients: []gradient[T]{
			by(kernel[T]{name: "p of groups by Gamma", shape: gamma.Shape(), forward: func(dgamma []T, in [][]T) {
				g.byGamma(dgamma, in[0], in[2][z*m:])
			}}),
		},
	}.apply(gamma)
}

// overPrior makes Gamma[m,k] / p[m], M x K, where p is the last row of u. It is 0 for an
// attribute with p(a_m) = 0, as Description.ratio is.
func overPrior[T Float](gamma, u *G.Node) *G.Node {
	m, k := gamma.Shape()[0], gamma.Shape()[1]
	last := (u.Shape()[0] - 1) * m
	inverse := make([]T, m)
	return kernel[T]{
		name:  "Gamma over p",
		shape: gamma.Shape(),
		forward: func(out []T, in [][]T) {
			for i, p := range in[1][last:] {
				inverse[i] = 0
				if p > 0 {
					inverse[i] = 1 / p
				}
				for j := i * k; j < (i+1)*k; j++ {
					out[j] = in[0][j] * inverse[i]
				}
			}
		},
		gradients: []gradient[T]{
			by(kernel[T]{name: "Gamma over p by Gamma", shape: gamma.Shape(), forward: func(dgamma []T, in [][]T) {
				for j, d := range in[3] {
					dgamma[j] = d * inverse[j/k]
				}
			}}),
			by(kernel[T]{name: "Gamma over p by p", shape: u.Shape(), forward: func(du []T, in [][]T) {
				clear(du)
				out, d := dataset.Matrix[T]{Rows: m, Cols: k, Data: in[2]}, dataset.Matrix[T]{Rows: m, Cols: k, Data: in[3]}
				for i := range m {
					du[last+i] = -T(dot(out.Row(i), d.Row(i))) * inverse[i]
				}
			}}),
		},
	}.apply(gamma, u)
}

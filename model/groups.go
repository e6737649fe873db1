package model

import (
	"math"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/blas"
)

// writeGamma writes Gamma = softmax over k of (zeta V[m,:]), the soft group of each
// attribute, M x K.
func writeGamma[T Float](gamma []T, v dataset.Matrix[T], zeta float64) {
	for m := range v.Rows {
		row, out := v.Row(m), gamma[m*v.Cols:(m+1)*v.Cols]
		top := math.Inf(-1)
		for _, x := range row {
			top = max(top, zeta*float64(x))
		}
		var sum float64
		for k, x := range row {
			e := math.Exp(zeta*float64(x) - top)
			out[k] = T(e)
			sum += e
		}
		for k := range out {
			out[k] = T(float64(out[k]) / sum)
		}
	}
}

// softGroups makes Gamma from V.
func softGroups[T Float](v *G.Node, zeta float64) *G.Node {
	m, k := v.Shape()[0], v.Shape()[1]
	return kernel[T]{
		name:  "groups",
		shape: tensor.Shape{m, k},
		forward: func(gamma []T, in [][]T) {
			writeGamma(gamma, dataset.Matrix[T]{Rows: m, Cols: k, Data: in[0]}, zeta)
		},
		gradients: []gradient[T]{
			by(kernel[T]{name: "groups by V", shape: tensor.Shape{m, k}, forward: func(dv []T, in [][]T) {
				gamma, dgamma := in[1], in[2]
				for i := range m {
					g, dg, out := gamma[i*k:(i+1)*k], dgamma[i*k:(i+1)*k], dv[i*k:(i+1)*k]
					var mean float64
					for j := range g {
						mean += float64(g[j]) * float64(dg[j])
					}
					for j := range g {
						out[j] = T(zeta * float64(g[j]) * (float64(dg[j]) - mean))
					}
				}
			}}),
		},
	}.apply(v)
}

// describedGroups makes Gamma without undescribed attributes and empty groups.
func describedGroups[T Float](gamma *G.Node, undescribed []bool) *G.Node {
	if undescribed == nil {
		return gamma
	}
	m, k := gamma.Shape()[0], gamma.Shape()[1]
	return kernel[T]{
		name:  "described groups",
		shape: gamma.Shape(),
		forward: func(out []T, in [][]T) {
			copy(out, in[0])
			leaveOut(dataset.Matrix[T]{Rows: m, Cols: k, Data: out}, undescribed)
		},
		gradients: []gradient[T]{
			by(kernel[T]{name: "described groups by Gamma", shape: gamma.Shape(), forward: func(dgamma []T, in [][]T) {
				for i, g := range in[1] {
					dgamma[i] = 0
					if g != 0 {
						dgamma[i] = in[2][i]
					}
				}
			}}),
		},
	}.apply(gamma)
}

// groupPrior makes |Gamma - Gamma_sem|^2, which keeps the learned groups near those of
// the data set.
func groupPrior[T Float](gamma *G.Node, semantic dataset.Matrix[T]) *G.Node {
	return kernel[T]{
		name: "group prior",
		forward: func(out []T, in [][]T) {
			out[0] = T(squaredDistance(in[0], semantic.Data))
		},
		gradients: []gradient[T]{
			by(kernel[T]{name: "group prior by Gamma", shape: gamma.Shape(), forward: func(out []T, in [][]T) {
				gamma, d := in[0], in[2][0]
				for i, g := range gamma {
					out[i] = 2 * d * (g - semantic.Data[i])
				}
			}}),
		},
	}.apply(gamma)
}

func squaredDistance[T Float](x, y []T) float64 {
	var sum float64
	for i, v := range x {
		d := float64(v - y[i])
		sum += d * d
	}
	return sum
}

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

// withGroupedPrior makes U with p of PerGroup as its last row, (Z+1) x M, from Gamma and U.
func withGroupedPrior[T Float](gamma, u *G.Node, d *Description) *G.Node {
	g := newGroupedPrior[T](d, gamma.Shape()[1])
	z, m := d.U.Rows, d.U.Cols
	return kernel[T]{
		name:  "U and p of groups",
		shape: tensor.Shape{z + 1, m},
		forward: func(out []T, in [][]T) {
			g.set(in[0])
			copy(out, in[1])
			for i, p := range g.p {
				out[z*m+i] = T(p)
			}
		},
		gradients: []gradient[T]{
			by(kernel[T]{name: "p of groups by Gamma", shape: gamma.Shape(), forward: func(dgamma []T, in [][]T) {
				g.byGamma(dgamma, in[0], in[3][z*m:])
			}}),
			nil,
		},
	}.apply(gamma, u)
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
					du[last+i] = -T(blas.Dot(out.Row(i), d.Row(i))) * inverse[i]
				}
			}}),
		},
	}.apply(gamma, u)
}

package model

import (
	"math"

	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/matrix"
)

// writeGamma writes Gamma = softmax over k of (zeta V[m,:]), the soft group of each
// attribute, M x K.
func writeGamma[T Float](gamma []T, v matrix.Matrix[T], zeta float64) {
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
func softGroups[T Float](vNode *G.Node, zeta float64) *G.Node {
	v := input[T]("V", vNode)
	gamma := output[T](v.shape...)
	k := v.shape[1]
	v.gradient = func(dv []T) {
		for i := range v.shape[0] {
			g, dg, out := gamma.data[i*k:(i+1)*k], gamma.grad[i*k:(i+1)*k], dv[i*k:(i+1)*k]
			var mean float64
			for j := range g {
				mean += float64(g[j]) * float64(dg[j])
			}
			for j := range g {
				out[j] = T(zeta * float64(g[j]) * (float64(dg[j]) - mean))
			}
		}
	}
	return apply(kernel{name: "Gamma: softmax of zeta V", from: []operand{v}, to: gamma, forward: func() {
		writeGamma(gamma.data, v.matrix(), zeta)
	}})
}

// groupPrior makes |Gamma - Gamma_sem|^2, which keeps the learned groups near those of
// the data set.
func groupPrior[T Float](gammaNode, semanticNode *G.Node) *G.Node {
	gamma, semantic := input[T]("Gamma", gammaNode), input[T]("Gamma_sem", semanticNode)
	distance := output[float64]()
	gamma.gradient = func(dgamma []T) {
		d := T(distance.grad[0])
		for i, g := range gamma.data {
			dgamma[i] = 2 * d * (g - semantic.data[i])
		}
	}
	return apply(kernel{name: "|Gamma - Gamma_sem|^2", from: []operand{gamma, semantic}, to: distance, forward: func() {
		var sum float64
		for i, g := range gamma.data {
			d := float64(g - semantic.data[i])
			sum += d * d
		}
		distance.data[0] = sum
	}})
}

// groupedPrior computes p(a_m) of PerGroup. It depends on V through Gamma:
//
//	q[k] = sum_m Gamma[m,k] P[m] / sum_m Gamma[m,k]    mean of group k
//	p[m] = sum_k Gamma[m,k] q[k]                       mean of the group of attribute m
//
// with P the mean of U over the candidate classes. Gamma[m,k] is the probability that m is
// in group k, and p stays a function of the attribute. With one attribute per group it is the
// per-attribute prior, with a single group the uniform one.
type groupedPrior[T Float] struct {
	q, size []float64 // K, the mean and the sum of Gamma of each group
}

// write computes p from Gamma, M x K, and P.
func (g *groupedPrior[T]) write(p []float64, gamma matrix.Matrix[T], means []float64) {
	g.q, g.size = make([]float64, gamma.Cols), make([]float64, gamma.Cols)
	for m, mean := range means {
		for k, w := range gamma.Row(m) {
			g.q[k] += float64(w) * mean
			g.size[k] += float64(w)
		}
	}
	for k, size := range g.size {
		if size > 0 {
			g.q[k] /= size
		}
	}
	for m := range p {
		p[m] = 0
		for k, w := range gamma.Row(m) {
			p[m] += float64(w) * g.q[k]
		}
	}
}

// byGamma is the gradient by Gamma from that by p:
//
//	dGamma[m,k] = dp[m] q[k] + (P[m] - q[k]) / size[k] sum_i dp[i] Gamma[i,k]
func (g *groupedPrior[T]) byGamma(dgamma []T, gamma matrix.Matrix[T], means, dp []float64) {
	byMean := make([]float64, gamma.Cols) // the gradient by q
	for m, d := range dp {
		for k, w := range gamma.Row(m) {
			byMean[k] += d * float64(w)
		}
	}
	for m, d := range dp {
		for k, q := range g.q {
			sum := d * q
			if g.size[k] > 0 {
				sum += (means[m] - q) / g.size[k] * byMean[k]
			}
			dgamma[m*gamma.Cols+k] = T(sum)
		}
	}
}

// groupedPriorOp makes p of PerGroup from Gamma and the means of U.
func groupedPriorOp[T Float](gammaNode, meansNode *G.Node) *G.Node {
	gamma, means := input[T]("Gamma", gammaNode), input[float64]("mean of U", meansNode)
	p, g := output[float64](means.shape...), new(groupedPrior[T])
	gamma.gradient = func(dgamma []T) { g.byGamma(dgamma, gamma.matrix(), means.data, p.grad) }
	return apply(kernel{name: "p: mean of groups", from: []operand{gamma, means}, to: p, forward: func() {
		g.write(p.data, gamma.matrix(), means.data)
	}})
}

// overPrior makes Gamma[m,k] / p[m], M x K. It is 0 for an attribute with p(a_m) = 0, as
// writeRatio has it.
func overPrior[T Float](gammaNode, pNode *G.Node) *G.Node {
	gamma, p := input[T]("Gamma", gammaNode), input[float64]("p", pNode)
	over, inverse := output[T](gamma.shape...), make([]T, gamma.shape[0])
	k := gamma.shape[1]
	gamma.gradient = func(dgamma []T) {
		for i, d := range over.grad {
			dgamma[i] = d * inverse[i/k]
		}
	}
	p.gradient = func(dp []float64) {
		for m := range dp {
			row, grad := over.data[m*k:(m+1)*k], over.grad[m*k:(m+1)*k]
			dp[m] = float64(-T(blas.Dot(row, grad)) * inverse[m])
		}
	}
	return apply(kernel{name: "Gamma/p", from: []operand{gamma, p}, to: over, forward: func() {
		for m, prior := range p.data {
			inverse[m] = 0
			if prior := T(prior); !(prior <= 0) {
				inverse[m] = 1 / prior
			}
			for j := m * k; j < (m+1)*k; j++ {
				over.data[j] = gamma.data[j] * inverse[m]
			}
		}
	}})
}

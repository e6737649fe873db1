package model

import (
	"math"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/dataset"
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

// Groups returns Gamma = softmax(zeta V), the soft group of each attribute, M x K.
func (p *Parameters[T]) Groups(zeta float64) dataset.Matrix[T] {
	gamma := dataset.NewMatrix[T](p.V.Rows, p.V.Cols)
	writeGamma(gamma.Data, p.V, zeta)
	return gamma
}

package model

import (
	"math"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/internal/parallel"
)

// The scores of groups are taken as if within these bounds, so that their logs
// and the inverse in their gradient stay finite in float32. A score outside has
// no gradient.
const (
	leastScore = 1e-30
	mostScore  = 1e30
)

// run is how many scores are multiplied before the product is brought back to a
// mantissa: as many as can't leave the range of float64.
const run = 8

// softAnd makes log p(z|x) up to a constant of the sample (Eq. 5 of the paper,
// with p(z) uniform), n x Z, from the scores of groups G, K x n x Z:
//
//	L[n,z] = sum_k log G[k,n,z]
//
// It multiplies in float64 and takes one logarithm a sample and class.
func softAnd[T Float](scores *G.Node) (*G.Node, error) {
	k, n, z := scores.Shape()[0], scores.Shape()[1], scores.Shape()[2]
	grain := 1 + 8192/(k*z)
	return kernel[T]{
		name:  "soft and",
		shape: tensor.Shape{n, z},
		forward: func(l []T, in [][]T) {
			g := in[0]
			parallel.For(n, grain, func(lo, hi int) {
				product, exponent := make([]float64, z), make([]int, z)
				for i := lo; i < hi; i++ {
					for c := range product {
						product[c], exponent[c] = 1, 0
					}
					for j := range k {
						for c, s := range g[(j*n+i)*z : (j*n+i+1)*z] {
							product[c] *= min(max(float64(s), leastScore), mostScore)
						}
						if j%run == run-1 {
							for c, p := range product {
								mantissa, e := math.Frexp(p)
								product[c], exponent[c] = mantissa, exponent[c]+e
							}
						}
					}
					for c, p := range product {
						l[i*z+c] = T(math.Log(p) + float64(exponent[c])*math.Ln2)
					}
				}
			})
		},
		gradients: []gradient[T]{
			by(kernel[T]{name: "soft and by G", shape: tensor.Shape{k, n, z}, forward: func(dg []T, in [][]T) {
				g, dl := in[0], in[2]
				parallel.For(k, 1+8192/(n*z), func(lo, hi int) {
					for j := lo; j < hi; j++ {
						scores, out := g[j*n*z:(j+1)*n*z], dg[j*n*z:(j+1)*n*z]
						for i, s := range scores {
							if s > leastScore && s < mostScore {
								out[i] = dl[i] / s
							} else {
								out[i] = 0
							}
						}
					}
				})
			}}),
		},
	}.apply(scores)
}

// LogNormalise turns rows of log p(z|x) up to a constant into log p(z|x), in
// place.
func LogNormalise[T Float](l []T, classes int) {
	for len(l) > 0 {
		row := l[:classes]
		norm := T(logSumExp(row))
		for z := range row {
			row[z] -= norm
		}
		l = l[classes:]
	}
}

func logSumExp[T Float](row []T) float64 {
	top := math.Inf(-1)
	for _, v := range row {
		top = max(top, float64(v))
	}
	var sum float64
	for _, v := range row {
		sum += math.Exp(float64(v) - top)
	}
	return top + math.Log(sum)
}

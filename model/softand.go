package model

import (
	"math"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/internal/parallel"
)

// Group scores are clipped to these bounds, so that their logs and the inverse in
// their gradient stay finite in float32. A clipped score has no gradient.
const (
	leastScore = 1e-30
	mostScore  = 1e30
)

// maxRun is the number of scores that are multiplied before the exponent is split off
// the product: 8 scores within the bounds stay within the range of float64.
const maxRun = 8

// exponentMask is that of the shifted exponent of a float64, halfExponent the exponent of
// numbers from 0.5 to 1.
const exponentMask, halfExponent = 0x7ff, 0x3fe

// logProduct accumulates log products of group scores (Eq. 4), one per sample and
// class: it multiplies in float64 and takes a single logarithm at the end.
type logProduct struct {
	product  []float64
	exponent []int // of 2
	factors  int
}

func newLogProduct(n int) *logProduct {
	return &logProduct{product: make([]float64, n), exponent: make([]int, n)}
}

func (p *logProduct) reset() {
	for i := range p.product {
		p.product[i], p.exponent[i] = 1, 0
	}
	p.factors = 0
}

// multiply multiplies each product by a score.
func multiply[T Float](p *logProduct, scores []T) {
	product, exponent := p.product[:len(scores)], p.exponent[:len(scores)]
	for i, s := range scores {
		v := float64(s) // min and max of floats are slower than branches
		if v < leastScore {
			v = leastScore
		} else if v > mostScore {
			v = mostScore
		}
		product[i] *= v
	}
	if p.factors++; p.factors%maxRun == 0 {
		for i, v := range product {
			if v != v { // of a score that is NaN
				continue
			}
			// math.Frexp of a normal number.
			bits := math.Float64bits(v)
			product[i] = math.Float64frombits(bits&^(exponentMask<<52) | halfExponent<<52)
			exponent[i] += int(bits>>52&exponentMask) - halfExponent
		}
	}
}

func (p *logProduct) log(i int) float64 {
	return math.Log(p.product[i]) + float64(p.exponent[i])*math.Ln2
}

// softAnd makes log p(z|x) up to a constant of the sample (Eq. 4, with p(z) uniform),
// n x Z, from the group scores G, K x n x Z:
//
//	L[n,z] = sum_k log G[k,n,z]
func softAnd[T Float](scores *G.Node) *G.Node {
	k, n, z := scores.Shape()[0], scores.Shape()[1], scores.Shape()[2]
	return kernel[T]{
		name:  "soft and",
		shape: tensor.Shape{n, z},
		forward: func(l []T, in [][]T) {
			g := in[0]
			parallel.For(n, 1+8192/(k*z), func(lo, hi int) {
				p := newLogProduct(z)
				for i := lo; i < hi; i++ {
					p.reset()
					for j := range k {
						multiply(p, g[(j*n+i)*z:(j*n+i+1)*z])
					}
					for c := range z {
						l[i*z+c] = T(p.log(c))
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

// LogNormalise subtracts its logsumexp from each row of classes in l, in place: log
// p(z|x) up to a constant becomes log p(z|x).
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

package model

import (
	"math"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/numeric"
	"github.com/lago-train/lago-train/internal/parallel"
)

// Terms are the five terms of the loss (Eq. 6), before their weights.
type Terms struct {
	CXE   float64 `json:"cxe"`   // mean over samples of -log p(z|x)
	BXE   float64 `json:"bxe"`   // mean over samples and attributes of the binary cross-entropy
	W2    float64 `json:"w2"`    // |W|^2
	WU2   float64 `json:"wu2"`   // |W U^T|^2
	Prior float64 `json:"prior"` // |Gamma - Gamma_sem|^2; not computed if psi is 0
}

// Loss is the weighted sum of the terms (Eq. 6).
func (c Config) Loss(t Terms) float64 {
	return t.CXE + c.Alpha*t.BXE + c.Beta*t.W2 + c.Lambda*t.WU2 + c.Psi*t.Prior
}

// Add adds share times the terms of u, for means over batches.
func (t *Terms) Add(u Terms, share float64) {
	t.CXE += share * u.CXE
	t.BXE += share * u.BXE
	t.W2 += share * u.W2
	t.WU2 += share * u.WU2
	t.Prior += share * u.Prior
}

// term is a part of the loss in a graph: a node of one or more numbers, and their weights.
type term struct {
	node    *G.Node
	weights []float64
}

// sumTerms makes the weighted sum of terms. No gradient is taken through one whose weights
// are 0.
func sumTerms[T Float](terms ...term) *G.Node {
	nodes, gradients := make(G.Nodes, len(terms)), make([]gradient[T], len(terms))
	for i, t := range terms {
		nodes[i] = t.node
		if !slices.ContainsFunc(t.weights, func(w float64) bool { return w != 0 }) {
			continue
		}
		gradients[i] = by(kernel[T]{name: "loss by a term", shape: t.node.Shape(), forward: func(out []T, in [][]T) {
			for j, w := range t.weights {
				out[j] = T(w) * in[len(in)-1][0]
			}
		}})
	}
	return kernel[T]{
		name: "loss",
		forward: func(out []T, in [][]T) {
			var sum float64
			for i, t := range terms {
				for j, w := range t.weights {
					sum += w * float64(in[i][j])
				}
			}
			out[0] = T(sum)
		},
		gradients: gradients,
	}.apply(nodes...)
}

// crossEntropy makes CXE, the mean over samples of -log p(z|x), from log p(z|x) up to a
// constant, L, and the targets Y, both n x Z. A row of Y has a one at the class of its
// sample. A row of zeros leaves its sample out, so that a last, partial batch counts
// exactly.
func crossEntropy[T Float](l, y *G.Node) *G.Node {
	n, z := l.Shape()[0], l.Shape()[1]
	norms := make([]float64, n)
	return kernel[T]{
		name: "cross entropy",
		forward: func(out []T, in [][]T) {
			l, y := in[0], in[1]
			parallel.For(n, 1+4096/z, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					norms[i] = LogSumExp(l[i*z : (i+1)*z])
				}
			})
			var sum, weight float64
			for i := range n {
				row := l[i*z : (i+1)*z]
				for c, t := range y[i*z : (i+1)*z] {
					if t != 0 {
						sum += float64(t) * (norms[i] - float64(row[c]))
						weight += float64(t)
					}
				}
			}
			out[0] = T(sum / weight)
		},
		gradients: []gradient[T]{
			by(kernel[T]{name: "cross entropy by L", shape: tensor.Shape{n, z}, forward: func(dl []T, in [][]T) {
				l, y, d := in[0], in[1], float64(in[3][0])
				scale := d / sum(y)
				parallel.For(n, 1+4096/z, func(lo, hi int) {
					for i := lo; i < hi; i++ {
						entropyGradient(dl[i*z:(i+1)*z], l[i*z:(i+1)*z], y[i*z:(i+1)*z], norms[i], scale)
					}
				})
			}}),
			nil,
		},
	}.apply(l, y)
}

// entropyGradient writes the gradient of cross entropy by a row of L. It is no closure, for
// speed: see sigmoids.
func entropyGradient[T Float](dl, l, y []T, norm, scale float64) {
	share := sum(y)
	if single, ok := any(l).([]float32); ok {
		for c, v := range single {
			dl[c] = T(scale * (share*float64(numeric.Exp32(float32(float64(v)-norm))) - float64(y[c])))
		}
		return
	}
	for c, v := range l {
		dl[c] = T(scale * (share*math.Exp(float64(v)-norm) - float64(y[c])))
	}
}

// attributeEntropy makes BXE(a), the mean over samples and attributes of the binary
// cross-entropy between A = sigmoid(S) and the description of the sample's class, Y U
// with the U of Description.Targets. a is the node of A, whose exponentials are not computed
// again; the gradient by S includes what goes through it.
// It is computed from S, as log(1 + exp(s)) - t s, which is exact even where A rounds to 0
// or 1. Undescribed attributes have no target and do not count; undescribed is nil for none.
func attributeEntropy[T Float](s, a, y, u *G.Node, undescribed []bool) *G.Node {
	n, m, z := s.Shape()[0], s.Shape()[1], u.Shape()[0]
	described := float64(countDescribed(m, undescribed))
	targets, rows := make([]T, n*m), make([]float64, n)
	return kernel[T]{
		name: "attribute entropy",
		forward: func(out []T, in [][]T) {
			s, a, y, u := in[0], in[1], in[2], in[3]
			blas.Gemm(blas.NoTrans, blas.NoTrans, n, m, z, 1, y, z, u, m, 0, targets, m)
			parallel.For(n, 16, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					rows[i] = 0
					if weight := sum(y[i*z : (i+1)*z]); weight > 0 {
						rows[i] = entropyOfRow(s[i*m:(i+1)*m], a[i*m:(i+1)*m], targets[i*m:(i+1)*m], undescribed, weight)
					}
				}
			})
			out[0] = T(sum(rows) / (sum(y) * described))
		},
		gradients: []gradient[T]{
			by(kernel[T]{name: "attribute entropy by S", shape: tensor.Shape{n, m}, forward: func(ds []T, in [][]T) {
				a, y, d := in[1], in[2], float64(in[5][0])
				scale := d / (sum(y) * described)
				for i := range n {
					weight := sum(y[i*z : (i+1)*z])
					for j := i * m; j < (i+1)*m; j++ {
						ds[j] = T(scale * (weight*float64(a[j]) - float64(targets[j])))
					}
					for j, skip := range undescribed {
						if skip {
							ds[i*m+j] = 0
						}
					}
				}
			}}),
			nil,
			nil,
			nil,
		},
	}.apply(s, a, y, u)
}

// entropyOfRow sums weight log(1 + exp(s)) - t s. log(1 + exp(s)) is the positive part
// of s minus the log of the larger of A and 1 - A. These lie between 1/2 and 1 and are
// multiplied before one logarithm is taken.
func entropyOfRow[T Float](s, a, t []T, undescribed []bool, weight float64) float64 {
	const factors = 512 // 2^-512 is within float64
	var total float64
	product := 1.0
	for j, v := range s {
		if undescribed == nil || !undescribed[j] {
			v := float64(v)
			total += weight*max(v, 0) - float64(t[j])*v
			product *= 0.5 + math.Abs(float64(a[j])-0.5)
		}
		if j%factors == factors-1 {
			total -= weight * math.Log(product)
			product = 1
		}
	}
	return total - weight*math.Log(product)
}

// countDescribed returns the number of described attributes of m, at least 1.
func countDescribed(m int, undescribed []bool) int {
	for _, skip := range undescribed {
		if skip {
			m--
		}
	}
	return max(m, 1)
}

// AttributeEntropy is the binary cross-entropy of one sample, the mean over described
// attributes, from its logits s and the description u of its class, both M.
func AttributeEntropy[T Float](s, u []T, undescribed []bool) float64 {
	a := make([]T, len(s))
	sigmoids(a, s)
	return entropyOfRow(s, a, u, undescribed, 1) / float64(countDescribed(len(s), undescribed))
}

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
	first := 0
	if single, ok := any(scores).([]float32); ok {
		first = multiplyVectors(product, single)
	}
	multiplyEach(product[first:], scores[first:])
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

func multiplyEach[T Float](product []float64, scores []T) {
	product = product[:len(scores)]
	for i, s := range scores {
		v := float64(s) // min and max of floats are slower than branches
		if v < leastScore {
			v = leastScore
		} else if v > mostScore {
			v = mostScore
		}
		product[i] *= v
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
						first := 0
						if single, ok := any(scores).([]float32); ok {
							first = divideVectors(any(out).([]float32), any(dl).([]float32), single)
						}
						divideEach(out[first:], dl[first:], scores[first:])
					}
				})
			}}),
		},
	}.apply(scores)
}

// divideEach is dG = dL / G, 0 for a clipped score.
func divideEach[T Float](dg, dl, scores []T) {
	dg, dl = dg[:len(scores)], dl[:len(scores)]
	for i, s := range scores {
		dg[i] = 0
		if s > leastScore && s < mostScore {
			dg[i] = dl[i] / s
		}
	}
}

// LogNormalise subtracts its logsumexp from each row of classes in l, in place: log
// p(z|x) up to a constant becomes log p(z|x).
func LogNormalise[T Float](l []T, classes int) {
	for len(l) > 0 {
		row := l[:classes]
		norm := T(LogSumExp(row))
		for z := range row {
			row[z] -= norm
		}
		l = l[classes:]
	}
}

// LogSumExp returns log sum_z exp(row[z]).
func LogSumExp[T Float](row []T) float64 {
	top := math.Inf(-1)
	for _, v := range row {
		top = max(top, float64(v))
	}
	var sum float64
	if single, ok := any(row).([]float32); ok {
		for _, v := range single {
			sum += float64(numeric.Exp32(v - float32(top)))
		}
		return top + math.Log(sum)
	}
	for _, v := range row {
		sum += math.Exp(float64(v) - top)
	}
	return top + math.Log(sum)
}

package model

import (
	"math"

	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/parallel"
)

// Terms are the five terms of the loss (Eq. 6), before their weights.
type Terms struct {
	CXE float64 `json:"cxe"` // mean over samples of -log p(z|x)
	BXE float64 `json:"bxe"` // mean over samples and attributes of the binary cross-entropy
	W2  float64 `json:"w2"`  // |W|^2
	WU2 float64 `json:"wu2"` // |W U^T|^2
	// |Gamma - Gamma_sem|^2; not computed if psi is 0
	GroupPenalty float64 `json:"group_penalty"`
}

// Loss is the weighted sum of the terms (Eq. 6).
func (c Config) Loss(t Terms) float64 {
	return t.CXE + c.Alpha*t.BXE + c.Beta*t.W2 + c.Lambda*t.WU2 + c.Psi*t.GroupPenalty
}

// Add adds share times the terms of u, for means over batches.
func (t *Terms) Add(u Terms, share float64) {
	t.CXE += share * u.CXE
	t.BXE += share * u.BXE
	t.W2 += share * u.W2
	t.WU2 += share * u.WU2
	t.GroupPenalty += share * u.GroupPenalty
}

// crossEntropy makes CXE, the mean over samples of -log p(z|x), from log p(z|x) up to a constant, L, and the
// targets Y, both n x Z. A row of Y has a one at the class of its sample. A row of zeros leaves its sample
// out, so that a last, partial batch counts exactly.
func crossEntropy[T Float](lNode, yNode *G.Node) *G.Node {
	l, y, mean := input[T](lNode), input[T](yNode), output[T]()
	n, z := l.shape[0], l.shape[1]
	norms := make([]float64, n)
	l.gradient = func(dl []T) {
		scale := float64(mean.grad[0]) / sum(y.data)
		parallel.For(n, 1+1024/z, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				entropyGradient(dl[i*z:(i+1)*z], l.data[i*z:(i+1)*z], y.data[i*z:(i+1)*z], norms[i], scale)
			}
		})
	}
	return apply(kernel{
		name: "CXE: cross entropy of classes", from: []operand{l, y}, to: mean,
		forward: func() {
			parallel.For(n, 1+1024/z, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					norms[i] = matrix.LogSumExp(l.data[i*z : (i+1)*z])
				}
			})
			var sum, weight float64
			for i := range n {
				row := l.data[i*z : (i+1)*z]
				for c, t := range y.data[i*z : (i+1)*z] {
					if t != 0 {
						sum += float64(t) * (norms[i] - float64(row[c]))
						weight += float64(t)
					}
				}
			}
			mean.data[0] = T(sum / weight)
		},
	})
}

// entropyGradient writes the gradient of cross entropy by a row of L. It is no closure, for
// speed: see sigmoids.
func entropyGradient[T Float](dl, l, y []T, norm, scale float64) {
	share := sum(y)
	if single, ok := any(l).([]float32); ok {
		for c, v := range single {
			dl[c] = T(scale * (share*float64(matrix.Exp32(float32(float64(v)-norm))) - float64(y[c])))
		}
		return
	}
	for c, v := range l {
		dl[c] = T(scale * (share*math.Exp(float64(v)-norm) - float64(y[c])))
	}
}

// attributeEntropy makes BXE(a), the mean over samples and attributes of the binary cross-entropy between A =
// sigmoid(S) and the description of the sample's class, Y U, before scaleGroups. A is an input so that its
// exponentials are not computed again; the gradient by S includes what goes through it. It is computed from
// S, as log(1 + exp(s)) - t s, which is exact even where A rounds to 0 or 1.
func attributeEntropy[T Float](sNode, aNode, yNode, uNode *G.Node) *G.Node {
	s, a, y, u := input[T](sNode), input[T](aNode), input[T](yNode), input[float64](uNode)
	n, m, z := s.shape[0], s.shape[1], u.shape[0]
	mean, targets, rows := output[T](), matrix.New[T](n, m), make([]float64, n)
	s.gradient = func(ds []T) {
		scale := float64(mean.grad[0]) / (sum(y.data) * float64(m))
		for i := range n {
			weight := sum(y.data[i*z : (i+1)*z])
			for j := i * m; j < (i+1)*m; j++ {
				ds[j] = T(scale * (weight*float64(a.data[j]) - float64(targets.Data[j])))
			}
		}
	}
	return apply(kernel{
		name: "BXE: cross entropy of attributes", from: []operand{s, a, y, u}, to: mean,
		forward: func() {
			parallel.For(n, 16, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					target := targets.Row(i)
					clear(target)
					for c, share := range y.matrix().Row(i) {
						if share != 0 {
							for j, p := range u.matrix().Row(c) {
								target[j] += share * T(p)
							}
						}
					}
					rows[i] = 0
					if weight := sum(y.data[i*z : (i+1)*z]); weight != 0 {
						rows[i] = entropyOfRow(s.data[i*m:(i+1)*m], a.data[i*m:(i+1)*m], target, weight)
					}
				}
			})
			mean.data[0] = T(sum(rows) / (sum(y.data) * float64(m)))
		},
	})
}

// entropyOfRow sums weight log(1 + exp(s)) - t s. log(1 + exp(s)) is the positive part of s minus the log of
// the larger of A and 1 - A. These lie between 1/2 and 1 and are multiplied before one logarithm is taken.
func entropyOfRow[T Float](s, a, t []T, weight float64) float64 {
	const factors = 512 // 2^-512 is within float64
	var total float64
	product := 1.0
	for j, v := range s {
		v := float64(v)
		total += weight*max(v, 0) - float64(t[j])*v
		product *= 0.5 + math.Abs(float64(a[j])-0.5)
		if j%factors == factors-1 {
			total -= weight * math.Log(product)
			product = 1
		}
	}
	return total - weight*math.Log(product)
}

// BXE is BXE(a) of samples of the given classes with the logits s, n x M.
func BXE[T Float](d *Description, s matrix.Matrix[T], classes []int) (mean float64) {
	rows := []int{0}
	targets := described(matrix.Convert[T](d.Targets), d.Targets.AllRows(), d.Described)
	logits, a := matrix.New[T](1, targets.Cols), make([]T, targets.Cols)
	for i, z := range classes {
		writeDescribed(logits, s.Slice(i, i+1), rows, d.Described)
		sigmoids(a, logits.Data)
		mean += entropyOfRow(logits.Data, a, targets.Row(z), 1) / float64(len(a)) / float64(len(classes))
	}
	return mean
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
func softAnd[T Float](scoresNode *G.Node) *G.Node {
	scores := input[T](scoresNode)
	k, n, z := scores.shape[0], scores.shape[1], scores.shape[2]
	l := output[T](n, z)
	scores.gradient = func(dg []T) {
		parallel.For(k, 1+8192/(n*z), func(lo, hi int) {
			for j := lo; j < hi; j++ {
				divide(dg[j*n*z:(j+1)*n*z], l.grad, scores.data[j*n*z:(j+1)*n*z])
			}
		})
	}
	return apply(kernel{
		name: "log p(z|x) + c: soft AND (Eq. 4)", from: []operand{scores}, to: l,
		forward: func() {
			parallel.For(n, 1+8192/(k*z), func(lo, hi int) {
				p := newLogProduct(z)
				for i := lo; i < hi; i++ {
					p.reset()
					for j := range k {
						multiply(p, scores.data[(j*n+i)*z:(j*n+i+1)*z])
					}
					for c := range z {
						l.data[i*z+c] = T(p.log(c))
					}
				}
			})
		},
	})
}

// divide is dG = dL / G, 0 for a clipped score.
func divide[T Float](dg, dl, scores []T) {
	dg, dl = dg[:len(scores)], dl[:len(scores)]
	for i, s := range scores {
		d := dl[i] / s
		if !(s > leastScore && s < mostScore) {
			d = 0
		}
		dg[i] = d
	}
}

// LogNormalise subtracts its logsumexp from each row of classes in l, in place: log
// p(z|x) up to a constant becomes log p(z|x).
func LogNormalise[T Float](l []T, classes int) {
	for len(l) > 0 {
		row := l[:classes]
		norm := T(matrix.LogSumExp(row))
		for z := range row {
			row[z] -= norm
		}
		l = l[classes:]
	}
}

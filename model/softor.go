package model

import (
	"math"
	"sync"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/parallel"
)

// softOr makes the group scores (Eq. 5 and supplement D.3), K x n x Z, while the
// grouping is learned:
//
//	G[k,n,z] = sum_m Gamma[m,k] (U[z,m]/p[m]) A[n,m]  +  (Uc[z,k]/pc[k]) Ac[n,k]
//
// ratio is U/p, M x Z. With the prior per group, p depends on Gamma: the caller then passes
// Gamma/p as gamma, and U as ratio. none holds Uc and, in its last row, pc, (Z+1) x K; it is
// nil for Ac = 0. ac is Ac, n x K, or nil for Ac = 1. Uc, pc and Ac are scaled.
func softOr[T Float](a, gamma, ratio, none, ac *G.Node, scale *noneScale) *G.Node {
	o := &learnedSoftOr[T]{n: a.Shape()[0], m: gamma.Shape()[0], k: gamma.Shape()[1], z: ratio.Shape()[1], scale: scale}
	o.noneRatio, o.byGroup = make([]T, o.k*o.z), make([]T, o.k*o.m)
	o.scratch.New = func() any {
		s := make([]T, o.n*o.m)
		return &s
	}
	inputs := G.Nodes{a, gamma, ratio}
	gradients := []gradient[T]{
		nil, // A is given while V trains
		by(kernel[T]{name: "soft or by Gamma", shape: tensor.Shape{o.m, o.k}, forward: func(dgamma []T, in [][]T) {
			o.byGamma(dgamma, in)
		}}),
		nil,
	}
	if none != nil {
		inputs = append(inputs, none)
		gradients = append(gradients, by(kernel[T]{name: "soft or by Uc and pc", shape: tensor.Shape{o.z + 1, o.k}, forward: func(dnone []T, in [][]T) {
			o.byNone(dnone, in)
		}}))
	}
	if ac != nil {
		inputs, gradients = append(inputs, ac), append(gradients, byNoneOfDetections(o.noneRatio, o.n, o.k, o.z))
	}
	return kernel[T]{
		name:      "soft or",
		shape:     tensor.Shape{o.k, o.n, o.z},
		forward:   o.forward,
		gradients: gradients,
	}.apply(inputs...)
}

type learnedSoftOr[T Float] struct {
	n, m, k, z int
	noneRatio  []T // K x Z, scaled Uc/pc of this step; zero for Ac = 0
	byGroup    []T // K x M, Gamma
	scale      *noneScale
	scratch    sync.Pool // of *[]T, n x M, one for each worker
}

func (o *learnedSoftOr[T]) forward(g []T, in [][]T) {
	a, gamma, ratio := in[0], in[1], in[2]
	var ac []T
	if len(in) > 3 {
		writeNoneRatio(o.noneRatio, in[3], o.k, o.z)
	}
	if len(in) > 4 {
		ac = in[4]
	}
	for m := range o.m {
		for k, v := range gamma[m*o.k : (m+1)*o.k] {
			o.byGroup[k*o.m+m] = v
		}
	}
	size := o.n * o.z
	parallel.For(o.k, 1, func(lo, hi int) {
		scratch := o.scratch.Get().(*[]T)
		defer o.scratch.Put(scratch)
		scaled := *scratch
		for k := lo; k < hi; k++ {
			scores := g[k*size : (k+1)*size]
			writeNoneTerm(scores, o.noneRatio[k*o.z:(k+1)*o.z], ac, k, o.k, o.scale.detection[k])
			share := o.byGroup[k*o.m : (k+1)*o.m]
			for i := 0; i < len(a); i += o.m {
				row, out := a[i : i+o.m][:len(share)], scaled[i : i+o.m][:len(share)]
				for m, g := range share {
					out[m] = row[m] * g
				}
			}
			blas.Gemm(blas.NoTrans, blas.NoTrans, o.n, o.z, o.m, 1, scaled, o.m, ratio, o.z, 1, scores, o.z)
		}
	})
}

// byGamma is dGamma[m,k] = sum over n, z of dG[k,n,z] (U/p)[m,z] A[n,m]. Gamma also
// acts through the none-of-group term, whose gradient is byNone.
func (o *learnedSoftOr[T]) byGamma(dgamma []T, in [][]T) {
	a, ratio, dg := in[0], in[2], in[len(in)-1]
	parallel.For(o.k, 1, func(lo, hi int) {
		scratch := o.scratch.Get().(*[]T)
		defer o.scratch.Put(scratch)
		evidence := *scratch
		sums := make([]T, o.m)
		for k := lo; k < hi; k++ {
			blas.Gemm(blas.NoTrans, blas.Trans, o.n, o.m, o.z, 1, dg[k*o.n*o.z:], o.z, ratio, o.z, 0, evidence, o.m)
			clear(sums)
			for i := 0; i < len(a); i += o.m {
				row, e := a[i:i+o.m], evidence[i:i+o.m]
				for m, p := range row {
					sums[m] += p * e[m]
				}
			}
			for m, v := range sums {
				dgamma[m*o.k+k] = v
			}
		}
	})
}

// byNone is the gradient by Uc, and in the last row by pc.
func (o *learnedSoftOr[T]) byNone(dnone []T, in [][]T) {
	none, dg := in[3], in[len(in)-1]
	var ac []T
	if len(in) > 6 {
		ac = in[4]
	}
	pc, dpc := none[o.z*o.k:], dnone[o.z*o.k:]
	parallel.For(o.k, 1, func(lo, hi int) {
		sums := make([]float64, o.z)
		for k := lo; k < hi; k++ {
			clear(sums)
			for i := range o.n {
				weight := min(o.scale.detection[k], mostScore)
				if ac != nil {
					weight = float64(ac[i*o.k+k])
				}
				for z, d := range dg[(k*o.n+i)*o.z : (k*o.n+i+1)*o.z] {
					sums[z] += weight * float64(d)
				}
			}
			var byPrior float64
			for z, s := range sums {
				dnone[z*o.k+k] = 0
				if p := float64(pc[k]); p > 0 {
					dnone[z*o.k+k] = T(s / p)
					byPrior -= s * float64(o.noneRatio[k*o.z+z]) / p
				}
			}
			dpc[k] = T(byPrior)
		}
	})
}

// writeNoneRatio writes Uc/pc, K x Z, from Uc and pc, (Z+1) x K. Where pc is 0, every
// candidate class surely has an attribute of the group, and the ratio is 0.
func writeNoneRatio[T Float](ratio, none []T, k, z int) {
	pc := none[z*k:]
	for j := range k {
		for i := range z {
			ratio[j*z+i] = 0
			if pc[j] > 0 {
				ratio[j*z+i] = none[i*k+j] / pc[j]
			}
		}
	}
}

// writeNoneTerm writes (Uc/pc) Ac of group j of k into its scores g, n x Z. ratio is
// Uc/pc of the group; ac is Ac, n x k, both scaled, or nil for Ac = 1, whose scale is one.
func writeNoneTerm[T Float](g, ratio, ac []T, j, k int, one float64) {
	z := len(ratio)
	for i := range len(g) / z {
		row := g[i*z : (i+1)*z]
		weight := T(min(one, mostScore))
		if ac != nil {
			weight = ac[i*k+j]
		} else if one == 1 {
			copy(row, ratio)
			continue
		}
		for c, v := range ratio {
			row[c] = weight * v
		}
	}
}

// byNoneOfDetections makes the gradient by Ac: sum over z of dG (Uc/pc).
func byNoneOfDetections[T Float](ratio []T, n, k, z int) gradient[T] {
	return by(kernel[T]{name: "soft or by Ac", shape: tensor.Shape{n, k}, forward: func(dac []T, in [][]T) {
		dg := in[len(in)-1]
		parallel.For(n, 1+8192/(k*z), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				for j := range k {
					var sum float64
					for c, d := range dg[(j*n+i)*z : (j*n+i+1)*z] {
						sum += float64(d) * float64(ratio[j*z+c])
					}
					dac[i*k+j] = T(sum)
				}
			}
		})
	}})
}

// The none-of-group probabilities (the paper's complementary attribute): for each row of
// attribute probabilities R, the probability of having no attribute of group k, by De
// Morgan (supplement D.3.1):
//
//	Q[r,k] = prod_m (1 - Gamma[m,k] R[r,m])
//
// R = U gives Uc, R = p gives pc, and R = A gives Ac. R is rows x M, Gamma M x K and Q
// rows x K.

// noneScale holds factors of the none-of-group probabilities, powers of two, which keep
// those of groups of hundreds of attributes within the range of float32. All are 1 for
// smaller groups and in float64. The factors of (Uc/pc) Ac cancel.
type noneScale struct {
	class, prior, detection []float64 // K, of Uc, pc and Ac
	products                []float64 // (Z+1) x K, Uc and pc
}

func newNoneScale(k, z int) *noneScale {
	return &noneScale{class: make([]float64, k), prior: make([]float64, k), detection: make([]float64, k), products: make([]float64, (z+1)*k)}
}

// leastUnscaled is the probability below which a group is scaled. It leaves the products
// with it within float32.
const leastUnscaled = 0x1p-60

// writeNoneOfClasses writes Uc and pc, (Z+1) x K, from U and p, and sets the scale.
func writeNoneOfClasses[T Float](s *noneScale, q []T, withPrior, gamma dataset.Matrix[T]) {
	writeNoneOf(s.products, withPrior, gamma, nil)
	scaleNoneOfClasses(s, q)
}

// scaleNoneOfClasses sets the scale of the products, and writes them with it.
func scaleNoneOfClasses[T Float](s *noneScale, q []T) {
	k := len(s.prior)
	z := len(q)/k - 1
	for j := range k {
		var most float64
		for i := range z {
			most = max(most, s.products[i*k+j])
		}
		s.class[j], s.prior[j] = scaleOf[T](most), scaleOf[T](s.products[z*k+j])
		s.detection[j] = s.prior[j] / s.class[j]
		for i := range z {
			q[i*k+j] = T(s.products[i*k+j] * s.class[j])
		}
		q[z*k+j] = T(s.products[z*k+j] * s.prior[j])
	}
}

// scaleOf returns the power of two that brings a probability near 1, if it is small.
func scaleOf[T Float](p float64) float64 {
	if dtype[T]() == tensor.Float64 || p >= leastUnscaled || p == 0 {
		return 1
	}
	_, exponent := math.Frexp(p)
	return math.Ldexp(1, min(-exponent, 1000))
}

// writeNoneOf writes Q, times the factor of each group if factor is not nil.
func writeNoneOf[Q, T Float](q []Q, r, gamma dataset.Matrix[T], factor []float64) {
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
				if factor != nil {
					p = min(p*factor[j], mostScore)
				}
				q[i*k+j] = Q(p)
			}
		}
	})
}

// noneOf makes Q of r. wrt is the input, r or gamma, that the gradient is taken by:
// Gorgonia would compute both. factor is that of each group when the op runs; an op that sets
// it must be among the inputs after.
func noneOf[T Float](r, gamma, wrt *G.Node, factor []float64, after ...*G.Node) *G.Node {
	from := 0
	if wrt == gamma {
		from = r.Shape()[0]
	}
	return noneOfKernel(r, gamma, from, wrt == gamma, func(_, k int) float64 { return factor[k] }, func(q []T, r, gamma dataset.Matrix[T]) { writeNoneOf(q, r, gamma, factor) }, after...)
}

// noneOfClasses makes Uc and pc of U and p, and sets the scale. The gradient is by gamma
// and, if p is not constant, by p.
func noneOfClasses[T Float](u, gamma *G.Node, s *noneScale, byPrior bool) *G.Node {
	prior := u.Shape()[0] - 1
	from := prior + 1
	if byPrior {
		from = prior
	}
	return noneOfKernel(u, gamma, from, true, func(row, k int) float64 {
		if row == prior {
			return s.prior[k]
		}
		return s.class[k]
	}, func(q []T, u, gamma dataset.Matrix[T]) { writeNoneOfClasses(s, q, u, gamma) })
}

// noneOfKernel makes Q by write, with the gradients by the rows of r from one on, and by
// gamma.
func noneOfKernel[T Float](r, gamma *G.Node, from int, byGamma bool, factor func(row, k int) float64, write func(q []T, r, gamma dataset.Matrix[T]), after ...*G.Node) *G.Node {
	rows, m, k := r.Shape()[0], gamma.Shape()[0], gamma.Shape()[1]
	matrices := func(in [][]T) (r, gamma dataset.Matrix[T]) {
		return dataset.Matrix[T]{Rows: rows, Cols: m, Data: in[0]}, dataset.Matrix[T]{Rows: m, Cols: k, Data: in[1]}
	}
	share := make([]float64, rows*k)
	gradientOf := func(in [][]T) noneOfGrad[T] {
		q, dq := in[len(in)-2], in[len(in)-1]
		for i, v := range q {
			share[i] = float64(dq[i]) * float64(v)
		}
		g := noneOfGrad[T]{dq: dataset.Matrix[T]{Rows: rows, Cols: k, Data: dq}, share: share, factor: factor}
		g.r, g.gamma = matrices(in)
		return g
	}
	gradients := make([]gradient[T], 2+len(after))
	if from < rows {
		gradients[0] = by(kernel[T]{name: "none of by R", shape: r.Shape(), forward: func(dr []T, in [][]T) {
			noneOfByRows(dr, gradientOf(in), from)
		}})
	}
	if byGamma {
		gradients[1] = by(kernel[T]{name: "none of by Gamma", shape: gamma.Shape(), forward: func(dgamma []T, in [][]T) {
			noneOfByGroups(dgamma, gradientOf(in))
		}})
	}
	return kernel[T]{
		name:  "none of",
		shape: tensor.Shape{rows, k},
		forward: func(q []T, in [][]T) {
			r, gamma := matrices(in)
			write(q, r, gamma)
		},
		gradients: gradients,
	}.apply(append(G.Nodes{r, gamma}, after...)...)
}

// noneOfGrad holds what both gradients of Q need.
type noneOfGrad[T Float] struct {
	r, gamma, dq dataset.Matrix[T]
	share        []float64 // rows x K, dQ Q; divided by a factor of Q it is the gradient by that
	factor       func(row, k int) float64
}

// others is dQ[i,k] times the product of all factors but that of attribute m. It
// replaces share/factor where the factor is zero.
func (g noneOfGrad[T]) others(i, m, k int) float64 {
	product := float64(g.dq.Data[i*g.gamma.Cols+k]) * g.factor(i, k)
	for other, p := range g.r.Row(i) {
		if other != m {
			product *= 1 - float64(g.gamma.Data[other*g.gamma.Cols+k])*float64(p)
		}
	}
	return product
}

// noneOfByRows writes the gradient by the rows of R from one on; that of others is 0.
func noneOfByRows[T Float](dr []T, g noneOfGrad[T], from int) {
	m, k := g.r.Cols, g.gamma.Cols
	clear(dr[:from*m])
	parallel.For(g.r.Rows-from, 1, func(lo, hi int) {
		for i := from + lo; i < from+hi; i++ {
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

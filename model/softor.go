package model

import (
	"sync"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

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
	o.noneRatio = make([]T, o.k*o.z)
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
	size := o.n * o.z
	parallel.For(o.k, 1, func(lo, hi int) {
		scratch := o.scratch.Get().(*[]T)
		defer o.scratch.Put(scratch)
		scaled := *scratch
		for k := lo; k < hi; k++ {
			scores := g[k*size : (k+1)*size]
			writeNoneTerm(scores, o.noneRatio[k*o.z:(k+1)*o.z], ac, k, o.k, o.scale.detection[k])
			for i := 0; i < len(a); i += o.m {
				row, out := a[i:i+o.m], scaled[i:i+o.m]
				for m, p := range row {
					out[m] = p * gamma[m*o.k+k]
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

package model

import (
	"sync"

	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/parallel"
)

// softOr makes the group scores (Eq. 5 and supplement D.3), K x n x Z, while the grouping is learned:
//
//	G[k,n,z] = sum_m Gamma[m,k] (U[z,m]/p[m]) A[n,m]  +  (Uc[z,k]/pc[k]) Ac[n,k]
//
// ratio is U/p, M x Z. With the prior per group, p depends on Gamma: the caller then passes
// Gamma/p as gamma, and U as ratio. none holds Uc and pc, see noneOfClasses; it is nil for
// Ac = 0. ac is Ac, n x K, or nil for Ac = 1.
func softOr[T Float](aNode, gammaNode, ratioNode, noneNode, acNode *G.Node) *G.Node {
	o := &learnedSoftOr[T]{a: input[T](aNode), gamma: input[T](gammaNode), ratio: input[T](ratioNode)}
	n, m, k, z := o.a.shape[0], o.gamma.shape[0], o.gamma.shape[1], o.ratio.shape[1]
	o.scores, o.byGroup = output[T](k, n, z), matrix.New[T](k, m)
	o.scratch.New = func() any {
		s := matrix.New[T](n, m)
		return &s
	}
	from := append([]operand{o.a, o.gamma, o.ratio}, o.noneInputs(noneNode, acNode, o.scores)...)
	o.gamma.gradient = o.byGamma // and none by A, which is given while V trains
	if o.none != nil {
		o.none.gradient = o.byNone
	}
	return apply(kernel{name: "G: soft OR (Eq. 5)", from: from, to: o.scores, forward: o.forward})
}

type learnedSoftOr[T Float] struct {
	a, gamma, ratio, scores *value[T]
	noneTerm[T]

	byGroup matrix.Matrix[T] // K x M, Gamma
	scratch sync.Pool        // of *Matrix, n x M, one for each worker
}

// group returns the part of group k in scores or their gradient, n x Z.
func (o *learnedSoftOr[T]) group(scores []T, k int) matrix.Matrix[T] {
	size := o.scores.shape[1] * o.scores.shape[2]
	return matrix.Of(scores[k*size:(k+1)*size], o.scores.shape[2])
}

func (o *learnedSoftOr[T]) forward() {
	o.setNone(o.none.matrix(), o.scores.shape[0], o.scores.shape[2])
	for m := range o.byGroup.Cols {
		for k, v := range o.gamma.matrix().Row(m) {
			o.byGroup.Data[k*o.byGroup.Cols+m] = v
		}
	}
	a, ratio := o.a.matrix(), o.ratio.matrix()
	parallel.For(o.byGroup.Rows, 1, func(lo, hi int) {
		scratch := o.scratch.Get().(*matrix.Matrix[T])
		defer o.scratch.Put(scratch)
		for k := lo; k < hi; k++ {
			scores, share := o.group(o.scores.data, k), o.byGroup.Row(k)
			o.writeNone(scores, o.ac.numbers(), k)
			for i := range a.Rows {
				multiplyEach(scratch.Row(i), a.Row(i), share)
			}
			matrix.AddMul(scores, *scratch, ratio)
		}
	})
}

// byGamma is dGamma[m,k] = sum over n, z of dG[k,n,z] (U/p)[m,z] A[n,m]. Gamma also
// acts through the none-of-group term, whose gradient is byNone.
func (o *learnedSoftOr[T]) byGamma(dgamma []T) {
	a, ratio, groups := o.a.matrix(), o.ratio.matrix(), o.byGroup.Rows
	parallel.For(groups, 1, func(lo, hi int) {
		scratch := o.scratch.Get().(*matrix.Matrix[T])
		defer o.scratch.Put(scratch)
		sums := make([]T, a.Cols)
		for k := lo; k < hi; k++ {
			matrix.Mul(*scratch, o.group(o.scores.grad, k), ratio.T())
			clear(sums)
			for i := range a.Rows {
				addProducts(sums, a.Row(i), scratch.Row(i))
			}
			for m, v := range sums {
				dgamma[m*groups+k] = v
			}
		}
	})
}

// byNone is the gradient by Uc and pc.
func (o *learnedSoftOr[T]) byNone(dnone []T) {
	none, to := o.none.matrix(), matrix.Of(dnone, o.none.shape[1])
	z := none.Rows - 2
	clear(to.Row(z + 1))
	parallel.For(none.Cols, 1, func(lo, hi int) {
		sums := make([]float64, z)
		for k := lo; k < hi; k++ {
			clear(sums)
			grad := o.group(o.scores.grad, k)
			for i := range grad.Rows {
				weight := min(o.detection[k], mostScore)
				if o.ac != nil {
					weight = float64(o.ac.matrix().Row(i)[k])
				}
				for z, d := range grad.Row(i) {
					sums[z] += weight * float64(d)
				}
			}
			pc := float64(none.Row(z)[k])
			var byPrior float64
			for z, s := range sums {
				to.Row(z)[k] = 0
				if pc > 0 {
					to.Row(z)[k] = T(s / pc)
					byPrior -= s * float64(o.noneRatio.Row(k)[z]) / pc
				}
			}
			to.Row(z)[k] = T(byPrior)
		}
	})
}

// multiplyEach writes the products of the elements of x and y.
func multiplyEach[T Float](to, x, y []T) {
	x, y = x[:len(to)], y[:len(to)]
	for i := range to {
		to[i] = x[i] * y[i]
	}
}

// addProducts adds them.
func addProducts[T Float](to, x, y []T) {
	x, y = x[:len(to)], y[:len(to)]
	for i := range to {
		to[i] += x[i] * y[i]
	}
}

package model

import (
	"slices"
	"sync"

	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/parallel"
)

// softOr computes the group scores (Eq. 5 and supplement D.3):
//
//	G[k,n,z] = sum_m Gamma[m,k] (U[z,m]/p[m]) A[n,m]  +  (Uc[z,k]/pc[k]) Ac[n,k]
//
// While V trains, Gamma changes at each step. Otherwise it is fixed, and the products of Gamma and U/p are
// tables, made once per phase. The softmax of a one-hot row with zeta 10 is the same small number at every
// group but its own. Gamma is therefore split into a background, one number, and the members of each group,
// the entries that differ from it:
//
//	sum_m Gamma[m,k] (U/p)[m,z] A[n,m] = sum over members of (Gamma - background) (U/p) A
//	                                     + background sum_m (U/p)[m,z] A[n,m]
//
// Hard groups then cost M x Z per sample, not M x K x Z. Where most entries differ, as
// in learned groups, the background is 0 and every attribute is a member of all groups.
type softOr[T Float] struct {
	ratio     matrix.Matrix[T] // M x Z, U/p
	noneRatio matrix.Matrix[T] // K x Z, scaled Uc/pc; zero for Ac = 0
	detection []float64        // K, the factors of Ac; nil for Ac = 0

	// while V trains
	byGroup matrix.Matrix[T] // K x M, Gamma
	scratch sync.Pool        // of *Matrix, n x M, one for each worker

	// of a fixed Gamma
	background T
	dense      bool             // every attribute is a member of every group, as while V trains
	members    []int            // attributes, group after group
	start      []int            // K + 1, where the members of each group start
	tables     matrix.Matrix[T] // one row of Z per member, (Gamma - background) U/p
}

func (o *softOr[T]) groups() int { return o.noneRatio.Rows }

// set prepares the scores for K groups with the none-of-group term of Uc and pc, nil for Ac = 0. It keeps
// ratio. Where pc is 0, every candidate class surely has an attribute of the group, and Uc/pc is 0.
func (o *softOr[T]) set(k int, ratio matrix.Matrix[T], none *noneOfClasses[T]) {
	o.ratio, o.noneRatio, o.detection = ratio, matrix.New[T](k, ratio.Cols), nil
	if none == nil {
		return
	}
	o.detection = none.detection
	for j, pc := range none.Row(ratio.Cols) {
		for z := 0; !(pc <= 0) && z < ratio.Cols; z++ {
			o.noneRatio.Row(j)[z] = none.Row(z)[j] / pc
		}
	}
}

// setLearned prepares the scores for a Gamma, M x K, of this step.
func (o *softOr[T]) setLearned(gamma, ratio matrix.Matrix[T], none *noneOfClasses[T]) {
	o.set(gamma.Cols, ratio, none)
	if o.dense = true; o.byGroup.Data == nil {
		o.byGroup = matrix.New[T](gamma.Cols, gamma.Rows)
	}
	for m := range gamma.Rows {
		for k, v := range gamma.Row(m) {
			o.byGroup.Row(k)[m] = v
		}
	}
}

// setFixed makes the tables of a fixed Gamma, M x K.
func (o *softOr[T]) setFixed(gamma, ratio matrix.Matrix[T], none *noneOfClasses[T]) {
	o.set(gamma.Cols, ratio, none)
	o.background, o.dense = backgroundOf(gamma.Data)
	o.members, o.start = o.members[:0], make([]int, gamma.Cols+1)
	tables := o.tables.Data[:0]
	for k := range gamma.Cols {
		for m := range gamma.Rows {
			g := gamma.Row(m)[k]
			if !o.dense && (equal(g, o.background) || g == 0) {
				continue
			}
			o.members = append(o.members, m)
			for _, r := range ratio.Row(m) {
				tables = append(tables, (g-o.background)*r)
			}
		}
		o.start[k+1] = len(o.members)
	}
	o.tables = matrix.Of(tables, ratio.Cols)
}

// backgroundOf returns the background of Gamma. If most entries differ from it, Gamma is dense and has none.
func backgroundOf[T Float](gamma []T) (background T, dense bool) {
	background = slices.Min(gamma)
	var differ int
	for _, g := range gamma {
		if !equal(g, background) {
			differ++
		}
	}
	if 2*differ > len(gamma) {
		return 0, true
	}
	return background, false
}

// equal compares in float32: in float64, softmax of rows with equal entries in another order
// can differ by rounding.
func equal[T Float](x, y T) bool { return float32(x) == float32(y) }

// writeBackground writes the sum over the background, n x Z, which is the same for all groups.
func (o *softOr[T]) writeBackground(sum, a matrix.Matrix[T]) {
	if o.background != 0 {
		matrix.Mul(sum, a.Times(o.background), o.ratio)
	}
}

// noneWeight is the scaled Ac of sample i and group k.
func (o *softOr[T]) noneWeight(ac []T, i, k int) float64 {
	if ac == nil {
		return min(o.detection[k], mostScore)
	}
	return float64(ac[i*len(o.detection)+k])
}

// startGroup writes the none-of-group term and the background of group k into its scores, n x Z. ac is Ac,
// n x K, or nil for a constant.
func (o *softOr[T]) startGroup(scores matrix.Matrix[T], ac []T, background matrix.Matrix[T], k int) {
	for i := range scores.Rows {
		row, weight := scores.Row(i), T(0)
		if o.detection != nil {
			weight = T(o.noneWeight(ac, i, k))
		}
		if weight == 1 {
			copy(row, o.noneRatio.Row(k))
			continue
		}
		for c, v := range o.noneRatio.Row(k) {
			row[c] = weight * v
		}
	}
	if o.background != 0 {
		blas.AddScaled(scores.Data, 1, background.Data)
	}
}

// addMembers adds the terms of the members of group k to its scores.
func (o *softOr[T]) addMembers(scores, a, packed matrix.Matrix[T], k int) {
	if o.byGroup.Data != nil {
		scratch := o.scratch.Get().(*matrix.Matrix[T])
		for i := range a.Rows {
			multiplyEach(scratch.Row(i), a.Row(i), o.byGroup.Row(k))
		}
		matrix.AddMul(scores, *scratch, o.ratio)
		o.scratch.Put(scratch)
		return
	}
	lo, hi := o.start[k], o.start[k+1]
	switch {
	case o.dense:
		matrix.AddMul(scores, a, o.tables.Slice(lo, hi))
	case hi > lo:
		matrix.AddMul(scores, packed.Columns(lo, hi), o.tables.Slice(lo, hi))
	}
}

// pack gathers detections group after group, n x members, in the memory of packed. Dense groups need no copy.
func (o *softOr[T]) pack(packed []T, a matrix.Matrix[T]) matrix.Matrix[T] {
	if o.dense || len(o.members) == 0 {
		return matrix.Matrix[T]{Data: packed[:0]}
	}
	size := a.Rows * len(o.members)
	to := matrix.Of(slices.Grow(packed[:0], size)[:size], len(o.members))
	for i := range a.Rows {
		row, out := a.Row(i), to.Row(i)
		for j, m := range o.members {
			out[j] = row[m]
		}
	}
	return to
}

type scoresOp[T Float] struct {
	softOr[T]
	a, scores *value[T]
	none, ac  *value[T] // Uc and pc, nil for Ac = 0; Ac, nil for a constant

	sum    matrix.Matrix[T] // n x Z, over the background
	packed matrix.Matrix[T]
}

// groupScores makes G, K x n x Z (Eq. 5). ratio is U/p, M x Z. With the prior per group, p depends on Gamma:
// while V trains, the caller then passes Gamma/p as gamma, and U as ratio. none is nil for Ac = 0. ac is Ac,
// n x K, or nil for Ac = 1. phase counts the phases in which Gamma is fixed; it is nil while V trains.
func groupScores[T Float](phase *int, aNode, gammaNode, ratioNode *G.Node, none *noneOfClasses[T],
	acNode *G.Node,
) *G.Node {
	a, gamma, ratio := input[T](aNode), input[T](gammaNode), input[T](ratioNode)
	n, m, z := a.shape[0], a.shape[1], ratio.shape[1]
	o := &scoresOp[T]{a: a, scores: output[T](gamma.shape[1], n, z), sum: matrix.New[T](n, z)}
	o.scratch.New = func() any {
		s := matrix.New[T](n, m)
		return &s
	}
	from := []operand{a, gamma, ratio}
	if none != nil {
		o.none = input[T](none.node)
		from = append(from, o.none)
	}
	if acNode != nil {
		o.ac = input[T](acNode)
		o.ac.gradient = o.byNoneOfDetections
		from = append(from, o.ac)
	}
	k := kernel{name: "G: soft OR (Eq. 5)", from: from, to: o.scores, phase: phase, forward: o.forward}
	if phase != nil {
		a.gradient = o.byDetections
		k.begin = func() { o.setFixed(gamma.matrix(), ratio.matrix(), none) }
		return apply(k)
	}
	gamma.gradient = o.byGamma
	if o.none != nil {
		o.none.gradient = o.byNoneOfClasses
	}
	k.forward = func() {
		o.setLearned(gamma.matrix(), ratio.matrix(), none)
		o.forward()
	}
	return apply(k)
}

func (o *scoresOp[T]) group(scores []T, k int) matrix.Matrix[T] {
	size := o.scores.shape[1] * o.scores.shape[2]
	return matrix.Of(scores[k*size:(k+1)*size], o.scores.shape[2])
}

// grain is the least number of groups that is worth a goroutine.
func (o *scoresOp[T]) grain() int {
	if o.byGroup.Data != nil {
		return 1
	}
	return 1 + 16384/len(o.sum.Data)
}

func (o *scoresOp[T]) forward() {
	a := o.a.matrix()
	o.writeBackground(o.sum, a)
	o.packed = o.pack(o.packed.Data, a)
	parallel.For(o.groups(), o.grain(), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			scores := o.group(o.scores.data, k)
			o.startGroup(scores, o.ac.numbers(), o.sum, k)
			o.addMembers(scores, a, o.packed, k)
		}
	})
}

// byDetections is dA[n,m] = sum over k, z of dG[k,n,z] Gamma[m,k] (U/p)[m,z], of a fixed Gamma.
func (o *scoresOp[T]) byDetections(gradient []T) {
	da, dg := matrix.Of(gradient, o.a.shape[1]), o.scores.grad
	clear(da.Data)
	if o.dense {
		// The number of parts depends on the sizes alone, so that results do not depend on the
		// number of workers.
		parts := min(2*((da.Cols+127)/128), da.Cols)
		parallel.For(parts, 1, func(lo, hi int) {
			for p := lo; p < hi; p++ {
				from, to := p*da.Cols/parts, (p+1)*da.Cols/parts
				for k := range o.groups() {
					first := o.start[k]
					matrix.AddMul(da.Columns(from, to), o.group(dg, k),
						o.tables.Slice(first+from, first+to).T())
				}
			}
		})
		return
	}
	parallel.For(o.groups(), o.grain(), func(first, end int) {
		for k := first; k < end; k++ {
			if lo, hi := o.start[k], o.start[k+1]; hi > lo {
				matrix.Mul(o.packed.Columns(lo, hi), o.group(dg, k), o.tables.Slice(lo, hi).T())
			}
		}
	})
	if o.background != 0 {
		clear(o.sum.Data)
		for k := range o.groups() {
			blas.AddScaled(o.sum.Data, 1, o.group(dg, k).Data)
		}
		matrix.Mul(da, o.sum.Times(o.background), o.ratio.T())
	}
	for i := range o.packed.Rows {
		row := da.Row(i)
		for j, d := range o.packed.Row(i) {
			row[o.members[j]] += d
		}
	}
}

// byGamma is dGamma[m,k] = sum over n, z of dG[k,n,z] (U/p)[m,z] A[n,m]. Gamma also
// acts through the none-of-group term, whose gradient is byNoneOfClasses.
func (o *scoresOp[T]) byGamma(dgamma []T) {
	a := o.a.matrix()
	parallel.For(o.groups(), 1, func(lo, hi int) {
		scratch := o.scratch.Get().(*matrix.Matrix[T])
		defer o.scratch.Put(scratch)
		sums := make([]T, a.Cols)
		for k := lo; k < hi; k++ {
			matrix.Mul(*scratch, o.group(o.scores.grad, k), o.ratio.T())
			clear(sums)
			for i := range a.Rows {
				addProducts(sums, a.Row(i), scratch.Row(i))
			}
			for m, v := range sums {
				dgamma[m*o.groups()+k] = v
			}
		}
	})
}

// byNoneOfClasses is the gradient by Uc and pc.
func (o *scoresOp[T]) byNoneOfClasses(gradient []T) {
	none, to := o.none.matrix(), matrix.Of(gradient, o.groups())
	z := none.Rows - 1
	parallel.For(o.groups(), 1, func(lo, hi int) {
		sums := make([]float64, z)
		for k := lo; k < hi; k++ {
			clear(sums)
			grad := o.group(o.scores.grad, k)
			for i := range grad.Rows {
				weight := o.noneWeight(o.ac.numbers(), i, k)
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

// byNoneOfDetections is the gradient by Ac, n x K: sum over z of dG (Uc/pc).
func (o *scoresOp[T]) byNoneOfDetections(dac []T) {
	k, z := o.noneRatio.Rows, o.noneRatio.Cols
	n, dg := len(dac)/k, o.scores.grad
	parallel.For(n, 1+8192/(k*z), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j := range k {
				var sum float64
				for c, d := range dg[(j*n+i)*z : (j*n+i+1)*z] {
					sum += float64(d) * float64(o.noneRatio.Row(j)[c])
				}
				dac[i*k+j] = T(sum)
			}
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

func addProducts[T Float](to, x, y []T) {
	x, y = x[:len(to)], y[:len(to)]
	for i := range to {
		to[i] += x[i] * y[i]
	}
}

package model

import (
	"math"
	"slices"

	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/parallel"
)

// writeGamma writes Gamma = softmax over k of (zeta V[m,:]), the soft group of each attribute, M x K.
func writeGamma[T Float](gamma []T, v matrix.Matrix[T], zeta float64) {
	parallel.For(v.Rows, 1+2048/v.Cols, func(lo, hi int) {
		for m := lo; m < hi; m++ {
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
	})
}

// softGroups makes Gamma from V.
func softGroups[T Float](vNode *G.Node, zeta float64) *G.Node {
	v := input[T](vNode)
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

// groupPenalty makes |Gamma - Gamma_sem|^2, which keeps the learned groups near those of the data set.
func groupPenalty[T Float](gammaNode, semanticNode *G.Node) *G.Node {
	gamma, semantic := input[T](gammaNode), input[T](semanticNode)
	distance := output[float64]()
	gamma.gradient = func(dgamma []T) {
		d := T(distance.grad[0])
		for i, g := range gamma.data {
			dgamma[i] = 2 * d * (g - semantic.data[i])
		}
	}
	return apply(kernel{
		name: "|Gamma - Gamma_sem|^2", from: []operand{gamma, semantic}, to: distance,
		forward: func() {
			var sum float64
			for i, g := range gamma.data {
				d := float64(g - semantic.data[i])
				sum += d * d
			}
			distance.data[0] = sum
		},
	})
}

// perGroupPrior computes p(a_m) of PerGroup. It depends on V through Gamma:
//
//	q[k] = sum_m Gamma[m,k] P[m] / sum_m Gamma[m,k]    mean of group k
//	p[m] = sum_k Gamma[m,k] q[k]                       mean of the group of attribute m
//
// with P the mean of U over the candidate classes. Gamma[m,k] is the probability that m is
// in group k, and p stays a function of the attribute. With one attribute per group it is the
// per-attribute prior, with a single group the uniform one.
type perGroupPrior[T Float] struct {
	q, size []float64 // K, the mean and the sum of Gamma of each group
}

// write computes p from Gamma, M x K, and P.
func (g *perGroupPrior[T]) write(p []float64, gamma matrix.Matrix[T], means []float64) {
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
func (g *perGroupPrior[T]) byGamma(dgamma []T, gamma matrix.Matrix[T], means, dp []float64) {
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

// perGroupPriorOp makes p of PerGroup from Gamma and the means of U.
func perGroupPriorOp[T Float](gammaNode, meansNode *G.Node) *G.Node {
	gamma, means := input[T](gammaNode), input[float64](meansNode)
	p, g := output[float64](means.shape...), new(perGroupPrior[T])
	gamma.gradient = func(dgamma []T) { g.byGamma(dgamma, gamma.matrix(), means.data, p.grad) }
	return apply(kernel{name: "p: mean of groups", from: []operand{gamma, means}, to: p, forward: func() {
		g.write(p.data, gamma.matrix(), means.data)
	}})
}

// overPrior makes Gamma[m,k] / p[m], M x K. It is 0 for an attribute with p(a_m) = 0, as writeRatio has it.
func overPrior[T Float](gammaNode, pNode *G.Node) *G.Node {
	gamma, p := input[T](gammaNode), input[float64](pNode)
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

// fixedGroups holds the tables from which group scores are computed while Gamma is
// fixed: while W trains, and wherever nothing trains. They are made once per phase.
//
// The softmax of a one-hot row with zeta 10 is the same small number at every group but
// its own. Gamma is therefore split into a background, one number, and the members of
// each group, the entries that differ from it:
//
//	sum_m Gamma[m,k] (U/p)[m,z] A[n,m] = sum over members of (Gamma - background) (U/p) A
//	                                     + background sum_m (U/p)[m,z] A[n,m]
//
// Hard groups then cost M x Z per sample, not M x K x Z. Where most entries differ, as
// in learned groups, the background is 0 and every attribute is a member of all groups.
type fixedGroups[T Float] struct {
	ratio matrix.Matrix[T] // M x Z, U/p

	background T
	dense      bool             // every attribute is a member of every group
	members    []int            // attributes, group after group
	start      []int            // K + 1, where the members of each group start
	tables     matrix.Matrix[T] // one row of Z per member, (Gamma - background) U/p
	noneTerm[T]
}

// set makes the tables of Gamma, M x K, U/p and, unless Ac = 0, Uc and pc. It keeps ratio.
func (f *fixedGroups[T]) set(gamma, ratio, none matrix.Matrix[T]) {
	f.ratio = ratio
	f.background, f.dense = backgroundOf(gamma.Data)
	f.members, f.start = f.members[:0], make([]int, gamma.Cols+1)
	tables := f.tables.Data[:0]
	for k := range gamma.Cols {
		for m := range gamma.Rows {
			g := gamma.Row(m)[k]
			if !f.dense && (equal(g, f.background) || g == 0) {
				continue
			}
			f.members = append(f.members, m)
			for _, r := range ratio.Row(m) {
				tables = append(tables, (g-f.background)*r)
			}
		}
		f.start[k+1] = len(f.members)
	}
	f.tables = matrix.Of(tables, ratio.Cols)
	f.setNone(none, gamma.Cols, ratio.Cols)
}

func (f *fixedGroups[T]) groups() int { return len(f.start) - 1 }

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
func (f *fixedGroups[T]) writeBackground(sum, a matrix.Matrix[T]) {
	if f.background != 0 {
		matrix.Mul(sum, a.Times(f.background), f.ratio)
	}
}

// startGroup writes the none-of-group term and the background of group k into its
// scores, n x Z. ac is nil for Ac = 1.
func (f *fixedGroups[T]) startGroup(scores matrix.Matrix[T], ac []T, background matrix.Matrix[T], k int) {
	f.writeNone(scores, ac, k)
	if f.background != 0 {
		blas.AddScaled(scores.Data, 1, background.Data)
	}
}

// addMembers adds the terms of the members of group k to its scores.
func (f *fixedGroups[T]) addMembers(scores, a, packed matrix.Matrix[T], k int) {
	lo, hi := f.start[k], f.start[k+1]
	switch {
	case f.dense:
		matrix.AddMul(scores, a, f.tables.Slice(lo, hi))
	case hi > lo:
		matrix.AddMul(scores, packed.Columns(lo, hi), f.tables.Slice(lo, hi))
	}
}

// pack gathers detections group after group, n x members, in the memory of packed. Dense groups need no copy.
func (f *fixedGroups[T]) pack(packed []T, a matrix.Matrix[T]) matrix.Matrix[T] {
	if f.dense || len(f.members) == 0 {
		return matrix.Matrix[T]{Data: packed[:0]}
	}
	size := a.Rows * len(f.members)
	to := matrix.Of(slices.Grow(packed[:0], size)[:size], len(f.members))
	for i := range a.Rows {
		row, out := a.Row(i), to.Row(i)
		for j, m := range f.members {
			out[j] = row[m]
		}
	}
	return to
}

// fixedSoftOr makes the group scores (Eq. 5), K x n x Z, while the grouping is fixed; the inputs
// are those of softOr. The tables are made of them at the first step of each phase.
func fixedSoftOr[T Float](phase *int, aNode, gammaNode, ratioNode, noneNode, acNode *G.Node) *G.Node {
	a, gamma, ratio := input[T](aNode), input[T](gammaNode), input[T](ratioNode)
	n, z := a.shape[0], ratio.shape[1]
	o := &fixedScores[T]{n: n, z: z, sum: matrix.New[T](n, z)}
	scores := output[T](gamma.shape[1], n, z)
	a.gradient = func(da []T) { o.byDetections(matrix.Of(da, a.shape[1]), scores.grad) }
	return apply(kernel{
		name: "G: soft OR (Eq. 5)", from: append([]operand{a, gamma, ratio},
			o.noneInputs(noneNode, acNode, scores)...), to: scores,
		phase: phase, begin: func() { o.set(gamma.matrix(), ratio.matrix(), o.none.matrix()) },
		forward: func() { o.write(scores.data, a.matrix(), o.ac.numbers()) },
	})
}

// fixedScores computes the scores of a batch and their gradient.
type fixedScores[T Float] struct {
	fixedGroups[T]
	n, z   int
	sum    matrix.Matrix[T] // n x Z, over the background
	packed matrix.Matrix[T]
}

// group returns the part of group k in scores or their gradient, n x Z.
func (o *fixedScores[T]) group(scores []T, k int) matrix.Matrix[T] {
	return matrix.Of(scores[k*o.n*o.z:(k+1)*o.n*o.z], o.z)
}

// grain is the least number of groups that is worth a goroutine.
func (o *fixedScores[T]) grain() int { return 1 + 16384/(o.n*o.z) }

func (o *fixedScores[T]) write(scores []T, a matrix.Matrix[T], ac []T) {
	o.writeBackground(o.sum, a)
	o.packed = o.pack(o.packed.Data, a)
	parallel.For(o.groups(), o.grain(), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			o.startGroup(o.group(scores, k), ac, o.sum, k)
			o.addMembers(o.group(scores, k), a, o.packed, k)
		}
	})
}

// byDetections is dA[n,m] = sum over k, z of dG[k,n,z] Gamma[m,k] (U/p)[m,z].
func (o *fixedScores[T]) byDetections(da matrix.Matrix[T], dg []T) {
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

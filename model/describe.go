package model

import (
	"fmt"
	"math"
	"slices"

	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/matrix"
)

// Description describes the candidate classes, which are the train classes during
// training, and the validation or test classes during evaluation.
type Description struct {
	U       dataset.Matrix[float64] // Z x M, p(a_m|z), without missing entries, as soft OR needs it
	Targets dataset.Matrix[float64] // Z x M, U before it is scaled for soft OR: the targets of BXE(a)
	// M, the prior p(a_m); of PerGroup the per-attribute prior, from which perGroupPrior computes p
	P      []float64
	Groups []int // M, the group of each attribute by the data set, nil if it has none

	// Described lists the attributes that some candidate class describes. The others are 0 in U
	// and P, and the equations are computed without them: they favour no class.
	Described []int
	// groups lists those with a described attribute, of groups that are not learned; nil for all.
	groups []int
}

// Describe makes the description of candidate classes from their rows of the data set, Z x M in [0, 1], with
// NaN for missing entries. groups is the group of each attribute, which the two semantic variants need: the
// entries of each group of a class have a sum of at most 1 (supplement A), since soft OR takes the attributes
// of a group to exclude each other. Config.Smoothing smooths the entries.
//
// A missing entry is the mean of the attribute over the classes of u. A Pipeline has imputed them before, but
// for attributes that no class describes.
func (c Config) Describe(u dataset.Matrix[float64], groups []int) (*Description, error) {
	return c.describe(u, groups, nil)
}

// describe is Describe with the prior p of each attribute, unless p is nil. Attributes whose prior is 0
// are left out.
func (c Config) describe(u dataset.Matrix[float64], groups []int, prior []float32) (*Description, error) {
	if u.Rows < 1 || u.Cols < 1 {
		return nil, expected("descriptions", fmt.Sprintf("%d classes and %d attributes", u.Rows, u.Cols),
			"at least one of each")
	}
	if err := CheckProbabilities(u); err != nil {
		return nil, err
	}
	k, of, err := c.Grouping(u.Cols, groups)
	if err != nil {
		return nil, err
	}
	if len(groups) != u.Cols {
		groups = nil
	}
	d := &Description{U: dataset.Convert[float64](u), Groups: groups}
	for m, mean := range dataset.Means(u, math.NaN()) {
		is := !math.IsNaN(mean) && (prior == nil || prior[m] > 0)
		if is {
			d.Described = append(d.Described, m)
		}
		for z := range d.U.Rows {
			p := &d.U.Row(z)[m]
			if math.IsNaN(*p) {
				*p = mean
			}
			*p = c.Smoothing + (1-3*c.Smoothing)**p
			if !is {
				*p = 0
			}
		}
	}
	if len(d.Described) == 0 { // no class has any attribute, so that all have equal scores
		d.Described = allIndices(d.U.Cols)
	}
	if !c.Variant.Learned() && len(d.Described) < d.U.Cols {
		for _, m := range d.Described {
			d.groups = append(d.groups, of[m])
		}
		slices.Sort(d.groups)
		d.groups = slices.Compact(d.groups)
	}
	d.Targets = d.U
	if c.Variant.Semantic() {
		d.Targets = dataset.Convert[float64](d.U)
		c.scaleGroups(d.U, k, groups)
	}
	d.P = make([]float64, d.U.Cols)
	if prior != nil {
		for _, m := range d.Described {
			d.P[m] = float64(prior[m])
		}
		return d, nil
	}
	for i, p := range c.prior(described(d.U, allIndices(d.U.Rows), d.Described)) {
		d.P[d.Described[i]] = p
	}
	return d, nil
}

// CheckProbabilities returns an *invalid.Error for the first entry of descriptions that is no probability.
func CheckProbabilities(u dataset.Matrix[float64]) error {
	if i := slices.IndexFunc(u.Data, func(p float64) bool { return p < 0 || p > 1 }); i >= 0 {
		found := fmt.Sprintf("%g at row %d, column %d", u.Data[i], i/u.Cols, i%u.Cols)
		return expected("descriptions", found, "probabilities from 0 to 1, or NaN for a missing entry")
	}
	return nil
}

// scaleGroups scales the entries of a class within a group to sum to 1 where they sum to more. With smoothing
// s, entries that were d before it are, in a group of n > 1 described attributes,
//
//	f = 0.3 s + (1 - 2.3 s) d
//	w f / max(1, sum f) + (1 - w) (1 - s) / n      w is the largest d
//
// so that what a class has none of is taken for unseen rather than for none of the group.
func (c Config) scaleGroups(u dataset.Matrix[float64], k int, of []int) {
	s, groups := c.Smoothing, make([]struct{ n, sum, given, most float64 }, k)
	before := func(p float64) float64 { return (p - s) / (1 - 3*s) }
	after := func(n, d float64) float64 { return 0.3*s*n + (1-2.3*s)*d } // f of n entries with the sum d
	for z := range u.Rows {
		clear(groups)
		row := u.Row(z)
		for m, p := range row {
			g := &groups[of[m]]
			g.sum += p
			if p > 0 {
				d := before(p)
				g.n, g.given, g.most = g.n+1, g.given+d, max(g.most, d)
			}
		}
		for m, p := range row {
			switch g := groups[of[m]]; {
			case s > 0 && p > 0 && g.n > 1:
				f, sum := after(1, before(p)), after(g.n, g.given)
				row[m] = g.most*f/max(1, sum) + (1-g.most)*(1-s)/g.n
			case g.sum > 1:
				row[m] /= g.sum
			}
		}
	}
}

// prior returns p(a_m), the mean over the classes of U, which every attribute is described in.
// The uniform prior is the mean of that.
func (c Config) prior(u matrix.Matrix[float64]) []float64 {
	p := make([]float64, u.Cols) // a NaN is not passed over, as dataset.Means would do
	for z := range u.Rows {
		for m, v := range u.Row(z) {
			p[m] += v
		}
	}
	for m := range p {
		p[m] /= float64(u.Rows)
	}
	if c.Prior == Uniform {
		mean := sum(p) / float64(len(p))
		for m := range p {
			p[m] = mean
		}
	}
	return p
}

func (d *Description) grouped(k int) []int {
	if d.groups != nil {
		return d.groups
	}
	return allIndices(k)
}

func allIndices(n int) []int { return matrix.Matrix[float64]{Rows: n}.AllRows() }

// described copies some rows and columns of x.
func described[T Float](x matrix.Matrix[T], rows, cols []int) matrix.Matrix[T] {
	to := matrix.New[T](len(rows), len(cols))
	writeDescribed(to, x, rows, cols)
	return to
}

func writeDescribed[T Float](to, x matrix.Matrix[T], rows, cols []int) {
	for i, r := range rows {
		from, row := x.Row(r), to.Row(i)
		for j, c := range cols {
			row[j] = from[c]
		}
	}
}

// restored is the inverse of described: a matrix of rows x cols with 0 elsewhere.
func restored[T Float](x, to matrix.Matrix[T], rows, cols []int) {
	clear(to.Data)
	for i, r := range rows {
		row, from := to.Row(r), x.Row(i)
		for j, c := range cols {
			row[c] = from[j]
		}
	}
}

// describedOp makes some rows and columns of x, and is x itself if these are all.
func describedOp[T Float](name string, node *G.Node, rows, cols []int) *G.Node {
	if len(rows) == node.Shape()[0] && len(cols) == node.Shape()[1] {
		return node
	}
	x, to := input[T](node), output[T](len(rows), len(cols))
	x.gradient = func(dx []T) {
		restored(matrix.Of(to.grad, len(cols)), matrix.Of(dx, x.shape[1]), rows, cols)
	}
	return apply(kernel{name: name + " of described attributes", from: []operand{x}, to: to, forward: func() {
		writeDescribed(to.matrix(), x.matrix(), rows, cols)
	}})
}

// scaledOp makes U, in which scaleGroups scaled the entries, from the descriptions.
func (c Config) scaledOp(node *G.Node, k int, of []int) *G.Node {
	u, scaled := input[float64](node), output[float64](node.Shape()...)
	return apply(kernel{name: "U scaled by group", from: []operand{u}, to: scaled, forward: func() {
		copy(scaled.data, u.data)
		c.scaleGroups(scaled.matrix(), k, of)
	}})
}

// priorOp makes p from U.
func (c Config) priorOp(node *G.Node) *G.Node {
	u, p := input[float64](node), output[float64](node.Shape()[1])
	return apply(kernel{name: "p: mean of U", from: []operand{u}, to: p, forward: func() {
		copy(p.data, c.prior(u.matrix()))
	}})
}

// ratioOp makes U/p, M x Z, or the transpose of U if pNode is nil.
func ratioOp[T Float](uNode, pNode *G.Node) *G.Node {
	u, ratio := input[float64](uNode), output[T](uNode.Shape()[1], uNode.Shape()[0])
	name, from, p := "U", []operand{u}, (*value[float64])(nil)
	if pNode != nil {
		name, p = "U/p", input[float64](pNode)
		from = append(from, p)
	}
	return apply(kernel{name: name, from: from, to: ratio, forward: func() {
		writeRatio(ratio.matrix(), u.matrix(), p.numbers())
	}})
}

// writeRatio writes p(a_m|z) / p(a_m), M x Z. It is 0 for an attribute with p(a_m) = 0, which
// no candidate class has. Without p it is p(a_m|z).
func writeRatio[T Float](ratio matrix.Matrix[T], u matrix.Matrix[float64], p []float64) {
	for m := range ratio.Rows {
		for z := range ratio.Cols {
			v := u.Row(z)[m]
			if p != nil {
				v = overOrZero(v, p[m])
			}
			ratio.Row(m)[z] = T(v)
		}
	}
}

// overOrZero returns x/y, and 0 for y = 0. NaN stays.
func overOrZero(x, y float64) float64 {
	if y <= 0 {
		return 0
	}
	return x / y
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

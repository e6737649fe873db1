package model

import (
	"math"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/parallel"
)

// The none-of-group probabilities (the paper's complementary attribute): for each row of attribute
// probabilities R, the probability of having no attribute of group k, by De Morgan (supplement D.3.1):
//
//	Q[r,k] = prod_m (1 - Gamma[m,k] R[r,m])
//
// R = U gives Uc, R = p gives pc, and R = A gives Ac. R is rows x M, Gamma M x K and Q rows x K.
//
// Each is scaled by a power of two for each group, which keeps those of groups of hundreds of
// attributes within the range of float32. The powers are 1 for smaller groups and in
// float64. Those of (Uc/pc) Ac cancel.

// leastUnscaled is the probability below which a group is scaled. It leaves the products
// with it within float32.
const leastUnscaled = 0x1p-60

// scaleOf returns the exponent of the power of two that brings a probability near 1, if it is small.
func scaleOf[T Float](p float64) int {
	if dtype[T]() == tensor.Float64 || !(p < leastUnscaled) || p == 0 {
		return 0
	}
	_, exponent := math.Frexp(p)
	return min(-exponent, 1000)
}

// noneOfClasses holds the scaled Uc and, as its last row, pc.
type noneOfClasses[T Float] struct {
	matrix.Matrix[T]                  // (Z+1) x K
	class, prior, detection []float64 // K, the powers of two of Uc, pc and Ac
	node                    *G.Node   // of the graph, if any
}

// write computes Uc and pc from U and p, (Z+1) x M, and Gamma.
func (c *noneOfClasses[T]) write(withPrior, gamma matrix.Matrix[T]) {
	k, z := c.Cols, c.Rows-1
	products := make([]float64, (z+1)*k)
	writeNoneOf(products, withPrior, gamma, nil)
	c.class, c.prior, c.detection = make([]float64, k), make([]float64, k), make([]float64, k)
	for j := range k {
		var most float64
		for i := range z {
			most = max(most, products[i*k+j])
		}
		class, prior := scaleOf[T](most), scaleOf[T](products[z*k+j])
		c.class[j], c.prior[j] = math.Ldexp(1, class), math.Ldexp(1, prior)
		c.detection[j] = math.Ldexp(1, prior-class)
		for i := range z {
			c.Row(i)[j] = T(products[i*k+j] * c.class[j])
		}
		c.Row(z)[j] = T(products[z*k+j] * c.prior[j])
	}
}

// writeNoneOf writes Q, times the factor of each group if factor is not nil.
func writeNoneOf[Q, T Float](q []Q, r, gamma matrix.Matrix[T], factor []float64) {
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

// writeWithPrior writes U with p as its last row, (Z+1) x M.
func writeWithPrior[T Float](to matrix.Matrix[T], u matrix.Matrix[float64], p []float64) {
	first := to.Data[:len(u.Data)]
	for i, v := range u.Data {
		first[i] = T(v)
	}
	for i, v := range p {
		to.Row(u.Rows)[i] = T(v)
	}
}

// noneOfClassesOp makes Uc and pc from U, p and Gamma.
func noneOfClassesOp[T Float](uNode, pNode, gammaNode *G.Node) *noneOfClasses[T] {
	u, p, gamma := input[float64](uNode), input[float64](pNode), input[T](gammaNode)
	z, m, k := u.shape[0], u.shape[1], gamma.shape[1]
	out := output[T](z+1, k)
	none := &noneOfClasses[T]{Matrix: out.matrix()}
	r := matrix.New[T](z+1, m)
	product := noneProduct[T]{factor: func(row, k int) float64 {
		if row == z {
			return none.prior[k]
		}
		return none.class[k]
	}}
	gamma.gradient = func(dgamma []T) {
		product.set(r, gamma.matrix(), out.data, out.grad)
		product.byGroups(dgamma)
	}
	p.gradient = func(dp []float64) {
		product.set(r, gamma.matrix(), out.data, out.grad)
		row := make([]T, m)
		product.byRow(row, z)
		for i, v := range row {
			dp[i] = float64(v)
		}
	}
	none.node = apply(kernel{
		name: "Uc, pc: none of the group", from: []operand{u, p, gamma}, to: out,
		forward: func() {
			writeWithPrior(r, u.matrix(), p.data)
			none.write(r, gamma.matrix())
		},
	})
	return none
}

// noneOfDetections makes Ac of A, with the scale of the classes.
func noneOfDetections[T Float](aNode, gammaNode *G.Node, none *noneOfClasses[T]) *G.Node {
	a, gamma, ac := input[T](aNode), input[T](gammaNode), output[T](aNode.Shape()[0], gammaNode.Shape()[1])
	product := noneProduct[T]{factor: func(_, k int) float64 { return none.detection[k] }}
	gamma.gradient = func(dgamma []T) {
		product.set(a.matrix(), gamma.matrix(), ac.data, ac.grad)
		product.byGroups(dgamma)
	}
	a.gradient = func(da []T) {
		product.set(a.matrix(), gamma.matrix(), ac.data, ac.grad)
		parallel.For(a.shape[0], 1, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				product.byRow(da[i*a.shape[1]:(i+1)*a.shape[1]], i)
			}
		})
	}
	return apply(kernel{
		name: "Ac: none of the group", from: []operand{a, gamma, input[T](none.node)}, to: ac,
		forward: func() { writeNoneOf(ac.data, a.matrix(), gamma.matrix(), none.detection) },
	})
}

type noneProduct[T Float] struct {
	factor func(row, k int) float64

	r, gamma matrix.Matrix[T]
	dq       []T
	share    []float64 // rows x K, dQ Q; divided by a factor of Q it is the gradient by that
}

// set prepares the gradient dq by Q = q.
func (g *noneProduct[T]) set(r, gamma matrix.Matrix[T], q, dq []T) {
	g.r, g.gamma, g.dq = r, gamma, dq
	if len(g.share) != len(q) {
		g.share = make([]float64, len(q))
	}
	for i, v := range q {
		g.share[i] = float64(dq[i]) * float64(v)
	}
}

// others is dQ[i,k] times the product of all factors but that of attribute m. It replaces
// share/factor where the factor is zero.
func (g *noneProduct[T]) others(i, m, k int) float64 {
	product := float64(g.dq[i*g.gamma.Cols+k]) * g.factor(i, k)
	for other, p := range g.r.Row(i) {
		if other != m {
			product *= 1 - float64(g.gamma.Row(other)[k])*float64(p)
		}
	}
	return product
}

// byRow writes the gradient by row i of R.
func (g *noneProduct[T]) byRow(dr []T, i int) {
	share := g.share[i*g.gamma.Cols : (i+1)*g.gamma.Cols]
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
		dr[j] = T(sum)
	}
}

// byGroups writes the gradient by Gamma.
func (g *noneProduct[T]) byGroups(dgamma []T) {
	k := g.gamma.Cols
	parallel.For(g.gamma.Rows, 1, func(lo, hi int) {
		sums := make([]float64, k)
		for j := lo; j < hi; j++ {
			clear(sums)
			row := g.gamma.Row(j)[:len(sums)]
			for i := range g.r.Rows {
				p := float64(g.r.Data[i*g.r.Cols+j])
				if p == 0 {
					continue
				}
				share := g.share[i*k : (i+1)*k][:len(sums)]
				for c, gamma := range row {
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

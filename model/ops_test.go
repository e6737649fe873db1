package model_test

import (
	"fmt"
	"math"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
)

// softAnd32 is the soft AND of k groups for one sample and class, and its gradient, in float32.
func softAnd32(t rapid.TB, scores []float32) (l float64, grads []float64) {
	t.Helper()
	g := G.NewGraph()
	k := len(scores)
	in := G.NewTensor(g, G.Float32, 3, G.WithShape(k, 1, 1), G.WithName("G"),
		G.WithValue(tensor.New(tensor.WithShape(k, 1, 1), tensor.WithBacking(scores))))
	out := model.SoftAndOp32(in)
	dG := testkit.Must(G.Grad(G.Must(G.Sum(out)), in))(t)
	testkit.NoError(t, G.NewTapeMachine(g).RunAll())
	return numbers(out.Value())[0], numbers(dG[0].Value())
}

// The product of any number of scores of any size neither overflows nor underflows.
func TestLongProducts(t *testing.T) {
	for _, k := range []int{1, 7, 8, 9, 312, 2000} {
		for _, sizes := range [][]float64{{1e-29}, {1e29}, {1e-5, 1e-7}, {1e-29, 1e29, 3}} {
			t.Run(fmt.Sprintf("%d scores of %v", k, sizes), func(t *testing.T) {
				scores := make([]float32, k)
				var want float64
				wantGrads := make([]float64, k)
				for i := range scores {
					scores[i] = float32(sizes[i%len(sizes)])
					want += math.Log(float64(scores[i]))
					wantGrads[i] = 1 / float64(scores[i])
				}
				l, grads := softAnd32(t, scores)
				testkit.NearAll(t, "L", []float64{l}, []float64{want}, 1e-6)
				testkit.NearAll(t, "gradient", grads, wantGrads, 1e-6)
			})
		}
	}
}

// Scores that are 0, infinite or tiny are clipped and have no gradient.
func TestScoresOutOfBounds(t *testing.T) {
	l, grads := softAnd32(t, []float32{0, 2, float32(math.Inf(1)), 1e-40})
	testkit.NearAll(t, "L", []float64{l}, []float64{math.Log(2) - 30*math.Ln10}, 1e-6)
	same(t, "gradient", grads, []float64{0, 0.5, 0, 0})
}

// noneOfDirectly sums weights * Q and its gradients, each product written out.
func noneOfDirectly(r, gamma, weights dataset.Matrix[float64]) (q, dr, dgamma dataset.Matrix[float64]) {
	q = dataset.NewMatrix[float64](r.Rows, gamma.Cols)
	dr, dgamma = dataset.NewMatrix[float64](r.Rows, r.Cols), dataset.NewMatrix[float64](gamma.Rows, gamma.Cols)
	for i := range r.Rows {
		for k := range gamma.Cols {
			without := func(skip int) float64 {
				product := 1.0
				for m, p := range r.Row(i) {
					if m != skip {
						product *= 1 - gamma.Row(m)[k]*p
					}
				}
				return product
			}
			q.Row(i)[k] = without(-1)
			for m, p := range r.Row(i) {
				others := weights.Row(i)[k] * without(m)
				dr.Row(i)[m] -= gamma.Row(m)[k] * others
				dgamma.Row(m)[k] -= p * others
			}
		}
	}
	return q, dr, dgamma
}

// The gradient is that of the product if none, one, two or all factors are zero.
func TestNoneOfWithFactorsOfZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, m, k := rapid.IntRange(1, 4).Draw(t, "rows"), rapid.IntRange(1, 5).Draw(t, "attributes"), rapid.IntRange(1, 3).Draw(t, "groups")
		draw := func(name string, rows, cols int) dataset.Matrix[float64] {
			p := rapid.OneOf(rapid.SampledFrom([]float64{0, 1, 1}), rapid.Float64Range(0, 1))
			return dataset.Matrix[float64]{Rows: rows, Cols: cols, Data: rapid.SliceOfN(p, rows*cols, rows*cols).Draw(t, name)}
		}
		r, gamma, weights := draw("R", rows, m), draw("Gamma", m, k), draw("weights", rows, k)
		wantQ, wantR, wantGamma := noneOfDirectly(r, gamma, weights)

		for name, byR := range map[string]bool{"R": true, "Gamma": false} {
			g := G.NewGraph()
			nodes := []*G.Node{model.Constant(g, "R", r), model.Constant(g, "Gamma", gamma)}
			wrt, want := nodes[1], wantGamma
			if byR {
				wrt, want = nodes[0], wantR
			}
			out := model.NoneOfOp(nodes[0], nodes[1])
			objective := G.Must(G.Sum(G.Must(G.HadamardProd(out, model.Constant(g, "weights", weights)))))
			grads := testkit.Must(G.Grad(objective, wrt))(t)
			testkit.NoError(t, G.NewTapeMachine(g).RunAll())
			same(t, "Q", numbers(out.Value()), wantQ.Data)
			same(t, "gradient by "+name, numbers(grads[0].Value()), want.Data)
		}
	})
}

// oracle writes the model in stock ops of Gorgonia, as a reference for the fused ops.
// It uses only products, elementwise ops and sums over everything, which are correct
// for all shapes; sums along an axis and broadcasts are products with ones.
type oracle struct {
	g         *G.ExprGraph
	constants int
}

// constant is a matrix with a unique name: Gorgonia merges nodes of equal name and shape.
func (s *oracle) constant(m dataset.Matrix[float64]) *G.Node {
	s.constants++
	return G.NewMatrix(s.g, G.Float64, G.WithShape(m.Rows, m.Cols), G.WithName(fmt.Sprint("constant ", s.constants)),
		G.WithValue(tensor.New(tensor.WithShape(m.Rows, m.Cols), tensor.WithBacking(m.Data))))
}

func (s *oracle) filled(rows, cols int, value float64) *G.Node {
	m := dataset.NewMatrix[float64](rows, cols)
	for i := range m.Data {
		m.Data[i] = value
	}
	return s.constant(m)
}

func (s *oracle) ones(rows, cols int) *G.Node { return s.filled(rows, cols, 1) }

// column is the k-th of x, rows x 1.
func (s *oracle) column(x *G.Node, k int) *G.Node {
	pick := dataset.NewMatrix[float64](x.Shape()[1], 1)
	pick.Data[k] = 1
	return G.Must(G.Mul(x, s.constant(pick)))
}

// row is the i-th of x, 1 x columns.
func (s *oracle) row(x *G.Node, i int) *G.Node {
	pick := dataset.NewMatrix[float64](1, x.Shape()[0])
	pick.Data[i] = 1
	return G.Must(G.Mul(s.constant(pick), x))
}

// sum is that of all elements, 1 x 1.
func (s *oracle) sum(x *G.Node) *G.Node {
	rows, cols := x.Shape()[0], x.Shape()[1]
	return G.Must(G.Mul(G.Must(G.Mul(s.ones(1, rows), x)), s.ones(cols, 1)))
}

func (s *oracle) scale(x *G.Node, by float64) *G.Node {
	return G.Must(G.HadamardProd(x, s.filled(x.Shape()[0], x.Shape()[1], by)))
}

func (s *oracle) oneMinus(x *G.Node) *G.Node {
	return G.Must(G.Sub(s.ones(x.Shape()[0], x.Shape()[1]), x))
}

// linear is X W + b; b is a vector.
func (s *oracle) linear(x, w, b *G.Node) *G.Node {
	n, m := x.Shape()[0], w.Shape()[1]
	bias := G.Must(G.Mul(s.ones(n, 1), G.Must(G.Reshape(b, tensor.Shape{1, m}))))
	return G.Must(G.Add(G.Must(G.Mul(x, w)), bias))
}

// groups is softmax over k of zeta V; the shift keeps exp within its range.
func (s *oracle) groups(v *G.Node, zeta float64) *G.Node {
	m, k := v.Shape()[0], v.Shape()[1]
	shift := dataset.NewMatrix[float64](m, k)
	values := numbers(v.Value())
	for i := range m {
		var top float64
		for _, x := range values[i*k : (i+1)*k] {
			top = max(top, x)
		}
		for j := range k {
			shift.Data[i*k+j] = top
		}
	}
	e := G.Must(G.Exp(s.scale(G.Must(G.Sub(v, s.constant(shift))), zeta)))
	return G.Must(G.HadamardDiv(e, G.Must(G.Mul(e, s.ones(k, k)))))
}

func (s *oracle) groupPenalty(gamma *G.Node, semantic dataset.Matrix[float64]) *G.Node {
	return s.sum(G.Must(G.Square(G.Must(G.Sub(gamma, s.constant(semantic))))))
}

// perGroupPrior is the prior per group from p per attribute, both 1 x M.
func (s *oracle) perGroupPrior(p, gamma *G.Node) *G.Node {
	means := G.Must(G.HadamardDiv(G.Must(G.Mul(p, gamma)), G.Must(G.Mul(s.ones(1, gamma.Shape()[0]), gamma))))
	return G.Must(G.Mul(means, G.Must(G.Transpose(gamma))))
}

// withRow is u with p as its last row.
func (s *oracle) withRow(u dataset.Matrix[float64], p *G.Node) *G.Node {
	above, last := dataset.NewMatrix[float64](u.Rows+1, u.Cols), dataset.NewMatrix[float64](u.Rows+1, 1)
	copy(above.Data, u.Data)
	last.Data[u.Rows] = 1
	return G.Must(G.Add(s.constant(above), G.Must(G.Mul(s.constant(last), p))))
}

func transposed(x dataset.Matrix[float64]) dataset.Matrix[float64] {
	t := dataset.NewMatrix[float64](x.Cols, x.Rows)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			t.Row(j)[i] = v
		}
	}
	return t
}

// noneOf multiplies the factors attribute by attribute, so that zeros are no special case.
func (s *oracle) noneOf(r, gamma *G.Node) *G.Node {
	var product *G.Node
	for m := range r.Shape()[1] {
		factor := s.oneMinus(G.Must(G.Mul(s.column(r, m), s.row(gamma, m))))
		if product == nil {
			product = factor
		} else {
			product = G.Must(G.HadamardProd(product, factor))
		}
	}
	return product
}

// softOr makes the scores of groups, K x n x Z. ac is nil for Ac = 1, none for no complement.
func (s *oracle) softOr(a, gamma, none, ac *G.Node, ratio dataset.Matrix[float64]) *G.Node {
	n, k, z := a.Shape()[0], gamma.Shape()[1], ratio.Cols
	if ac == nil {
		ac = s.ones(n, k)
	}
	groups := make(G.Nodes, k)
	for j := range k {
		weights := G.Must(G.Mul(s.column(gamma, j), s.ones(1, z)))
		groups[j] = G.Must(G.Mul(a, G.Must(G.HadamardProd(weights, s.constant(ratio)))))
	}
	if none != nil {
		complement := s.complement(none, z)
		for j, d := range groups {
			nothing := G.Must(G.Mul(s.column(ac, j), s.row(complement, j)))
			groups[j] = G.Must(G.Add(d, nothing))
		}
	}
	all := groups[0]
	if k > 1 {
		all = G.Must(G.Concat(0, groups...))
	}
	return G.Must(G.Reshape(all, tensor.Shape{k, n, z}))
}

// complement is Uc/pc, K x Z.
func (s *oracle) complement(none *G.Node, z int) *G.Node {
	classes := dataset.NewMatrix[float64](z+1, z) // all but the last row, the prior
	prior := dataset.NewMatrix[float64](z+1, z)   // the last row, for each class
	for i := range z {
		classes.Row(i)[i] = 1
		prior.Row(z)[i] = 1
	}
	byGroup := G.Must(G.Transpose(none))
	return G.Must(G.HadamardDiv(
		G.Must(G.Mul(byGroup, s.constant(classes))),
		G.Must(G.Mul(byGroup, s.constant(prior)))))
}

// softAnd is the sum over groups of log G, n x Z.
func (s *oracle) softAnd(scores *G.Node) *G.Node {
	k, n, z := scores.Shape()[0], scores.Shape()[1], scores.Shape()[2]
	logs := G.Must(G.Log(G.Must(G.Reshape(scores, tensor.Shape{k, n * z}))))
	return G.Must(G.Reshape(G.Must(G.Mul(s.ones(1, k), logs)), tensor.Shape{n, z}))
}

// crossEntropy is right where exp(L) is within the range of float64.
func (s *oracle) crossEntropy(l, y *G.Node) *G.Node {
	z := l.Shape()[1]
	norm := G.Must(G.Log(G.Must(G.Mul(G.Must(G.Exp(l)), s.ones(z, z)))))
	picked := s.sum(G.Must(G.HadamardProd(y, G.Must(G.Sub(norm, l)))))
	return G.Must(G.HadamardDiv(picked, s.sum(y)))
}

// attributeEntropy is right where A is neither 0 nor 1.
func (s *oracle) attributeEntropy(logits, y *G.Node, u dataset.Matrix[float64]) *G.Node {
	a := G.Must(G.Sigmoid(logits))
	present := G.Must(G.Mul(y, s.constant(u)))
	absent := G.Must(G.Sub(G.Must(G.Mul(y, s.ones(u.Rows, u.Cols))), present))
	likelihood := G.Must(G.Add(
		G.Must(G.HadamardProd(present, G.Must(G.Log(a)))),
		G.Must(G.HadamardProd(absent, G.Must(G.Log(s.oneMinus(a)))))))
	return G.Must(G.HadamardDiv(s.scale(s.sum(likelihood), -1), s.scale(s.sum(y), float64(u.Cols))))
}

// total is the weighted sum of terms, each 1 x 1.
func (s *oracle) total(weights []float64, terms ...*G.Node) *G.Node {
	sum := s.scale(terms[0], weights[0])
	for i, t := range terms[1:] {
		sum = G.Must(G.Add(sum, s.scale(t, weights[i+1])))
	}
	return sum
}

// terms are the nodes of the loss of a trial and of its terms.
type terms struct{ logP, cxe, bxe, w2, wu2, prior, loss *G.Node }

// loss is the whole model, from X to the loss (Eq. 6 of the paper).
func (s *oracle) loss(tr trial[float64], w, b, v *G.Node) terms {
	labels := dataset.NewMatrix[float64](tr.x.Rows, tr.Classes.U.Rows)
	for i, z := range tr.y {
		labels.Row(i)[z] = 1
	}
	y, u := s.constant(labels), tr.Classes.U
	logits := s.linear(s.constant(tr.x), w, b)
	a := G.Must(G.Sigmoid(logits))
	gamma := s.groups(v, tr.Config.Zeta)

	p := s.constant(dataset.Matrix[float64]{Rows: 1, Cols: u.Cols, Data: tr.Classes.P})
	weights, ratio := gamma, tr.Classes.Ratio()
	if tr.Config.Prior == model.PerGroup {
		p = s.perGroupPrior(p, gamma)
		weights = G.Must(G.HadamardDiv(gamma, G.Must(G.Mul(G.Must(G.Transpose(p)), s.ones(1, gamma.Shape()[1])))))
		ratio = transposed(u)
	}
	var none, ac *G.Node
	if tr.Config.Complement != model.NoComplement {
		none = s.noneOf(s.withRow(u, p), gamma)
	}
	if tr.Config.Complement == model.DeMorgan {
		ac = s.noneOf(a, gamma)
	}
	l := s.softAnd(s.softOr(a, weights, none, ac, ratio))

	c := tr.Config
	n := terms{
		logP:  l,
		cxe:   s.crossEntropy(l, y),
		bxe:   s.attributeEntropy(logits, y, tr.Classes.Targets),
		w2:    s.sum(G.Must(G.Square(w))),
		wu2:   s.sum(G.Must(G.Square(G.Must(G.Mul(w, G.Must(G.Transpose(s.constant(u)))))))),
		prior: s.filled(1, 1, 0),
	}
	if c.Psi > 0 {
		semantic := dataset.NewMatrix[float64](v.Shape()[0], v.Shape()[1])
		for m, k := range tr.Semantic {
			semantic.Row(m)[k] = 1
		}
		n.prior = s.groupPenalty(gamma, semantic)
	}
	n.loss = s.total([]float64{1, c.Alpha, c.Beta, c.Lambda, c.Psi}, n.cxe, n.bxe, n.w2, n.wu2, n.prior)
	return n
}

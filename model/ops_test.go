package model_test

import (
	"fmt"
	"math/rand/v2"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

// variable is an input of an op.
type variable struct {
	name  string
	shape tensor.Shape
	data  []float64
	fixed bool // the op has no gradient by it
}

func of(name string, m dataset.Matrix[float64]) variable {
	return variable{name: name, shape: tensor.Shape{m.Rows, m.Cols}, data: m.Data}
}

func fixed(v variable) variable {
	v.fixed = true
	return v
}

// op is one fused op on random inputs, and the same in stock ops.
type op struct {
	name   string
	inputs []variable
	fused  func(in G.Nodes) *G.Node
	stock  func(s *oracle, in G.Nodes) *G.Node
}

// opMachine computes an op and the gradients of sum(output * weights).
type opMachine struct {
	vm    G.VM
	out   G.Value
	grads G.Nodes // by the inputs that are not fixed
}

// compile builds the graph of an op on its inputs. The machine reads their memory
// at each run. Without weights there are no gradients.
func (o op) compile(t rapid.TB, build func(g *G.ExprGraph, in G.Nodes) *G.Node, weights []float64) *opMachine {
	t.Helper()
	g := G.NewGraph()
	var in, learned G.Nodes
	for _, v := range o.inputs {
		node := G.NewTensor(g, G.Float64, len(v.shape), G.WithShape(v.shape...), G.WithName(v.name),
			G.WithValue(tensor.New(tensor.WithShape(v.shape...), tensor.WithBacking(v.data))))
		in = append(in, node)
		if !v.fixed {
			learned = append(learned, node)
		}
	}
	m := &opMachine{}
	out := build(g, in)
	G.Read(out, &m.out)
	if weights != nil {
		objective, err := weighted(g, out, weights)
		if err != nil {
			t.Fatal(err)
		}
		if m.grads, err = G.Grad(objective, learned...); err != nil {
			t.Fatal(err)
		}
	}
	m.vm = G.NewTapeMachine(g)
	return m
}

// weighted is sum(out * weights).
func weighted(g *G.ExprGraph, out *G.Node, weights []float64) (*G.Node, error) {
	if out.IsScalar() {
		return G.Mul(out, G.NewScalar(g, G.Float64, G.WithName("weight"), G.WithValue(weights[0])))
	}
	w := G.NewTensor(g, G.Float64, out.Dims(), G.WithShape(out.Shape()...), G.WithName("weights"),
		G.WithValue(tensor.New(tensor.WithShape(out.Shape()...), tensor.WithBacking(weights[:out.Shape().TotalSize()]))))
	product, err := G.HadamardProd(out, w)
	if err != nil {
		return nil, err
	}
	return G.Sum(product)
}

func (m *opMachine) run(t rapid.TB) []float64 {
	t.Helper()
	m.vm.Reset()
	if err := m.vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	return numbers(m.out)
}

func (o op) buildFused(_ *G.ExprGraph, in G.Nodes) *G.Node { return o.fused(in) }

func (o op) buildStock(g *G.ExprGraph, in G.Nodes) *G.Node { return o.stock(&oracle{g: g}, in) }

// ops are all fused ops of the model, on random inputs of these sizes.
func ops(s sizes, rng *rand.Rand) []op {
	random := func(rows, cols int, low, high float64) dataset.Matrix[float64] {
		return uniform(rng, rows, cols, low, high)
	}
	vector := func(name string, n int) variable {
		return variable{name: name, shape: tensor.Shape{n}, data: random(1, n, -1, 1).Data}
	}
	probabilities := func(name string, rows, cols int) variable { return of(name, random(rows, cols, 0.05, 0.95)) }
	labels := dataset.NewMatrix[float64](s.n, s.z)
	for i := range max(1, s.n-1) { // the last row has no weight, unless it is the only one
		labels.Row(i)[rng.IntN(s.z)] = 1
	}
	semantic, ratio, u := random(s.m, s.k, 0, 1), random(s.m, s.z, 0, 2), random(s.z, s.m, 0, 1)
	a, gamma, ac := probabilities("A", s.n, s.m), probabilities("Gamma", s.m, s.k), probabilities("Ac", s.n, s.k)
	none := probabilities("Uc and pc", s.z+1, s.k)
	scores := variable{name: "G", shape: tensor.Shape{s.k, s.n, s.z}, data: random(s.k*s.n, s.z, 0.1, 2).Data}
	l, logits := of("L", random(s.n, s.z, -4, 4)), of("S", random(s.n, s.m, -4, 4))
	const zeta = 3
	all := []op{
		{
			"linear",
			[]variable{fixed(of("X", random(s.n, s.d, -1, 1))), of("W", random(s.d, s.m, -1, 1)), vector("b", s.m)},
			func(in G.Nodes) *G.Node { return model.LinearOp(in[0], in[1], in[2]) },
			func(s *oracle, in G.Nodes) *G.Node { return s.linear(in[0], in[1], in[2]) },
		},
		{
			"sigmoid",
			[]variable{logits},
			func(in G.Nodes) *G.Node { return model.SigmoidOp(in[0]) },
			func(_ *oracle, in G.Nodes) *G.Node { return G.Must(G.Sigmoid(in[0])) },
		},
		{
			"groups",
			[]variable{of("V", random(s.m, s.k, -1, 1))},
			func(in G.Nodes) *G.Node { return model.GroupsOp(in[0], zeta) },
			func(s *oracle, in G.Nodes) *G.Node { return s.groups(in[0], zeta) },
		},
		{
			"group prior",
			[]variable{gamma},
			func(in G.Nodes) *G.Node { return model.GroupPriorOp(in[0], semantic) },
			func(s *oracle, in G.Nodes) *G.Node { return s.groupPrior(in[0], semantic) },
		},
		{
			"none of by R",
			[]variable{a, fixed(gamma)},
			func(in G.Nodes) *G.Node { return model.NoneOfOp(in[0], in[1], in[0]) },
			func(s *oracle, in G.Nodes) *G.Node { return s.noneOf(in[0], in[1]) },
		},
		{
			"none of by Gamma",
			[]variable{fixed(a), gamma},
			func(in G.Nodes) *G.Node { return model.NoneOfOp(in[0], in[1], in[1]) },
			func(s *oracle, in G.Nodes) *G.Node { return s.noneOf(in[0], in[1]) },
		},
		{
			"soft or with Ac = 1",
			[]variable{fixed(a), gamma, none},
			func(in G.Nodes) *G.Node { return model.SoftOrOp(in[0], in[1], in[2], nil, ratio) },
			func(s *oracle, in G.Nodes) *G.Node { return s.softOr(in[0], in[1], in[2], nil, ratio) },
		},
		{
			"soft or",
			[]variable{fixed(a), gamma, none, ac},
			func(in G.Nodes) *G.Node { return model.SoftOrOp(in[0], in[1], in[2], in[3], ratio) },
			func(s *oracle, in G.Nodes) *G.Node { return s.softOr(in[0], in[1], in[2], in[3], ratio) },
		},
		{
			"soft or without a complement",
			[]variable{fixed(a), gamma},
			func(in G.Nodes) *G.Node { return model.SoftOrOp(in[0], in[1], nil, nil, ratio) },
			func(s *oracle, in G.Nodes) *G.Node { return s.softOr(in[0], in[1], nil, nil, ratio) },
		},
		{
			"soft and",
			[]variable{scores},
			func(in G.Nodes) *G.Node { return model.SoftAndOp(in[0]) },
			func(s *oracle, in G.Nodes) *G.Node { return s.softAnd(in[0]) },
		},
		{
			"cross entropy",
			[]variable{l, fixed(of("Y", labels))},
			func(in G.Nodes) *G.Node { return model.CrossEntropyOp(in[0], in[1]) },
			func(s *oracle, in G.Nodes) *G.Node { return s.crossEntropy(in[0], in[1]) },
		},
		{
			"attribute entropy",
			[]variable{logits, fixed(of("Y", labels))},
			func(in G.Nodes) *G.Node {
				return model.BXEOp(in[0], model.SigmoidOp(in[0]), in[1], model.Constant(in[0].Graph(), "targets", u), nil)
			},
			func(s *oracle, in G.Nodes) *G.Node { return s.attributeEntropy(in[0], in[1], u) },
		},
		{
			"loss",
			[]variable{l, fixed(of("Y", labels)), gamma},
			func(in G.Nodes) *G.Node {
				cxe, prior := model.CrossEntropyOp(in[0], in[1]), model.GroupPriorOp(in[2], semantic)
				return model.TotalOp(model.NewTerm(1, cxe), model.NewTerm(0.3, prior))
			},
			func(s *oracle, in G.Nodes) *G.Node {
				return s.total([]float64{1, 0.3}, s.crossEntropy(in[0], in[1]), s.groupPrior(in[2], semantic))
			},
		},
	}
	return append(all, fixedOps(s, rng)...)
}

// fixedOps are soft OR of each kind of grouping with its own implementation.
func fixedOps(s sizes, rng *rand.Rand) []op {
	classes := &model.Description{U: uniform(rng, s.z, s.m, 0.05, 0.95), P: uniform(rng, 1, s.m, 0.3, 0.7).Data}
	dense, hard := uniform(rng, s.m, s.k, -1, 1), dataset.NewMatrix[float64](s.m, s.k)
	for m := range s.m {
		hard.Row(m)[m%s.k] = 1
	}
	a, ac := of("A", uniform(rng, s.n, s.m, 0, 1)), of("Ac", uniform(rng, s.n, s.k, 0, 1))
	var all []op
	for _, g := range []struct {
		name string
		v    dataset.Matrix[float64]
		zeta float64
	}{
		{"soft", dense, 3},
		{"hard and a background", hard, 10},
		{"exactly one-hot", hard, 1000},
	} {
		fused := func(c model.Complement) func(a, ac *G.Node) *G.Node {
			return model.FixedSoftOrOp(classes, g.v, g.zeta, c)
		}
		stock := func(s *oracle, a, ac *G.Node) *G.Node {
			gamma := s.groups(s.constant(g.v), g.zeta)
			withPrior := dataset.Matrix[float64]{Rows: classes.U.Rows + 1, Cols: classes.U.Cols, Data: append(append([]float64{}, classes.U.Data...), classes.P...)}
			return s.softOr(a, gamma, s.noneOf(s.constant(withPrior), gamma), ac, classes.Ratio())
		}
		name := fmt.Sprintf("fixed soft or, Gamma %s", g.name)
		all = append(all,
			op{
				name,
				[]variable{a, ac},
				func(in G.Nodes) *G.Node { return fused(model.DeMorgan)(in[0], in[1]) },
				func(s *oracle, in G.Nodes) *G.Node { return stock(s, in[0], in[1]) },
			},
			op{
				name + ", Ac = 1",
				[]variable{a},
				func(in G.Nodes) *G.Node { return fused(model.Const)(in[0], nil) },
				func(s *oracle, in G.Nodes) *G.Node { return stock(s, in[0], nil) },
			},
			op{
				name + ", no complement",
				[]variable{a},
				func(in G.Nodes) *G.Node { return fused(model.NoComplement)(in[0], nil) },
				func(s *oracle, in G.Nodes) *G.Node {
					return s.softOr(in[0], s.groups(s.constant(g.v), g.zeta), nil, nil, classes.Ratio())
				},
			})
	}
	return all
}

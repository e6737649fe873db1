package model

import (
	"fmt"
	"slices"
	"sync"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/matrix"
)

// building serialises the building of graphs: Gorgonia shares constants between them.
// Graphs run in parallel safely.
var building sync.Mutex

// Machine computes the loss and its gradients with respect to the parameters that train, W and b
// or V, while the others are fixed. It reads all of them, and a solver updates them in place.
type Machine[T Float] struct {
	X dataset.Matrix[T] // the batch, one sample per row: features to train W, detections A to train V
	y dataset.Matrix[T] // samples x classes, a one at the class of each sample

	config  Config
	classes *Description
	params  *Parameters[T]
	k       int // groups

	vm     G.VM
	phase  int
	learn  []G.ValueGrad
	allBXE *value[T] // of all samples, while V trains

	loss   *G.Node   // Eq. 6
	terms  []*G.Node // CXE, BXE, the penalties of W and, unless psi is 0, that of groups
	values []G.Value // of the terms
}

// NewWMachine compiles the graph in which W and b train, for batches of a number of samples.
func NewWMachine[T Float](c Config, classes *Description, params *Parameters[T], batch int) (
	*Machine[T], error,
) {
	return newMachine(c, classes, params, batch, params.W.Rows, (*Machine[T]).buildW)
}

// NewVMachine compiles the graph in which V trains.
func NewVMachine[T Float](c Config, classes *Description, params *Parameters[T], batch int) (
	*Machine[T], error,
) {
	return newMachine(c, classes, params, batch, params.V.Rows, (*Machine[T]).buildV)
}

// newMachine returns the machine of a graph for batches of samples x cols. build writes the graph up to the
// loss, and returns what trains.
func newMachine[T Float](c Config, classes *Description, params *Parameters[T], samples, cols int,
	build func(*Machine[T], *G.ExprGraph) []*G.Node,
) (*Machine[T], error) {
	k, err := c.check(classes, params.V.Rows)
	if err != nil {
		return nil, err
	}
	if samples < 1 {
		return nil, expected("batch", samples, "at least 1 sample")
	}
	m := &Machine[T]{config: c, classes: classes, params: params, k: k, allBXE: output[T]()}
	m.X, m.y = matrix.New[T](samples, cols), matrix.New[T](samples, classes.U.Rows)

	building.Lock()
	defer building.Unlock()
	g := G.NewGraph()
	train := build(m, g)
	grads, err := G.Grad(m.loss, train...)
	if err != nil {
		return nil, fmt.Errorf("differentiating the loss: %w", err)
	}
	for i, p := range train {
		m.learn = append(m.learn, learnable{p, grads[i]})
	}
	m.values = make([]G.Value, len(m.terms))
	for i, term := range m.terms {
		G.Read(term, &m.values[i])
	}
	// without the gradients that Gorgonia makes by what does not train
	m.vm = G.NewTapeMachine(g.SubgraphRoots(slices.Concat(grads, m.terms, G.Nodes{m.loss})...))
	return m, nil
}

// Label sets the candidate class of each sample. With fewer labels than the batch has
// rows, the last rows do not count in the loss.
func (m *Machine[T]) Label(classes ...int) {
	clear(m.y.Data)
	for i, z := range classes {
		m.y.Row(i)[z] = 1
	}
}

// Begin starts a phase, in which what the machine does not train is fixed. To train V, bxe is BXE
// of all samples; a machine of W computes it.
func (m *Machine[T]) Begin(bxe float64) {
	m.phase++
	m.allBXE.data[0] = T(bxe)
}

// tables are the nodes that both graphs make of U and V. The values of those that do not depend on what
// trains are remembered for a phase. Attributes that no class describes are in those of all alone.
type tables struct {
	allU, allGamma *G.Node // of all attributes
	u, targets     *G.Node // Z x M, the descriptions as soft OR and as BXE use them
	gamma          *G.Node // M x K
	p              *G.Node // M
}

// tables writes the graph from U and V to Gamma and p. fixed remembers what depends on V.
func (m *Machine[T]) tables(g *G.ExprGraph, v *G.Node, fixed func(*G.Node) *G.Node) (t tables) {
	d, c, classes := m.classes, m.config, m.classes.U.AllRows()
	targets := constant(g, "U", d.Targets)
	t.allU = targets
	if c.Variant.Semantic() {
		t.allU = m.remember(c.scaledOp(targets, m.k, d.Groups))
	}
	t.u = m.remember(describedOp[float64]("U", t.allU, classes, d.Described))
	t.targets = m.remember(describedOp[float64]("targets", targets, classes, d.Described))
	t.allGamma = fixed(softGroups[T](v, c.Zeta))
	t.gamma = fixed(describedOp[T]("Gamma", t.allGamma, d.Described, d.grouped(m.k)))
	t.p = m.remember(c.priorOp(t.u))
	if c.Prior == PerGroup { // the mean over all groups
		groups := fixed(describedOp[T]("Gamma", t.allGamma, d.Described, allIndices(m.k)))
		t.p = fixed(perGroupPriorOp[T](groups, t.p))
	}
	return t
}

// remember makes a node of a kernel keep its value until the next phase.
func (m *Machine[T]) remember(n *G.Node) *G.Node {
	if k, ok := n.Op().(*kernel); ok { // and no input that needs no op
		k.phase, k.remembered = &m.phase, true
	}
	return n
}

// addUp writes Eq. 6 from L, which is log p(z|x) up to a constant of each sample, and the nodes of the other
// terms. A weight of 0 leaves its term out.
func (m *Machine[T]) addUp(l, y, bxe, penalties, gamma *G.Node) {
	c, g := m.config, l.Graph()
	cxe := crossEntropy[T](l, y)
	m.loss, m.terms = cxe, []*G.Node{cxe, bxe, penalties}
	add := func(weight, term *G.Node) { m.loss = G.Must(G.Add(m.loss, G.Must(G.Mul(weight, term)))) }
	if c.Alpha != 0 {
		add(scalar[T](g, "alpha", c.Alpha), bxe)
	}
	if c.Beta != 0 || c.Lambda != 0 {
		add(variable(g, "beta, lambda", []T{T(c.Beta), T(c.Lambda)}, 2), penalties)
	}
	if c.Psi != 0 {
		semantic := constant(g, "Gamma_sem", oneHot[T](m.classes.Groups, m.k))
		// In this order, as Gorgonia writes over a first operand that is no constant.
		size := tensor.Shape{gamma.Shape().TotalSize()}
		difference := G.Must(G.Reshape(G.Must(G.Sub(semantic, gamma)), size))
		distance := G.Must(G.Mul(difference, difference)) // of two vectors, their inner product
		m.terms = append(m.terms, distance)
		add(scalar[T](g, "psi", c.Psi), distance)
	}
}

// Step runs the batch forward and backward. The error is a *NotFinite if a term is not finite.
func (m *Machine[T]) Step() (Terms, error) {
	m.vm.Reset()
	if err := m.vm.RunAll(); err != nil {
		return Terms{}, fmt.Errorf("running the graph: %w", err)
	}
	term := func(i, part int) float64 { return float64(numbers[T](m.values[i])[part]) }
	t := Terms{CXE: term(0, 0), BXE: term(1, 0), W2: term(2, 0), WU2: term(2, 1)}
	if m.config.Psi != 0 {
		t.GroupPenalty = term(3, 0)
	}
	values := []float64{t.CXE, t.BXE, t.W2, t.WU2, t.GroupPenalty}
	if i := matrix.NotFinite(values); i >= 0 {
		return t, &NotFinite{[]string{"cxe", "bxe", "w2", "wu2", "group_penalty"}[i], values[i]}
	}
	return t, nil
}

// Learnables returns the parameters that the machine trains, with their gradients after a step.
// These do not add up over steps, as the dual values of Gorgonia do.
func (m *Machine[T]) Learnables() []G.ValueGrad { return m.learn }

// learnable is a gorgonia.ValueGrad, as a gorgonia.Solver takes it.
type learnable struct{ value, grad *G.Node }

func (l learnable) Value() G.Value         { return l.value.Value() }
func (l learnable) Grad() (G.Value, error) { return l.grad.Value(), nil }

// NotFinite is the error of a training step whose numbers left the range of float32.
type NotFinite struct {
	Term  string // of the loss, as in Terms, or W, b or V
	Value float64
}

func (e *NotFinite) Error() string { return fmt.Sprintf("%s is %g", e.Term, e.Value) }

// buildW writes the model from X to the loss, to train W and b. What follows from U and V is
// remembered: Gamma, U/p, Uc and pc.
func (m *Machine[T]) buildW(g *G.ExprGraph) (train []*G.Node) {
	d := m.classes
	x, y := variableMatrix(g, "X", m.X), variableMatrix(g, "Y", m.y)
	w, b := variableMatrix(g, "W", m.params.W), variable(g, "b", m.params.B, len(m.params.B))
	t := m.tables(g, variableMatrix(g, "V", m.params.V), m.remember)
	ratio := m.remember(ratioOp[T](t.u, t.p))

	s := describedOp[T]("S", logits[T](x, w, b), allIndices(m.X.Rows), d.Described)
	a := sigmoid[T](s) // p(a_m|x)
	none, ac := m.noneOf(a, t, m.remember)
	scores := groupScores(&m.phase, a, t.gamma, ratio, none, ac) // Eq. 5
	l := softAnd[T](scores)                                      // Eq. 4

	m.addUp(l, y, attributeEntropy[T](s, a, y, t.targets), penalties[T](&m.phase, w, t.allU), t.allGamma)
	return []*G.Node{w, b}
}

// noneOf makes Uc and pc, and Ac. For Ac = 0 neither is needed, and for Ac = 1 Ac is not. fixed remembers
// what depends on V.
func (m *Machine[T]) noneOf(a *G.Node, t tables, fixed func(*G.Node) *G.Node) (
	none *noneOfClasses[T], ac *G.Node,
) {
	if m.config.Complement == NoComplement {
		return nil, nil
	}
	none = noneOfClassesOp[T](t.u, t.p, t.gamma) // p(ac_k|z) and p(ac_k)
	none.node = fixed(none.node)
	if m.config.Complement == DeMorgan {
		ac = noneOfDetections(a, t.gamma, none) // p(ac_k|x)
	}
	return none, ac
}

// buildV writes the model from A to the loss, to train V. Gamma, Uc and pc follow from it. The prior per
// group does, too: soft OR then gets Gamma/p and U in place of Gamma and U/p. The terms of W are remembered.
func (m *Machine[T]) buildV(g *G.ExprGraph) (train []*G.Node) {
	c, d := m.config, m.classes
	a, y, v := variableMatrix(g, "A", m.X), variableMatrix(g, "Y", m.y), variableMatrix(g, "V", m.params.V)
	w := variableMatrix(g, "W", m.params.W)
	bxe := G.NewScalar(g, dtype[T](), G.WithName("BXE"), G.WithValue(m.allBXE.out))
	changes := func(n *G.Node) *G.Node { return n }
	t := m.tables(g, v, changes)
	a = describedOp[T]("A", a, allIndices(m.X.Rows), d.Described)

	weights, prior := t.gamma, t.p
	if c.Prior == PerGroup {
		weights, prior = overPrior[T](t.gamma, t.p), nil
	}
	ratio := m.remember(ratioOp[T](t.u, prior))
	none, ac := m.noneOf(a, t, changes)
	l := softAnd[T](groupScores(nil, a, weights, ratio, none, ac)) // Eq. 4 and 5

	m.addUp(l, y, bxe, m.remember(penalties[T](&m.phase, w, t.allU)), t.allGamma)
	return []*G.Node{v}
}

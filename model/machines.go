package model

import (
	"fmt"
	"sync"

	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/numeric"
)

// building serialises the building of graphs: Gorgonia shares constants between them.
// Graphs run in parallel safely.
var building sync.Mutex

// scalar returns the value of a scalar node.
func scalar[T Float](n *G.Node) float64 { return float64(numbers[T](n.Value())[0]) }

// Batch is the memory that a machine reads at each step.
type Batch[T Float] struct {
	X dataset.Matrix[T] // one sample per row: features for W, detections for V
	y dataset.Matrix[T] // samples x classes, a one at the class of each sample
}

// Label sets the candidate class of each sample. With fewer labels than the batch has
// rows, the last rows do not count in the loss.
func (b *Batch[T]) Label(classes ...int) {
	clear(b.y.Data)
	for i, z := range classes {
		b.y.Row(i)[z] = 1
	}
}

// machine is what the machines of W and V have in common.
type machine[T Float] struct {
	Batch[T]
	config  Config
	classes *Description
	params  *Parameters[T]
	k       int // groups

	vm    G.VM
	phase int
	learn []G.ValueGrad

	cxe, penalties, prior, loss *G.Node // of Eq. 6; prior is nil if psi is 0
}

// newMachine returns a machine without a graph for batches of samples of a width.
func newMachine[T Float](c Config, classes *Description, params *Parameters[T], samples, width, attributes int) (m machine[T], err error) {
	m = machine[T]{config: c, classes: classes, params: params}
	if m.k, err = c.check(classes, attributes); err != nil {
		return m, err
	}
	if samples < 1 {
		return m, &invalid.Error{Field: "batch", Want: "at least 1 sample", Got: fmt.Sprint(samples)}
	}
	m.X, m.y = matrix.New[T](samples, width), matrix.New[T](samples, classes.U.Rows)
	return m, nil
}

// compile makes a machine of a graph, which build writes up to the loss, with the gradients by
// the parameters that train.
func (m *machine[T]) compile(build func(g *G.ExprGraph) (train []*G.Node)) (err error) {
	building.Lock()
	defer building.Unlock()
	g := G.NewGraph()
	train := build(g)
	grads, err := G.Grad(m.loss, train...)
	if err != nil {
		return fmt.Errorf("differentiating the loss: %w", err)
	}
	for i, p := range train {
		m.learn = append(m.learn, Learnable{p, grads[i]})
	}
	m.vm = G.NewTapeMachine(g)
	return nil
}

// tables are the nodes that both graphs make of U and V. The values of those that do not depend
// on what trains are remembered for a phase. Attributes that no class describes are in those of
// all alone.
type tables struct {
	allU, allGamma *G.Node // of all attributes
	u, targets     *G.Node // Z x M, the descriptions as soft OR and as BXE use them
	gamma          *G.Node // M x K
	p              *G.Node // M
}

// tables writes the graph from U and V to Gamma and p. fixed remembers what depends on V.
func (m *machine[T]) tables(g *G.ExprGraph, v *G.Node, fixed func(*G.Node) *G.Node) (t tables) {
	d, c, classes := m.classes, m.config, m.classes.U.AllRows()
	targets := constant(g, "U", d.Targets)
	t.allU = targets
	if c.Variant.Semantic() {
		t.allU = m.remember(scaledOp(targets, m.k, d.Groups))
	}
	t.u = m.remember(describedOp[float64]("U", t.allU, classes, d.Described))
	t.targets = m.remember(describedOp[float64]("targets", targets, classes, d.Described))
	t.allGamma = fixed(softGroups[T](v, c.Zeta))
	t.gamma = fixed(describedOp[T]("Gamma", t.allGamma, d.Described, d.grouped(m.k)))
	t.p = m.remember(c.priorOp(t.u))
	if c.Prior == PerGroup { // the mean over all groups
		groups := fixed(describedOp[T]("Gamma", t.allGamma, d.Described, allIndices(m.k)))
		t.p = fixed(groupedPriorOp[T](groups, t.p))
	}
	return t
}

// remember makes a node keep its value during a phase.
func (m *machine[T]) remember(n *G.Node) *G.Node { return remember(&m.phase, n) }

// groupPrior makes the last term of the loss, nil if psi is 0.
func (m *machine[T]) groupPrior(g *G.ExprGraph, gamma *G.Node) *G.Node {
	if m.config.Psi == 0 {
		return nil
	}
	return groupPrior[T](gamma, constant(g, "Gamma_sem", oneHot[T](m.classes.Groups, m.k)))
}

// step runs the batch forward and backward. The error is a *NotFinite if a term is not
// finite.
func (m *machine[T]) step(bxe func() float64) (Terms, error) {
	m.vm.Reset()
	if err := m.vm.RunAll(); err != nil {
		return Terms{}, fmt.Errorf("running the graph: %w", err)
	}
	penalties := numbers[float64](m.penalties.Value())
	t := Terms{CXE: scalar[T](m.cxe), BXE: bxe(), W2: penalties[0], WU2: penalties[1]}
	if m.prior != nil {
		t.Prior = scalar[float64](m.prior)
	}
	return t, t.finite()
}

// Learnables returns the parameters that the machine trains, with their gradients.
func (m *machine[T]) Learnables() []G.ValueGrad { return m.learn }

// Learnable is a parameter and, after a step, its gradient. It is a gorgonia.ValueGrad,
// as a gorgonia.Solver takes it.
type Learnable struct{ value, grad *G.Node }

// Value returns the parameter.
func (l Learnable) Value() G.Value { return l.value.Value() }

// Grad returns the gradient of the last step. It does not add up over steps, as the dual
// values of Gorgonia do.
func (l Learnable) Grad() (G.Value, error) {
	if l.grad.Value() == nil {
		return nil, fmt.Errorf("%s has no gradient before the first step", l.value.Name())
	}
	return l.grad.Value(), nil
}

// NotFinite is the error of a training step whose numbers left the range of float32.
type NotFinite struct {
	Term  string // of the loss, as in Terms, or W, b or V
	Value float64
}

func (e *NotFinite) Error() string { return fmt.Sprintf("%s is %g", e.Term, e.Value) }

// finite returns a *NotFinite for the first term that is NaN or infinite.
func (t Terms) finite() error {
	values := []float64{t.CXE, t.BXE, t.W2, t.WU2, t.Prior}
	if i := numeric.NotFinite(values); i >= 0 {
		return &NotFinite{[]string{"cxe", "bxe", "w2", "wu2", "prior"}[i], values[i]}
	}
	return nil
}

// WMachine computes the loss and its gradients by W and b, while the grouping V is
// fixed. X is batch x D.
type WMachine[T Float] struct {
	machine[T]
	bxe *G.Node
}

// NewWMachine compiles the graph for batches of a number of samples. The machine reads
// params and a solver updates them in place.
func NewWMachine[T Float](c Config, classes *Description, params *Parameters[T], batch int) (*WMachine[T], error) {
	base, err := newMachine(c, classes, params, batch, params.W.Rows, params.W.Cols)
	if err != nil {
		return nil, err
	}
	m := &WMachine[T]{machine: base}
	return m, m.compile(m.build)
}

// build writes the model from X to the loss. W and b are learned. What follows from U and V is
// remembered: Gamma, U/p, Uc and pc.
func (m *WMachine[T]) build(g *G.ExprGraph) (train []*G.Node) {
	c, d := m.config, m.classes
	x, y := variableMatrix(g, "X", m.X), variableMatrix(g, "Y", m.y)
	w, b := variableMatrix(g, "W", m.params.W), variable(g, "b", m.params.B, len(m.params.B))
	t := m.tables(g, variableMatrix(g, "V", m.params.V), m.remember)
	ratio := m.remember(ratioOp[T](t.u, t.p))

	detectors := detectors[T](&m.phase, x, w, b, t.allU)
	s := logits[T](detectors, m.X.Rows, d.Described)
	a := sigmoid[T](s)   // p(a_m|x)
	var none, ac *G.Node // for Ac = 0, neither is needed
	if c.Complement != NoComplement {
		none = m.remember(noneOfClassesOp[T](t.u, t.p, t.gamma, false)) // p(ac_k|z) and p(ac_k)
	}
	if c.Complement == DeMorgan {
		ac = noneOfDetections[T](a, t.gamma, none, false) // p(ac_k|x)
	}
	scores := fixedSoftOr[T](&m.phase, a, t.gamma, ratio, none, ac) // Eq. 5
	l := softAnd[T](scores)                                         // Eq. 4

	m.cxe, m.bxe = crossEntropy[T](l, y), attributeEntropy[T](s, a, y, t.targets)
	m.penalties = norms[T](detectors)
	if m.prior = m.groupPrior(g, t.allGamma); m.prior != nil {
		m.remember(m.prior)
	}
	m.loss = lossOp[T, T](c, m.cxe, m.bxe, m.penalties, m.prior, false) // Eq. 6
	return []*G.Node{w, b}
}

// Begin starts a phase, in which V does not change.
func (m *WMachine[T]) Begin() { m.phase++ }

// Step runs the batch forward and backward. The error is a *NotFinite if a term is not
// finite.
func (m *WMachine[T]) Step() (Terms, error) {
	return m.step(func() float64 { return scalar[T](m.bxe) })
}

// VMachine computes the loss and its gradient by V, while the detectors W and b are
// fixed. X therefore holds detections A, batch x M, computed once per phase.
type VMachine[T Float] struct {
	machine[T]
	bxe *G.F64 // of all samples
}

// NewVMachine compiles the graph for batches of a number of samples. The machine reads
// params and a solver updates them in place.
func NewVMachine[T Float](c Config, classes *Description, params *Parameters[T], batch int) (*VMachine[T], error) {
	base, err := newMachine(c, classes, params, batch, params.V.Rows, params.V.Rows)
	if err != nil {
		return nil, err
	}
	m := &VMachine[T]{machine: base, bxe: G.NewF64(0)}
	return m, m.compile(m.build)
}

// build writes the model from A to the loss. V is learned, and Gamma, Uc and pc follow from it.
// The prior per group does, too: soft OR then gets Gamma/p and U in place of Gamma and U/p. The
// terms of W are remembered.
func (m *VMachine[T]) build(g *G.ExprGraph) (train []*G.Node) {
	c, d := m.config, m.classes
	a, y, v := variableMatrix(g, "A", m.X), variableMatrix(g, "Y", m.y), variableMatrix(g, "V", m.params.V)
	w := variableMatrix(g, "W", m.params.W)
	bxe := G.NewScalar(g, G.Float64, G.WithName("BXE"), G.WithValue(m.bxe))
	t := m.tables(g, v, func(n *G.Node) *G.Node { return n })
	a = describedOp[T]("A", a, allIndices(m.X.Rows), d.Described)

	weights, prior, grouped := t.gamma, t.p, c.Prior == PerGroup
	if grouped {
		weights, prior = overPrior[T](t.gamma, t.p), nil
	}
	ratio := m.remember(ratioOp[T](t.u, prior))
	var none, ac *G.Node // for Ac = 0, neither is needed
	if c.Complement != NoComplement {
		none = noneOfClassesOp[T](t.u, t.p, t.gamma, grouped) // p(ac_k|z) and p(ac_k)
	}
	if c.Complement == DeMorgan {
		ac = noneOfDetections[T](a, t.gamma, none, true) // p(ac_k|x)
	}
	l := softAnd[T](softOr[T](a, weights, ratio, none, ac)) // Eq. 4 and 5

	m.cxe = crossEntropy[T](l, y)
	m.penalties = m.remember(fixedNorms[T](w, t.allU))
	m.prior = m.groupPrior(g, t.allGamma)
	m.loss = lossOp[T, float64](c, m.cxe, bxe, m.penalties, m.prior, true) // Eq. 6
	return []*G.Node{v}
}

// Begin starts a phase, in which W and b do not change, with BXE of all samples.
func (m *VMachine[T]) Begin(bxe float64) {
	m.phase++
	*m.bxe = G.F64(bxe)
}

// Step runs the batch forward and backward. The error is a *NotFinite if a term is not
// finite.
func (m *VMachine[T]) Step() (Terms, error) {
	return m.step(func() float64 { return float64(*m.bxe) })
}

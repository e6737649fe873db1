package model

import (
	"fmt"
	"slices"
	"sync"

	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/numeric"
)

// building serialises the building of graphs: Gorgonia shares constants between them.
// Graphs run in parallel safely.
var building sync.Mutex

// compile builds a graph and makes a machine of it.
func compile(build func(g *G.ExprGraph) error) (G.VM, error) {
	building.Lock()
	defer building.Unlock()
	g := G.NewGraph()
	if err := build(g); err != nil {
		return nil, fmt.Errorf("building the graph: %w", err)
	}
	return G.NewTapeMachine(g), nil
}

// scalar returns the value of a scalar node.
func scalar[T Float](n *G.Node) float64 { return float64(values[T](n.Value())[0]) }

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
	config   Config
	params   *Parameters[T]
	semantic dataset.Matrix[T] // Gamma_sem, M x K; empty if psi is 0

	vm    G.VM
	learn []G.ValueGrad
}

// newMachine returns a machine without a graph for batches of samples of a width.
func newMachine[T Float](c Config, classes *Description, params *Parameters[T], samples, width, attributes int) (m machine[T], err error) {
	k, err := c.check(classes, attributes)
	if err != nil {
		return m, err
	}
	if samples < 1 {
		return m, &invalid.Error{Field: "batch", Want: "at least 1 sample", Got: fmt.Sprint(samples)}
	}
	m = machine[T]{config: c, params: params}
	m.X, m.y = dataset.NewMatrix[T](samples, width), dataset.NewMatrix[T](samples, classes.U.Rows)
	if c.Psi > 0 {
		m.semantic = oneHot[T](classes.Groups, k)
	}
	return m, nil
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

// learnables pairs parameters with their gradients.
func learnables(loss *G.Node, params ...*G.Node) ([]G.ValueGrad, error) {
	grads, err := G.Grad(loss, params...)
	if err != nil {
		return nil, err
	}
	pairs := make([]G.ValueGrad, len(params))
	for i, p := range params {
		pairs[i] = Learnable{p, grads[i]}
	}
	return pairs, nil
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
	groups *fixedGroups[T]
	prior  float64 // |Gamma - Gamma_sem|^2 of this phase

	penalties *penalties[T]
	cxe, bxe  *G.Node
}

// NewWMachine compiles the graph for batches of a number of samples. The machine reads
// params and a solver updates them in place.
func NewWMachine[T Float](c Config, classes *Description, params *Parameters[T], batch int) (*WMachine[T], error) {
	base, err := newMachine(c, classes, params, batch, params.W.Rows, params.W.Cols)
	if err != nil {
		return nil, err
	}
	m := &WMachine[T]{machine: base, groups: newFixedGroups(c, classes, params.V)}
	m.vm, err = compile(func(g *G.ExprGraph) error { return m.build(g, classes) })
	return m, err
}

// build writes the model from X to the loss. W and b are learned; U, Gamma and U/p are
// constants, of which soft OR uses the tables that Begin makes.
func (m *WMachine[T]) build(g *G.ExprGraph, d *Description) (err error) {
	c := m.config
	x, y := inputMatrix(g, "X", m.X), inputMatrix(g, "Y", m.y)
	w, b := inputMatrix(g, "W", m.params.W), input(g, "b", m.params.B, len(m.params.B))
	u, targets := inputMatrix(g, "U", dataset.Convert[T](d.U)), inputMatrix(g, "targets", dataset.Convert[T](d.Targets))
	gamma, ratio := inputMatrix(g, "Gamma", m.groups.gamma), inputMatrix(g, "U/p", m.groups.ratio)

	m.penalties = newPenalties(c, m.params.W.Rows, dataset.Convert[T](d.U))
	s := linear[T](x, w, b, m.penalties.gradient(w, u), m.penalties.ready)
	a := sigmoid[T](s)                             // p(a_m|x)
	ac := m.groups.noneOfDetections(a, gamma)      // p(ac_k|x)
	scores := m.groups.softOr(a, gamma, ratio, ac) // Eq. 5
	l := softAnd[T](scores)                        // Eq. 4

	m.cxe, m.bxe = crossEntropy[T](l, y), attributeEntropy[T](s, a, y, targets, d.Undescribed)
	// Eq. 6 is this sum and the penalties, whose gradient by W is an input of that of linear.
	// The last term, psi |Gamma - Gamma_sem|^2, is constant while W trains.
	loss := sumTerms[T](term{m.cxe, []float64{1}}, term{m.bxe, []float64{c.Alpha}})
	m.learn, err = learnables(loss, w, b)
	return err
}

// Begin starts a phase: it makes the tables of the grouping as it is now.
func (m *WMachine[T]) Begin() {
	m.groups.set(m.params.V, m.config.Zeta)
	if m.semantic.Data != nil {
		m.prior = squaredDistance(m.params.Groups(m.config.Zeta).Data, m.semantic.Data)
	}
}

// Step runs the batch forward and backward. The error is a *NotFinite if a term is not
// finite.
func (m *WMachine[T]) Step() (Terms, error) {
	m.vm.Reset()
	m.penalties.start(m.params.W.Data)
	err := m.vm.RunAll()
	m.penalties.ready()
	if err != nil {
		return Terms{}, fmt.Errorf("running the graph: %w", err)
	}
	t := Terms{CXE: scalar[T](m.cxe), BXE: scalar[T](m.bxe), W2: m.penalties.terms[0], WU2: m.penalties.terms[1], Prior: m.prior}
	return t, t.finite()
}

// VMachine computes the loss and its gradient by V, while the detectors W and b are
// fixed. X therefore holds detections A, batch x M, computed once per phase.
type VMachine[T Float] struct {
	machine[T]
	constant Terms // those of W alone

	cxe, prior *G.Node
}

// NewVMachine compiles the graph for batches of a number of samples. The machine reads
// params and a solver updates them in place.
func NewVMachine[T Float](c Config, classes *Description, params *Parameters[T], batch int) (*VMachine[T], error) {
	base, err := newMachine(c, classes, params, batch, params.V.Rows, params.V.Rows)
	if err != nil {
		return nil, err
	}
	m := &VMachine[T]{machine: base}
	m.vm, err = compile(func(g *G.ExprGraph) error { return m.build(g, classes) })
	return m, err
}

// build writes the model from A to the loss. V is learned; U is a constant, and p, Uc and pc
// follow from it and from Gamma. The prior per group depends on Gamma: soft OR then gets
// Gamma/p and U in place of Gamma and U/p.
func (m *VMachine[T]) build(g *G.ExprGraph, d *Description) (err error) {
	a, y, v := inputMatrix(g, "A", m.X), inputMatrix(g, "Y", m.y), inputMatrix(g, "V", m.params.V)
	u, p := dataset.Convert[T](d.U), d.P
	grouped := m.config.Prior == PerGroup
	if grouped {
		p = slices.Repeat([]float64{1}, d.U.Cols)
	}
	ratio := inputMatrix(g, "U/p", dataset.Convert[T](d.ratio(p)))

	gamma := softGroups[T](v, m.config.Zeta)
	described := describedGroups[T](gamma, d.Undescribed)
	weights := described
	var withPrior *G.Node // U and p
	if grouped {
		withPrior = withGroupedPrior[T](gamma, inputMatrix(g, "U", u), d)
		weights = overPrior[T](described, withPrior)
	} else {
		withPrior = inputMatrix(g, "U and p", dataset.Convert[T](d.withPrior(p)))
	}
	var none, ac *G.Node // for Ac = 0, neither is needed
	scale := newNoneScale(m.params.V.Cols, d.U.Rows)
	if m.config.Complement != NoComplement {
		none = noneOfClasses[T](withPrior, described, scale, grouped) // p(ac_k|z) and p(ac_k)
	}
	if m.config.Complement == DeMorgan {
		ac = noneOf[T](a, described, described, scale.detection, none) // p(ac_k|x)
	}
	scores := softOr[T](a, weights, ratio, none, ac, scale) // Eq. 5
	l := softAnd[T](scores)                                 // Eq. 4

	m.cxe = crossEntropy[T](l, y)
	// Eq. 6: the terms alpha BXE + beta |W|^2 + lambda |W U^T|^2 are constant while V
	// trains.
	loss := []term{{m.cxe, []float64{1}}}
	if m.semantic.Data != nil {
		m.prior = groupPrior(gamma, m.semantic)
		loss = append(loss, term{m.prior, []float64{m.config.Psi}})
	}
	m.learn, err = learnables(sumTerms[T](loss...), v)
	return err
}

// Begin starts a phase with the terms of the loss that depend on the detectors alone:
// BXE, W2 and WU2.
func (m *VMachine[T]) Begin(detectors Terms) { m.constant = detectors }

// Step runs the batch forward and backward. The error is a *NotFinite if a term is not
// finite.
func (m *VMachine[T]) Step() (Terms, error) {
	m.vm.Reset()
	if err := m.vm.RunAll(); err != nil {
		return Terms{}, fmt.Errorf("running the graph: %w", err)
	}
	t := m.constant
	t.CXE = scalar[T](m.cxe)
	if m.prior != nil {
		t.Prior = scalar[T](m.prior)
	}
	return t, t.finite()
}

package model

import (
	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/dataset"
)

// WMachine computes the loss and its gradients by W and b, while the grouping V is
// fixed.
type WMachine[T Float] struct {
	Batch[T] // X is batch x D

	config   Config
	params   *Parameters[T]
	groups   *fixedGroups[T]
	semantic dataset.Matrix[T] // Gamma_sem, M x K; empty if psi is 0
	prior    float64           // |Gamma - Gamma_sem|^2 of this phase

	vm                G.VM
	cxe, bxe, w2, wu2 *G.Node
	learn             []G.ValueGrad
}

// NewWMachine compiles the graph for batches of a number of samples. The machine reads
// params and a solver updates them in place.
func NewWMachine[T Float](c Config, classes *Description, params *Parameters[T], batch int) (*WMachine[T], error) {
	k, err := c.check(classes, params.W.Cols)
	if err != nil {
		return nil, err
	}
	m := &WMachine[T]{config: c, params: params, groups: newFixedGroups[T](c, classes, k)}
	if m.Batch, err = newBatch[T](batch, params.W.Rows, classes.U.Rows); err != nil {
		return nil, err
	}
	if c.Psi > 0 {
		m.semantic = oneHot[T](classes.Groups, k)
	}
	m.vm, err = compile(func(g *G.ExprGraph) error { return m.build(g, classes) })
	return m, err
}

// build writes the model from X to the loss. U is not a node: it is in the tables of
// m.groups and inside the ops.
func (m *WMachine[T]) build(g *G.ExprGraph, d *Description) (err error) {
	x := input(g, "X", m.X.Data, m.X.Rows, m.X.Cols)
	y := input(g, "Y", m.y.Data, m.y.Rows, m.y.Cols)
	w := input(g, "W", m.params.W.Data, m.params.W.Rows, m.params.W.Cols)
	b := input(g, "b", m.params.B, len(m.params.B))
	onW := newPenalties(w, dataset.Convert[T](d.U), m.config)

	s := linear(x, w, b, onW)
	a := sigmoid[T](s)                 // p(a_m|x)
	ac := m.groups.noneOfDetections(a) // p(ac_k|x)
	scores := m.groups.softOr(a, ac)   // Eq. 5
	l := softAnd[T](scores)            // Eq. 4

	m.cxe, m.bxe = crossEntropy[T](l, y), attributeEntropy(s, a, y, dataset.Convert[T](d.Targets), d.Undescribed)
	m.w2, m.wu2 = onW.w2, onW.wu2
	// Eq. 6. The last term, psi |Gamma - Gamma_sem|^2, is constant while W trains. The
	// gradients of the penalties are added inside the op linear.
	c := m.config
	loss := sumTerms[T](
		term{weight: 1, node: m.cxe},
		term{weight: c.Alpha, node: m.bxe},
		term{weight: c.Beta, node: m.w2, constant: true},
		term{weight: c.Lambda, node: m.wu2, constant: true},
	)
	m.learn, err = learnables(loss, w, b)
	return err
}

// Begin starts a phase: it makes the tables of the grouping as it is now.
func (m *WMachine[T]) Begin() {
	m.groups.set(m.params.V, m.config.Zeta)
	if m.semantic.Data != nil {
		m.prior = squaredDistance(m.groups.gamma.Data, m.semantic.Data)
	}
}

// Step runs the batch forward and backward. The error is a *NotFinite if a term is not
// finite.
func (m *WMachine[T]) Step() (Terms, error) {
	if err := runOnce(m.vm); err != nil {
		return Terms{}, err
	}
	t := Terms{CXE: scalar[T](m.cxe), BXE: scalar[T](m.bxe), W2: scalar[T](m.w2), WU2: scalar[T](m.wu2), Prior: m.prior}
	return t, t.finite()
}

// Learnables returns W and b with their gradients.
func (m *WMachine[T]) Learnables() []G.ValueGrad { return m.learn }

package model

import (
	"slices"

	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/dataset"
)

// VMachine computes the loss and its gradient by V, while the detectors W and b are
// fixed. It therefore takes detections, computed once per phase, in place of features.
type VMachine[T Float] struct {
	Batch[T] // X holds detections A, batch x M

	config   Config
	params   *Parameters[T]
	semantic dataset.Matrix[T] // Gamma_sem, M x K; empty if psi is 0
	constant Terms             // those of W alone

	vm         G.VM
	cxe, prior *G.Node
	learn      []G.ValueGrad
}

// NewVMachine compiles the graph for batches of a number of samples. The machine reads
// params and a solver updates them in place.
func NewVMachine[T Float](c Config, classes *Description, params *Parameters[T], batch int) (*VMachine[T], error) {
	k, err := c.check(classes, params.V.Rows)
	if err != nil {
		return nil, err
	}
	m := &VMachine[T]{config: c, params: params}
	if m.Batch, err = newBatch[T](batch, params.V.Rows, classes.U.Rows); err != nil {
		return nil, err
	}
	if c.Psi > 0 {
		m.semantic = oneHot[T](classes.Groups, k)
	}
	m.vm, err = compile(func(g *G.ExprGraph) error { return m.build(g, classes) })
	return m, err
}

// build writes the model from A to the loss. U and p are a constant of the graph, from
// which the none-of-group probabilities follow as Gamma changes; U/p is a table of soft
// OR. The prior per group depends on Gamma: p then follows from it, and soft OR gets
// Gamma/p and U in place of Gamma and U/p.
func (m *VMachine[T]) build(g *G.ExprGraph, d *Description) (err error) {
	a := input(g, "A", m.X.Data, m.X.Rows, m.X.Cols)
	y := input(g, "Y", m.y.Data, m.y.Rows, m.y.Cols)
	v := input(g, "V", m.params.V.Data, m.params.V.Rows, m.params.V.Cols)

	gamma := softGroups[T](v, m.config.Zeta)
	var u *G.Node
	weights, ratio := gamma, d.ratio(d.P)
	grouped := m.config.Prior == PerGroup
	if grouped {
		u = withGroupedPrior[T](gamma, d)
		weights, ratio = overPrior[T](gamma, u), d.ratio(slices.Repeat([]float64{1}, d.U.Cols))
	} else {
		withPrior := dataset.Convert[T](d.withPrior(d.P))
		u = input(g, "U and p", withPrior.Data, withPrior.Rows, withPrior.Cols)
	}
	var none, ac *G.Node // for Ac = 0, neither is needed
	scale := newNoneScale(m.params.V.Cols, d.U.Rows)
	if m.config.Complement != NoComplement {
		none = noneOfClasses[T](u, gamma, scale, grouped) // p(ac_k|z) and p(ac_k)
	}
	if m.config.Complement == DeMorgan {
		ac = noneOf[T](a, gamma, gamma, scale.detection, none) // p(ac_k|x)
	}
	scores := softOr(a, weights, none, ac, dataset.Convert[T](ratio), scale) // Eq. 5
	l := softAnd[T](scores)                                                  // Eq. 4

	m.cxe = crossEntropy[T](l, y)
	// Eq. 6: the terms alpha BXE + beta |W|^2 + lambda |W U^T|^2 are constant while V
	// trains.
	loss := []term{{weight: 1, node: m.cxe}}
	if m.semantic.Data != nil {
		m.prior = groupPrior(gamma, m.semantic)
		loss = append(loss, term{weight: m.config.Psi, node: m.prior})
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
	if err := runOnce(m.vm); err != nil {
		return Terms{}, err
	}
	t := m.constant
	t.CXE = scalar[T](m.cxe)
	if m.prior != nil {
		t.Prior = scalar[T](m.prior)
	}
	return t, t.finite()
}

// Learnables returns V with its gradient.
func (m *VMachine[T]) Learnables() []G.ValueGrad { return m.learn }

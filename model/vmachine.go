package model

import (
	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/dataset"
)

// VMachine takes gradients by the grouping V while the detectors are at rest, so
// that its samples are given by their detections A, made once a phase.
type VMachine[T Float] struct {
	Batch[T] // X holds detections, batch x M

	config   Config
	params   *Parameters[T]
	semantic dataset.Matrix[T] // Gamma_sem, M x K; empty without the prior on groups
	atRest   Terms             // those that rest on the detectors alone

	vm         G.VM
	cxe, prior *G.Node
	learn      []G.ValueGrad
}

// NewVMachine compiles the graph of the loss by V. The machine reads and its
// solver writes the memory of params.
func NewVMachine[T Float](p Problem, params *Parameters[T]) (*VMachine[T], error) {
	k, err := p.check(params.V.Rows)
	if err != nil {
		return nil, err
	}
	m := &VMachine[T]{
		Batch:  newBatch[T](p.Batch, params.V.Rows, p.Classes.U.Rows),
		config: p.Config, params: params,
	}
	if p.Config.Psi > 0 {
		m.semantic = oneHot[T](p.Semantic, k)
	}
	m.vm, err = compile(m.build(p.Classes))
	return m, err
}

func (m *VMachine[T]) build(d *Description) func(*G.ExprGraph) error {
	return func(g *G.ExprGraph) error {
		described := cast[T](d.withPrior())
		a := input(g, "A", m.X.Data, m.X.Rows, m.X.Cols)
		y := input(g, "Y", m.y.Data, m.y.Rows, m.y.Cols)
		v := input(g, "V", m.params.V.Data, m.params.V.Rows, m.params.V.Cols)
		u := input(g, "U and p", described.Data, described.Rows, described.Cols)
		gamma, err := groups[T](v, m.config.Zeta)
		if err != nil {
			return err
		}
		none, ac, err := m.complement(a, u, gamma)
		if err != nil {
			return err
		}
		scores, err := softOr(a, gamma, none, ac, cast[T](d.ratio()))
		if err != nil {
			return err
		}
		l, err := softAnd[T](scores)
		if err != nil {
			return err
		}
		if m.cxe, err = crossEntropy[T](l, y); err != nil {
			return err
		}
		loss := m.cxe
		if m.semantic.Data != nil {
			if m.prior, err = groupPrior(gamma, m.semantic); err != nil {
				return err
			}
			if loss, err = total[T]([]float64{1, m.config.Psi}, m.cxe, m.prior); err != nil {
				return err
			}
		}
		m.learn, err = learnables(loss, v)
		return err
	}
}

// complement makes what soft OR takes its complement from: noneOf the classes and of
// the detections, each nil where the kind of complement goes without.
func (m *VMachine[T]) complement(a, u, gamma *G.Node) (none, ac *G.Node, err error) {
	if m.config.Complement == NoComplement {
		return nil, nil, nil
	}
	if none, err = noneOf[T](u, gamma, gamma); err != nil {
		return nil, nil, err
	}
	if m.config.Complement == DeMorgan {
		ac, err = noneOf[T](a, gamma, gamma)
	}
	return none, ac, err
}

// Begin starts a phase with the terms of the loss that the detectors alone make:
// BXE, W2 and WU2. They do not move while V does.
func (m *VMachine[T]) Begin(detectors Terms) { m.atRest = detectors }

// Step runs the batch forward and backward. The error is a *NotFinite where a
// term is not finite.
func (m *VMachine[T]) Step() (Terms, error) {
	if err := runOnce(m.vm); err != nil {
		return Terms{}, err
	}
	t := m.atRest
	t.CXE = scalar[T](m.cxe)
	if m.prior != nil {
		t.Prior = scalar[T](m.prior)
	}
	return t, t.finite()
}

// Learnables returns V with its gradient.
func (m *VMachine[T]) Learnables() []G.ValueGrad { return m.learn }

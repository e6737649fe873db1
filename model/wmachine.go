package model

import (
	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/dataset"
)

// WMachine takes gradients by the detectors, W and b, while the grouping is at
// rest.
type WMachine[T Float] struct {
	Batch[T] // X is batch x D

	config   Config
	params   *Parameters[T]
	frozen   *frozenGroups[T]
	semantic dataset.Matrix[T] // Gamma_sem, M x K; empty without the prior on groups
	prior    float64           // of the groups of this phase

	vm        G.VM
	cxe, bxe  *G.Node
	penalties *penalties[T]
	learn     []G.ValueGrad
}

// NewWMachine compiles the graph of the loss by W and b. The machine reads and
// its solver writes the memory of params.
func NewWMachine[T Float](p Problem, params *Parameters[T]) (*WMachine[T], error) {
	k, err := p.check(params.W.Cols)
	if err != nil {
		return nil, err
	}
	m := &WMachine[T]{
		Batch:  newBatch[T](p.Batch, params.W.Rows, p.Classes.U.Rows),
		config: p.Config, params: params,
		frozen: newFrozenGroups[T](p.Classes, k, p.Config.Complement),
	}
	if p.Config.Psi > 0 {
		m.semantic = oneHot[T](p.Semantic, k)
	}
	m.vm, err = compile(m.build(cast[T](p.Classes.U)))
	return m, err
}

func (m *WMachine[T]) build(u dataset.Matrix[T]) func(*G.ExprGraph) error {
	return func(g *G.ExprGraph) (err error) {
		x := input(g, "X", m.X.Data, m.X.Rows, m.X.Cols)
		y := input(g, "Y", m.y.Data, m.y.Rows, m.y.Cols)
		w := input(g, "W", m.params.W.Data, m.params.W.Rows, m.params.W.Cols)
		b := input(g, "b", m.params.B, len(m.params.B))
		if m.penalties, err = newPenalties(w, u, m.config); err != nil {
			return err
		}
		s, a, err := detectors(x, w, b, m.penalties)
		if err != nil {
			return err
		}
		_, l, err := m.frozen.scores(a)
		if err != nil {
			return err
		}
		if m.cxe, err = crossEntropy[T](l, y); err != nil {
			return err
		}
		if m.bxe, err = attributeEntropy(s, y, u); err != nil {
			return err
		}
		// Without a weight BXE is computed, for the curve, but not differentiated.
		loss := m.cxe
		if m.config.Alpha > 0 {
			if loss, err = total[T]([]float64{1, m.config.Alpha}, m.cxe, m.bxe); err != nil {
				return err
			}
		}
		m.learn, err = learnables(loss, w, b)
		return err
	}
}

// Begin starts a phase: it makes the tables of the grouping as it is now.
func (m *WMachine[T]) Begin() {
	m.frozen.set(m.params.V, m.config.Zeta)
	if m.semantic.Data != nil {
		m.prior = squaredDistance(m.frozen.gamma.Data, m.semantic.Data)
	}
}

// Step runs the batch forward and backward. The error is a *NotFinite where a
// term is not finite.
func (m *WMachine[T]) Step() (Terms, error) {
	if err := runOnce(m.vm); err != nil {
		return Terms{}, err
	}
	p := values[T](m.penalties.node.Value())
	t := Terms{CXE: scalar[T](m.cxe), BXE: scalar[T](m.bxe), W2: float64(p[0]), WU2: float64(p[1]), Prior: m.prior}
	return t, t.finite()
}

// Learnables returns W and b with their gradients.
func (m *WMachine[T]) Learnables() []G.ValueGrad { return m.learn }

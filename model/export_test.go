package model

import (
	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/dataset"
)

// Nodes and ops for tests.
var (
	SoftAndOp32 = softAnd[float32]
	Constant    = variableMatrix[float64]
)

// Ratio is p(a_m | z) / p(a_m), M x Z.
func (d *Description) Ratio() dataset.Matrix[float64] {
	r := dataset.NewMatrix[float64](d.U.Cols, d.U.Rows)
	writeRatio(r, d.U, d.P)
	return r
}

// Loss is the value of the node of the loss.
func (m *machine[T]) Loss() float64 { return scalar[float64](m.loss) }

// Inputs returns the nodes that no op computes, by name.
func (m *machine[T]) Inputs() map[string]G.Value {
	inputs, g := map[string]G.Value{}, m.loss.Graph()
	for _, n := range g.AllNodes() {
		ofGradient := n.IsScalar() && n.Op() != nil // of the loss by itself, 1
		if g.From(n.ID()).Len() == 0 && !ofGradient {
			inputs[n.Name()] = n.Value()
		}
	}
	return inputs
}

// GroupScores returns G of one sample with the detections a, K x Z.
func (f *Forward[T]) GroupScores(a []T) dataset.Matrix[T] { return f.groupScores(a) }

// NewExplainer explains the grouping V.
var NewExplainer = newExplainer

// SumRule returns e of a Correction.
func (f *Forward[T]) SumRule(stored dataset.Matrix[T]) ([]float64, error) {
	l, err := f.scores(stored)
	return Correction{Kind: Subtract, Omega: 1}.adjustment(l, 0).shift, err
}

// NoneOfOp is Q of r without scale.
func NoneOfOp(r, gamma *G.Node, byGroups bool) *G.Node {
	unscaled := dataset.NewMatrix[float64](2, gamma.Shape()[1]) // exponents of 0
	return noneOfDetections[float64](r, gamma, variableMatrix(r.Graph(), "scale", unscaled), byGroups)
}

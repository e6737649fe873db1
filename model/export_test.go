package model

import (
	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/dataset"
)

// The ops in float64, for tests against stock ops.
var (
	SigmoidOp      = sigmoid[float64]
	GroupsOp       = softGroups[float64]
	GroupPriorOp   = groupPrior[float64]
	SoftAndOp      = softAnd[float64]
	SoftAndOp32    = softAnd[float32]
	CrossEntropyOp = crossEntropy[float64]
	BXEOp          = attributeEntropy[float64]
	TotalOp        = sumTerms[float64]
	Constant       = inputMatrix[float64]
)

// Term is a weighted term of the loss.
type Term = term

// NewTerm returns a weighted term.
func NewTerm(weight float64, node *G.Node) Term { return term{node: node, weights: []float64{weight}} }

// LinearOp is X W + b without penalties on W; these are tested as part of the
// WMachine.
func LinearOp(x, w, b *G.Node) *G.Node { return linear[float64](x, w, b, nil) }

// FixedSoftOrOp makes the soft OR of the fixed grouping V.
func FixedSoftOrOp(d *Description, v dataset.Matrix[float64], zeta float64, c Complement) func(a, ac *G.Node) *G.Node {
	f := newFixedGroups[float64](Config{Complement: c}, d, v.Cols)
	f.set(v, zeta)
	return func(a, ac *G.Node) *G.Node {
		g := a.Graph()
		return f.softOr(a, inputMatrix(g, "Gamma", f.gamma), inputMatrix(g, "U/p", f.ratio), ac)
	}
}

// Ratio is p(a_m | z) / p(a_m), M x Z.
func (d *Description) Ratio() dataset.Matrix[float64] { return d.ratio(d.P) }

// GroupScores returns G of one sample with the detections a, K x Z.
func (f *Forward[T]) GroupScores(a []T) dataset.Matrix[T] {
	g, _ := f.groupScores(a)
	return g
}

// NewExplainer explains the grouping V.
var NewExplainer = newExplainer

// NoneOfOp is Q of r without scale.
func NoneOfOp(r, gamma, wrt *G.Node) *G.Node { return noneOf[float64](r, gamma, wrt, nil) }

// SoftOrOp is soft OR of none-of-group probabilities without scale.
func SoftOrOp(a, gamma, none, ac *G.Node, ratio dataset.Matrix[float64]) *G.Node {
	s := newNoneScale(gamma.Shape()[1], ratio.Cols)
	for k := range s.detection {
		s.detection[k] = 1
	}
	return softOr[float64](a, gamma, inputMatrix(a.Graph(), "U/p", ratio), none, ac, s)
}

package model

import (
	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/dataset"
)

// The ops in float64, for the tests that hold each to the same thing in stock
// ops.
var (
	SigmoidOp      = sigmoid[float64]
	GroupsOp       = groups[float64]
	GroupPriorOp   = groupPrior[float64]
	NoneOfOp       = noneOf[float64]
	SoftOrOp       = softOr[float64]
	SoftAndOp      = softAnd[float64]
	SoftAndOp32    = softAnd[float32]
	CrossEntropyOp = crossEntropy[float64]
	BXEOp          = attributeEntropy[float64]
	TotalOp        = total[float64]
)

// LinearOp is X W + b without penalties on W; these are tested as part of the
// WMachine.
func LinearOp(x, w, b *G.Node) (*G.Node, error) { return linear[float64](x, w, b, nil) }

// FrozenOrOp makes the soft OR of the grouping V with a kind of complement.
func FrozenOrOp(d *Description, v dataset.Matrix[float64], zeta float64, c Complement) func(a, ac *G.Node) (*G.Node, error) {
	f := newFrozenGroups[float64](d, v.Cols, c)
	f.set(v, zeta)
	return f.softOr
}

// Ratio is p(a_m | z) / p(a_m), M x Z.
func (d *Description) Ratio() dataset.Matrix[float64] { return d.ratio() }

package model

import (
	"slices"

	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/dataset"
)

// Nodes and ops for tests.
var (
	SoftAndOp32 = softAnd[float32]
	Constant    = inputMatrix[float64]
)

// Ratio is p(a_m | z) / p(a_m), M x Z.
func (d *Description) Ratio() dataset.Matrix[float64] { return d.ratio(d.P) }

// GroupScores returns G of one sample with the detections a, K x Z.
func (f *Forward[T]) GroupScores(a []T) dataset.Matrix[T] { return f.groupScores(a) }

// NewExplainer explains the grouping V.
var NewExplainer = newExplainer

// SumRule returns e of a Correction.
func (f *Forward[T]) SumRule(stored dataset.Matrix[T]) ([]float64, error) {
	l, err := f.scores(stored)
	return Correction{Kind: Subtract, Omega: 1}.adjustment(l).shift, err
}

// NoneOfOp is Q of r without scale.
func NoneOfOp(r, gamma, wrt *G.Node) *G.Node {
	return noneOf[float64](r, gamma, wrt, slices.Repeat([]float64{1}, gamma.Shape()[1]))
}

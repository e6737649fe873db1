package model

import (
	G "gorgonia.org/gorgonia"

	"github.com/lago-train/lago-train/dataset"
)

// Detector looks forward from features to detections, X -> A. It is compiled
// without gradients: a machine that has them runs them even where they are not
// wanted.
type Detector[T Float] struct {
	X dataset.Matrix[T] // batch x D, what Run reads

	vm   G.VM
	s, a *G.Node
}

// NewDetector compiles the detectors of params.
func NewDetector[T Float](params *Parameters[T], batch int) (*Detector[T], error) {
	d := &Detector[T]{X: dataset.NewMatrix[T](batch, params.W.Rows)}
	vm, err := compile(func(g *G.ExprGraph) (err error) {
		x := input(g, "X", d.X.Data, d.X.Rows, d.X.Cols)
		w := input(g, "W", params.W.Data, params.W.Rows, params.W.Cols)
		b := input(g, "b", params.B, len(params.B))
		d.s, d.a, err = detectors[T](x, w, b, nil)
		return err
	})
	d.vm = vm
	return d, err
}

// Run detects the attributes of the samples in X. The logits S and the
// probabilities A, batch x M, are valid until the next run.
func (d *Detector[T]) Run() (s, a []T, err error) {
	if err := runOnce(d.vm); err != nil {
		return nil, nil, err
	}
	return values[T](d.s.Value()), values[T](d.a.Value()), nil
}

// Judge looks forward from detections to classes, A -> G -> Z.
type Judge[T Float] struct {
	A dataset.Matrix[T] // batch x M, what Run reads

	config    Config
	params    *Parameters[T]
	frozen    *frozenGroups[T]
	vm        G.VM
	scores, l *G.Node
}

// NewJudge compiles the grouping of params for the classes at hand.
func NewJudge[T Float](p Problem, params *Parameters[T]) (*Judge[T], error) {
	k, err := p.check(params.V.Rows)
	if err != nil {
		return nil, err
	}
	j := &Judge[T]{
		A:      dataset.NewMatrix[T](p.Batch, params.V.Rows),
		config: p.Config, params: params,
		frozen: newFrozenGroups[T](p.Classes, k, p.Config.Complement),
	}
	j.frozen.silent = p.Classes.Silent
	j.vm, err = compile(func(g *G.ExprGraph) (err error) {
		a := input(g, "A", j.A.Data, j.A.Rows, j.A.Cols)
		j.scores, j.l, err = j.frozen.scores(a)
		return err
	})
	j.Begin()
	return j, err
}

// Begin makes the tables of the grouping as it is now: to call after V changed.
func (j *Judge[T]) Begin() { j.frozen.set(j.params.V, j.config.Zeta) }

// Run scores the samples in A: l is log p(z|x) up to a constant of the sample,
// batch x Z, valid until the next run.
func (j *Judge[T]) Run() (l []T, err error) {
	if err := runOnce(j.vm); err != nil {
		return nil, err
	}
	return values[T](j.l.Value()), nil
}

// GroupScores returns G of the last run, K x batch x Z: how far each group speaks
// for each class.
func (j *Judge[T]) GroupScores() []T { return values[T](j.scores.Value()) }

package model

import (
	"fmt"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Scorer scores block after block of samples for classes that were described once.
// It is not for use by several goroutines at once: the work on a block is shared
// between cores, for which blocks of some hundred samples are large enough.
type Scorer interface {
	// Score writes the scores of the samples x, n x D as in the data set, into scores,
	// n x Z. The error is a *invalid.Error where sizes don't fit.
	Score(x, scores dataset.Matrix[float32]) error
}

// NewScorer returns the scorer of a classifier for the classes that u describes,
// classes x M, NaN where an attribute is not described.
func NewScorer(c TwoStage, u dataset.Matrix[float64]) (Scorer, error) {
	if u.Rows < 1 {
		return nil, &invalid.Error{Field: "descriptions", Want: "at least one class", Got: fmt.Sprint(u.Rows)}
	}
	if l, ok := c.(*LAGO); ok {
		return l.scorer(u)
	}
	return &twoSteps{c, u}, nil
}

// twoSteps is the scorer of any classifier.
type twoSteps struct {
	c TwoStage
	u dataset.Matrix[float64]
}

func (s *twoSteps) Score(x, scores dataset.Matrix[float32]) error {
	if err := checkScores(x, scores, s.u.Rows); err != nil {
		return err
	}
	got, err := s.c.Score(x, rowsOf(x), s.u)
	copy(scores.Data, got.Data)
	return err
}

// rowsOf are all rows of x.
func rowsOf(x dataset.Matrix[float32]) []int {
	rows := make([]int, x.Rows)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

func checkScores(x, scores dataset.Matrix[float32], classes int) error {
	if scores.Rows != x.Rows || scores.Cols != classes {
		return &invalid.Error{Field: "scores", Want: fmt.Sprintf("%d x %d, samples x classes", x.Rows, classes), Got: fmt.Sprint([2]int{scores.Rows, scores.Cols})}
	}
	return nil
}

// lagoScorer is a LAGO whose map of the features is part of its detectors.
type lagoScorer struct {
	detectors linearDetectors
	classes   *frozenJudge
	a         []float32 // of a block
}

func (l *LAGO) scorer(u dataset.Matrix[float64]) (*lagoScorer, error) {
	classes, err := l.frozenJudge(u)
	if err != nil {
		return nil, err
	}
	s := &lagoScorer{classes: classes}
	s.detectors.w, s.detectors.b, err = l.Transform.Fold(l.Params.W, l.Params.B)
	return s, err
}

func (s *lagoScorer) Score(x, scores dataset.Matrix[float32]) error {
	if err := s.detectors.check(x); err != nil {
		return err
	}
	if err := checkScores(x, scores, s.classes.z); err != nil {
		return err
	}
	n := x.Rows * s.classes.m
	if cap(s.a) < n {
		s.a = make([]float32, n)
	}
	a := dataset.Matrix[float32]{Rows: x.Rows, Cols: s.classes.m, Data: s.a[:n]}
	s.detectors.detect(x, a)
	s.classes.judge(a, scores)
	return nil
}

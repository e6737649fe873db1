package model

import (
	"fmt"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/model/preprocess"
)

// LAGO is a trained model. Its scores are log p(z|x).
type LAGO struct {
	Config    Config
	Params    *Parameters[float32]
	Semantic  []int                 // the group of each attribute, nil where the data set has none
	Transform *preprocess.Transform // preprocessing of the features; nil for none
	Impute    *impute.Imputer       // imputes missing entries from the train classes; nil imputes from the candidates
}

// Detect returns A, p(a_m|x), of the given rows of x.
func (l *LAGO) Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	const block = 256
	a := dataset.NewMatrix[float32](len(rows), l.Params.W.Cols)
	if err := l.checkFeatures(x); err != nil {
		return a, err
	}
	for start := 0; start < len(rows); start += block {
		part := rows[start:min(start+block, len(rows))]
		preprocessed, err := l.Transform.Apply(x, part)
		if err != nil {
			return a, err
		}
		l.Params.Logits(preprocessed, a.Slice(start, start+len(part)))
	}
	Sigmoid(a.Data)
	return a, nil
}

func (l *LAGO) checkFeatures(x dataset.Matrix[float32]) error {
	if d := l.Params.W.Rows; x.Cols != d {
		return &invalid.Error{Field: "features", Want: fmt.Sprintf("%d dimensions, as the model was trained on", d), Got: fmt.Sprint(x.Cols)}
	}
	return nil
}

// Classify returns log p(z|x) of samples with the detections a, n x M, for the classes
// with the descriptions u.
func (l *LAGO) Classify(a dataset.Matrix[float32], u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	logP := dataset.NewMatrix[float32](a.Rows, u.Rows)
	f, err := l.forward(u)
	if err != nil {
		return logP, err
	}
	return logP, f.LogP(a, logP)
}

// Describe is Config.Describe, with missing entries imputed from the train classes.
func (l *LAGO) Describe(u dataset.Matrix[float64]) (*Description, error) {
	full, err := l.Impute.Impute(u)
	if err != nil {
		return nil, err
	}
	return l.Config.Describe(full, l.Semantic)
}

func (l *LAGO) forward(u dataset.Matrix[float64]) (*Forward[float32], error) {
	classes, err := l.Describe(u)
	if err != nil {
		return nil, err
	}
	return NewForward(l.Config, classes, l.Params)
}

// lagoScorer is the Scorer of LAGO. The affine steps that end its preprocessing are folded
// into W and b.
type lagoScorer struct {
	model   *LAGO
	before  *preprocess.Transform // the steps before those
	folded  *Parameters[float32]
	forward *Forward[float32]
	a       []float32 // detections of a block
}

func newLAGOScorer(l *LAGO, u dataset.Matrix[float64]) (*lagoScorer, error) {
	s := &lagoScorer{model: l, folded: l.Params}
	var err error
	if s.forward, err = l.forward(u); err != nil || l.Transform == nil {
		return s, err
	}
	s.folded = &Parameters[float32]{}
	s.folded.W, s.folded.B, s.before, err = l.Transform.Fold(l.Params.W, l.Params.B)
	return s, err
}

func (s *lagoScorer) Score(x, scores dataset.Matrix[float32]) error {
	if err := s.model.checkFeatures(x); err != nil {
		return err
	}
	if !s.before.Identity() {
		var err error
		if x, err = s.before.Apply(x, x.AllRows()); err != nil {
			return err
		}
	}
	m := s.folded.W.Cols
	if n := x.Rows * m; cap(s.a) < n {
		s.a = make([]float32, n)
	}
	a := dataset.Matrix[float32]{Rows: x.Rows, Cols: m, Data: s.a[:x.Rows*m]}
	s.folded.Logits(x, a)
	Sigmoid(a.Data)
	return s.forward.LogP(a, scores)
}

package model

import (
	"fmt"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/model/preprocess"
)

// Classifier is a trained method: it scores samples for the classes of any descriptions,
// seen or unseen. Its first stage, detection, does not depend on the descriptions.
// Detections can therefore be classified by many descriptions.
type Classifier interface {
	// Detect returns the detections of the given rows of the features x (samples x D, as in
	// the data set), one row each: M detected attributes, or what else Classify takes.
	Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error)
	// Classify returns the scores of samples with the detections a, one column for each class
	// that u describes (classes x M, NaN for missing entries). The class with the highest
	// score of a row is the predicted class.
	Classify(a dataset.Matrix[float32], u dataset.Matrix[float64]) (dataset.Matrix[float32], error)
}

// Score returns the scores of the given rows of x by both stages.
func Score(c Classifier, x dataset.Matrix[float32], rows []int, u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	a, err := c.Detect(x, rows)
	if err != nil {
		return a, err
	}
	return c.Classify(a, u)
}

// Preprocessed is a classifier with the preprocessing and the imputation that it was
// trained with. It takes features and descriptions as they are in the data set.
type Preprocessed struct {
	Classifier
	Transform *preprocess.Transform // of the features; nil for none
	Impute    *impute.Imputer       // of missing entries; nil leaves them to the classifier
}

// Detect implements Classifier.
func (c *Preprocessed) Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	if c.Transform.Identity() {
		return c.Classifier.Detect(x, rows)
	}
	preprocessed, err := c.Transform.Apply(x, rows)
	if err != nil {
		return preprocessed, err
	}
	return c.Classifier.Detect(preprocessed, preprocessed.AllRows())
}

// Classify implements Classifier.
func (c *Preprocessed) Classify(a dataset.Matrix[float32], u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	full, err := c.Impute.Impute(u)
	if err != nil {
		return dataset.Matrix[float32]{}, err
	}
	return c.Classifier.Classify(a, full)
}

// WithImputation returns a copy of c that imputes missing entries in another way. A
// classifier that imputes nothing is returned unchanged.
func WithImputation(c Classifier, kind impute.Kind) Classifier {
	switch c := c.(type) {
	case *LAGO:
		other := *c
		other.Impute = c.Impute.WithKind(kind)
		return &other
	case *Preprocessed:
		other := *c
		other.Impute = c.Impute.WithKind(kind)
		return &other
	}
	return c
}

// Scorer scores blocks of samples for classes that were described once. Blocks of some
// hundred samples are shared between cores. A Scorer must not be used by several
// goroutines at once.
type Scorer interface {
	// Score writes the scores of the samples x, n x D as in the data set, into scores,
	// n x Z. The error is an *invalid.Error where sizes do not fit.
	Score(x, scores dataset.Matrix[float32]) error
}

// NewScorer returns the scorer of a classifier for the classes that u describes,
// classes x M, NaN for missing entries.
func NewScorer(c Classifier, u dataset.Matrix[float64]) (Scorer, error) {
	if u.Rows < 1 {
		return nil, &invalid.Error{Field: "descriptions", Want: "at least one class", Got: fmt.Sprint(u.Rows)}
	}
	if l, ok := c.(*LAGO); ok {
		return newLAGOScorer(l, u)
	}
	return &anyScorer{c, u}, nil
}

// anyScorer is the Scorer of any classifier.
type anyScorer struct {
	c Classifier
	u dataset.Matrix[float64]
}

func (s *anyScorer) Score(x, scores dataset.Matrix[float32]) error {
	if err := checkScores(scores, x.Rows, s.u.Rows); err != nil {
		return err
	}
	got, err := Score(s.c, x, x.AllRows(), s.u)
	copy(scores.Data, got.Data)
	return err
}

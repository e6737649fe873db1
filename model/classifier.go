package model

import (
	"fmt"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/model/preprocess"
)

// Classifier is a trained method: given descriptions of any classes, seen or not,
// it scores samples for them.
type Classifier interface {
	// Score returns a row of scores for each of the given rows of the features x
	// (samples x D, as they are in the data set), a column for each class that u
	// describes (classes x M, NaN for what is not described). The highest score
	// of a row is the prediction.
	Score(x dataset.Matrix[float32], rows []int, u dataset.Matrix[float64]) (dataset.Matrix[float32], error)
}

// TwoStage is a classifier in two steps: what it detects in a sample depends on no
// description, so that many descriptions can judge the same detections.
type TwoStage interface {
	Classifier
	// Detect returns the detections of the given rows of x, len(rows) x M.
	Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error)
	// Classify returns the scores of Score for samples with the detections a.
	Classify(a dataset.Matrix[float32], u dataset.Matrix[float64]) (dataset.Matrix[float32], error)
}

// DetectAndClassify is the Score of a classifier in two steps.
func DetectAndClassify(c TwoStage, x dataset.Matrix[float32], rows []int, u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	a, err := c.Detect(x, rows)
	if err != nil {
		return a, err
	}
	return c.Classify(a, u)
}

// LAGO is a trained model of the family. Its scores are log p(z|x).
type LAGO struct {
	Config    Config
	Params    *Parameters[float32]
	Semantic  []int                 // the group of each attribute, nil where unknown
	Transform *preprocess.Transform // of the features, fitted where the model was trained
	Impute    *impute.Imputer       // for partial descriptions, of the classes it learned from; nil for those at hand
}

// Score implements Classifier.
func (l *LAGO) Score(x dataset.Matrix[float32], rows []int, u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	return DetectAndClassify(l, x, rows, u)
}

// detectBatch is how many samples are detected at a time.
const detectBatch = 256

// Detect returns A, p(a_m|x) of the given rows.
func (l *LAGO) Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	detectors := linearDetectors{l.Params.W, l.Params.B}
	a := dataset.NewMatrix[float32](len(rows), detectors.w.Cols)
	if err := detectors.check(x); err != nil {
		return a, err
	}
	for start := 0; start < len(rows); start += detectBatch {
		part := rows[start:min(start+detectBatch, len(rows))]
		preprocessed, err := l.Transform.Apply(x, part)
		if err != nil {
			return a, err
		}
		detectors.detect(preprocessed, dataset.Matrix[float32]{Rows: len(part), Cols: a.Cols, Data: a.Data[start*a.Cols : (start+len(part))*a.Cols]})
	}
	return a, nil
}

// Classify returns log p(z|x) of samples with the detections a, n x M, for the
// classes that u describes.
func (l *LAGO) Classify(a dataset.Matrix[float32], u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	scores := dataset.NewMatrix[float32](a.Rows, u.Rows)
	judge, err := l.frozenJudge(u)
	if err != nil {
		return scores, err
	}
	if a.Cols != judge.m {
		return scores, &invalid.Error{Field: "detections", Want: "one for each attribute of the model", Got: fmt.Sprint(a.Cols)}
	}
	judge.judge(a, scores)
	return scores, nil
}

// WithImputation returns a classifier that fills gaps in descriptions by the other kind of
// rule, and shares all else with c. What has no rule of its own is returned as it is.
func WithImputation(c TwoStage, kind impute.Kind) TwoStage {
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

// describe is Config.Describe, with gaps filled by the classes that were learned from.
func (l *LAGO) describe(u dataset.Matrix[float64]) (*Description, error) {
	full, err := l.Impute.Impute(u)
	if err != nil {
		return nil, err
	}
	return l.Config.Describe(full, l.Semantic)
}

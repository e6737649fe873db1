package model

import (
	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/model/preprocess"
)

// Preprocessed is a classifier behind a map of the features, and a rule for partial
// descriptions: it takes both as they are in the data set, and hands them on as the
// classifier was trained on them.
type Preprocessed struct {
	TwoStage
	Transform *preprocess.Transform // fitted where the classifier was trained
	Impute    *impute.Imputer       // of the classes it learned from; nil leaves gaps to the classifier
}

// Score implements Classifier.
func (c *Preprocessed) Score(x dataset.Matrix[float32], rows []int, u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	return DetectAndClassify(c, x, rows, u)
}

// Detect implements TwoStage.
func (c *Preprocessed) Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	if c.Transform.Kind == preprocess.None {
		return c.TwoStage.Detect(x, rows)
	}
	preprocessed, err := c.Transform.Apply(x, rows)
	if err != nil {
		return preprocessed, err
	}
	in := make([]int, len(rows))
	for i := range in {
		in[i] = i
	}
	return c.TwoStage.Detect(preprocessed, in)
}

// Classify implements TwoStage.
func (c *Preprocessed) Classify(a dataset.Matrix[float32], u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	full, err := c.Impute.Impute(u)
	if err != nil {
		return dataset.Matrix[float32]{}, err
	}
	return c.TwoStage.Classify(a, full)
}

package model

import (
	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/condition"
	"github.com/lago-train/lago-train/model/gaps"
)

// Conditioned is a classifier behind a map of the features, and a rule for partial
// descriptions: it takes both as they are in the data set, and hands them on as the
// classifier was trained on them.
type Conditioned struct {
	Detecting
	Map  *condition.Map // fitted where the classifier was trained
	Gaps *gaps.Rule     // of the classes it learned from; nil leaves gaps to the classifier
}

// Score implements Classifier.
func (c *Conditioned) Score(x dataset.Matrix[float32], rows []int, u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	return DetectAndJudge(c, x, rows, u)
}

// Detect implements Detecting.
func (c *Conditioned) Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	if c.Map.Kind == condition.None {
		return c.Detecting.Detect(x, rows)
	}
	conditioned, err := c.Map.Apply(x, rows)
	if err != nil {
		return conditioned, err
	}
	in := make([]int, len(rows))
	for i := range in {
		in[i] = i
	}
	return c.Detecting.Detect(conditioned, in)
}

// Judge implements Detecting.
func (c *Conditioned) Judge(a dataset.Matrix[float32], u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	full, err := c.Gaps.Fill(u)
	if err != nil {
		return dataset.Matrix[float32]{}, err
	}
	return c.Detecting.Judge(a, full)
}

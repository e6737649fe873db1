package model

import (
	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/condition"
)

// Conditioned is a classifier behind a map of the features: it takes them as they
// are in the data set, and hands them on as the classifier was trained on them.
type Conditioned struct {
	Detecting
	Map *condition.Map // fitted where the classifier was trained
}

// Score implements Classifier.
func (c *Conditioned) Score(x dataset.Matrix[float32], rows []int, u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	a, err := c.Detect(x, rows)
	if err != nil {
		return a, err
	}
	return c.Judge(a, u)
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

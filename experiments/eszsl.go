package experiments

import (
	"math"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/peer/eszsl"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// ESZSL is how the peer does by the same protocol: its ridges chosen on the val
// classes, fitted anew to train and val classes, and judged on the test classes.
type ESZSL struct {
	Gamma  float64 `json:"gamma"`
	Lambda float64 `json:"lambda"`

	Val   Measured     `json:"-"`
	Test  Measured     `json:"-"`
	Model *eszsl.Model `json:"-"` // the one that was judged on the test classes
}

// The powers of ten that the ridges are chosen from. They hold all that the authors
// of the paper settled on, with room on either side.
const (
	minGamma, maxGamma   = -2, 6
	minLambda, maxLambda = -3, 3
)

// normaliseDescriptions is what the authors did in all of their runs of ESZSL.
const normaliseDescriptions = true

// FitESZSL carries out the protocol for ESZSL, which has no seeds.
func FitESZSL(d *dataset.Dataset) (*ESZSL, error) {
	dev, err := newESZSLStage(d, d.Split.Train, d.Split.Val)
	if err != nil {
		return nil, err
	}
	e := &ESZSL{}
	best := -1.0
	for g := minGamma; g <= maxGamma; g++ {
		gamma := math.Pow10(g)
		r, err := dev.sums.Regress(gamma)
		if err != nil {
			return nil, err
		}
		for l := minLambda; l <= maxLambda; l++ {
			lambda := math.Pow10(l)
			_, val, err := dev.fit(r, lambda)
			if err != nil {
				return nil, err
			}
			if val.PerClass.Mean > best {
				best = val.PerClass.Mean
				e.Gamma, e.Lambda, e.Val = gamma, lambda, val
			}
		}
	}
	test, err := newESZSLStage(d, d.Split.Seen(), d.Split.Test)
	if err != nil {
		return nil, err
	}
	r, err := test.sums.Regress(e.Gamma)
	if err != nil {
		return nil, err
	}
	e.Model, e.Test, err = test.fit(r, e.Lambda)
	return e, err
}

// eszslStage is the data of a stage, and what all fits to it share.
type eszslStage struct {
	sums    *eszsl.Sums
	learned dataset.Matrix[float64] // descriptions of the classes learned from
	judged  train.Samples
	classes dataset.Matrix[float64] // descriptions of the classes judged
}

func newESZSLStage(d *dataset.Dataset, learn, judge []int) (*eszslStage, error) {
	s := train.Select(d, d.Features, learn)
	sums, err := eszsl.NewSums(s.X, s.Rows, s.Labels, len(learn))
	return &eszslStage{
		sums: sums, learned: d.Describe(learn),
		judged: train.Select(d, d.Features, judge), classes: d.Describe(judge),
	}, err
}

func (s *eszslStage) fit(r *eszsl.Regression, lambda float64) (*eszsl.Model, Measured, error) {
	m, err := r.Fit(s.learned, lambda, normaliseDescriptions)
	if err != nil {
		return nil, Measured{}, err
	}
	a, err := accuracyOf(m, s.judged, s.classes)
	return m, Measured{
		PerClass:  Summarise([]float64{a.PerClass}),
		PerSample: Summarise([]float64{a.PerSample}),
		Classes:   s.classes.Rows,
	}, err
}

// accuracyOf judges samples by a classifier.
func accuracyOf(c model.Classifier, s train.Samples, u dataset.Matrix[float64]) (metrics.Accuracy, error) {
	scores, err := c.Score(s.X, s.Rows, u)
	if err != nil {
		return metrics.Accuracy{}, err
	}
	return accuracyBy(scores, s.Labels), nil
}

// accuracyBy counts how often the highest score of a row is at its label.
func accuracyBy(scores dataset.Matrix[float32], labels []int) metrics.Accuracy {
	named := metrics.NewConfusion(scores.Cols)
	named.Add(scores.Data, labels)
	return named.Accuracy()
}

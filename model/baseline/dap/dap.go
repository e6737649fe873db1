// Package dap has direct attribute prediction (DAP), of Lampert, Nickisch and Harmeling ("Attribute-Based
// Classification for Zero-Shot Visual Object Categorization", TPAMI 2014; before, CVPR 2009): a classifier
// p(a_m|x) for each attribute. It scores a class by its binary attributes a_m^z in {0, 1}, its description
// above a threshold:
//
//	p(z|x) ~ product over m of p(a_m = a_m^z | x) / p(a_m = a_m^z).
//
// The classifiers minimise |w|^2 / 2 + c (sum over samples of the log loss). Logistic regression is ours:
// unlike those of support vector machines, its probabilities need no calibration. LAGO with singleton groups
// and binary descriptions is DAP (supplement D.4 of its paper); a test compares the two.
//
// An attribute that all training classes have, or none of them, cannot be learned. It
// gets p(a_m|x) = p(a_m) = 1/2 and has no effect.
package dap

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/method"
)

// Threshold is the value of a description above which a class has the attribute.
type Threshold string

// The thresholds, both over the training classes.
const (
	// Mean is the mean of all descriptions. It made the binary table of Animals with
	// Attributes, and the LAGO paper assumes that DAP uses it.
	Mean Threshold = "mean"
	// AttributeMean is the mean of the attribute, so that rare attributes count, too.
	AttributeMean Threshold = "attribute-mean"
)

// Prior is the estimate of p(a_m).
type Prior string

// The priors. Lampert et al. (2009) found little difference between the two; with unsure
// classifiers and rare attributes, as in CUB, there is a large one.
const (
	Empirical Prior = "empirical" // the fraction of the training classes that have the attribute
	Half      Prior = "half"      // 1/2
)

// Settings has the settings of DAP.
type Settings struct {
	C         float64   `json:"c"` // weight of the samples: see the package comment
	Threshold Threshold `json:"threshold"`
	Prior     Prior     `json:"prior"`
}

// Settings implements method.Method. Programs for logistic regression use c = 1 for
// features of length 1. Features of deep networks have a length of 30 or 40, which is
// equivalent to c multiplied by 1000. The default is in the middle of the searched values.
func (c *Settings) Settings() setting.List {
	return setting.List{
		setting.Number("c", &c.C, 1e-3, setting.BoundedPositive).
			Describe("`C` weight of the samples in logistic regression").Try(1e-5, 1e-4, 1e-3, 1e-2, 1e-1),
		setting.Choice("threshold", &c.Threshold, Mean, Mean, AttributeMean).
			Describe("value of a description above which a class has the attribute").
			Try(string(Mean), string(AttributeMean)),
		setting.Choice("prior", &c.Prior, Empirical, Empirical, Half).
			Describe("p(a_m) of an attribute").Try(string(Empirical), string(Half)),
	}
}

// fitKey has the settings that classifiers depend on; the prior is none of them.
type fitKey struct {
	c         float64
	threshold Threshold
}

// newModel returns a DAP with its thresholds and p(a_m), M of each. Its detections are the log odds of
// p(a_m|x), which are as exact for probabilities near 1 as near 0, and its scores are log p(z|x).
func newModel(r *method.Reader, s method.Shape) (m *baseline.Model, thresholds, prior []float32) {
	m = &baseline.Model{
		Parameters: r, W: r.Get("W", s.Dims, s.Attributes), Bias: r.Get("b", 1, s.Attributes).Data,
		Attributes: s.Attributes, Gather: dataset.Matrix[float32].CopyRows,
	}
	thresholds, prior = r.Get("thresholds", 1, s.Attributes).Data, r.Get("prior", 1, s.Attributes).Data
	m.Describe = func(u dataset.Matrix[float64]) (dataset.Matrix[float64], error) {
		_, err := baseline.Complete(u, nil)
		return binary(u, thresholds), err
	}
	m.Score = func(odds dataset.Matrix[float32], has dataset.Matrix[float64]) dataset.Matrix[float32] {
		return posterior(odds, has, prior)
	}
	return m, thresholds, prior
}

func (c *Settings) Restore(r *method.Reader, s method.Shape) (method.Model, error) {
	m, _, _ := newModel(r, s)
	return m, r.Err
}

// Learn implements method.Method. DAP is not random. The loss is in nats per sample, summed over attributes.
func (c *Settings) Learn(e method.Examples, _ uint64) (method.Learner, error) {
	m, thresholds, prior := newModel(&method.Reader{New: true}, e.Shape())
	copy(thresholds, thresholdsOf(e.U, c.Threshold))
	has := binary(e.U, thresholds) // NaN where there is nothing to learn
	for i, f := range fractions(has) {
		prior[i] = 0.5
		if c.Prior == Empirical {
			prior[i] = float32(f)
		}
	}
	objective := c.objective(e, has)
	key := fitKey{c.C, c.Threshold}
	return baseline.FitOnce(m, func() (float64, error) {
		fit, err := method.Cached(e.Fits, key, objective.Minimise)
		if err != nil {
			return 0, err
		}
		baseline.SetTransposed(m.W, mat.NewDense(fit.W.Rows, fit.W.Cols, fit.W.Data))
		for k, b := range fit.B {
			m.Bias[k] = float32(b)
		}
		return fit.Loss, nil
	}), nil
}

func thresholdsOf(u dataset.Matrix[float64], t Threshold) []float32 {
	all := dataset.Means(matrix.Of(u.Data, 1), 0.5)
	thresholds := slices.Repeat(all, u.Cols)
	if t == AttributeMean {
		thresholds = dataset.Means(u, all[0])
	}
	return dataset.Convert[float32](matrix.Of(thresholds, u.Cols)).Data
}

// binary returns which class has which attribute, Z x M: 1 or 0, and NaN where u is.
func binary(u dataset.Matrix[float64], thresholds []float32) dataset.Matrix[float64] {
	has := dataset.NewMatrix[float64](u.Rows, u.Cols)
	for i, p := range u.Data {
		switch {
		case math.IsNaN(p):
			has.Data[i] = p
		case p > float64(thresholds[i%u.Cols]):
			has.Data[i] = 1
		}
	}
	return has
}

// fractions returns the fraction of classes that have an attribute among those that
// describe it, M. If all or none have it, the attribute cannot be learned: as in the
// program of Lampert et al. its fraction is 1/2, and its column of has becomes NaN.
func fractions(has dataset.Matrix[float64]) []float64 {
	fraction := dataset.Means(has, 0)
	for m, f := range fraction {
		if f > 0 && f < 1 {
			continue
		}
		fraction[m] = 0.5
		for z := range has.Rows {
			has.Row(z)[m] = math.NaN()
		}
	}
	return fraction
}

func (c *Settings) objective(e method.Examples, has dataset.Matrix[float64]) baseline.Objective {
	return baseline.Objective{
		X: e.X, Rows: e.Rows, Bias: true, Outputs: has.Cols, Curvature: 0.1,
		Penalty: 1 / (c.C * float64(len(e.Rows))), // there, the loss is a mean
		Loss: func(sample, m int, score float64) (float64, float64) {
			return logisticLoss(score, has.Row(e.Labels[sample])[m])
		},
	}
}

// logisticLoss is -log p(a|x) for a = 1 or 0 and p = sigmoid(score), with its derivative; 0 if a is NaN.
func logisticLoss(score, a float64) (loss, slope float64) {
	if math.IsNaN(a) {
		return 0, 0
	}
	return softplus(score) - a*score, 1/(1+math.Exp(-score)) - a
}

// posterior returns log p(z|x) of samples with log odds of their attributes, for classes that have them, lack
// them (0) or say nothing of them (NaN), a factor of 1.
func posterior(odds dataset.Matrix[float32], has dataset.Matrix[float64],
	prior []float32,
) dataset.Matrix[float32] {
	owns, lacks := dataset.Convert[float64](has), dataset.NewMatrix[float64](has.Rows, has.Cols)
	for i, v := range has.Data {
		if math.IsNaN(v) {
			owns.Data[i] = 0
		} else {
			lacks.Data[i] = 1 - v
		}
	}
	// The logs of the factors of having the attribute, p(a_m|x) / p(a_m), and of not.
	on, off := dataset.Convert[float64](odds), dataset.Convert[float64](odds)
	for i, s := range on.Data {
		p := float64(prior[i%odds.Cols])
		on.Data[i] = -softplus(-s) - math.Log(p)
		off.Data[i] = -softplus(s) - math.Log1p(-p)
	}
	logP := matrix.Product(on, owns.T())
	floats.Add(logP.Data, matrix.Product(off, lacks.T()).Data)
	model.LogNormalise(logP.Data, has.Rows)
	return dataset.Convert[float32](logP)
}

// softplus is log(1 + exp(x)) without overflow, or minus the log of sigmoid(-x).
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

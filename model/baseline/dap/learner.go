package dap

import (
	"math"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/linear"
)

// Learn implements baseline.Settings. Nothing in it is random.
func (c Config) Learn(e baseline.Examples, _ uint64) (baseline.Learner, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := e.Check(); err != nil {
		return nil, err
	}
	if _, err := baseline.Describe(e.U, false); err != nil {
		return nil, err
	}
	thresholds := thresholdsOf(e.U, c.Threshold)
	has := binary(e.U, thresholds)
	share := shares(has)
	l := &learner{config: c, examples: e, has: has, model: &Model{
		Thresholds: dataset.Matrix[float32]{Rows: 1, Cols: e.U.Cols, Data: thresholds},
		Prior:      dataset.NewMatrix[float32](1, e.U.Cols),
	}}
	outputs := e.U.Cols
	if c.Prediction == Indirect {
		outputs = e.U.Rows
		l.model.Classes = given(has, share)
	}
	for m, p := range share {
		l.model.Prior.Data[m] = 0.5
		if c.Prior == Empirical {
			l.model.Prior.Data[m] = float32(p)
		}
	}
	l.model.W, l.model.B = dataset.NewMatrix[float32](e.X.Cols, outputs), dataset.NewMatrix[float32](1, outputs)
	return l, nil
}

// given is p(a_m|y) of the classes learned from: the share where a class says nothing.
func given(has dataset.Matrix[float64], share []float64) dataset.Matrix[float32] {
	p := dataset.NewMatrix[float32](has.Rows, has.Cols)
	for i, v := range has.Data {
		if math.IsNaN(v) {
			v = share[i%has.Cols]
		}
		p.Data[i] = float32(v)
	}
	return p
}

// learner is done after one epoch: the methods are the optimum, not a way to it.
type learner struct {
	config   Config
	examples baseline.Examples
	has      dataset.Matrix[float64] // Y x M, NaN where there is nothing to learn
	model    *Model
}

// fitKey is what a fit depends on beside the examples: the prior is none of it.
type fitKey struct {
	prediction Prediction
	c          float64
	threshold  Threshold
}

// Epoch implements baseline.Learner. The loss is that of the classifiers, in nats a sample:
// summed over attributes for DAP.
func (l *learner) Epoch(int) (loss float64, done bool, err error) {
	key := fitKey{l.config.Prediction, l.config.C, l.config.Threshold}
	if key.prediction == Indirect {
		key.threshold = ""
	}
	fit, err := baseline.Cached(l.examples.Cache, key, l.problem().Minimise)
	if err != nil {
		return 0, false, err
	}
	fit.Store(l.model.W, l.model.B)
	return fit.Loss, true, nil
}

// problem is what the classifiers are the minimum of.
func (l *learner) problem() linear.Problem {
	e := l.examples
	p := linear.Problem{
		X: e.X, Rows: e.Rows, Bias: true, Outputs: l.model.W.Cols,
		Penalty: 1 / (l.config.C * float64(len(e.Rows))), // since the sum of losses is a mean there
	}
	if l.config.Prediction == Indirect {
		p.Joint = func(sample int, scores []float64) float64 { return softmaxLoss(scores, e.Labels[sample]) }
	} else {
		p.Each = func(sample, m int, score float64) (float64, float64) {
			return logisticLoss(score, l.has.Row(e.Labels[sample])[m])
		}
	}
	return p
}

// logisticLoss is -log p(a|x) for a = 1 or 0, with p = sigmoid(score), and its slope. An
// attribute that is NaN has none.
func logisticLoss(score, a float64) (loss, slope float64) {
	if math.IsNaN(a) {
		return 0, 0
	}
	return softplus(score) - a*score, 1/(1+math.Exp(-score)) - a
}

// softmaxLoss is -log p(y|x), with p = softmax(scores), and writes its gradient.
func softmaxLoss(scores []float64, y int) float64 {
	model.LogNormalise(scores, len(scores))
	loss := -scores[y]
	for z, l := range scores {
		scores[z] = math.Exp(l)
	}
	scores[y]--
	return loss
}

// Model implements baseline.Learner.
func (l *learner) Model() baseline.Model { return l.model }

// State implements baseline.Learner.
func (l *learner) State() baseline.Tensors { return l.model.Tensors() }

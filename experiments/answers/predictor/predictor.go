// Package predictor predicts with a trained model: a Predictor is a Model with the candidates and the decision,
// see model.Decision, which corrects, calibrates and adapts its scores. The decision is chosen here, too, on
// validation classes by models that were not trained on these, and stored in model files.
//
// Predictions of many samples, explanations of one, and the scores of package evaluation all go through two
// functions: what corrects the scores of a class is model.Correction, and what is done to corrected scores is
// Predictor.decide.
package predictor

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// Options say how samples are predicted.
type Options struct {
	Temperature float64 // T of the probabilities softmax(s/T); 0 is that of the model
	Adapt       bool    // adapt the predictions to all samples together
}

// Predictor predicts samples as one of some classes. It is not for concurrent use.
type Predictor struct {
	*Model
	Options
	Candidates Candidates
	// T of the probabilities: that of the options, otherwise the calibrated one, otherwise 1 for
	// LAGO. 0: the scores are no probabilities.
	Temperature float64
	Mixed       bool // seen and unseen classes are candidates together, see model.Decision

	explainer *model.Explainer // nil until it is used
}

// Predictor returns the predictor of the model for the candidates.
func (m *Model) Predictor(c Candidates, o Options) (*Predictor, error) {
	p := &Predictor{Model: m, Options: o, Candidates: c, Temperature: o.Temperature}
	if unseen := p.Unseen(); unseen > 0 && unseen < len(c.Names) {
		pipeline := *m.Pipeline
		pipeline.Decision, p.Mixed = m.Decision.ForMixed(), true
		p.Model = m.With(&pipeline)
	}
	switch {
	case o.Temperature > 0:
	case p.Decision.Calibration != nil:
		p.Temperature = p.Decision.Calibration.Temperature
	case m.Method.Name == methods.LAGO:
		p.Temperature = 1 // of log p(z|x)
	}
	if o.Adapt {
		if _, err := m.AdaptationSettings(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// decide does to the corrected scores of a sample, one for each candidate, what the decision says, in place.
// The softmax of the result is p(z|x) unless Temperature is 0. All predictions that are not adapted to a batch
// go through it; explanations take what it adds to a score for a part of the correction.
func (p *Predictor) decide(scores []float64) {
	if p.Temperature > 0 {
		floats.Scale(1/p.Temperature, scores)
	}
}

// Scores returns the decided scores of samples, rows of x, for the candidates.
func (p *Predictor) Scores(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	scores, err := model.Score(p.Pipeline, x, rows, p.Candidates.U)
	for i := range scores.Rows {
		row := scores.Row(i)
		for z, s := range p.decided(row) {
			row[z] = float32(s)
		}
	}
	return scores, err
}

// decided returns the scores of a sample after decide.
func (p *Predictor) decided(scores []float32) []float64 {
	decided := make([]float64, len(scores))
	for z, s := range scores {
		decided[z] = float64(s)
	}
	p.decide(decided)
	return decided
}

// fitShare returns the share of the held-out samples whose best class of as many candidates fits less well.
func (p *Predictor) fitShare(fit float64) float64 {
	return p.Decision.Fit.Share(fit, len(p.Candidates.Names))
}

// Adapts reports whether predictions are adapted.
func (p *Predictor) Adapts() bool { return p.Adapt && p.Decision.Adaptation.Tau > 0 }

// Unseen counts the candidates that the model was not trained on.
func (p *Predictor) Unseen() (n int) {
	learned := p.LearnedClasses()
	for _, name := range p.Candidates.Names {
		if !learned[name] {
			n++
		}
	}
	return n
}

// AdaptationSettings are those that are stored with the model. The error says how to choose them
// where it has none.
func (m *Model) AdaptationSettings() (*model.Adaptation, error) {
	if a := m.Decision.Adaptation; a != nil {
		return a, nil
	}
	return nil, &invalid.Error{
		Where: m.Path, Field: "adaptation", Want: "a temperature and tau, chosen on validation classes",
		Got: "none",
		Hint: "Repeat the command that trained it, lago-train run with --stage full: finished runs are " +
			"reused, and their models get them.",
	}
}

// AdaptationWarning says why predictions are not adapted, "" if they are.
func AdaptationWarning(a *model.Adaptation) string {
	if a.Tau > 0 {
		return ""
	}
	return fmt.Sprintf("adaptation is not recommended for this model (no reliable gain on %s)",
		format.Count(a.Classes, "validation class"))
}

// Adapted is the predictions for a batch, adapted to it unless they are Declined.
type Adapted struct {
	*adapt.Mixture
	Changed int // number of predictions that differ from those of the scores
}

// Adapt normalises a batch in place and adapts the predictions to it, see adapt.Fit.
func Adapt(blocks []adapt.Block, s adapt.Settings) (*Adapted, error) {
	adapt.Normalise(blocks)
	r, err := adapt.Fit(blocks, s)
	if err != nil {
		return nil, err
	}
	a, row := &Adapted{Mixture: r}, 0
	for _, b := range blocks {
		for i := range b.Scores.Rows {
			if metrics.Argmax(b.Scores.Row(i)) != metrics.Argmax(r.P.Row(row)) {
				a.Changed++
			}
			row++
		}
	}
	return a, nil
}

// CalibrationText says in one line what was chosen, and whether that helped.
func CalibrationText(c *model.Calibration) string {
	if c == nil {
		return "none: no temperature fits the validation classes"
	}
	text := fmt.Sprintf("temperature %.3g; expected calibration error on validation classes "+
		"that did not choose it: ", c.Temperature)
	if c.ErrorBefore == nil {
		return text + fmt.Sprintf("%.3f", c.ErrorAfter)
	}
	text += fmt.Sprintf("%.3f -> %.3f", *c.ErrorBefore, c.ErrorAfter)
	if !Calibrated(c) {
		text += ", not lower: treat probabilities as a ranking"
	}
	return text
}

// Calibrated reports whether probabilities are closer to accuracies with the temperature.
func Calibrated(c *model.Calibration) bool {
	return c != nil && (c.ErrorBefore == nil || c.ErrorAfter < *c.ErrorBefore)
}

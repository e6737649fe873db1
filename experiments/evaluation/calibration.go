package evaluation

import (
	"fmt"
	"math"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/train/metrics"
)

// ScoreKind says how scores relate to probabilities.
type ScoreKind string

// The kinds of scores.
const (
	// Logits are scores whose softmax is p(z|x), such as log p(z|x), the scores of LAGO.
	Logits ScoreKind = "logits"
	// Probabilities are p(z|x).
	Probabilities ScoreKind = "probabilities"
	// BareScores only rank the classes. Validation can fit a temperature T, so that the
	// softmax of s/T is p(z|x).
	BareScores ScoreKind = "scores"
)

// kindOf recognises probabilities, or their logs, by rows that sum to 1. Other scores
// are bare.
func kindOf(scores dataset.Matrix[float32]) ScoreKind {
	const tolerance = 1e-3 // programs round what they write
	p, log := true, true
	for i := range scores.Rows {
		var sum, exp float64
		for _, v := range scores.Row(i) {
			p = p && v >= 0
			sum += float64(v)
			exp += math.Exp(float64(v))
		}
		p, log = p && math.Abs(sum-1) < tolerance, log && math.Abs(exp-1) < tolerance
	}
	switch {
	case p:
		return Probabilities
	case log:
		return Logits
	}
	return BareScores
}

// Calibration says how reliable p(z|x) is. Its fields are null for bare scores.
type Calibration struct {
	ECE         *float64        `json:"ece"`  // expected calibration error
	NLL         *float64        `json:"nll"`  // mean -log p of the true class
	AURC        *float64        `json:"aurc"` // area under the risk-coverage curve
	Reliability []metrics.Bin   `json:"reliability"`
	Coverage    []CoveragePoint `json:"coverage"`

	confidence []float64 // of each sample
	coverage   *metrics.Coverage
}

// CoveragePoint holds the most confident samples.
type CoveragePoint struct {
	Coverage float64 `json:"coverage"` // their share of all samples
	Samples  int     `json:"samples"`
	Accuracy float64 `json:"accuracy"` // per sample
}

// Tempered is the calibration with a temperature.
type Tempered struct {
	Temperature float64 `json:"temperature"`
	Calibration
}

// labelled is a calibration with the label of its column or line.
type labelled struct {
	label string
	*Calibration
}

// calibrations lists the calibrations of the scores: without and with the temperature.
func (r *Result) calibrations() []labelled {
	var list []labelled
	if r.ECE != nil {
		list = append(list, labelled{"as scored", &r.Calibration})
	}
	if r.Temperature != nil {
		list = append(list, labelled{fmt.Sprintf("temperature %.4g", r.Temperature.Temperature), &r.Temperature.Calibration})
	}
	return list
}

// calibrate evaluates the probabilities without and with a temperature.
func (c Config) calibrate(r *Result, validation *Scored) {
	if r.Kind != BareScores {
		r.Calibration = c.calibrationAt(r.scored, 1)
	}
	if validation == nil {
		if r.Kind == BareScores {
			r.note("the scores are not probabilities, and without validation no temperature converts them: calibration and coverage are not available")
		}
		return
	}
	logits := validation.logits()
	t, err := metrics.FitTemperature(logits, validation.Labels)
	if err != nil {
		r.note("no temperature fits the validation scores: %v", err)
		return
	}
	nll := metrics.NLL(logits, validation.Labels, t)
	r.Validation.NLL = &nll
	r.Temperature = &Tempered{t, c.calibrationAt(r.scored, t)}
}

// logits returns scores whose softmax is p(z|x).
func (s *Scored) logits() dataset.Matrix[float32] {
	if s.Kind == Probabilities {
		return metrics.LogProbabilities(s.Scores)
	}
	return s.Scores
}

// coverageSteps is the number of rows in the table of coverage.
const coverageSteps = 10

func (c Config) calibrationAt(s *Scored, temperature float64) Calibration {
	logits := s.logits()
	confidence, correct := metrics.Confidence(logits, temperature), metrics.Right(s.Scores, s.Labels)
	bins, coverage := metrics.NewReliability(confidence, correct, c.Bins), metrics.NewCoverage(confidence, correct)
	ece, nll, aurc := bins.ECE(), metrics.NLL(logits, s.Labels, temperature), coverage.Area()
	k := Calibration{ECE: &ece, NLL: &nll, AURC: &aurc, Reliability: bins, confidence: confidence, coverage: coverage}
	for step := 1; step <= coverageSteps; step++ {
		n := (coverage.Len()*step + coverageSteps - 1) / coverageSteps
		k.Coverage = append(k.Coverage, CoveragePoint{float64(step) / coverageSteps, n, coverage.Accuracy(n)})
	}
	return k
}

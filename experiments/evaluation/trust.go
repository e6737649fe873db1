package evaluation

import (
	"fmt"
	"math"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/train/metrics"
)

// ScoreKind says what scores have to do with probabilities.
type ScoreKind string

// The kinds of scores.
const (
	// Logits are scores whose softmax is p(z|x), as log p(z|x) is. LAGO's are.
	Logits ScoreKind = "logits"
	// Probabilities are p(z|x).
	Probabilities ScoreKind = "probabilities"
	// BareScores only say which class is the likelier. Validation can find them a
	// temperature T, so that the softmax of s/T is p(z|x).
	BareScores ScoreKind = "scores"
)

// UnmarshalText reads "logits", "probabilities" or "scores".
func (k *ScoreKind) UnmarshalText(text []byte) error {
	switch ScoreKind(text) {
	case Logits, Probabilities, BareScores:
		*k = ScoreKind(text)
		return nil
	}
	return fmt.Errorf("expected logits, probabilities or scores, found %q", text)
}

// KindOf finds out what scores are: probabilities, or their logs, where every row
// adds up to 1, and else bare scores.
func KindOf(scores dataset.Matrix[float32]) ScoreKind {
	const hair = 1e-3 // for programs that round what they write
	p, log := true, true
	for i := range scores.Rows {
		var sum, exp float64
		for _, v := range scores.Row(i) {
			p = p && v >= 0
			sum += float64(v)
			exp += math.Exp(float64(v))
		}
		p, log = p && math.Abs(sum-1) < hair, log && math.Abs(exp-1) < hair
	}
	switch {
	case p:
		return Probabilities
	case log:
		return Logits
	}
	return BareScores
}

// Trust is how far p(z|x) can be relied upon; its fields are null for scores that
// have none.
type Trust struct {
	ECE         *float64         `json:"ece"`  // expected calibration error
	NLL         *float64         `json:"nll"`  // mean -log p of the true class
	AURC        *float64         `json:"aurc"` // area under the risk-coverage curve
	Reliability []ReliabilityBin `json:"reliability"`
	Coverage    []CoveragePoint  `json:"coverage"`

	confidence []float64 // of each sample
	coverage   *metrics.Coverage
}

// ReliabilityBin is the samples whose confidence, the highest p(z|x), lies in (Low,
// High].
type ReliabilityBin struct {
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Samples    int     `json:"samples"`
	Confidence float64 `json:"confidence"` // mean, 0 of none
	Accuracy   float64 `json:"accuracy"`   // per sample, 0 of none
}

// CoveragePoint is the most confident samples.
type CoveragePoint struct {
	Coverage float64 `json:"coverage"` // their share of all
	Samples  int     `json:"samples"`
	Accuracy float64 `json:"accuracy"` // per sample
}

// Tempered is Trust with a temperature.
type Tempered struct {
	Temperature float64 `json:"temperature"`
	Trust
}

// namedTrust is Trust with what to call it.
type namedTrust struct {
	name string
	*Trust
}

// trusted lists what there is of probabilities: as scored, and with the temperature.
func (e *Result) trusted() []namedTrust {
	var list []namedTrust
	if e.ECE != nil {
		list = append(list, namedTrust{"as scored", &e.Trust})
	}
	if e.Temperature != nil {
		list = append(list, namedTrust{fmt.Sprintf("temperature %.4g", e.Temperature.Temperature), &e.Temperature.Trust})
	}
	return list
}

// trust judges probabilities, as they are and with a temperature.
func (c Config) trust(e *Result, s, validation *Scored) {
	if s.Kind != BareScores {
		e.Trust = c.trustAt(s, 1)
	}
	if validation == nil {
		if s.Kind == BareScores {
			e.note("the scores are no probabilities, and without validation there is no temperature that makes some of them: no calibration and no coverage")
		}
		return
	}
	logits := validation.logits()
	t, err := metrics.FitTemperature(logits, validation.Labels)
	if err != nil {
		e.note("no temperature fits the validation scores: %v", err)
		return
	}
	nll := metrics.NLL(logits, validation.Labels, t)
	e.Validation.NLL = &nll
	e.Temperature = &Tempered{t, c.trustAt(s, t)}
}

func (e *Result) note(format string, args ...any) {
	e.Notes = append(e.Notes, fmt.Sprintf(format, args...))
}

// logits are scores to take a softmax of.
func (s *Scored) logits() dataset.Matrix[float32] {
	if s.Kind == Probabilities {
		return metrics.LogProbabilities(s.Scores)
	}
	return s.Scores
}

// coverageSteps is how many shares of the samples the table of coverage has.
const coverageSteps = 10

func (c Config) trustAt(s *Scored, temperature float64) Trust {
	logits := s.logits()
	confidence, right := metrics.Confidence(logits, temperature), metrics.Right(s.Scores, s.Labels)
	r, coverage := metrics.NewReliability(confidence, right, c.Bins), metrics.NewCoverage(confidence, right)
	ece, nll, aurc := r.ECE(), metrics.NLL(logits, s.Labels, temperature), coverage.Area()
	t := Trust{ECE: &ece, NLL: &nll, AURC: &aurc, confidence: confidence, coverage: coverage}
	for _, b := range r {
		t.Reliability = append(t.Reliability, ReliabilityBin(b))
	}
	for step := 1; step <= coverageSteps; step++ {
		n := (coverage.Len()*step + coverageSteps - 1) / coverageSteps
		t.Coverage = append(t.Coverage, CoveragePoint{float64(step) / coverageSteps, n, coverage.Accuracy(n)})
	}
	return t
}

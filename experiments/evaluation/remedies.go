package evaluation

import (
	"context"
	"fmt"

	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/experiments/predictor"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/metrics"
)

// Remedy is the accuracies in the generalised setting with something that makes up for the higher scores
// of seen classes: calibrated stacking, the correction by seen classes, or both.
type Remedy struct {
	Name       string  `json:"name"`                     // raw, stacked, corrected or both
	Omega      float64 `json:"omega"`                    // strength of the correction
	Gamma      float64 `json:"gamma"`                    // subtracted from the scores of seen classes
	Validation float64 `json:"validation_harmonic_mean"` // by which omega and gamma were chosen
	metrics.Generalised
	Intervals metrics.GeneralisedInterval `json:"intervals"`

	stacking *metrics.Stacking
}

// String names the remedy and what validation chose.
func (r Remedy) String() string {
	text := r.Name
	if r.Omega != 0 {
		text += fmt.Sprintf(", omega %g", r.Omega)
	}
	if r.Gamma != 0 {
		text += fmt.Sprintf(", gamma %.3g", r.Gamma)
	}
	return text
}

// Minus is the difference of the harmonic means of two remedies on the same samples, and its interval over
// classes.
func (r Remedy) Minus(other Remedy) (mean float64, interval metrics.Interval) {
	return r.stacking.Difference(r.Gamma, other.stacking, other.Gamma)
}

// Remedies evaluates one model without and with each remedy. The run of the dev stage chooses omega and gamma.
func (m Models) Remedies(ctx context.Context) ([]Remedy, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	return m.remedies(ctx, m.Models[0], m.Dev[0])
}

func (m Models) remedies(ctx context.Context, of, dev *predictor.Model) ([]Remedy, error) {
	kind := of.CorrectionKind()
	stacking := func(of *predictor.Model, omega float64, validates bool) (*metrics.Stacking, error) {
		p := *of.Pipeline
		p.Correction = model.Correction{Kind: kind, Omega: omega}
		scores, err := m.score(ctx, []*predictor.Model{of.With(&p)}, validates)
		if err != nil {
			return nil, err
		}
		return metrics.NewStacking(scores[0].scores, scores[0].labels, scores[0].sides), nil
	}
	list := []Remedy{{Name: "raw"}, {Name: "stacked"}, {Name: "corrected"}, {Name: "both"}}
	for _, omega := range adaptation.Omegas {
		validation, err := stacking(dev, omega, true)
		if err != nil {
			return nil, err
		}
		for i := range list {
			gamma := 0.0
			if i%2 == 1 {
				gamma = validation.Best()
			}
			if mean := validation.At(gamma).Mean; (omega > 0) == (i > 1) && (list[i].Omega == 0 || mean > list[i].Validation) {
				list[i].Omega, list[i].Gamma, list[i].Validation = omega, gamma, mean
			}
		}
	}
	tests := map[float64]*metrics.Stacking{} // by omega
	for i := range list {
		r := &list[i]
		if r.stacking = tests[r.Omega]; r.stacking == nil {
			var err error
			if r.stacking, err = stacking(of, r.Omega, false); err != nil {
				return nil, err
			}
			tests[r.Omega] = r.stacking
		}
		r.Generalised, r.Intervals = r.stacking.At(r.Gamma), r.stacking.Interval(r.Gamma)
	}
	return list, nil
}

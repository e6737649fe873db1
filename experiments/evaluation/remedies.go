package evaluation

import (
	"context"
	"strings"

	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/experiments/predictor"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// Remedy is the accuracies in the generalised setting with something that makes up for the higher scores
// of seen classes: calibrated stacking, the correction by seen classes, or both.
type Remedy struct {
	Name      string `json:"name"`      // raw, stacked, corrected or both
	Preferred bool   `json:"preferred"` // by validation
	train.Remedy
	metrics.Generalised
	Intervals metrics.GeneralisedInterval `json:"intervals"`

	stacking *metrics.Stacking
}

// String names the remedy and what validation chose.
func (r Remedy) String() string {
	return strings.TrimSuffix(r.Name+", "+r.Remedy.String(), ", ")
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

func (m Models) remedies(ctx context.Context, of, dev *predictor.Model) (list []Remedy, err error) {
	chosen, err := adaptation.Remedies(ctx, []adaptation.Fold{{Model: dev.Path, Data: m.Data, HoldOut: dev.Trial.HoldOut}}, []*predictor.Model{dev})
	if err != nil {
		return nil, err
	}
	tests := map[float64]*metrics.Stacking{} // by omega
	for i, choice := range chosen {
		stacking := tests[choice.Omega]
		if stacking == nil {
			corrected := *of.Saved
			corrected.Generalised = &train.Remedy{Correction: choice.Correction}
			scores, err := m.score(ctx, []*predictor.Model{{Saved: &corrected, Path: of.Path, Trial: of.Trial}}, m.Candidates, m.Split == ValSplit)
			if err != nil {
				return nil, err
			}
			stacking = metrics.NewStacking(scores[0].scores, scores[0].labels, scores[0].sides)
			tests[choice.Omega] = stacking
		}
		r := Remedy{adaptation.RemedyNames[i], i == adaptation.Preferred(chosen), choice, stacking.At(choice.Gamma), stacking.Interval(choice.Gamma), stacking}
		list = append(list, r)
	}
	return list, nil
}

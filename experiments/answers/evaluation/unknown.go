package evaluation

import (
	"context"

	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// Unknown is how well samples of classes that are no candidates are recognised among those of candidates: the
// area under the receiver operating characteristic. The first half of the unseen classes is left out of
// the candidates, then the second half; numbers are means of the two.
type Unknown struct {
	Samples    int     `json:"samples"`
	Classes    int     `json:"classes"`
	Confidence float64 `json:"auroc_confidence"` // by the probability of the best class
	Fit        float64 `json:"auroc_fit"`        // by how well the best class fits
}

// unknown evaluates a model on samples of classes that are no candidates.
func (m Models) unknown(ctx context.Context, of *predictor.Model) (*Unknown, error) {
	d := m.Data
	_, unseen := m.classes(m.Split == ValSplit)
	if len(unseen) < 4 {
		return nil, &invalid.Error{Field: "unknown", Want: "at least 4 unseen classes, of which half are left out", Got: format.Count(len(unseen), "class")}
	}
	samples := train.Select(d, d.Features, unseen)
	detected, err := of.Detect(samples.X, samples.Rows)
	if err != nil {
		return nil, err
	}
	temperature := 1.0
	if of.Calibration != nil {
		temperature = of.Calibration.Temperature
	}
	r := &Unknown{Samples: len(samples.Rows), Classes: len(unseen)}
	for half := range 2 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var candidates []int
		for i, z := range unseen {
			if i*2/len(unseen) == half {
				candidates = append(candidates, z)
			}
		}
		u := d.Describe(candidates)
		scores, err := of.Classify(detected, u)
		if err != nil {
			return nil, err
		}
		fit, err := of.BestFit(detected, u)
		if err != nil {
			return nil, err
		}
		for i := 0; of.Fit != nil && i < len(fit); i++ {
			fit[i] = of.Fit.Share(fit[i]) // as predict prints it
		}
		area := func(values []float64) float64 {
			var of [2][]float64
			for i, v := range values {
				side := samples.Labels[i]*2/len(unseen) ^ half // 1 if its class was left out
				of[side] = append(of[side], v)
			}
			return metrics.AUROC(of[0], of[1]) / 2
		}
		r.Confidence += area(metrics.Confidence(scores, temperature))
		r.Fit += area(fit)
	}
	return r, nil
}

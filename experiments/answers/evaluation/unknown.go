package evaluation

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// Unknown is how well samples of classes that are no candidates are recognised among those of candidates: the
// area under the receiver operating characteristic. Of the unseen classes, a random half are the candidates.
type Unknown struct {
	Samples int `json:"samples"`
	Classes int `json:"classes"`
	Draws   int `json:"draws"` // of the candidates
	// by the probability of the best class, mean over the draws
	Confidence   float64 `json:"auroc_confidence"`
	ConfidenceSD float64 `json:"auroc_confidence_sd"` // standard deviation over the draws
	Fit          float64 `json:"auroc_fit"`           // by how well the best class fits
	FitSD        float64 `json:"auroc_fit_sd"`
	// share of the samples of candidates with a low fit, predictor.LowFit, mean over the draws; null of models
	// that measured none
	Low *float64 `json:"low_fit"`
}

const unknownDraws = 20

// unknown evaluates a model on samples of classes that are no candidates.
func (m Models) unknown(ctx context.Context, of *predictor.Model) (*Unknown, error) {
	d := m.Data
	_, unseen := m.classes(m.Split == ValSplit)
	if len(unseen) < 4 {
		return nil, &invalid.Error{
			Field: "unknown", Want: "at least 4 unseen classes, of which half are left out",
			Got: format.Count(len(unseen), "class"),
		}
	}
	samples := train.Select(d, d.Features, unseen)
	detected, err := of.Detect(samples.X, samples.Rows)
	if err != nil {
		return nil, err
	}
	temperature := 1.0
	if c := of.Decision.Calibration; c != nil {
		temperature = c.Temperature
	}
	random := rand.New(rand.NewPCG(19, 0))
	var confidences, fits []float64 // areas
	var lows []float64              // shares
	for range unknownDraws {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		candidate := make([]bool, len(unseen))
		var candidates []int
		for _, z := range random.Perm(len(unseen))[:len(unseen)/2] {
			candidate[z], candidates = true, append(candidates, unseen[z])
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
		for i := 0; of.Decision.Fit != nil && i < len(fit); i++ {
			fit[i] = of.Decision.Fit.Share(fit[i], len(candidates)) // as predict prints it
		}
		divide := func(values []float64) (known, unknown []float64) {
			for i, v := range values {
				if candidate[samples.Labels[i]] {
					known = append(known, v)
				} else {
					unknown = append(unknown, v)
				}
			}
			return known, unknown
		}
		confidences = append(confidences, metrics.AUROC(divide(metrics.Confidence(scores, temperature))))
		known, unknown := divide(fit)
		fits = append(fits, metrics.AUROC(known, unknown))
		low := 0.0
		for _, v := range known {
			if v < predictor.LowFit {
				low++
			}
		}
		lows = append(lows, low/float64(len(known)))
	}
	r := &Unknown{Samples: len(samples.Rows), Classes: len(unseen), Draws: unknownDraws}
	if of.Decision.Fit != nil {
		low := stat.Mean(lows, nil)
		r.Low = &low
	}
	r.Confidence, r.ConfidenceSD = stat.MeanStdDev(confidences, nil)
	r.Fit, r.FitSD = stat.MeanStdDev(fits, nil)
	return r, nil
}

package adaptation

import (
	"cmp"
	"context"
	"slices"

	"github.com/lago-train/lago-train/experiments/predictor"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// omegas are those that validation chooses from where seen and unseen classes are candidates together.
var omegas = []float64{0, 0.25, 0.5, 1}

// RemedyNames are those of Remedies.
var RemedyNames = []string{"raw", "stacked", "corrected", "both"}

// Remedies returns what makes up for the higher scores of seen classes, in the order of their names: nothing,
// calibrated stacking, the correction by seen classes, and both. Omega and gamma, the mean over the folds,
// have the highest harmonic mean of the accuracies on held-out samples of train classes and on those of
// validation classes, all of them candidates; of equals the largest omega, since the stored detections of
// seen classes are corrected in full by 1. Without such samples it returns nil. models are those of the folds.
func Remedies(ctx context.Context, folds []Fold, models []*predictor.Model) ([]train.Remedy, error) {
	kind := models[0].CorrectionKind()
	list := make([]train.Remedy, len(RemedyNames))
	at := make([][]*metrics.Stacking, len(omegas)) // by omega and fold
	for i, f := range folds {
		d, p := f.Data, *models[i].Pipeline
		classes := slices.Concat(d.Split.Train, d.Split.Val)
		all, sides := train.Select(d, d.Features, classes), make(metrics.Sides, len(classes))
		s := train.Samples{X: d.Features}
		for z := range sides {
			sides[z] = z >= len(d.Split.Train)
		}
		for k, row := range all.Rows {
			z := all.Labels[k]
			if _, held := slices.BinarySearch(d.TestSeen, row); held != sides[z] {
				s.Rows, s.Labels = append(s.Rows, row), append(s.Labels, z)
			}
		}
		if !f.HoldOut || sides.Check(s.Labels) != nil {
			return nil, ctx.Err()
		}
		detected, err := p.Detect(s.X, s.Rows)
		if err != nil {
			return nil, err
		}
		for o, omega := range omegas {
			p.Correction = model.Correction{Kind: kind, Omega: omega}
			scores, err := p.Classify(detected, d.Describe(classes))
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return nil, err
			}
			at[o] = append(at[o], metrics.NewStacking(scores, s.Labels, sides))
		}
	}
	for o, omega := range omegas {
		gamma := 0.0
		for _, s := range at[o] {
			gamma += s.Best() / float64(len(at[o]))
		}
		for i := range list {
			if (omega > 0) != (i > 1) {
				continue
			}
			r := train.Remedy{Correction: model.Correction{Kind: kind, Omega: omega}, Gamma: gamma * float64(i%2)}
			for _, s := range at[o] {
				r.Validation += s.At(r.Gamma).Mean / float64(len(at[o]))
			}
			if r.Validation >= list[i].Validation {
				list[i] = r
			}
		}
	}
	return list, nil
}

// Preferred returns the index of the remedy that validation prefers, of equals the first in the order
// corrected, raw, stacked and both.
func Preferred(list []train.Remedy) int {
	best := 2
	for _, i := range []int{0, 1, 3} {
		if list[i].Validation > list[best].Validation {
			best = i
		}
	}
	return best
}

// generalise returns the preferred remedy. Without held-out samples it is the correction in full.
func generalise(ctx context.Context, folds []Fold, models []*predictor.Model) (*train.Remedy, error) {
	list, err := Remedies(ctx, folds, models)
	if list == nil {
		return &train.Remedy{Correction: model.Correction{Kind: models[0].CorrectionKind(), Omega: 1}}, err
	}
	return &list[Preferred(list)], err
}

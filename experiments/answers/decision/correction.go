package decision

import (
	"context"
	"slices"

	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// omegas are those that validation chooses from where seen and unseen classes are candidates together.
var omegas = []float64{0, 0.25, 0.5, 1}

// mixed chooses omega and the temperature where seen and unseen classes are candidates together: omega has
// the highest harmonic mean, over the folds, of the accuracies on held-out samples of train classes and on
// those of validation classes; of equals it is the largest, since the reference of seen classes is corrected
// in full by 1. Without held-out samples it returns nil.
func mixed(ctx context.Context, folds []*validated, probabilities bool) (*model.Scoring, error) {
	var best *model.Scoring
	var scores []scored
	highest := -1.0
	for _, omega := range omegas {
		var list []scored
		mean := 0.0
		for _, f := range folds {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			s, harmonic, err := f.among(omega)
			if err != nil || s == nil {
				return nil, err
			}
			list, mean = append(list, *s), mean+harmonic/float64(len(folds))
		}
		if mean >= highest {
			highest, best, scores = mean, &model.Scoring{Omega: omega}, list
		}
	}
	best.Calibration = calibrate(scores, probabilities)
	return best, nil
}

// among scores the held-out samples of train classes, and the others of validation classes, for all of these
// with an omega, and returns their harmonic mean; nil without samples of both.
func (f *validated) among(omega float64) (*scored, float64, error) {
	d := f.Data
	s := &scored{classes: slices.Concat(d.Split.Train, d.Split.Val)}
	sides, rows := make(metrics.Sides, len(s.classes)), []int(nil)
	for z := range sides {
		sides[z] = z >= len(d.Split.Train)
	}
	all := train.Select(d, d.Features, s.classes)
	for i, row := range all.Rows {
		z := all.Labels[i]
		if _, held := slices.BinarySearch(d.TestSeen, row); held != sides[z] {
			rows, s.labels = append(rows, row), append(s.labels, z)
		}
	}
	if !f.HoldOut || sides.Check(s.labels) != nil {
		return nil, 0, nil
	}
	p := *f.Pipeline
	p.Decision.Omega = omega
	var err error
	if s.scores, err = model.Score(&p, d.Features, rows, d.Describe(s.classes)); err != nil {
		return nil, 0, err
	}
	return s, metrics.NewStacking(s.scores, s.labels, sides).At(0).Mean, nil
}

package engine

import (
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/train"
)

// validation is the validation accuracy of runs over seeds, each value a mean over folds.
func validation(runs []lab.Run) lab.Summary {
	var values []float64
	for _, seed := range lab.BySeed(runs) {
		var sum float64
		for _, r := range seed {
			sum += r.Evaluation.PerClass
		}
		values = append(values, sum/float64(len(seed)))
	}
	return lab.Summarise(values)
}

// DevEpoch returns the BestEpoch of the learning curves of dev runs. Further epochs of a run
// that converged would be like its last.
func DevEpoch(runs []lab.Run) (int, error) {
	curves := make([]train.Curve, len(runs))
	longest := 0
	for i, r := range runs {
		var err error
		if curves[i], err = train.ReadCurve(filepath.Join(r.Dir, train.CurveFile), train.Dev); err != nil {
			return 0, err
		}
		longest = max(longest, len(curves[i]))
	}
	for i, r := range runs {
		if n := len(curves[i]); n > 0 && r.Result.Status == train.Converged {
			curves[i] = append(curves[i], slices.Repeat(curves[i][n-1:], longest-n)...)
		}
	}
	return BestEpoch(curves), nil
}

// sumTolerance is the largest difference between sums of the same accuracies in
// different orders. One sample makes far more.
const sumTolerance = 1e-9

// BestEpoch returns the epoch with the highest validation accuracy of the average curve,
// over the epochs that every seed ran: the paper's rule for how long to train on train
// and validation classes together. Of equal epochs it is the first, of none 0.
func BestEpoch(curves []train.Curve) int {
	if len(curves) == 0 {
		return 0
	}
	best, top := 0, -1.0
	shortest := slices.MinFunc(curves, func(a, b train.Curve) int { return len(a) - len(b) })
	for e := range shortest {
		var sum float64
		for _, c := range curves {
			sum += *c[e].ValAccuracy
		}
		if sum > top+sumTolerance {
			best, top = e+1, sum
		}
	}
	return best
}

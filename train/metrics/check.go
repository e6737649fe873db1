package metrics

import (
	"fmt"

	"github.com/lago-train/lago-train/dataset"
)

// Check returns an error where nothing can be judged: that of CheckScores or of
// CheckLabels.
func Check(scores dataset.Matrix[float32], labels []int) error {
	if err := CheckScores(scores); err != nil {
		return err
	}
	return CheckLabels(labels, scores.Rows, scores.Cols)
}

// CheckScores returns an error where scores are none, not of their size, or not
// finite.
func CheckScores(scores dataset.Matrix[float32]) error {
	if scores.Rows < 1 || scores.Cols < 1 {
		return fmt.Errorf("scores: expected at least one sample and one class, found %d x %d", scores.Rows, scores.Cols)
	}
	if len(scores.Data) != scores.Rows*scores.Cols {
		return fmt.Errorf("scores: expected %d numbers for %d samples of %d classes, found %d",
			scores.Rows*scores.Cols, scores.Rows, scores.Cols, len(scores.Data))
	}
	for i, v := range scores.Data {
		if v-v != 0 {
			return fmt.Errorf("scores: expected finite numbers, found %v for sample %d and class %d, counted from 0",
				v, i/scores.Cols, i%scores.Cols)
		}
	}
	return nil
}

// CheckLabels returns an error where labels are not one for each sample, each from 0
// to classes-1.
func CheckLabels(labels []int, samples, classes int) error {
	if len(labels) != samples {
		return fmt.Errorf("labels: expected one for each of the %d samples of the scores, found %d", samples, len(labels))
	}
	zero, last := false, false
	for _, z := range labels {
		zero, last = zero || z == 0, last || z == classes
	}
	for i, z := range labels {
		if z >= 0 && z < classes {
			continue
		}
		err := fmt.Errorf("labels: expected classes from 0 to %d, found %d for sample %d", classes-1, z, i)
		if last && !zero {
			return fmt.Errorf("%w; there is a %d and no 0, so they seem to count from 1: subtract 1", err, classes)
		}
		return err
	}
	return nil
}

package metrics

import (
	"fmt"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/finite"
	"github.com/lago-train/lago-train/internal/invalid"
)

// CheckScores returns an *invalid.Error unless there are scores, as many as samples and
// classes, and all finite.
func CheckScores(scores dataset.Matrix[float32]) error {
	if scores.Rows < 1 || scores.Cols < 1 {
		return &invalid.Error{Field: "scores", Want: "at least one sample and one class", Got: fmt.Sprintf("%d x %d", scores.Rows, scores.Cols)}
	}
	if n := scores.Rows * scores.Cols; len(scores.Data) != n {
		return &invalid.Error{
			Field: "scores", Want: fmt.Sprintf("%d numbers for %d samples of %d classes", n, scores.Rows, scores.Cols), Got: fmt.Sprint(len(scores.Data)),
		}
	}
	if i := finite.Index(scores.Data); i >= 0 {
		return &invalid.Error{
			Field: "scores", Want: "finite numbers",
			Got: fmt.Sprintf("%v for sample %d and class %d, counted from 0", scores.Data[i], i/scores.Cols, i%scores.Cols),
		}
	}
	return nil
}

// CheckLabels returns an *invalid.Error unless labels are one per sample, each from 0 to
// classes-1.
func CheckLabels(labels []int, samples, classes int) error {
	if len(labels) != samples {
		return &invalid.Error{Field: "labels", Want: fmt.Sprintf("%d, one per sample of the scores", samples), Got: fmt.Sprint(len(labels))}
	}
	zero, last := false, false
	for _, z := range labels {
		zero, last = zero || z == 0, last || z == classes
	}
	for i, z := range labels {
		if z >= 0 && z < classes {
			continue
		}
		e := &invalid.Error{Field: "labels", Want: fmt.Sprintf("classes from 0 to %d", classes-1), Got: fmt.Sprintf("%d for sample %d", z, i)}
		if last && !zero {
			e.Hint = fmt.Sprintf("There is a %d and no 0: if the labels count from 1, subtract 1.", classes)
		}
		return e
	}
	return nil
}

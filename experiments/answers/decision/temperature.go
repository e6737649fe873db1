package decision

import (
	"fmt"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/metrics"
)

const calibrationBins = 15 // as evaluate has by default

// calibrate chooses the temperature of the probabilities, the mean over the folds. Its calibration error is
// that of the samples of half of the classes with the temperature of the other half. It returns nil if no
// temperature fits one of the folds.
func calibrate(folds []scored, probabilities bool) *model.Calibration {
	c, classes := new(model.Calibration), map[int]bool{}
	var before, after []float64 // confidences
	var right []bool
	for _, f := range folds {
		for _, z := range f.classes {
			classes[z] = true
		}
		t, err := metrics.FitTemperature(f.scores, f.labels)
		if err != nil {
			return nil // scores at chance, or without a mistake
		}
		c.Temperature += t / float64(len(folds))
		c.Samples += len(f.labels)
		for half := range 2 {
			scores, labels := f.half(half)
			t := 1.0
			if others, err := metrics.FitTemperature(f.half(1 - half)); err == nil {
				t = others
			}
			before = append(before, metrics.Confidence(scores, 1)...)
			after = append(after, metrics.Confidence(scores, t)...)
			right = append(right, metrics.Right(scores, labels)...)
		}
	}
	if probabilities {
		e := metrics.NewReliability(before, right, calibrationBins).ECE()
		c.ErrorBefore = &e
	}
	c.ErrorAfter, c.Classes = metrics.NewReliability(after, right, calibrationBins).ECE(), len(classes)
	return c
}

// half returns the samples of every other class, from class 0 or 1 on, scored for all.
func (s scored) half(half int) (scores dataset.Matrix[float32], labels []int) {
	var rows []int
	for i, z := range s.labels {
		if z%2 == half {
			rows, labels = append(rows, i), append(labels, z)
		}
	}
	return s.scores.Gather(rows), labels
}

// CalibrationText says in one line what was chosen, and whether that helped.
func CalibrationText(c *model.Calibration) string {
	if c == nil {
		return "none: no temperature fits the validation classes"
	}
	text := fmt.Sprintf("temperature %.3g; expected calibration error on validation classes "+
		"that did not choose it: ", c.Temperature)
	if c.ErrorBefore == nil {
		return text + fmt.Sprintf("%.3f", c.ErrorAfter)
	}
	text += fmt.Sprintf("%.3f -> %.3f", *c.ErrorBefore, c.ErrorAfter)
	if !Calibrated(c) {
		text += ", not lower: treat probabilities as a ranking"
	}
	return text
}

// Calibrated reports whether probabilities are closer to accuracies with the temperature.
func Calibrated(c *model.Calibration) bool {
	return c != nil && (c.ErrorBefore == nil || c.ErrorAfter < *c.ErrorBefore)
}

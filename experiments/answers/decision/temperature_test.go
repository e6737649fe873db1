package decision

import (
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/train/metrics"
)

// The temperature is the one of the validation classes alone; with it the expected calibration
// error is smaller. Scores without a mistake have none.
func TestCalibrate(t *testing.T) {
	b := simulated(12, 30, ofClass)
	s := scored{b.Scores, b.labels, b.classes}
	for i := range s.scores.Data {
		s.scores.Data[i] *= 5
	}
	want := testkit.Must(metrics.FitTemperature(s.scores, s.labels))(t)
	c := calibrate([]scored{s, s}, true)
	if c.Temperature != want || c.Samples != 720 || c.Classes != 12 || c.ErrorAfter > *c.ErrorBefore/2 || !Calibrated(c) {
		t.Errorf("%+v, expected temperature %g", c, want)
	}
	if c := calibrate([]scored{s}, false); c.ErrorBefore != nil {
		t.Errorf("scores that are not probabilities have the calibration error %g", *c.ErrorBefore)
	}
	c.ErrorAfter = *c.ErrorBefore
	testkit.WantText(t, CalibrationText(c), ", not lower: treat probabilities as a ranking")
	for i, z := range s.labels {
		s.scores.Row(i)[z] += 1000
	}
	if c := calibrate([]scored{s}, true); c != nil {
		t.Errorf("found %+v for scores without a mistake", c)
	}
}

// The error is that of classes with the temperature of the others, which do not fit where every other class has
// scores that are ten times as large.
func TestCalibrationErrorIsOfOtherClasses(t *testing.T) {
	b := simulated(12, 30, ofClass)
	for i, z := range b.labels {
		for k := range b.Scores.Row(i) {
			b.Scores.Row(i)[k] *= float32(1 + 9*(z%2))
		}
	}
	s := scored{b.Scores, b.labels, b.classes}
	own := 0.0
	for half := range 2 {
		scores, labels := s.half(half)
		temperature := testkit.Must(metrics.FitTemperature(scores, labels))(t)
		own += metrics.NewReliability(metrics.Confidence(scores, temperature), metrics.Right(scores, labels), calibrationBins).ECE() / 2
	}
	if c := calibrate([]scored{s}, true); c.ErrorAfter < 2*own {
		t.Errorf("error %g, with the temperature of the classes themselves %g", c.ErrorAfter, own)
	}
}

package model_test

import (
	"math"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
)

// The share of samples with a lower fit is 0 below all, 1 above all, and interpolated: between fits, and between
// numbers of candidates by their logarithms.
func TestFitShare(t *testing.T) {
	f := new(model.Fit)
	for _, n := range []int{2, 8} {
		var fits []float64
		for i := range 1000 {
			fits = append(fits, float64((i*7)%1000+(n-2)*100))
		}
		f.Add(n, fits)
	}
	for fit, want := range map[float64]float64{-1: 0, 250: 0.25, 333.3: 0.333, 999: 1, 2000: 1} {
		testkit.Near(t, "share among 2", f.Share(fit, 2), want, 0.002)
		testkit.Near(t, "share among 1", f.Share(fit, 1), want, 0.002)
		testkit.Near(t, "share among 9", f.Share(fit+600, 9), want, 0.002)
	}
	testkit.Near(t, "share among 4", f.Share(800, 4), (0.8+0.2)/2, 0.002)
	one := new(model.Fit)
	one.Add(1, []float64{3})
	testkit.Equal(t, "shares of one sample", []float64{one.Share(3, 1), one.Share(4, 1)}, []float64{0, 1})
}

func TestDecisionRefuses(t *testing.T) {
	nan := math.NaN()
	good := func() model.Decision {
		fit := new(model.Fit)
		fit.Add(2, []float64{1, 2})
		return model.Decision{
			Kind: model.Subtract, Scoring: model.Scoring{Omega: 0.5, Calibration: &model.Calibration{Temperature: 2}},
			Mixed: &model.Scoring{Omega: 1}, Stacking: &model.Stacking{Omega: 1, Gamma: -2}, Fit: fit,
			Adaptation: &model.Adaptation{Settings: adapt.Settings{Temperature: 1, Tau: 2}, Interval: new(model.Interval)},
		}
	}
	testkit.NoError(t, good().Check())
	for want, change := range map[string]func(d *model.Decision){
		"correction: expected evidence or standardise":                   func(d *model.Decision) { d.Kind = model.NoCorrection },
		"omega: expected a number from 0 to 1, found NaN":                func(d *model.Decision) { d.Omega = nan },
		"mixed: omega: expected":                                         func(d *model.Decision) { d.Mixed.Omega = 2 },
		"stacking: omega: expected":                                      func(d *model.Decision) { d.Stacking.Omega = -1 },
		"stacking: expected a finite gamma":                              func(d *model.Decision) { d.Stacking.Gamma = nan },
		"calibration: temperature: expected a number from 1e-18":         func(d *model.Decision) { d.Calibration.Temperature = 1e308 },
		"calibration: expected finite errors":                            func(d *model.Decision) { d.Calibration.ErrorAfter = nan },
		"fit: expected numbers of candidates, the lowest first, and 101": func(d *model.Decision) { d.Fit.Quantiles = nil },
		"which ascend from -1e+18 to 1e+18 at most": func(d *model.Decision) {
			high := slices.Clone(d.Fit.Quantiles[0])
			high[100] = 1e308
			d.Fit.Quantiles = append([][]float64{high}, d.Fit.Quantiles[1:]...)
		},
		"fit: expected numbers of samples and classes, 0 or above": func(d *model.Decision) { d.Fit.Samples = -1 },
		"adaptation: tau: expected":                                func(d *model.Decision) { d.Adaptation.Tau = -1 },
		"adaptation: expected finite accuracies":                   func(d *model.Decision) { d.Adaptation.Interval = nil },
	} {
		d := good()
		change(&d)
		testkit.WantError(t, d.Check(), want)
	}
}

package dap_test

import (
	"math"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/dap"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
)

var nan = math.NaN()

func examples(samples, dims, attributes, classes int, seed uint64) baseline.Examples {
	return baselinetest.Examples(samples, dims, attributes, classes, 1, seed)
}

func learn(t rapid.TB, c dap.Config, e baseline.Examples) *dap.Model {
	t.Helper()
	return baselinetest.Learn(t, c, e).(*dap.Model)
}

// drawConfig is any setting of either method.
func drawConfig(t *rapid.T) dap.Config {
	return dap.Config{
		Prediction: rapid.SampledFrom([]dap.Prediction{dap.Direct, dap.Indirect}).Draw(t, "prediction"),
		C:          math.Pow(10, rapid.Float64Range(-3, 0).Draw(t, "log c")),
		Threshold:  rapid.SampledFrom([]dap.Threshold{dap.Mean, dap.AttributeMean}).Draw(t, "threshold"),
		Prior:      rapid.SampledFrom([]dap.Prior{dap.Empirical, dap.Half}).Draw(t, "prior"),
	}
}

package dap

import (
	"math"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
)

var nan = math.NaN()

func examples(samples, dims, attributes, classes int, seed uint64) baseline.Examples {
	return baselinetest.Examples(samples, dims, attributes, classes, 1, seed)
}

func learn(t rapid.TB, c Config, e baseline.Examples) *Model {
	t.Helper()
	m, _ := baselinetest.Learn(t, c, e)
	return m.(*Model)
}

// drawConfig is any setting of either method.
func drawConfig(t *rapid.T) Config {
	return Config{
		Prediction: rapid.SampledFrom([]Prediction{Direct, Indirect}).Draw(t, "prediction"),
		C:          math.Pow(10, rapid.Float64Range(-3, 0).Draw(t, "log c")),
		Threshold:  rapid.SampledFrom([]Threshold{Mean, AttributeMean}).Draw(t, "threshold"),
		Prior:      rapid.SampledFrom([]Prior{Empirical, Half}).Draw(t, "prior"),
	}
}

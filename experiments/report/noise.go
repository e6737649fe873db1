package report

import (
	"encoding/json"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/robustness"
)

// NoiseFile is where the report looks for what `lago-train noise --json` prints.
const NoiseFile = "noise.json"

// noise shows how accuracy suffers from noisy descriptions, as figure A.1 of the
// paper does.
func noise(r *Runs, d *Dataset) Section {
	return distortion{
		command: "noise", file: NoiseFile, degrees: "ratios",
		axis: "share of entries with noise (%)", y: "relative accuracy (%)",
		caption: "Relative test accuracy against salt and pepper noise in the descriptions of classes.",
		start:   "without noise (%)", degree: "%g %% noise (%%)",
		measured: func(data []byte) (*distorted, error) {
			n := new(robustness.NoiseResult)
			err := json.Unmarshal(data, n)
			return &distorted{n.Dataset, n.Ratios, n.Methods}, err
		},
		drawn: func(m robustness.Method) []lab.Summary { return m.Relative },
	}.fill(Section{
		Name: "noise", Title: "Noisy descriptions",
		Text: "Accuracy on the test classes when entries of p(a|z) are replaced by 0 or 1 at random, against that of the same " +
			"model without noise. Error bars are one standard error over seeds of the noise.",
	}, r, d)
}

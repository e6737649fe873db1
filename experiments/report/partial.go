package report

import (
	"encoding/json"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/robustness"
)

// PartialFile is where the report looks for what `lago-train partial --json` prints.
const PartialFile = "partial.json"

// partial shows how accuracy falls when a part of each class's attributes is given.
func partial(r *Runs, d *Dataset) Section {
	return distortion{
		command: "partial", file: PartialFile, degrees: "shares",
		axis: "share of attributes given (%)", y: accuracyAxis,
		caption: "Test accuracy by a part of the attributes of each class.",
		start:   "all given (%)", degree: "%g %% given (%%)",
		measured: func(data []byte) (*distorted, error) {
			p := new(robustness.PartialResult)
			err := json.Unmarshal(data, p)
			return &distorted{p.Dataset, p.Shares, p.Methods}, err
		},
		drawn: func(m robustness.Method) []lab.Summary { return m.Accuracy },
	}.fill(Section{
		Name: "partial", Title: "Partial descriptions",
		Text: "Accuracy on the test classes when each of them gives a part of its attributes and leaves the others out. Error bars are " +
			"one standard error over what is given. What is left out counts as what is given of its group lets one expect or, where a " +
			"method is \"inferred\", as all that is given does.",
	}, r, d)
}

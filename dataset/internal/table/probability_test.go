package table

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestProbability(t *testing.T) {
	for text, want := range map[string]float64{
		"0": 0, "1": 1, "0.25": 0.25, " 1e-3 ": 0.001, ".5": 0.5, "1.0": 1,
		"yes": 1, "Always": 1, "OFTEN": 0.75, "sometimes": 0.5, "rarely": 0.1, "no": 0, "never ": 0,
		"": math.NaN(), "  ": math.NaN(),
	} {
		got, err := Probability(text)
		if err != nil || got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%q is %g (%v), expected %g", text, got, err, want)
		}
	}
}

func TestProbabilityErrors(t *testing.T) {
	const want = "expected a number from 0 to 1, one of never, no, rarely, sometimes, often, always, yes, or nothing if it is not described, found "
	for text, found := range map[string]string{
		"80":     `"80", which looks like a percentage: write 0.8`,
		"12.5 %": `"12.5 %", which looks like a percentage: write 0.125`,
		"1%":     `"1%", which looks like a percentage: write 0.01`,
		"0,5":    `"0,5": write 0.5`,
		"-1":     `"-1"`,
		"101":    `"101"`,
		"NaN":    `"NaN"`,
		"inf":    `"inf"`,
		"maybe":  `"maybe"`,
	} {
		if _, err := Probability(text); err == nil || err.Error() != want+found {
			t.Errorf("%q:\n%v\nexpected\n%s", text, err, want+found)
		}
	}
}

// What is accepted is a probability, or NaN for none.
func TestProbabilityProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`-?[0-9]*[.,]?[0-9]*(e-?[0-9])? ?%?`)).Draw(t, "text")
		if v, err := Probability(text); err == nil && (v < 0 || v > 1) {
			t.Errorf("%q is %g", text, v)
		}
	})
}

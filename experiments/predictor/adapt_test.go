package predictor

import (
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model/adapt"
)

func TestMostCandidatesAbsentIsWarnedOf(t *testing.T) {
	for second, warned := range map[float64]bool{0.01: true, 0.5: false} { // shares of the second class
		p := Adapted{Result: &adapt.Result{P: dataset.NewMatrix[float32](97, 3), Shares: []float64{0.99 - second, second, 0.01}}, Changed: 1}
		text := p.Table([]string{"a", "b", "c"}).Text(1000, 0)
		testkit.WantText(t, text, "adapted to 97 samples: 1 prediction changed", "seem to be absent: ", "c\n")
		if strings.Contains(text, "warning: more than half of the candidate classes") != warned {
			t.Errorf("%v:\n%s", p.Shares, text)
		}
	}
}

// A class that is predicted is not listed as absent, however small its share.
func TestPredictedClassIsNotAbsent(t *testing.T) {
	p := Adapted{Result: &adapt.Result{P: dataset.Matrix[float32]{Rows: 1, Cols: 3, Data: []float32{0.3, 0.4, 0.3}}, Shares: []float64{0.325, 0.35, 0.325}}}
	text := p.Table([]string{"a", "b", "c"}).Text(1000, 0)
	testkit.WantText(t, text, "expected samples", "│ b ", "seem to be absent: a, c\n")
}

package predictor

import (
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model/adapt"
)

// Classes whose expected number of samples is small, and that are predicted for none, are listed as
// absent; if most are, that is warned of.
func TestAbsentCandidates(t *testing.T) {
	for _, c := range []struct {
		samples int
		p       []float32 // of each sample
		shares  []float64
		absent  string
		warned  bool
	}{
		{97, []float32{1, 0, 0}, []float64{0.98, 0.01, 0.01}, "b, c\n", true},
		{97, []float32{1, 0, 0}, []float64{0.49, 0.5, 0.01}, "c\n", false},
		{1, []float32{0.3, 0.4, 0.3}, []float64{0.325, 0.35, 0.325}, "a, c\n", true}, // b is predicted
	} {
		p := dataset.NewMatrix[float32](c.samples, 3)
		for i := range p.Rows {
			copy(p.Row(i), c.p)
		}
		a := Adapted{Result: &adapt.Result{P: p, Shares: c.shares}, Changed: 1}
		text := a.Table([]string{"a", "b", "c"}).Text(1000, 0)
		testkit.WantText(t, text, ": 1 prediction changed", "seem to be absent: "+c.absent)
		if strings.Contains(text, "warning: more than half of the candidate classes") != c.warned {
			t.Errorf("%v:\n%s", c.shares, text)
		}
	}
}

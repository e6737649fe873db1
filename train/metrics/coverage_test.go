package metrics

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// By confidence: right at 0.9, then two at 0.8 of which one is right, then wrong at
// 0.1. Of the first two samples 1 + 1/2 are expected to be right.
//
//	area = (0 + 1/4 + 1/3 + 1/2) / 4
func TestCoverageByHand(t *testing.T) {
	c := NewCoverage([]float64{0.8, 0.1, 0.9, 0.8}, []bool{false, false, true, true})
	var got []float64
	for n := 1; n <= c.Len(); n++ {
		got = append(got, c.Accuracy(n))
	}
	if diff := cmp.Diff([]float64{1, 0.75, 2.0 / 3, 0.5}, got, cmpopts.EquateApprox(0, 1e-15)); diff != "" {
		t.Errorf("accuracy (-want +got):\n%s", diff)
	}
	near(t, "area", c.Area(), (0+0.25+1.0/3+0.5)/4, 1e-15)
}

func TestCoverage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		confidence, right := Confidence(p.scores, 1), Right(p.scores, p.labels)
		c := NewCoverage(confidence, right)
		near(t, "accuracy of all", c.Accuracy(c.Len()), TopK(p.scores, p.labels, 1).PerSample, 1e-12)
		if area := c.Area(); area < -1e-12 || area > 1+1e-12 {
			t.Errorf("area %g", area)
		}
		for _, q := range []problem{p.shuffled(2), p.shifted()} {
			other := NewCoverage(Confidence(q.scores, 1), Right(q.scores, q.labels))
			near(t, "area", other.Area(), c.Area(), 1e-12)
			near(t, "accuracy of one", other.Accuracy(1), c.Accuracy(1), 1e-12)
		}
	})
}

// No order of the same samples has a smaller area than that with the wrong ones last,
// nor a larger one than that with them first.
func TestCoverageArea(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		right := rapid.SliceOfN(rapid.Bool(), 1, 20).Draw(t, "right")
		confidence := make([]float64, len(right))
		for i := range confidence {
			confidence[i] = float64(i)
		}
		area := NewCoverage(confidence, right).Area()
		sorted := slices.Clone(right)
		slices.SortFunc(sorted, func(a, b bool) int {
			switch {
			case a == b:
				return 0
			case b:
				return -1
			}
			return 1
		})
		best := NewCoverage(confidence, sorted).Area() // the right ones have the highest confidence
		slices.Reverse(sorted)
		worst := NewCoverage(confidence, sorted).Area()
		if area < best-1e-12 || area > worst+1e-12 {
			t.Errorf("area %g, expected from %g to %g", area, best, worst)
		}
	})
}

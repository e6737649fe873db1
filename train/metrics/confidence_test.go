package metrics

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// By confidence: right at 0.9, one right and one wrong at 0.8, wrong at 0.1. Of the first
// two samples 1 + 1/2 are expected to be right.
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

// The area is smallest if the wrong predictions have the lowest confidence, and largest if
// they have the highest.
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

// The first bin has the samples at 0.3 (right) and 0.5 (wrong), the second that at 0.9
// (wrong).
//
//	ECE = 2/3 |1/2 - 0.4| + 1/3 |0 - 0.9|
func TestReliabilityByHand(t *testing.T) {
	r := NewReliability([]float64{0.3, 0.9, 0.5}, []bool{true, false, false}, 2)
	want := Reliability{{0, 0.5, 2, 0.4, 0.5}, {0.5, 1, 1, 0.9, 0}}
	if diff := cmp.Diff(want, r, cmpopts.EquateApprox(0, 1e-15)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	near(t, "ECE", r.ECE(), 2.0/3*0.1+0.3, 1e-15)
}

func TestConfidenceOfOneIsInTheLastBin(t *testing.T) {
	if r := NewReliability([]float64{1, 1 + 1e-15, 0}, []bool{true, true, false}, 10); r[9].Samples != 2 || r[0].Samples != 1 {
		t.Errorf("%+v", r)
	}
}

// Calibrated scores have no error, with any number of bins.
func TestECEOfCalibratedScores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.SliceOfNDistinct(rapid.IntRange(1, 9), 3, 3, rapid.ID[int]), 1, 4).Draw(t, "counts")
		p := calibrated(1, counts...)
		r := NewReliability(Confidence(p.scores, 1), Right(p.scores, p.labels), rapid.IntRange(1, 20).Draw(t, "bins"))
		near(t, "ECE", r.ECE(), 0, 1e-5)
		// At another temperature they have.
		r = NewReliability(Confidence(p.scores, 20), Right(p.scores, p.labels), 1)
		if r.ECE() < 1e-2 {
			t.Errorf("ECE %g of scores that are far too flat", r.ECE())
		}
	})
}

// With one bin the ECE is the difference of the means; more bins never decrease it.
func TestECEIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		confidence, right := Confidence(p.scores, 1), Right(p.scores, p.labels)
		one := NewReliability(confidence, right, 1).ECE()
		r := NewReliability(confidence, right, rapid.IntRange(1, 20).Draw(t, "bins"))
		if ece := r.ECE(); ece < one-1e-12 || ece > 1 {
			t.Errorf("ECE %g, but %g in one bin", ece, one)
		}
		var samples int
		for _, b := range r {
			samples += b.Samples
			if b.Samples > 0 && (b.Confidence < b.Low-1e-12 || b.Confidence > b.High+1e-12) {
				t.Errorf("confidence out of its bin: %+v", b)
			}
		}
		if samples != len(p.labels) {
			t.Errorf("%d samples in bins, expected %d", samples, len(p.labels))
		}
		for _, q := range []problem{p.shuffled(1), p.shifted()} {
			other := NewReliability(Confidence(q.scores, 1), Right(q.scores, q.labels), len(r))
			near(t, "ECE", other.ECE(), r.ECE(), 1e-12)
		}
	})
}

func TestConfidenceIsThatOfThePredictedClass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		temperature := rapid.Float64Range(0.1, 10).Draw(t, "temperature")
		to := make([]float64, p.scores.Cols)
		for i, c := range Confidence(p.scores, temperature) {
			softmax(to, p.scores.Row(i), temperature)
			var sum float64
			for _, q := range to {
				sum += q
			}
			near(t, "sum", sum, 1, 1e-12)
			near(t, "confidence", c, to[Argmax(p.scores.Row(i))], 1e-12)
			if c < 1/float64(len(to))-1e-12 || c > 1 || math.IsNaN(c) {
				t.Errorf("confidence %g among %d classes", c, len(to))
			}
		}
	})
}

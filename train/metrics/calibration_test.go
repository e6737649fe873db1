package metrics

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/internal/testkit"
)

// With scores 2 log 3 and 0 and three of four samples of the first class, T = 2 gives the
// odds 3 : 1 and the confidence 3/4. The NLL is its entropy.
func TestTemperatureByHand(t *testing.T) {
	p := problem{rows([]float32{2.1972246, 0}, []float32{2.1972246, 0}, []float32{2.1972246, 0}, []float32{2.1972246, 0}), []int{0, 0, 1, 0}}
	testkit.Near(t, "temperature", testkit.Must(FitTemperature(p.scores, p.labels))(t), 2, 1e-6)
	testkit.Near(t, "confidence", Confidence(p.scores, 2)[0], 0.75, 1e-7)
	testkit.Near(t, "NLL", NLL(p.scores, p.labels, 2), -0.75*math.Log(0.75)-0.25*math.Log(0.25), 1e-7)
	// Odds of 9 : 1.
	testkit.Near(t, "confidence at T = 1", Confidence(p.scores, 1)[0], 0.9, 1e-7)
}

// The fitted temperature is no worse than any of a fine grid.
func TestTemperatureIsTheBestOfAGrid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		best, err := FitTemperature(p.scores, p.labels)
		limit := 1e3
		if errors.Is(err, errAllRight) {
			best, limit = 1e-6, 1e-3
		} else if errors.Is(err, errNoBetterThanChance) {
			best = 1e9
		} else if err != nil {
			t.Fatal(err)
		}
		at := NLL(p.scores, p.labels, best)
		for temperature := 1e-3; temperature <= max(limit, 1e3); temperature *= 1.1 {
			if nll := NLL(p.scores, p.labels, temperature); nll < at-1e-6 {
				t.Fatalf("NLL %g at %g, but %g at the fitted %g", nll, temperature, at, best)
			}
		}
	})
}

func TestNoTemperature(t *testing.T) {
	for _, c := range []struct {
		problem
		want error
	}{
		{problem{rows([]float32{2, 1}, []float32{0, 0}), []int{0, 1}}, errAllRight},
		{problem{rows([]float32{2, 1}), []int{1}}, errNoBetterThanChance},                     // wrong
		{problem{rows([]float32{2, 1}, []float32{2, 1}), []int{0, 1}}, errNoBetterThanChance}, // right as often as wrong
		{problem{rows([]float32{3, 3, 3}), []int{2}}, errNoBetterThanChance},
		{problem{rows([]float32{3}), []int{0}}, errNoBetterThanChance},
	} {
		if _, err := FitTemperature(c.scores, c.labels); !errors.Is(err, c.want) {
			t.Errorf("%v: expected %v, found %v", c.problem, c.want, err)
		}
	}
}

// Scores at the limits of float32.
func TestTemperatureOfExtremeScores(t *testing.T) {
	for _, scale := range []float32{1e-38, 1e37} {
		p := problem{rows([]float32{scale, 0}, []float32{scale, 0}, []float32{scale, 0}), []int{0, 0, 1}}
		got := testkit.Must(FitTemperature(p.scores, p.labels))(t) // odds 2 : 1
		testkit.Near(t, "temperature", got/float64(scale), 1/math.Ln2, 1e-6)
	}
	// The margins differ by twelve orders of magnitude.
	p := problem{rows([]float32{1e6, 0}, []float32{0, 1e-6}), []int{0, 0}}
	if got, err := FitTemperature(p.scores, p.labels); err != nil || !(got > 0) || math.IsInf(got, 0) {
		t.Errorf("temperature %v, error %v", got, err)
	}
}

func TestLogProbabilities(t *testing.T) {
	p := rows([]float32{0.5, 0.25, 0.25, 0}, []float32{0, 1, 0, 0})
	scores := LogProbabilities(p)
	for i, want := range p.Data {
		testkit.Near(t, "probability", math.Exp(float64(scores.Data[i])), float64(want), 1e-7)
	}
	testkit.NoError(t, CheckScores(scores))
}

// The first bin has the samples at 0.3 (right) and 0.5 (wrong), the second that at 0.9 (wrong).
//
//	ECE = 2/3 |1/2 - 0.4| + 1/3 |0 - 0.9|
func TestReliabilityByHand(t *testing.T) {
	r := NewReliability([]float64{0.3, 0.9, 0.5}, []bool{true, false, false}, 2)
	want := Reliability{{0, 0.5, 2, 0.4, 0.5}, {0.5, 1, 1, 0.9, 0}}
	testkit.Equal(t, "bins", r, want, cmpopts.EquateApprox(0, 1e-15))
	testkit.Near(t, "ECE", r.ECE(), 2.0/3*0.1+0.3, 1e-15)
}

func TestConfidenceOfOneIsInTheLastBin(t *testing.T) {
	if r := NewReliability([]float64{1, 1 + 1e-15, 0}, []bool{true, true, false}, 10); r[9].Samples != 2 || r[0].Samples != 1 {
		t.Errorf("%+v", r)
	}
}

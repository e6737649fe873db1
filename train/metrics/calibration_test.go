package metrics

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
)

// calibrated makes scores that are calibrated at the temperature T: for each row of counts,
// count[z] samples of each class z with the scores T log(count) + a constant.
func calibrated(temperature float64, counts ...[]int) problem {
	var p problem
	p.scores.Cols = len(counts[0])
	for i, row := range counts {
		for z, n := range row {
			for range n {
				for _, m := range row {
					p.scores.Data = append(p.scores.Data, float32(temperature*math.Log(float64(m))+float64(i)))
				}
				p.labels = append(p.labels, z)
				p.scores.Rows++
			}
		}
	}
	return p
}

// With scores 2 log 3 and 0 and three of four samples of the first class, T = 2 gives the
// odds 3 : 1 and the confidence 3/4. The NLL is its entropy.
func TestTemperatureByHand(t *testing.T) {
	p := problem{rows([]float32{2.1972246, 0}, []float32{2.1972246, 0}, []float32{2.1972246, 0}, []float32{2.1972246, 0}), []int{0, 0, 1, 0}}
	got, err := FitTemperature(p.scores, p.labels)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "temperature", got, 2, 1e-6)
	near(t, "confidence", Confidence(p.scores, 2)[0], 0.75, 1e-7)
	near(t, "NLL", NLL(p.scores, p.labels, 2), -0.75*math.Log(0.75)-0.25*math.Log(0.25), 1e-7)
	// Odds of 9 : 1.
	near(t, "confidence at T = 1", Confidence(p.scores, 1)[0], 0.9, 1e-7)
}

func TestTemperatureIsRecovered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SampledFrom([]float64{0.01, 0.3, 1, 2, 50, 1e4}).Draw(t, "temperature")
		classes := rapid.IntRange(2, 4).Draw(t, "classes")
		counts := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(1, 9), classes, classes), 1, 4).Draw(t, "counts")
		counts[0][0] = 12 // so that the counts are not all equal
		p := calibrated(want, counts...)
		got, err := FitTemperature(p.scores, p.labels)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "temperature", got, want, 1e-3*want) // float32 scores, shifted by up to 3
	})
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

func TestTemperatureInvariances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		want, err := FitTemperature(p.scores, p.labels)
		for _, q := range []problem{p.shuffled(5), p.shifted()} {
			got, other := FitTemperature(q.scores, q.labels)
			if !errors.Is(other, err) {
				t.Fatalf("%v, expected %v", other, err)
			}
			near(t, "temperature", got, want, 1e-6*want)
		}
		// Doubled scores have the doubled temperature.
		for i := range p.scores.Data {
			p.scores.Data[i] *= 2
		}
		doubled, other := FitTemperature(p.scores, p.labels)
		if !errors.Is(other, err) {
			t.Fatalf("%v, expected %v", other, err)
		}
		near(t, "temperature", doubled, 2*want, 1e-6*want)
	})
}

func TestNoTemperature(t *testing.T) {
	for _, c := range []struct {
		name   string
		p      problem
		expect error
	}{
		{"all right", problem{rows([]float32{2, 1}, []float32{0, 0}), []int{0, 1}}, errAllRight},
		{"all wrong", problem{rows([]float32{2, 1}), []int{1}}, errNoBetterThanChance},
		{"right as often as wrong", problem{rows([]float32{2, 1}, []float32{2, 1}), []int{0, 1}}, errNoBetterThanChance},
		{"all equal", problem{rows([]float32{3, 3, 3}), []int{2}}, errNoBetterThanChance},
		{"one class", problem{rows([]float32{3}), []int{0}}, errNoBetterThanChance},
	} {
		if _, err := FitTemperature(c.p.scores, c.p.labels); !errors.Is(err, c.expect) {
			t.Errorf("%s: expected %v, found %v", c.name, c.expect, err)
		}
	}
}

// Scores at the limits of float32.
func TestTemperatureOfExtremeScores(t *testing.T) {
	for _, scale := range []float32{1e-38, 1e37} {
		p := problem{rows([]float32{scale, 0}, []float32{scale, 0}, []float32{scale, 0}), []int{0, 0, 1}}
		got, err := FitTemperature(p.scores, p.labels) // odds 2 : 1
		if err != nil {
			t.Fatal(err)
		}
		near(t, "temperature", got/float64(scale), 1/math.Ln2, 1e-6)
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
	to := make([]float64, 4)
	for i := range p.Rows {
		softmax(to, scores.Row(i), 1)
		for z, want := range p.Row(i) {
			near(t, "probability", to[z], float64(want), 1e-7)
		}
	}
	if err := CheckScores(scores); err != nil {
		t.Error(err)
	}
}

// (0.8 + 0.4)/2 and (0.2 + 0.6)/2; the second model has the temperature 3.
func TestEnsembleByHand(t *testing.T) {
	log := func(p float64) float32 { return float32(math.Log(p)) }
	var e Ensemble
	for _, m := range []struct {
		scores      dataset.Matrix[float32]
		temperature float64
	}{
		{rows([]float32{log(0.8), log(0.2)}), 1},
		{rows([]float32{3*log(0.4) + 5, 3*log(0.6) + 5}), 3},
	} {
		if err := e.Add(m.scores, m.temperature); err != nil {
			t.Fatal(err)
		}
	}
	got := e.Scores()
	near(t, "first", math.Exp(float64(got.Data[0])), 0.6, 1e-6)
	near(t, "second", math.Exp(float64(got.Data[1])), 0.4, 1e-6)
	if err := e.Add(rows([]float32{1, 2, 3}), 1); err == nil {
		t.Error("scores of three classes after those of two: expected an error")
	}
}

// An ensemble of equal models is the model.
func TestEnsembleOfOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		var e Ensemble
		for range rapid.IntRange(1, 3).Draw(t, "members") {
			if err := e.Add(p.scores, 1); err != nil {
				t.Fatal(err)
			}
		}
		near(t, "NLL", NLL(e.Scores(), p.labels, 1), NLL(p.scores, p.labels, 1), 1e-5)
	})
}

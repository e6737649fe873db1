package metrics

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
)

func TestAccuracy(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		counts Confusion
		want   Accuracy
		recall []float64
	}{
		{Confusion{{0, 1, 3}, {1, 0, 1}}, Accuracy{0, 0}, []float64{0, 0}},
		{Confusion{{0, 0, 90}, {1, 0, 9}, {1, 1, 1}}, Accuracy{(1 + 0.1) / 2, 0.91}, []float64{1, 0.1}}, // 90 of 90 and 1 of 10
		{
			Confusion{{0, 0, 1}, {0, 1, 1}, {1, 1, 4}, {2, 0, 2}, {2, 1, 1}, {2, 2, 1}},
			Accuracy{(0.5 + 1 + 0.25) / 3, 0.6},
			[]float64{0.5, 1, 0.25},
		},
		{Confusion{{0, 0, 1}, {0, 2, 1}, {2, 2, 2}}, Accuracy{0.75, 0.75}, []float64{0.5, nan, 1}}, // a class without samples
	} {
		testkit.Equal(t, "accuracy", c.counts.Accuracy(), c.want, cmpopts.EquateApprox(0, 1e-15))
		testkit.Equal(t, "recall", c.counts.Tally(len(c.recall)).Recall(), c.recall, cmpopts.EquateNaNs())
	}
}

func TestConfuse(t *testing.T) {
	low := float32(math.Inf(-1))
	got := testkit.Must(Confuse(rows(
		[]float32{0, 2, 1},
		[]float32{-5, -7, -6},
		[]float32{1, 3, 3}, // a tie: the first wins
		[]float32{0, 0, 0},
		[]float32{low, low, -9},
		[]float32{low, low, low},
		[]float32{9, 0, 0},
	), []int{1, 2, 2, 1, 2, 0, 2}))(t)
	testkit.Equal(t, "confusion", got, Confusion{{0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {2, 0, 2}, {2, 1, 1}, {2, 2, 1}})
	_, err := Confuse(rows([]float32{1, float32(math.NaN()), 0}), []int{0})
	testkit.WantError(t, err, "scores of sample 0: expected numbers, found NaN")
}

func TestCheck(t *testing.T) {
	nan := float32(math.NaN())
	good := rows([]float32{1, 2}, []float32{3, 4}, []float32{5, 6})
	testkit.NoError(t, CheckScores(good))
	for _, c := range []struct {
		scores dataset.Matrix[float32]
		want   string
	}{
		{dataset.NewMatrix[float32](0, 3), "scores: expected at least one sample and one class, found 0 x 3"},
		{rows([]float32{1, 2}, []float32{nan, 4}), "scores: expected finite numbers, found NaN for sample 1 and class 0"},
	} {
		testkit.WantError(t, CheckScores(c.scores), c.want)
	}
}

func TestCountIsThatOfConfuse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProblem(t)
		testkit.Equal(t, "accuracy", Count(p.scores, p.labels).Accuracy(), testkit.Must(Confuse(p.scores, p.labels))(t).Accuracy())
	})
}

// rows makes a matrix of rows.
func rows(rows ...[]float32) dataset.Matrix[float32] {
	m := dataset.Matrix[float32]{Rows: len(rows), Cols: len(rows[0])}
	for _, r := range rows {
		m.Data = append(m.Data, r...)
	}
	return m
}

// problem holds scores and labels. Drawn scores are small whole numbers, so that many are
// equal and sums are exact.
type problem struct {
	scores dataset.Matrix[float32]
	labels []int
}

func drawProblem(t *rapid.T) problem {
	n, classes := rapid.IntRange(1, 12).Draw(t, "samples"), rapid.IntRange(1, 6).Draw(t, "classes")
	p := problem{dataset.NewMatrix[float32](n, classes), make([]int, n)}
	for i := range p.scores.Data {
		p.scores.Data[i] = float32(rapid.IntRange(-4, 4).Draw(t, "score"))
	}
	for i := range p.labels {
		p.labels[i] = rapid.IntRange(0, classes-1).Draw(t, "label")
	}
	return p
}

// drawGeneralised draws a problem with samples of seen and of unseen classes.
func drawGeneralised(t *rapid.T) (problem, Sides) {
	p := drawProblem(t)
	sides := make(Sides, p.scores.Cols)
	for z := range sides {
		sides[z] = rapid.Bool().Draw(t, "unseen")
	}
	if sides.Check(p.labels) != nil {
		t.Skip("a side without samples")
	}
	return p, sides
}

// For many classes the bounds are those of the normal distribution.
func TestClassIntervalOfManyClasses(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	values := make([]float64, 200)
	for i := range values {
		values[i] = r.Float64()
	}
	mean, sd := stat.PopMeanStdDev(values, nil)
	margin := 1.96 * stat.StdErr(sd, 200)
	got := ClassInterval(values)
	testkit.Near(t, "low", got.Low, mean-margin, 0.05*margin)
	testkit.Near(t, "high", got.High, mean+margin, 0.05*margin)
}

// The bounds are those of binom.test in R.
func TestIntervalOfOneClass(t *testing.T) {
	for _, c := range []struct {
		right, samples int
		low, high      float64
	}{{0, 10, 0, 0.3084971}, {7, 10, 0.3475471, 0.9332605}, {10, 10, 0.6915029, 1}} {
		got := Tally{Samples: []int{0, c.samples}, Right: []int{0, c.right}}.Interval()
		testkit.Near(t, "low", got.Low, c.low, 1e-7)
		testkit.Near(t, "high", got.High, c.high, 1e-7)
	}
}

func TestClassIntervalNeedsTwoClasses(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		values     []float64
		json, text string
	}{
		{nil, "null", "-"},
		{[]float64{nan, 0.5, nan}, "null", "-"},
		{[]float64{nan, 0.5, 0.5}, `{"low":0.5,"high":0.5}`, "-"},
	} {
		got := ClassInterval(c.values)
		text := testkit.Must(json.Marshal(got))(t)
		var read Interval
		testkit.NoError(t, json.Unmarshal(text, &read))
		if string(text) != c.json || got.String() != c.text || !cmp.Equal(got, read, cmpopts.EquateNaNs()) {
			t.Errorf("%v: found %q and %s, read as %v", c.values, got, text, read)
		}
	}
}

func TestPairedDifference(t *testing.T) {
	// Of the 32 signs of 1 to 5, only the two of equal signs reach a sum of 15.
	got := PairedDifference([]float64{1, 3, 5, 7, 9, 8}, []float64{0, 1, 2, 3, 4, math.NaN()})
	testkit.Near(t, "mean", got.Mean, 3, 1e-12)
	testkit.Near(t, "p", got.P, 2.0/32, 1e-12)
	// Differences 0.1, -0.2 and 0.1 sum to 0 but for rounding, and every assignment is as far.
	testkit.Near(t, "p of no difference", PairedDifference([]float64{0.3, 0.1, 0.3}, []float64{0.2, 0.3, 0.2}).P, 1, 1e-12)

	// More classes than can be enumerated: only all signs equal reach the observed sum.
	a, b := make([]float64, 40), make([]float64, 40)
	for i := range a {
		a[i] = 1
	}
	testkit.Near(t, "least p", PairedDifference(a, b).P, 1.0/10_001, 1e-12)
}

// With all of its seen classes right, or none of its unseen ones, a problem has no spread.
func TestGeneralisedInterval(t *testing.T) {
	scores := rows([]float32{9, 0, 0, 0}, []float32{0, 9, 0, 0}, []float32{0, 0, 9, 0}, []float32{5, 0, 0, 1})
	got := NewStacking(scores, []int{0, 1, 2, 3}, Sides{false, false, true, true}).Interval(0)
	// The mean of two classes, one of them right, is 0, 0.5 or 1, each with more than 2.5 %.
	testkit.Equal(t, "interval", got, GeneralisedInterval{Interval{Low: 1, High: 1}, Interval{High: 1}, Interval{High: 1}})
	got = NewStacking(scores, []int{0, 1, 2, 3}, Sides{false, false, true, true}).Interval(math.Inf(-1))
	testkit.Equal(t, "without unseen predictions", got, GeneralisedInterval{Interval{Low: 1, High: 1}, Interval{}, Interval{}})
	if got := NewStacking(scores, []int{0, 1, 2, 2}, Sides{false, false, true, true}).Interval(0); got.Mean.String() != "-" {
		t.Errorf("one unseen class with samples: found %+v", got)
	}
}

// The third is p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm") in R.
func TestHolm(t *testing.T) {
	for _, c := range []struct{ p, want []float64 }{
		{nil, nil},
		{[]float64{0.04}, []float64{0.04}},
		{[]float64{0.01, 0.02, 0.03, 0.04, 0.05}, []float64{0.05, 0.08, 0.09, 0.09, 0.09}},
		{[]float64{0.04, 0.01, 0.03, 0.005}, []float64{0.06, 0.03, 0.06, 0.02}},
		{[]float64{0.7, 0.6}, []float64{1, 1}},
	} {
		testkit.Equal(t, fmt.Sprint(c.p), Holm(c.p), c.want, cmpopts.EquateApprox(0, 1e-12), cmpopts.EquateEmpty())
	}
}

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

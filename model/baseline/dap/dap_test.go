package dap

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
	"github.com/lago-train/lago-train/model/method"
)

func TestLogisticLoss(t *testing.T) {
	const h = 1e-6
	for _, score := range []float64{-800, -3, 0, 0.7, 40} {
		for _, a := range []float64{0, 1} {
			loss, slope := logisticLoss(score, a)
			above, _ := logisticLoss(score+h, a)
			below, _ := logisticLoss(score-h, a)
			testkit.Near(t, "slope", slope, (above-below)/(2*h), 1e-8)
			if score == 0 {
				testkit.Near(t, "loss", loss, math.Ln2, 1e-12)
			}
		}
		if loss, slope := logisticLoss(score, nan); loss != 0 || slope != 0 {
			t.Errorf("a missing attribute has a loss of %g and a slope of %g", loss, slope)
		}
	}
	for score, a := range map[float64]float64{-800: 1, 800: 0} {
		if loss, _ := logisticLoss(score, a); loss != 800 { // log(1 + e^800), rounded
			t.Errorf("a loss of %g, expected 800", loss)
		}
	}
}

// Scores of log 1, log 2 and log 5 make p = 1/8, 2/8 and 5/8.
func TestSoftmaxLoss(t *testing.T) {
	scores := []float64{0, math.Log(2), math.Log(5)}
	loss := softmaxLoss(scores, 1)
	testkit.Near(t, "loss", loss, math.Log(4), 1e-12)
	testkit.NearAll(t, "gradient", scores, []float64{1. / 8, -6. / 8, 5. / 8}, 1e-12)
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.SliceOfN(rapid.Float64Range(-9, 9), 4, 4).Draw(t, "scores")
		gradient := slices.Clone(at)
		softmaxLoss(gradient, 2)
		const h = 1e-5
		for k := range at {
			above, below := slices.Clone(at), slices.Clone(at)
			above[k] += h
			below[k] -= h
			testkit.NearAll(t, "gradient", gradient[k:k+1], []float64{(softmaxLoss(above, 2) - softmaxLoss(below, 2)) / (2 * h)}, 1e-7)
		}
	})
}

// At the optimum, the gradient of |w|^2/2 + c sum of losses by w and b vanishes.
func TestGradientVanishes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := examples(rapid.IntRange(5, 40).Draw(t, "samples"), rapid.IntRange(1, 6).Draw(t, "dims"), 4, 5, rapid.Uint64().Draw(t, "seed"))
		c := drawConfig(t)
		m := learn(t, c, e)
		has := binary(e.U, m.Thresholds.Data)
		fractions(has)
		w := dataset.Convert[float64](m.W)
		w.Rows, w.Data = w.Rows+1, append(w.Data, make([]float64, w.Cols)...) // the last row is of b
		gradient, size := slices.Clone(w.Data), make([]float64, len(w.Data))  // the sum, and that of absolute values
		for i, r := range e.Rows {
			x, slopes := append(baselinetest.Floats(e.X.Row(r)), 1), baselinetest.Floats(m.B.Data)
			for d, v := range x {
				floats.AddScaled(slopes, v, w.Row(d))
			}
			if c.Prediction == Indirect {
				softmaxLoss(slopes, e.Labels[i])
			} else {
				for k, s := range slopes {
					_, slopes[k] = logisticLoss(s, has.Row(e.Labels[i])[k])
				}
			}
			for j := range gradient {
				g := c.C * slopes[j%w.Cols] * x[j/w.Cols]
				gradient[j] += g
				size[j] += math.Abs(g)
			}
		}
		for j, g := range gradient {
			if !(math.Abs(g) <= 2e-3*(size[j]+math.Abs(w.Data[j]))) {
				t.Fatalf("gradient[%d] is %g, of parts that sum to %g", j, g, size[j])
			}
		}
	})
}

// withColumn inserts an attribute with the values of the rows in turn.
func withColumn(u dataset.Matrix[float64], at int, values ...float64) dataset.Matrix[float64] {
	wider := dataset.NewMatrix[float64](u.Rows, u.Cols+1)
	for z := range u.Rows {
		copy(wider.Row(z), slices.Insert(slices.Clone(u.Row(z)), at, values[z%len(values)]))
	}
	return wider
}

// An attribute that all training classes have, that none has, or that none describes has no
// effect, whichever unseen classes have it.
func TestConstantAttributeChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := examples(15, 3, 4, 5, rapid.Uint64().Draw(t, "seed"))
		unseen := examples(1, 1, 4, 6, rapid.Uint64().Draw(t, "unseen")).U
		c := drawConfig(t)
		if c.Threshold == Mean { // another attribute changes the mean, but not across 0 and 1
			for _, u := range []dataset.Matrix[float64]{e.U, unseen} {
				for i, p := range u.Data {
					u.Data[i] = math.Round(p)
				}
			}
		}
		want := baselinetest.Score(t, learn(t, c, e), e, unseen)
		values := rapid.SampledFrom([]float64{0, 1, nan})
		at, value, others := rapid.IntRange(0, 4).Draw(t, "place"), values.Draw(t, "value"), rapid.SliceOfN(values, 6, 6).Draw(t, "of unseen")
		e.U = withColumn(e.U, at, value)
		got := baselinetest.Score(t, learn(t, c, e), e, withColumn(unseen, at, others...))
		testkit.NearAll(t, "log p(z|x)", got.Data, want.Data, 1e-4)
	})
}

// Four classes have the attributes 3, 2 and 4 times.
func TestPrior(t *testing.T) {
	e := examples(8, 2, 3, 4, 8)
	e.U = baselinetest.Matrix(3, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 1)
	for prior, want := range map[Prior][]float64{Empirical: {0.75, 0.5, 0.5}, Half: {0.5, 0.5, 0.5}} {
		m := learn(t, Config{Prediction: Direct, C: 1, Threshold: AttributeMean, Prior: prior}, e)
		testkit.NearAll(t, string(prior), m.Prior.Data, want, 0)
	}
}

// Hyperparameters that a fit does not depend on reuse the cached fit: the features are NaN
// by then.
func TestFitsAreCached(t *testing.T) {
	for _, c := range []struct{ first, second Config }{
		{Config{Direct, 1, Mean, Empirical, ""}, Config{Direct, 1, Mean, Half, ""}},
		{Config{Indirect, 1, Mean, Empirical, ""}, Config{Indirect, 1, AttributeMean, Half, ""}},
	} {
		e := examples(15, 3, 4, 5, 4)
		e.Cache = new(method.Cache)
		first := learn(t, c.first, e)
		e.X.Data[0] = float32(nan)
		second := learn(t, c.second, e)
		testkit.NearAll(t, "W", second.W.Data, first.W.Data, 0)
	}
}

var nan = math.NaN()

func examples(samples, dims, attributes, classes int, seed uint64) method.Examples {
	return baselinetest.Examples(samples, dims, attributes, classes, 1, seed)
}

func learn(t testkit.TB, c Config, e method.Examples) *Model {
	t.Helper()
	m, _ := baselinetest.Learn(t, &c, e)
	return m.(*Model)
}

// drawConfig draws settings of either method.
func drawConfig(t *rapid.T) Config {
	return Config{
		Prediction: rapid.SampledFrom([]Prediction{Direct, Indirect}).Draw(t, "prediction"),
		C:          math.Pow(10, rapid.Float64Range(-3, 0).Draw(t, "log c")),
		Threshold:  rapid.SampledFrom([]Threshold{Mean, AttributeMean}).Draw(t, "threshold"),
		Prior:      rapid.SampledFrom([]Prior{Empirical, Half}).Draw(t, "prior"),
	}
}

// The described entries of the columns have means of 1/2, 1/4, 3/4 and 1/8; the mean of all
// ten is 0.4.
func TestThresholds(t *testing.T) {
	u := baselinetest.Matrix(5,
		0.1, 0.5, nan, 0.25, nan,
		0.6, 0.0, 0.75, 0, nan,
		0.8, 0.25, 0.75, nan, nan)
	testkit.NearAll(t, "mean", thresholdsOf(u, Mean).Data, []float64{0.4, 0.4, 0.4, 0.4, 0.4}, 1e-7)
	testkit.NearAll(t, "attribute-mean", thresholdsOf(u, AttributeMean).Data, []float64{0.5, 0.25, 0.75, 0.125, 0.4}, 1e-7)
	testkit.NearAll(t, "of nothing", thresholdsOf(baselinetest.Matrix(2, nan, nan), Mean).Data, []float64{0.5, 0.5}, 0)
}

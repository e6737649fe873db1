package dap

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
)

func TestLogisticLoss(t *testing.T) {
	const h = 1e-6
	for _, score := range []float64{-800, -3, 0, 0.7, 40} {
		for _, a := range []float64{0, 1} {
			loss, slope := logisticLoss(score, a)
			above, _ := logisticLoss(score+h, a)
			below, _ := logisticLoss(score-h, a)
			baselinetest.Near(t, "slope", 1e-8, []float64{slope}, []float64{(above - below) / (2 * h)})
			if score == 0 {
				baselinetest.Near(t, "loss", 1e-12, []float64{loss}, []float64{math.Ln2})
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
	baselinetest.Near(t, "loss", 1e-12, []float64{loss}, []float64{math.Log(4)})
	baselinetest.Near(t, "gradient", 1e-12, scores, []float64{1. / 8, -6. / 8, 5. / 8})
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.SliceOfN(rapid.Float64Range(-9, 9), 4, 4).Draw(t, "scores")
		gradient := slices.Clone(at)
		softmaxLoss(gradient, 2)
		const h = 1e-5
		for k := range at {
			above, below := slices.Clone(at), slices.Clone(at)
			above[k] += h
			below[k] -= h
			baselinetest.Near(t, "gradient", 1e-7, gradient[k:k+1], []float64{(softmaxLoss(above, 2) - softmaxLoss(below, 2)) / (2 * h)})
		}
	})
}

// slope is the gradient of |w|^2/2 + c sum of losses by w and b at a model, where
// residual(i, k) is the derivative of the loss of sample i by score k. size sums the absolute
// values of the terms of the gradient.
func slope(m *Model, c float64, e method.Examples, residual func(i, k int) float64) (gradient, size []float64) {
	for k := range m.W.Cols {
		for d := range m.W.Rows + 1 {
			var g, s float64
			if d < m.W.Rows {
				g = float64(m.W.Row(d)[k])
				s = math.Abs(g)
			}
			for i, r := range e.Rows {
				x := 1.0
				if d < m.W.Rows {
					x = float64(e.X.Row(r)[d])
				}
				g += c * residual(i, k) * x
				s += c * math.Abs(residual(i, k)*x)
			}
			gradient, size = append(gradient, g), append(size, s)
		}
	}
	return gradient, size
}

func scoreOf(m *Model, x []float32, k int) float64 {
	s := float64(m.B.Data[k])
	for d, v := range x {
		s += float64(v) * float64(m.W.Row(d)[k])
	}
	return s
}

// At the optimum, the gradient vanishes.
func TestGradientVanishes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := examples(rapid.IntRange(5, 40).Draw(t, "samples"), rapid.IntRange(1, 6).Draw(t, "dims"), 4, 5, rapid.Uint64().Draw(t, "seed"))
		c := drawConfig(t)
		m := learn(t, c, e)
		has := binary(e.U, m.Thresholds.Data)
		fractions(has)
		residual := func(i, k int) float64 { // of DAP
			a := has.Row(e.Labels[i])[k]
			if math.IsNaN(a) {
				return 0
			}
			return 1/(1+math.Exp(-scoreOf(m, e.X.Row(e.Rows[i]), k))) - a
		}
		if c.Prediction == Indirect {
			residual = func(i, k int) float64 {
				scores := make([]float64, m.W.Cols)
				for y := range scores {
					scores[y] = scoreOf(m, e.X.Row(e.Rows[i]), y)
				}
				softmaxLoss(scores, e.Labels[i])
				return scores[k]
			}
		}
		gradient, size := slope(m, c.C, e, residual)
		for i, g := range gradient {
			if math.Abs(g) > 2e-3*size[i] {
				t.Fatalf("gradient[%d] is %g, of parts that sum to %g", i, g, size[i])
			}
		}
	})
}

// withColumn inserts an attribute.
func withColumn(u dataset.Matrix[float64], at int, value float64) dataset.Matrix[float64] {
	wider := dataset.NewMatrix[float64](u.Rows, u.Cols+1)
	for z := range u.Rows {
		copy(wider.Row(z), slices.Insert(slices.Clone(u.Row(z)), at, value))
	}
	return wider
}

// An attribute that all classes have, that none has, or that none describes has no effect.
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
		at, value := rapid.IntRange(0, 4).Draw(t, "place"), rapid.SampledFrom([]float64{0, 1, nan}).Draw(t, "value")
		e.U = withColumn(e.U, at, value)
		baselinetest.Near(t, "log p(z|x)", 1e-4, baselinetest.Score(t, learn(t, c, e), e, withColumn(unseen, at, value)), want)
	})
}

// An attribute that only an unseen class has is a factor of 1.
func TestAttributeOfUnseenClassesOnly(t *testing.T) {
	for _, p := range []Prediction{Direct, Indirect} {
		e := examples(15, 3, 4, 5, 1)
		unseen := examples(1, 1, 4, 2, 2).U
		c := Default(p)
		c.Threshold = AttributeMean // the other depends on every attribute
		want := baselinetest.Score(t, learn(t, c, e), e, unseen)
		e.U = withColumn(e.U, 4, 0)
		with := withColumn(unseen, 4, 0)
		with.Row(1)[4] = 1
		baselinetest.Near(t, "log p(z|x)", 1e-5, baselinetest.Score(t, learn(t, c, e), e, with), want)
	}
}

// The classifier of an attribute does not train on classes that do not describe it.
func TestMissingEntriesAreNotTrainedOn(t *testing.T) {
	e := examples(40, 3, 4, 5, 3)
	e.U.Row(1)[2] = nan
	c := Config{Prediction: Direct, C: 0.5, Threshold: AttributeMean, Prior: Empirical}
	all := learn(t, c, e)
	less := e
	less.Rows, less.Labels = nil, nil
	for i, z := range e.Labels {
		if z != 1 {
			less.Rows, less.Labels = append(less.Rows, e.Rows[i]), append(less.Labels, z)
		}
	}
	without := learn(t, c, less)
	for d := range 3 {
		baselinetest.Near(t, "w", 1e-3, baselinetest.Floats(all.W.Row(d)[2:3]), baselinetest.Floats(without.W.Row(d)[2:3]))
		if math.Abs(float64(all.W.Row(d)[0]-without.W.Row(d)[0])) < 1e-3 {
			t.Error("the samples have no effect on described attributes, either")
		}
	}
	baselinetest.Near(t, "prior", 1e-6, baselinetest.Floats(all.Prior.Data), baselinetest.Floats(without.Prior.Data))
}

// Four classes have the attributes 3, 2 and 4 times.
func TestPrior(t *testing.T) {
	e := examples(8, 2, 3, 4, 8)
	e.U = baselinetest.Matrix(3, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 1)
	for prior, want := range map[Prior][]float64{Empirical: {0.75, 0.5, 0.5}, Half: {0.5, 0.5, 0.5}} {
		m := learn(t, Config{Prediction: Direct, C: 1, Threshold: AttributeMean, Prior: prior}, e)
		baselinetest.Near(t, string(prior), 0, baselinetest.Floats(m.Prior.Data), want)
	}
}

// Hyperparameters that a fit does not depend on reuse the cached fit: the features are NaN
// by then.
func TestFitsAreCached(t *testing.T) {
	for _, c := range []struct{ first, second Config }{
		{Config{Direct, 1, Mean, Empirical}, Config{Direct, 1, Mean, Half}},
		{Config{Indirect, 1, Mean, Empirical}, Config{Indirect, 1, AttributeMean, Half}},
	} {
		e := examples(15, 3, 4, 5, 4)
		e.Cache = new(method.Cache)
		first := learn(t, c.first, e)
		e.X.Data[0] = float32(nan)
		second := learn(t, c.second, e)
		baselinetest.Near(t, "W", 0, baselinetest.Floats(second.W.Data), baselinetest.Floats(first.W.Data))
	}
}

var nan = math.NaN()

func examples(samples, dims, attributes, classes int, seed uint64) method.Examples {
	return baselinetest.Examples(samples, dims, attributes, classes, 1, seed)
}

func learn(t rapid.TB, c Config, e method.Examples) *Model {
	t.Helper()
	m, _ := baselinetest.Learn(t, c, e)
	return m.(*Model)
}

// drawConfig draws hyperparameters of either method.
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
	baselinetest.Near(t, "mean", 1e-7, baselinetest.Floats(thresholdsOf(u, Mean)), []float64{0.4, 0.4, 0.4, 0.4, 0.4})
	baselinetest.Near(t, "attribute-mean", 1e-7, baselinetest.Floats(thresholdsOf(u, AttributeMean)), []float64{0.5, 0.25, 0.75, 0.125, 0.4})
	baselinetest.Near(t, "of nothing", 0, baselinetest.Floats(thresholdsOf(baselinetest.Matrix(2, nan, nan), Mean)), []float64{0.5, 0.5})
}

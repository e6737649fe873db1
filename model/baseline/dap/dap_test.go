package dap

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
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

// At the optimum, the gradient of |w|^2/2 + c sum of losses by w and b vanishes.
func TestGradientVanishes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := examples(rapid.IntRange(5, 40).Draw(t, "samples"), rapid.IntRange(1, 6).Draw(t, "dims"), 4, 5, rapid.Uint64().Draw(t, "seed"))
		c := drawConfig(t)
		m := learn(t, c, e)
		has := binary(e.U, baselinetest.Tensor(m, "thresholds").Data)
		fractions(has)
		w := dataset.Convert[float64](m.W)
		w.Rows, w.Data = w.Rows+1, append(w.Data, make([]float64, w.Cols)...) // the last row is of b
		gradient, size := slices.Clone(w.Data), make([]float64, len(w.Data))  // the sum, and that of absolute values
		for i, r := range e.Rows {
			x, slopes := append(baselinetest.Floats(e.X.Row(r)), 1), baselinetest.Floats(m.Bias)
			for d, v := range x {
				floats.AddScaled(slopes, v, w.Row(d))
			}
			for k, s := range slopes {
				_, slopes[k] = logisticLoss(s, has.Row(e.Labels[i])[k])
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
	e.U = baselinetest.Matrix[float64](3, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 1)
	for prior, want := range map[Prior][]float64{Empirical: {0.75, 0.5, 0.5}, Half: {0.5, 0.5, 0.5}} {
		m := learn(t, Settings{C: 1, Threshold: AttributeMean, Prior: prior}, e)
		testkit.NearAll(t, string(prior), baselinetest.Tensor(m, "prior").Data, want, 0)
	}
}

var nan = math.NaN()

func examples(samples, dims, attributes, classes int, seed uint64) method.Examples {
	return baselinetest.Examples(samples, dims, attributes, classes, 1, seed)
}

func learn(t testkit.TB, c Settings, e method.Examples) *baseline.Model {
	t.Helper()
	m, _ := baselinetest.Learn(t, &c, e)
	return m.(*baseline.Model)
}

func drawConfig(t *rapid.T) Settings {
	return Settings{
		C:         math.Pow(10, rapid.Float64Range(-3, 0).Draw(t, "log c")),
		Threshold: rapid.SampledFrom([]Threshold{Mean, AttributeMean}).Draw(t, "threshold"),
		Prior:     rapid.SampledFrom([]Prior{Empirical, Half}).Draw(t, "prior"),
	}
}

// The described entries of the columns have means of 1/2, 1/4, 3/4 and 1/8; the mean of all ten is 0.4.
func TestThresholds(t *testing.T) {
	u := baselinetest.Matrix(5,
		0.1, 0.5, nan, 0.25, nan,
		0.6, 0.0, 0.75, 0, nan,
		0.8, 0.25, 0.75, nan, nan)
	testkit.NearAll(t, "mean", thresholdsOf(u, Mean), []float64{0.4, 0.4, 0.4, 0.4, 0.4}, 1e-7)
	testkit.NearAll(t, "attribute-mean", thresholdsOf(u, AttributeMean), []float64{0.5, 0.25, 0.75, 0.125, 0.4}, 1e-7)
	testkit.NearAll(t, "of nothing", thresholdsOf(baselinetest.Matrix(2, nan, nan), Mean), []float64{0.5, 0.5}, 0)
}

func restored(t *testing.T, tensors method.Tensors) method.Model {
	t.Helper()
	shape := method.Shape{Dims: tensors[0].Matrix.Rows, Attributes: tensors[len(tensors)-1].Matrix.Cols}
	return testkit.Must(new(Settings).Restore(&method.Reader{Tensors: tensors}, shape))(t)
}

// A sample with p(a|x) = 4/5 and 2/5, where p(a) = 1/2 and 1/4, that is, with factors of
//
//	1.6 for having the first, 0.4 for not; 1.6 for having the second, 0.8 for not:
//
//	class         factors        product   / 4.88
//	(1, 0)        1.6 x 0.8      1.28      0.262
//	(0, 1)        0.4 x 1.6      0.64      0.131
//	(1, 1)        1.6 x 1.6      2.56      0.525
//	(0, unknown)  0.4            0.40      0.082
func TestPosteriorByHand(t *testing.T) {
	m := restored(t, method.Tensors{
		{Name: "W", Matrix: baselinetest.Matrix[float32](2, float32(math.Log(2)), float32(math.Log(2)/3))},
		{Name: "b", Matrix: baselinetest.Matrix[float32](2, 0, float32(math.Log(2./3)-math.Log(2)*2/3))},
		{Name: "thresholds", Matrix: baselinetest.Matrix[float32](2, 0.3, 0.75)},
		{Name: "prior", Matrix: baselinetest.Matrix[float32](2, 0.5, 0.25)},
	})
	u := baselinetest.Matrix(2, 0.4, 0.75, 0.2, 0.8, 1, 1, 0, nan)
	x := baselinetest.Matrix[float32](1, 0, 2) // log odds of log 4 = 2 log 2, and log 2/3 = 2/3 log 2 + b
	s := testkit.Must(model.Score(m, x, []int{1}, u))(t)
	var want []float64
	for _, product := range []float64{1.28, 0.64, 2.56, 0.4} {
		want = append(want, math.Log(product/4.88))
	}
	testkit.NearAll(t, "log p(z|x)", s.Data, want, 1e-6)
}

// Two classes differ in one of 3000 attributes; the odds of each of the others are e^-50.
func TestNoUnderflow(t *testing.T) {
	const attributes = 3000
	row := func(value float32) dataset.Matrix[float32] {
		return baselinetest.Matrix[float32](attributes, slices.Repeat([]float32{value}, attributes)...)
	}
	m := restored(t, method.Tensors{
		{Name: "W", Matrix: row(0)}, {Name: "b", Matrix: row(0)}, {Name: "thresholds", Matrix: row(0.5)}, {Name: "prior", Matrix: row(0.5)},
	})
	u := dataset.NewMatrix[float64](2, attributes)
	for i := range u.Data {
		u.Data[i] = 1
	}
	u.Data[7] = 0
	odds := row(-50)
	odds.Data[7] = 1
	s := testkit.Must(model.Classify(m, odds, u))(t)
	has := 1 / (1 + math.Exp(-1))
	testkit.NearAll(t, "log p(z|x)", s.Data, []float64{math.Log(1 - has), math.Log(has)}, 1e-6)
}

// Each attribute is alone in its group, descriptions of 0 and 1, the prior of each
// attribute and De Morgan's complement make LAGO DAP (supplement D.4 of the LAGO paper):
//
//	a_m^z p(a_m|x) / p(a_m)  +  (1 - a_m^z) (1 - p(a_m|x)) / (1 - p(a_m))
//
// is one of the factors of DAP. Both get the same p(a_m|x) and the training classes of
// DAP, so that p(a_m) is the same.
func TestLAGOOfSingletonsIsDAP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 7)
		samples, attributes, classes := size.Draw(t, "samples"), size.Draw(t, "attributes"), size.Draw(t, "classes")
		e := examples(samples+classes, 2, attributes, classes, rapid.Uint64().Draw(t, "seed"))
		for i := range e.U.Data { // sometimes all or no classes have an attribute
			e.U.Data[i] = rapid.SampledFrom([]float64{0, 1}).Draw(t, "u")
		}
		p := dataset.NewMatrix[float64](samples, attributes)
		odds := dataset.NewMatrix[float32](samples, attributes)
		for i := range p.Data {
			odds.Data[i] = float32(rapid.Float64Range(-8, 8).Draw(t, "log odds"))
			p.Data[i] = 1 / (1 + math.Exp(-float64(odds.Data[i])))
		}

		c := Settings{C: 1, Threshold: AttributeMean, Prior: Empirical}
		l := baselinetest.Learner(t, &c, e, 1) // thresholds and priors are known from the start
		got := testkit.Must(model.Classify(l.Model(), odds, e.U))(t)
		testkit.NearAll(t, "log p(z|x)", got.Data, singletons(t, p, e.U), 1e-5)
	})
}

// singletons returns log p(z|x) of LAGO in float64, where Gamma is exactly the identity.
func singletons(t testkit.TB, p, u dataset.Matrix[float64]) []float64 {
	t.Helper()
	c := model.Config{Variant: model.Singletons, Prior: model.PerAttribute, Complement: model.DeMorgan, Zeta: 1000}
	classes := testkit.Must(c.Describe(u, nil))(t)
	v := dataset.NewMatrix[float64](p.Cols, p.Cols)
	for m := range p.Cols {
		v.Row(m)[m] = 1
	}
	f := testkit.Must(model.NewForward(c, classes, &model.Parameters[float64]{V: v}))(t)
	logP := dataset.NewMatrix[float64](p.Rows, u.Rows)
	testkit.NoError(t, f.LogP(p, logP))
	return logP.Data
}

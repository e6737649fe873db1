package synclassifier

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
)

// Two phantoms at (1, 0) and (0, 1), measured in their distance, sqrt 2, which makes it
// 1, and with sigma = 1: a class at (1, 0) is of the first by 1/(1 + exp(-1)) = 0.731,
// and one at (1, 1), scaled to length 1, of both by a half. A sample of which the first
// phantom's classifier says 3 and the second's -1 then scores
//
//	0.731 x 3 - 0.269 = 1.924    and    (3 - 1)/2 = 1.
func TestScoreByHand(t *testing.T) {
	c := Config{Sigma: 1, Normalise: true}
	distance := float32(math.Sqrt2)
	m, err := c.Restore(baseline.Tensors{
		{Name: "V", Matrix: baselinetest.Single(2, 3, -1)},
		{Name: "phantoms", Matrix: baselinetest.Single(2, 1/distance, 0, 0, 1/distance)},
		{Name: "mean", Matrix: baselinetest.Single(2, 0.5, 0.5)},
		{Name: "distance", Matrix: baselinetest.Single(1, distance)},
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Score(baselinetest.Single(1, 1), []int{0}, baselinetest.Matrix(2, 1, 0, 1, 1))
	if err != nil {
		t.Fatal(err)
	}
	baselinetest.Near(t, "scores", 1e-6, baselinetest.Floats(s.Data), []float64{4/(1+math.Exp(-1)) - 1, 1})
}

// classifiers are those that a model has for classes, C x D: what it scores unit vectors.
func classifiers(t rapid.TB, m *Model, dims int, u dataset.Matrix[float64]) *mat.Dense {
	t.Helper()
	e := baseline.Examples{X: dataset.NewMatrix[float32](dims, dims)}
	for d := range dims {
		e.X.Row(d)[d] = 1
		e.Rows = append(e.Rows, d)
	}
	return mat.DenseCopyOf(mat.NewDense(dims, u.Rows, baselinetest.Score(t, m, e, u)).T())
}

func drawConfig(t *rapid.T, phantoms float64) Config {
	return Config{
		Loss:  rapid.SampledFrom(losses).Draw(t, "loss"),
		Sigma: rapid.SampledFrom([]float64{0.3, 0.5, 1}).Draw(t, "sigma"), Lambda: math.Pow(10, rapid.Float64Range(-3, -1).Draw(t, "log lambda")),
		Phantoms: phantoms, Normalise: rapid.Bool().Draw(t, "normalise"), Unit: rapid.Bool().Draw(t, "unit"),
	}
}

// slope is the gradient of the loss by the classifiers of the classes, C x D, written
// out, and of lambda/2 |w|^2.
func slope(c Config, e baseline.Examples, classes dataset.Matrix[float64], w *mat.Dense) *mat.Dense {
	g := mat.DenseCopyOf(w)
	g.Scale(c.Lambda, w)
	margins := Config.margins(c, classes)
	for i, r := range e.Rows {
		x := mat.NewVecDense(e.X.Cols, baselinetest.Floats(e.X.Row(r)))
		if c.Unit {
			x.ScaleVec(1/x.Norm(2), x)
		}
		var s mat.VecDense
		s.MulVec(w, x)
		scores := s.RawVector().Data
		if c.Loss == OneVersusOther {
			oneVersusOther(scores, e.Labels[i])
		} else {
			hinge(scores, margins.Row(e.Labels[i]), e.Labels[i])
		}
		g.RankOne(g, 1/float64(len(e.Rows)), &s, x)
	}
	return g
}

// Where phantoms are the classes, their classifiers are the optimum for the classes: the
// gradient vanishes.
func TestGradientVanishes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := examples(rapid.IntRange(6, 30).Draw(t, "samples"), 4, 5, 3, rapid.Uint64().Draw(t, "seed"))
		c := drawConfig(t, 1)
		m := learn(t, c, e)
		g := slope(c, e, described(e.U, c.Normalise), classifiers(t, m, 4, e.U))
		if norm, start := mat.Norm(g, 2), mat.Norm(slope(c, e, described(e.U, c.Normalise), mat.NewDense(3, 4, nil)), 2); norm > 5e-3*start {
			t.Fatalf("the gradient is %g long, %g at the start", norm, start)
		}
	})
}

// described are descriptions in units of their median distance.
func described(u dataset.Matrix[float64], normalise bool) dataset.Matrix[float64] {
	d := dataset.NewMatrix[float64](u.Rows, u.Cols)
	for z := range u.Rows {
		length := 1.0
		if normalise {
			length = mat.Norm(mat.NewVecDense(u.Cols, u.Row(z)), 2)
		}
		for m, v := range u.Row(z) {
			d.Row(z)[m] = v / length
		}
	}
	unit := medianDistance(d)
	for i := range d.Data {
		d.Data[i] /= unit
	}
	return d
}

// Where phantoms are fewer, the gradient vanishes by what they can change: by v_r it is
// the sum over c of s_cr times that by w_c.
func TestGradientByFewerPhantomsVanishes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := examples(rapid.IntRange(10, 30).Draw(t, "samples"), 4, 5, 5, rapid.Uint64().Draw(t, "seed"))
		c := drawConfig(t, 0.55) // of 5, which is nearly 3
		m := learn(t, c, e)
		classes := described(e.U, c.Normalise)
		b := dataset.NewMatrix[float64](m.Phantoms.Rows, m.Phantoms.Cols)
		copy(b.Data, baselinetest.Floats(m.Phantoms.Data))
		if b.Rows != 3 {
			t.Fatalf("%d phantoms, expected 3", b.Rows)
		}
		similarities := similarities(classes, b, c.Sigma)
		s := mat.NewDense(5, 3, similarities.Data)
		byV := func(w *mat.Dense) float64 {
			var g mat.Dense
			g.Mul(s.T(), slope(c, e, classes, w))
			return mat.Norm(&g, 2)
		}
		if norm, start := byV(classifiers(t, m, 4, e.U)), byV(mat.NewDense(5, 4, nil)); norm > 1e-2*start {
			t.Fatalf("the gradient is %g long, %g at the start", norm, start)
		}
	})
}

// With a narrow kernel, the classifiers of the phantoms are those of the classes, w_c =
// v_c.
func TestNarrowKernelMakesPhantomsOfClasses(t *testing.T) {
	e := examples(30, 4, 5, 3, 1)
	for _, loss := range losses {
		c := Config{Loss: loss, Sigma: 1e-3, Lambda: 0.01, Phantoms: 1, Unit: true}
		m := learn(t, c, e)
		v := mat.NewDense(4, 3, baselinetest.Floats(m.V.Data))
		baselinetest.Near(t, string(loss), 1e-6, mat.DenseCopyOf(v.T()).RawMatrix().Data, classifiers(t, m, 4, e.U).RawMatrix().Data)
	}
}

// The classifiers of the training classes do not depend on the kernel; those of the phantoms,
// and so of unseen classes, do.
func TestKernelAffectsUnseenClassesOnly(t *testing.T) {
	e := examples(30, 4, 5, 3, 2)
	e.Cache = new(baseline.Cache)
	unseen := examples(1, 1, 5, 2, 3).U
	c := Config{Loss: OneVersusOther, Sigma: 0.3, Lambda: 0.01, Phantoms: 1}
	narrow := learn(t, c, e)
	c.Sigma = 1
	wide := learn(t, c, e)
	baselinetest.Near(t, "of training classes", 1e-4, baselinetest.Score(t, wide, e, e.U), baselinetest.Score(t, narrow, e, e.U))
	if got, not := baselinetest.Score(t, wide, e, unseen), baselinetest.Score(t, narrow, e, unseen); math.Abs(got[0]-not[0]) < 1e-3 {
		t.Errorf("an unseen class scores %g by either kernel", got[0])
	}
}

// Hyperparameters that a fit does not depend on reuse the cached fit, the others do not: the
// features are NaN by then.
func TestFitsAreCached(t *testing.T) {
	c := Config{Loss: CrammerSinger, Sigma: 0.5, Lambda: 0.01, Phantoms: 1}
	for name, tt := range map[string]struct {
		change func(c *Config)
		shared bool
	}{
		"sigma":      {func(c *Config) { c.Sigma = 1 }, true},
		"normalise":  {func(c *Config) { c.Normalise = true }, true},
		"loss":       {func(c *Config) { c.Loss = OneVersusOther }, false},
		"lambda":     {func(c *Config) { c.Lambda = 0.1 }, false},
		"unit":       {func(c *Config) { c.Unit = true }, false},
		"phantoms":   {func(c *Config) { c.Phantoms = 0.5 }, false},
		"structured": {func(c *Config) { c.Loss = Structured }, false},
		"nothing":    {func(*Config) {}, true},
	} {
		e := examples(20, 4, 5, 4, 4)
		e.Cache = new(baseline.Cache)
		learn(t, c, e)
		e.X.Data[0] = float32(nan)
		other := c
		tt.change(&other)
		l, err := other.Learn(e, 1)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = l.Epoch(1)
		if wrong := (*model.NotFinite)(nil); tt.shared && err != nil || !tt.shared && !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestStructuredFitsDependOnDescriptions(t *testing.T) {
	e := examples(20, 4, 5, 4, 5)
	e.Cache = new(baseline.Cache)
	c := Config{Loss: Structured, Sigma: 0.5, Lambda: 0.01, Phantoms: 1}
	plain := learn(t, c, e)
	c.Normalise = true
	normalised := learn(t, c, e)
	if mat.EqualApprox(classifiers(t, plain, 4, e.U), classifiers(t, normalised, 4, e.U), 1e-2) {
		t.Error("the same classifiers")
	}
}

// Classes with equal descriptions have the same classifier, of ordinary size.
func TestClassesOfOneDescription(t *testing.T) {
	e := examples(20, 4, 5, 4, 6)
	for _, apart := range []float64{0, 1e-7, 1e-6} {
		copy(e.U.Row(2), e.U.Row(1))
		e.U.Row(2)[0] += apart
		m := learn(t, Default(), e)
		s := baselinetest.Score(t, m, e, e.U)
		for i := range e.Rows {
			baselinetest.Near(t, "score", 1e-3, s[i*4+2:i*4+3], s[i*4+1:i*4+2])
		}
		if largest := slices.Max(m.V.Data); largest > 100 {
			t.Errorf("descriptions that are %g apart make a classifier of %g", apart, largest)
		}
	}
	for i := range e.U.Data {
		e.U.Data[i] = 0.5
	}
	for _, v := range baselinetest.Score(t, learn(t, Default(), e), e, e.U) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("a score of %g where all classes are the same", v)
		}
	}
}

// A missing entry is the mean over the described classes or, if none describes the
// attribute, over the training classes.
func TestMissingEntries(t *testing.T) {
	e := examples(20, 4, 2, 4, 7)
	copy(e.U.Data, []float64{0, 0.1, 0.5, nan, 1, 0.3, 0.5, 0.8})
	m := learn(t, Default(), e)
	baselinetest.Near(t, "means", 1e-7, baselinetest.Floats(m.Mean.Data), []float64{0.5, 0.4})
	baselinetest.Near(t, "mean of these classes", 1e-6, baselinetest.Score(t, m, e, baselinetest.Matrix(2, 0.2, 1, nan, 0.5, 0.6, 0)), baselinetest.Score(t, m, e, baselinetest.Matrix(2, 0.2, 1, 0.4, 0.5, 0.6, 0)))
	baselinetest.Near(t, "mean of the training classes", 1e-6, baselinetest.Score(t, m, e, baselinetest.Matrix(2, 0.2, nan, 0.9, nan)), baselinetest.Score(t, m, e, baselinetest.Matrix(2, 0.2, 0.4, 0.9, 0.4)))
	u := baselinetest.Matrix(2, 0.2, nan)
	baselinetest.Score(t, m, e, u)
	if !math.IsNaN(u.Data[1]) {
		t.Error("the descriptions changed")
	}
}

var nan = math.NaN()

var losses = []Loss{OneVersusOther, CrammerSinger, Structured}

func examples(samples, dims, attributes, classes int, seed uint64) baseline.Examples {
	return baselinetest.Examples(samples, dims, attributes, classes, 0.5, seed)
}

func learn(t rapid.TB, c Config, e baseline.Examples) *Model {
	t.Helper()
	m, _ := baselinetest.Learn(t, c, e)
	return m.(*Model)
}

// draw draws numbers from 0 to 1.
func draw(t *rapid.T, name string, rows, cols int) dataset.Matrix[float64] {
	return baselinetest.Matrix(cols, rapid.SliceOfN(rapid.Float64Range(0, 1), rows*cols, rows*cols).Draw(t, name)...)
}

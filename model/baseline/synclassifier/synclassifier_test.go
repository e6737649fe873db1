package synclassifier

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
	"github.com/lago-train/lago-train/model/method"
)

// Two phantoms at (1, 0) and (0, 1) have distance 1 in units of their distance, sqrt 2. With sigma = 2, squared
// distances are divided by 4: the similarity of a class at (1, 0) to the first is 1/(1 + exp(-1/4)) = 0.562, and
// that of one at (1, 1), scaled to length 1, to each is 1/2. A sample that the phantoms score with 3 and -1 then
// scores
//
//	0.562 x 3 - 0.438 = 1.249    and    (3 - 1)/2 = 1.
func TestScoreByHand(t *testing.T) {
	c := Settings{Sigma: 2, Normalise: true}
	distance := float32(math.Sqrt2)
	m := testkit.Must(c.Restore(&method.Reader{Tensors: method.Tensors{
		{Name: "V", Matrix: baselinetest.Matrix[float32](2, 3, -1)},
		{Name: "phantoms", Matrix: baselinetest.Matrix[float32](2, 1/distance, 0, 0, 1/distance)},
		{Name: "mean", Matrix: baselinetest.Matrix[float32](2, 0.5, 0.5)},
		{Name: "distance", Matrix: baselinetest.Matrix[float32](1, distance)},
	}}, method.Shape{Dims: 1, Attributes: 2}))(t)
	s := testkit.Must(model.Score(m, baselinetest.Matrix[float32](1, 1), []int{0}, baselinetest.Matrix[float64](2, 1, 0, 1, 1)))(t)
	testkit.NearAll(t, "scores", s.Data, []float64{4/(1+math.Exp(-0.25)) - 1, 1}, 1e-6)
}

// classifiers returns the w_c of classes, C x D: their scores of the unit vectors.
func classifiers(t testkit.TB, m method.Model, dims int, u dataset.Matrix[float64]) *mat.Dense {
	t.Helper()
	e := method.Examples{X: dataset.NewMatrix[float32](dims, dims)}
	for d := range dims {
		e.X.Row(d)[d] = 1
		e.Rows = append(e.Rows, d)
	}
	return mat.DenseCopyOf(mat.NewDense(dims, u.Rows, baselinetest.Floats(baselinetest.Score(t, m, e, u).Data)).T())
}

// The gradient of the objective by the classifiers of the training classes vanishes.
func TestGradientVanishes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := examples(rapid.IntRange(6, 30).Draw(t, "samples"), 4, 5, 3, rapid.Uint64().Draw(t, "seed"))
		c := Settings{
			Sigma: rapid.SampledFrom([]float64{0.3, 0.5, 1}).Draw(t, "sigma"), Lambda: math.Pow(10, rapid.Float64Range(-3, -1).Draw(t, "log lambda")),
			Normalise: rapid.Bool().Draw(t, "normalise"), Unit: rapid.Bool().Draw(t, "unit"),
		}
		gradient := func(w *mat.Dense) float64 {
			g := mat.DenseCopyOf(w)
			g.Scale(c.Lambda, w)
			for i, r := range e.Rows {
				x := mat.NewVecDense(e.X.Cols, baselinetest.Floats(e.X.Row(r)))
				if c.Unit {
					x.ScaleVec(1/x.Norm(2), x)
				}
				var s mat.VecDense
				s.MulVec(w, x)
				for class := range e.U.Rows {
					_, slope := squaredHinge(s.AtVec(class), class == e.Labels[i], e.U.Rows)
					s.SetVec(class, slope)
				}
				g.RankOne(g, 1/float64(len(e.Rows)), &s, x)
			}
			return mat.Norm(g, 2)
		}
		if norm, start := gradient(classifiers(t, learn(t, c, e), 4, e.U)), gradient(mat.NewDense(3, 4, nil)); norm > 5e-3*start {
			t.Fatalf("the norm of the gradient is %g, and %g at the start", norm, start)
		}
	})
}

// The scores of training classes do not depend on the kernel; those of unseen classes do.
// The second fit is that of the cache: the features are NaN by then.
func TestKernelAffectsUnseenClassesOnly(t *testing.T) {
	e := examples(30, 4, 5, 3, 2)
	e.Fits = new(method.Cache)
	unseen := examples(1, 1, 5, 2, 3).U
	c := Settings{Sigma: 0.3, Lambda: 0.01}
	narrow := learn(t, c, e)
	first := e.X.Data[0]
	e.X.Data[0] = float32(nan)
	c.Sigma = 1
	wide := learn(t, c, e)
	for _, c := range []Settings{{Sigma: 1, Lambda: 0.1}, {Sigma: 1, Lambda: 0.01, Unit: true}} {
		if _, err := baselinetest.Learner(t, &c, e, 1).Epoch(1); err == nil {
			t.Errorf("%+v has the fit of other settings", c)
		}
	}
	e.X.Data[0] = first
	testkit.NearAll(t, "training classes", baselinetest.Score(t, wide, e, e.U).Data, baselinetest.Score(t, narrow, e, e.U).Data, 1e-4)
	if got, not := baselinetest.Score(t, wide, e, unseen).Data[0], baselinetest.Score(t, narrow, e, unseen).Data[0]; math.Abs(float64(got-not)) < 1e-3 {
		t.Errorf("an unseen class scores %g by either kernel", got)
	}
}

// Classes with equal descriptions have the same classifier, of ordinary size.
func TestClassesOfOneDescription(t *testing.T) {
	e := examples(20, 4, 5, 4, 6)
	for _, apart := range []float64{0, 1e-7, 1e-6} {
		copy(e.U.Row(2), e.U.Row(1))
		e.U.Row(2)[0] += apart
		m := learn(t, defaults(), e)
		s := baselinetest.Score(t, m, e, e.U)
		for i := range e.Rows {
			testkit.NearAll(t, "score", s.Row(i)[2:3], s.Row(i)[1:2], 1e-3)
		}
		if largest := slices.Max(baselinetest.Tensor(m, "V").Data); largest > 100 {
			t.Errorf("descriptions that are %g apart make a classifier of %g", apart, largest)
		}
	}
	for i := range e.U.Data {
		e.U.Data[i] = 0.5
	}
	if s := baselinetest.Score(t, learn(t, defaults(), e), e, e.U); matrix.NotFinite(s.Data) >= 0 {
		t.Fatalf("scores of %g where all classes are the same", s.Data)
	}
}

// A missing entry of an attribute that no class describes is the mean over the training classes.
func TestMissingEntries(t *testing.T) {
	e := examples(20, 4, 2, 4, 7)
	copy(e.U.Data, []float64{0, 0.1, 0.5, nan, 1, 0.3, 0.5, 0.8})
	m := learn(t, defaults(), e)
	testkit.NearAll(t, "means", baselinetest.Tensor(m, "mean").Data, []float64{0.5, 0.4}, 1e-7)
	of := func(u ...float64) []float32 { return baselinetest.Score(t, m, e, baselinetest.Matrix(2, u...)).Data }
	testkit.NearAll(t, "mean of the training classes", of(0.2, nan, 0.9, nan), of(0.2, 0.4, 0.9, 0.4), 1e-6)
}

var nan = math.NaN()

func examples(samples, dims, attributes, classes int, seed uint64) method.Examples {
	return baselinetest.Examples(samples, dims, attributes, classes, 0.5, seed)
}

func defaults() (c Settings) {
	c.Settings().SetDefaults()
	return c
}

func learn(t testkit.TB, c Settings, e method.Examples) method.Model {
	t.Helper()
	m, _ := baselinetest.Learn(t, &c, e)
	return m
}

// Class 1 of three is right: (1 - 0.5)^2, (1 + 0.2)^2 and 0 for the third, which is below
// its margin, all divided by 3. Slopes are 2 y times the violation.
func TestSquaredHinge(t *testing.T) {
	for class, want := range [][]float64{{1.44 / 3, 2.4 / 3}, {0.25 / 3, -1. / 3}, {0, 0}} {
		loss, slope := squaredHinge([]float64{0.2, 0.5, -1.5}[class], class == 1, 3)
		testkit.NearAll(t, "loss and slope", []float64{loss, slope}, want, 1e-12)
	}
}

// Similarities are not negative and sum to 1, however narrow or wide the kernel.
func TestSimilaritiesAreConvexWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		attributes := rapid.IntRange(1, 4).Draw(t, "attributes")
		draw := func(name string) dataset.Matrix[float64] {
			n := attributes * rapid.IntRange(1, 6).Draw(t, "rows of "+name)
			return baselinetest.Matrix(attributes, rapid.SliceOfN(rapid.Float64Range(0, 1), n, n).Draw(t, name)...)
		}
		classes, b := draw("classes"), draw("phantoms")
		sigma := math.Exp2(rapid.Float64Range(-600, 600).Draw(t, "log2 sigma"))
		s := similarities(classes, dataset.Convert[float32](b), sigma)
		for z := range s.Rows {
			var sum float64
			for _, v := range s.Row(z) {
				if !(v >= 0) {
					t.Fatalf("%v", s.Row(z))
				}
				sum += v
			}
			testkit.Near(t, "sum", sum, 1, 1e-12)
		}
	})
}

func TestMedianDistance(t *testing.T) {
	for want, classes := range map[float64]dataset.Matrix[float64]{
		4:    baselinetest.Matrix[float64](2, 0, 0, 3, 0, 3, 4), // of 3, 4 and 5
		4.25: baselinetest.Matrix(1, 0, 2, 3, 7, 7.5),           // of 0.5, 1, 2, 3, 4, 4.5, 5, 5.5, 7 and 7.5
		2:    baselinetest.Matrix[float64](1, 1, 3, 1),          // of 2 and 2; equal classes are not counted
		1:    baselinetest.Matrix[float64](1, 5, 5),             // of no distance
	} {
		testkit.Equal(t, fmt.Sprint(classes.Data), medianDistance(classes), want)
	}
}

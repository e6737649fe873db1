package kernelalign

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
	"github.com/lago-train/lago-train/model/method"
)

// toy is a data set with unseen classes.
type toy struct {
	seen   method.Examples
	unseen dataset.Matrix[float64]
	rows   []int // samples of unseen classes
}

func newToy(perClass int) toy {
	const classes, unseen = 15, 4
	all := baselinetest.Examples(perClass*classes, 12, 6, classes, 0.2, 1)
	t := toy{unseen: all.U.Slice(0, unseen), seen: method.Examples{X: all.X, U: all.U.Slice(unseen, classes)}}
	for i, r := range all.Rows {
		if z := all.Labels[i]; z < unseen {
			t.rows = append(t.rows, r)
		} else {
			t.seen.Rows, t.seen.Labels = append(t.seen.Rows, r), append(t.seen.Labels, z-unseen)
		}
	}
	return t
}

func (y toy) score(t *testing.T, m method.Model, u dataset.Matrix[float64]) dataset.Matrix[float32] {
	t.Helper()
	return testkit.Must(model.Score(m, y.seen.X, y.rows, u))(t)
}

func defaults() (c Settings) {
	c.Settings().SetDefaults()
	return c
}

// trained is the model after three epochs.
func trained(t *testing.T, c Settings, e method.Examples) *baseline.Model {
	t.Helper()
	l := baselinetest.Learner(t, &c, e, 1)
	for epoch := range 3 {
		if _, converged := baselinetest.Epoch(t, l, epoch+1); converged {
			t.Fatalf("converged in epoch %d", epoch+1)
		}
	}
	return l.Model().(*baseline.Model)
}

func TestNotFinite(t *testing.T) {
	y := newToy(2)
	for term, change := range map[string]func(*Settings, dataset.Matrix[float32]){
		"alignment": func(_ *Settings, x dataset.Matrix[float32]) { x.Row(y.seen.Rows[0])[1] = float32(math.NaN()) },
		"squares":   func(c *Settings, _ dataset.Matrix[float32]) { c.Kernel, c.Degree, c.LR = Polynomial, 4, 1e3 },
		"W":         func(c *Settings, _ dataset.Matrix[float32]) { c.LR = 1e300 }, // infinite in the only step
	} {
		e, c := y.seen, defaults()
		e.X.Data = slices.Clone(e.X.Data)
		change(&c, e.X)
		l := testkit.Must(c.Learn(e, 1))(t)
		var err error
		for epoch := 1; epoch <= 3 && err == nil; epoch++ {
			_, err = l.Epoch(epoch)
		}
		baselinetest.WantNotFinite(t, err, term)
	}
}

// By hand, with lr 1: the mean of squares is 0.01 0.1^2 = 1e-4 and the step 0.1/(0.01 +
// 0.01); then it is 1.99e-4 after the same gradient again.
func TestRMSProp(t *testing.T) {
	const n = 3*rmspropGrain + 5 // more than one goroutine's
	w, grad, squares := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range grad {
		grad[i] = 0.1
	}
	for _, want := range []float64{-5, -5 - 0.1/(math.Sqrt(1.99e-4)+0.01)} {
		rmsprop(w, grad, squares, 1)
		testkit.NearAll(t, "weights", w, slices.Repeat([]float64{want}, n), 1e-6)
	}
}

// Scores are the kernels of sample and class in both spaces, computed from centred
// features and descriptions of length 1.
func TestScoreIsItsDefinition(t *testing.T) {
	for _, kernel := range []Kernel{Linear, Polynomial, Gaussian, Cauchy} {
		for _, ort := range []bool{false, true} {
			c := defaults()
			c.Kernel, c.Ort = kernel, ort
			y := newToy(4)
			m := trained(t, c, y.seen)
			got := y.score(t, m, y.unseen)
			w := dataset.Convert[float64](m.W)
			for i, r := range y.rows {
				x := unit(y.seen.X.Row(r), baselinetest.Tensor(m, "mean").Data)
				for z := range y.unseen.Rows {
					u := unit(y.unseen.Row(z), baselinetest.Tensor(m, "centre").Data)
					want := compare(c.kernel(), project(w, x), u)
					if ort && (kernel == Gaussian || kernel == Cauchy) {
						other := compare(c.kernel(), x, lift(w, u))
						want = 2 - (1-want)*(1-want) - (1-other)*(1-other)
					}
					testkit.Near(t, string(kernel), float64(got.Row(i)[z]), want, 1e-5)
				}
			}
		}
	}
}

// compare is the kernel of two vectors.
func compare(k kernel, v, w []float64) float64 {
	number := floats.Dot(v, w)
	if k.distance {
		number = math.Pow(floats.Distance(v, w, 2), 2)
	}
	s, _ := k.value(number)
	return s
}

// unit returns v minus the centre, scaled to length 1.
func unit[T model.Float](v []T, centre []float32) []float64 {
	u := make([]float64, len(v))
	for i, x := range v {
		u[i] = float64(x) - float64(centre[i])
	}
	floats.Scale(1/floats.Norm(u, 2), u)
	return u
}

// The mean of the samples and the centre of the classes are those of the training samples and classes.
func TestNormalisation(t *testing.T) {
	e := method.Examples{
		X:    baselinetest.Matrix[float32](2, 1, 5, 9, 9, 3, 5),
		Rows: []int{0, 2}, Labels: []int{0, 1},
		U: baselinetest.Matrix(2, 0, 1, 0.5, math.NaN()),
	}
	// The missing entry is the mean over these classes, 1/4.
	u := baselinetest.Matrix(2, 1, math.NaN(), 0, 0.25)
	m := newModel(Settings{}, &method.Reader{New: true}, e.Shape())
	testkit.NoError(t, m.normalise(e))
	testkit.NearAll(t, "mean", m.mean, []float64{2, 5}, 0)
	testkit.NearAll(t, "centre", m.centre, []float64{0.25, 1}, 0)
	x := dataset.NewMatrix[float32](3, 2)
	m.features(x, baselinetest.Matrix[float32](2, 2, 5, 5, 9), []int{1, 0})
	testkit.NearAll(t, "features", x.Data, []float64{0.6, 0.8, 0, 0, 0, 0}, 1e-7)
	y := testkit.Must(m.descriptions(u))(t) // (3, -3)/4 and (-1, -3)/4, scaled
	testkit.NearAll(t, "descriptions", y.Data, []float64{math.Sqrt(0.5), -math.Sqrt(0.5), -math.Sqrt(0.1), -math.Sqrt(0.9)}, 1e-6)
}

// Scores differ even far from every class.
func TestFarSamples(t *testing.T) {
	c := defaults()
	c.Sigma = 0.15
	y := newToy(4)
	m := trained(t, c, y.seen)
	a := dataset.NewMatrix[float32](1, m.W.Cols)
	a.Data[0] = -0.9
	s := testkit.Must(model.Classify(m, a, y.seen.U))(t)
	slices.Sort(s.Data)
	if s.Data[0] <= 0 || len(slices.Compact(s.Data)) < 3 {
		t.Errorf("scores %g", s.Data)
	}
}

func drawConfig(t *rapid.T) Settings {
	c := defaults()
	c.Kernel = rapid.SampledFrom([]Kernel{Linear, Polynomial, Gaussian, Cauchy}).Draw(t, "kernel")
	c.Sigma = rapid.Float64Range(0.4, 2).Draw(t, "sigma")
	c.Degree = rapid.IntRange(1, 4).Draw(t, "degree")
	c.Beta = rapid.Float64Range(0, 3).Draw(t, "beta")
	c.Ort = rapid.Bool().Draw(t, "ort")
	c.Orthogonality = rapid.SampledFrom([]float64{0, 0.3}).Draw(t, "orthogonality")
	return c
}

// problem is a batch of samples of length 1, descriptions and a W.
type problem struct {
	x, y, w dataset.Matrix[float64]
	labels  []int
}

func drawProblem(t *rapid.T) problem {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	size := rapid.IntRange(1, 5)
	b, d, m, z := size.Draw(t, "B"), size.Draw(t, "D"), size.Draw(t, "M"), size.Draw(t, "Z")
	random := func(rows, cols int, scale float64) dataset.Matrix[float64] {
		r := dataset.NewMatrix[float64](rows, cols)
		for i := range r.Data {
			r.Data[i] = scale * rng.NormFloat64()
		}
		return r
	}
	p := problem{x: random(b, d, 1), y: random(z, m, 0.7), w: random(d, m, 0.5)}
	for i := range b {
		floats.Scale(1/floats.Norm(p.x.Row(i), 2), p.x.Row(i))
		p.labels = append(p.labels, rng.IntN(z))
	}
	return p
}

// step returns the objective and its gradient.
func (p problem) step(c Settings) (float64, dataset.Matrix[float64]) {
	return newObjective(c, p.y).step(p.x, p.labels, p.w)
}

// naive computes the objective of the package comment.
func naive(c Settings, p problem) float64 {
	k := c.kernel()
	var sum float64
	for i, own := range p.labels {
		for z := range p.y.Rows {
			ks := []float64{compare(k, project(p.w, p.x.Row(i)), p.y.Row(z))}
			if c.Ort && k.distance {
				ks = append(ks, compare(k, p.x.Row(i), lift(p.w, p.y.Row(z))))
			}
			for _, k := range ks {
				if z == own {
					sum += (k - 1) * (k - 1)
				} else {
					sum += c.Beta / float64(p.y.Rows-1) * k * k
				}
			}
		}
	}
	return sum/float64(len(p.labels)) + c.Orthogonality*penalty(p.w)
}

func dense(w dataset.Matrix[float64]) *mat.Dense { return mat.NewDense(w.Rows, w.Cols, w.Data) }

// project is W'x.
func project(w dataset.Matrix[float64], x []float64) []float64 {
	var a mat.VecDense
	a.MulVec(dense(w).T(), mat.NewVecDense(len(x), x))
	return a.RawVector().Data
}

// lift is W y.
func lift(w dataset.Matrix[float64], y []float64) []float64 {
	var x mat.VecDense
	x.MulVec(dense(w), mat.NewVecDense(len(y), y))
	return x.RawVector().Data
}

// penalty is |W'W - I|^2.
func penalty(w dataset.Matrix[float64]) float64 {
	var ww mat.Dense
	ww.Mul(dense(w).T(), dense(w))
	for m := range w.Cols {
		ww.Set(m, m, ww.At(m, m)-1)
	}
	return math.Pow(mat.Norm(&ww, 2), 2)
}

// A step returns the objective of its definition and the gradient of finite differences.
func TestObjectiveAndGradient(t *testing.T) {
	for _, kernel := range []Kernel{Linear, Polynomial, Gaussian, Cauchy} {
		t.Run(string(kernel), rapid.MakeCheck(func(t *rapid.T) {
			c, p := drawConfig(t), drawProblem(t)
			c.Kernel = kernel
			loss, grad := p.step(c)
			testkit.Near(t, "objective", loss, naive(c, p), 1e-9)
			at := slices.Clone(p.w.Data)
			differences := baselinetest.Gradient(func(w []float64) float64 {
				p.w.Data = w
				return naive(c, p)
			}, at, 1e-6)
			testkit.NearAll(t, "gradient", grad.Data, differences, 1e-6*(1+floats.Norm(differences, math.Inf(1))))
		}))
	}
}

func TestKernelsByHand(t *testing.T) {
	for _, c := range []struct {
		settings Settings
		number   float64 // v'w, or |v - w|^2
		k, slope float64
	}{
		{Settings{Kernel: Linear}, 0.25, 0.25, 1},
		{Settings{Kernel: Polynomial, Degree: 2}, 0.5, 0.5625, 0.75}, // ((v + 1)/2)^2, (v + 1)/2
		{Settings{Kernel: Polynomial, Degree: 3}, -1, 0, 0},
		{Settings{Kernel: Gaussian, Sigma: 2}, 8, math.Exp(-1), -math.Exp(-1) / 8},
		{Settings{Kernel: Gaussian, Sigma: 0.5}, 0, 1, -2},
		{Settings{Kernel: Cauchy, Sigma: 2}, 4, 0.5, -0.0625}, // 1/(1 + d/4), -1/(4 (1 + d/4)^2)
		{Settings{Kernel: Cauchy, Sigma: 0.5}, 0, 1, -4},
	} {
		if k, slope := c.settings.kernel().value(c.number); math.Abs(k-c.k) > 1e-15 || math.Abs(slope-c.slope) > 1e-15 {
			t.Errorf("%+v at %g: %g with slope %g, expected %g and %g", c.settings, c.number, k, slope, c.k, c.slope)
		}
	}
}

// The vectors of a processor have the results of single elements, also of extreme ones.
func TestRMSPropIsBitIdentical(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	for n := range 40 {
		draw := func(extremes ...float64) []float32 {
			v := make([]float32, n)
			for i := range v {
				v[i] = float32(rng.NormFloat64())
				if i%5 == 0 {
					v[i] = float32(extremes[rng.IntN(len(extremes))])
				}
			}
			return v
		}
		w, grad, squares := draw(0, math.MaxFloat32), draw(0, -1e-30, math.MaxFloat32, math.Inf(1)), draw(0, math.SmallestNonzeroFloat32, math.MaxFloat32)
		for i, s := range squares {
			squares[i] = float32(math.Abs(float64(s)))
		}
		wantW, wantSquares := slices.Clone(w), slices.Clone(squares)
		rmspropEach(wantW, grad, wantSquares, 0.03)
		rmspropRange(w, grad, squares, 0.03)
		testkit.Equal(t, "w", fmt.Sprint(w), fmt.Sprint(wantW)) // as text NaN are equal
		testkit.Equal(t, "squares", fmt.Sprint(squares), fmt.Sprint(wantSquares))
	}
}

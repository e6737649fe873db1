package ranking

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
	"github.com/lago-train/lago-train/model/method"
)

// examples returns nonnegative samples in random rows, correlated with their class.
func examples(samples, dims, attributes, classes int, seed uint64) method.Examples {
	e := baselinetest.Examples(samples, dims, attributes, classes, 1, seed)
	for i, v := range e.X.Data {
		e.X.Data[i] = float32(math.Abs(float64(v)))
	}
	rand.New(rand.NewPCG(seed, 9)).Shuffle(samples, func(i, j int) {
		e.Rows[i], e.Rows[j] = e.Rows[j], e.Rows[i]
		e.Labels[i], e.Labels[j] = e.Labels[j], e.Labels[i]
	})
	return e
}

func weights(l method.Learner) []float32 { return l.State()[0].Matrix.Data }

func defaults(l Loss) Settings {
	c := New(l)
	c.Settings().SetDefaults()
	return *c
}

var names = []Loss{ALE, SJE, DeViSE}

// Blocks equal steps of one sample, also if 64 does not divide the samples.
func TestBlocksAreSGD(t *testing.T) {
	for _, name := range names {
		for _, features := range []Features{None, Unit, Standardise} {
			for _, samples := range []int{1, 40, 64, 128, 150} {
				e := examples(samples, 12, 7, 9, uint64(samples))
				c := defaults(name)
				c.Features, c.LR, c.Margin = features, 0.05, 0.7
				if samples == 1 && features == Standardise {
					continue // nothing varies
				}
				t.Run(fmt.Sprintf("%s/%s/%d", name, features, samples), func(t *testing.T) {
					l := baselinetest.Learner(t, &c, e, 3)
					o := newOracle(t, c, e, l)
					for number := 1; number <= 3; number++ {
						loss, _ := baselinetest.Epoch(t, l, number)
						testkit.Near(t, "loss", loss, o.epoch(method.Shuffled(samples, 3, number)), 1e-4)
					}
					testkit.NearAll(t, "W", weights(l), o.w.RawMatrix().Data, 1e-4)
					var a, scores mat.Dense
					a.Mul(o.x, o.w)
					scores.Mul(&a, o.u.T())
					restored := testkit.Must(c.Restore(&method.Reader{Tensors: l.Model().Tensors()}, e.Shape()))(t)
					testkit.NearAll(t, "scores", baselinetest.Score(t, restored, e, e.U).Data, scores.RawMatrix().Data, 1e-3)
				})
			}
		}
	}
}

// oracle is stochastic gradient descent on one sample at a time, in float64.
type oracle struct {
	settings Settings
	x        *mat.Dense // normalised
	labels   []int
	u, w     *mat.Dense // Z x M and D x M
}

// newOracle starts from the W that a learner starts from.
func newOracle(t *testing.T, c Settings, e method.Examples, l method.Learner) *oracle {
	t.Helper()
	n, dims := len(e.Rows), e.X.Cols
	o := &oracle{settings: c, labels: e.Labels, x: mat.NewDense(n, dims, nil)}
	for i, x := range normalised(c.Features, e.X, e.Rows, e.Rows) {
		o.x.SetRow(i, x)
	}
	u := testkit.Must(baseline.Describe(e.U, nil, c.Normalise))(t)
	o.u, o.w = mat.NewDense(u.Rows, u.Cols, u.Data), mat.NewDense(dims, u.Cols, baselinetest.Floats(weights(l)))
	return o
}

// normalised returns the normalised features of the rows, computed in float64; learned
// are those that Standardise is fitted on.
func normalised(f Features, x dataset.Matrix[float32], learned, rows []int) [][]float64 {
	to := make([][]float64, len(rows))
	for i, r := range rows {
		to[i] = baselinetest.Floats(x.Row(r))
		if f == Unit {
			floats.Scale(1/floats.Norm(to[i], 2), to[i])
		}
	}
	for d := 0; d < x.Cols && f == Standardise; d++ {
		var column []float64
		for _, r := range learned {
			column = append(column, float64(x.Row(r)[d]))
		}
		mean, deviation := stat.PopMeanStdDev(column, nil)
		for i := range to {
			to[i][d] = (to[i][d] - mean) / deviation / math.Sqrt(float64(x.Cols))
		}
	}
	return to
}

// epoch returns the mean loss.
func (o *oracle) epoch(order []int) (mean float64) {
	step := make([]float64, o.u.RawMatrix().Rows)
	for _, i := range order {
		var a, scores, moved mat.VecDense
		x := o.x.RowView(i)
		a.MulVec(o.w.T(), x)
		scores.MulVec(o.u, &a)
		mean += lossOf[float64](o.settings.Loss)(scores.RawVector().Data, o.labels[i], o.settings.Margin, step) / float64(len(order))
		moved.MulVec(o.u.T(), mat.NewVecDense(len(step), step))
		o.w.RankOne(o.w, o.settings.LR, x, &moved)
	}
	return mean
}

func TestInit(t *testing.T) {
	e := examples(10, 64, 200, 3, 2)
	c := defaults(ALE)
	c.Init = 3
	w := baselinetest.Floats(weights(baselinetest.Learner(t, &c, e, 1)))
	testkit.Near(t, "standard deviation", math.Sqrt(floats.Dot(w, w)/(64*200)), 3/8.0, 0.005)
	c.Init = 0
	if w := weights(baselinetest.Learner(t, &c, e, 1)); slices.Max(w) != 0 || slices.Min(w) != 0 {
		t.Error("expected that W starts with zeros")
	}
}

// Training on separable classes converges with a loss of 0.
func TestSeparable(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	e := method.Examples{X: dataset.NewMatrix[float32](120, 10), U: baselinetest.Matrix[float64](3, 1, 0, 0, 0, 1, 0, 0, 0, 1)}
	for r := range 120 {
		e.Rows, e.Labels = append(e.Rows, r), append(e.Labels, r%3)
		for d := range 10 {
			e.X.Row(r)[d] = float32(0.1*rng.NormFloat64() + 2*e.U.Row(r % 3)[d%3])
		}
	}
	for _, name := range names {
		c := defaults(name)
		l := baselinetest.Learner(t, &c, e, 1)
		done, loss := false, 0.0
		for number := 1; number <= 500 && !done; number++ {
			before := slices.Clone(weights(l))
			if loss, done = baselinetest.Epoch(t, l, number); done != slices.Equal(before, weights(l)) {
				t.Fatalf("%s: done is %t in epoch %d", name, done, number)
			}
		}
		if !done || loss != 0 {
			t.Errorf("%s: the loss is %g after 500 epochs", name, loss)
		}
	}
}

func TestNotFinite(t *testing.T) {
	for _, name := range names {
		for what, change := range map[string]func(*Settings, *method.Examples){
			"a high rate":    func(c *Settings, _ *method.Examples) { c.LR = 1e38 },
			"a large margin": func(c *Settings, _ *method.Examples) { c.LR, c.Margin = 3e37, 3e38 },
			"the last step": func(c *Settings, e *method.Examples) {
				c.LR, c.Margin, e.Rows, e.Labels = 3e38, 1e3, e.Rows[:1], e.Labels[:1]
			},
			"a NaN": func(_ *Settings, e *method.Examples) { e.X.Row(e.Rows[4])[1] = float32(math.NaN()) },
		} {
			e, c := examples(100, 12, 7, 9, 8), defaults(name)
			c.Features = None
			change(&c, &e)
			l := testkit.Must(c.Learn(e, 1))(t)
			var err error
			for number := 1; number <= 3 && err == nil; number++ {
				_, err = l.Epoch(number)
			}
			t.Run(fmt.Sprintf("%s/%s", name, what), func(t *testing.T) { baselinetest.WantNotFinite(t, err, "W") })
		}
	}
}

// Class 1 scores 2, the margin is 1: hinges are 1 - 2 + s, which is 2, -, -0.5, 0.5, 0 for the scores 3, 2,
// 0.5, 1.5, 1. Two are above 0, with a sum of 2.5 and a maximum of 2, and l_2 / 2 = (1 + 1/2) / 2 = 0.75.
func TestByHand(t *testing.T) {
	scores := []float64{3, 2, 0.5, 1.5, 1}
	for name, want := range map[Loss]struct {
		loss float64
		step []float64
	}{
		DeViSE: {2.5, []float64{-1, 2, 0, -1, 0}},
		ALE:    {1.875, []float64{-0.75, 1.5, 0, -0.75, 0}},
		SJE:    {2, []float64{-1, 1, 0, 0, 0}},
	} {
		step := []float64{9, 9, 9, 9, 9} // of the sample before
		testkit.Near(t, string(name), lossOf[float64](name)(scores, 1, 1, step), want.loss, 1e-9)
		testkit.Equal(t, "step of "+string(name), step, want.step)
	}
}

// sample draws scores, a class and a margin, such that no loss has a kink within 1e-3 of the scores.
func sample(t *rapid.T) (scores []float64, y int, margin float64) {
	classes := rapid.IntRange(1, 12).Draw(t, "classes")
	scores = rapid.SliceOfN(rapid.Float64Range(-3, 3), classes, classes).Draw(t, "scores")
	y = rapid.IntRange(0, classes-1).Draw(t, "class")
	margin = rapid.Float64Range(0.1, 2).Draw(t, "margin")
	for z, s := range scores {
		for o, other := range scores {
			if z != y && (math.Abs(margin+s-scores[y]) < 1e-3 || o != z && o != y && math.Abs(s-other) < 1e-3) {
				t.Skip("at a kink")
			}
		}
	}
	return scores, y, margin
}

func TestFiniteDifferences(t *testing.T) {
	for _, name := range names {
		t.Run(string(name), rapid.MakeCheck(func(t *rapid.T) {
			scores, y, margin := sample(t)
			step, unused := make([]float64, len(scores)), make([]float64, len(scores))
			lossOf[float64](name)(scores, y, margin, step)
			fall := func(scores []float64) float64 { return -lossOf[float64](name)(scores, y, margin, unused) }
			testkit.NearAll(t, "step", step, baselinetest.Gradient(fall, scores, 1e-4), 1e-6)
		}))
	}
}

package ranking

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
	"github.com/lago-train/lago-train/model/method"
)

// Blocks equal steps of one sample, also if 64 does not divide the samples.
func TestBlocksAreSGD(t *testing.T) {
	for _, name := range names {
		for _, features := range []baseline.Features{baseline.None, baseline.Unit, baseline.Standardize} {
			for _, samples := range []int{1, 40, 64, 128, 150} {
				e := examples(samples, 12, 7, 9, uint64(samples))
				c := *New(name)
				c.Features, c.LR, c.Margin = features, 0.05, 0.7
				if samples == 1 && features == baseline.Standardize {
					continue // nothing varies
				}
				t.Run(fmt.Sprintf("%s/%s/%d", name, features, samples), func(t *testing.T) {
					l := newLearner(t, c, e, 3)
					o := newOracle(c, e, l)
					for number := 1; number <= 3; number++ {
						loss, _ := epoch(t, l, number)
						if want := o.epoch(method.Shuffled(samples, 3, number)); !(math.Abs(loss-want) <= 1e-4*want) {
							t.Fatalf("epoch %d: the loss is %g, expected %g", number, loss, want)
						}
					}
					for i, v := range weights(l) {
						if want := o.w[i/7][i%7]; !(math.Abs(float64(v)-want) <= 1e-4) {
							t.Fatalf("W[%d, %d] is %g, expected %g", i/7, i%7, v, want)
						}
					}
				})
			}
		}
	}
}

func TestInit(t *testing.T) {
	e := examples(10, 64, 200, 3, 2)
	c := *New(ALE)
	c.Init = 3
	var squares float64
	for _, w := range weights(newLearner(t, c, e, 1)) {
		squares += float64(w) * float64(w)
	}
	if got, want := math.Sqrt(squares/(64*200)), 3/8.0; !(math.Abs(got-want) <= 0.02*want) {
		t.Errorf("the standard deviation is %g, expected %g", got, want)
	}
	c.Init = 0
	for _, w := range weights(newLearner(t, c, e, 1)) {
		if w != 0 {
			t.Fatalf("W starts with %g, expected zeros", w)
		}
	}
}

// From W = 0, twice the margin with twice the learning rate gives twice the W: that is why
// the margin is not searched.
func TestMarginIsAScale(t *testing.T) {
	e := examples(100, 12, 7, 9, 3)
	for _, name := range names {
		c := *New(name)
		c.Init = 0
		twice := c
		twice.LR, twice.Margin = 2*c.LR, 2*c.Margin
		a, b := newLearner(t, c, e, 1), newLearner(t, twice, e, 1)
		for number := 1; number <= 3; number++ {
			epoch(t, a, number)
			epoch(t, b, number)
		}
		for i, v := range weights(a) {
			if 2*v != weights(b)[i] {
				t.Fatalf("%s: %g becomes %g with twice the margin", name, v, weights(b)[i])
			}
		}
	}
}

// Training on separable classes converges with a loss of 0, and recognises unseen classes.
func TestSeparable(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	e := method.Examples{
		X: dataset.NewMatrix[float32](240, 10),
		U: dataset.Matrix[float64]{Rows: 3, Cols: 3, Data: []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}},
	}
	unseen := dataset.Matrix[float64]{Rows: 3, Cols: 3, Data: []float64{1, 1, 0, 0, 1, 1, 1, 0, 1}}
	has := func(r int, u []float64) {
		for d := range 10 {
			e.X.Row(r)[d] = float32(0.1*rng.NormFloat64() + 2*u[d%3])
		}
	}
	var rows []int
	for r := range 240 {
		if r < 120 {
			e.Rows, e.Labels = append(e.Rows, r), append(e.Labels, r%3)
			has(r, e.U.Row(r%3))
			continue
		}
		rows = append(rows, r)
		has(r, unseen.Row(r%3))
	}
	for _, name := range names {
		l := newLearner(t, *New(name), e, 1)
		done, loss := false, 0.0
		for number := 1; number <= 500 && !done; number++ {
			before := slices.Clone(weights(l))
			if loss, done = epoch(t, l, number); done != slices.Equal(before, weights(l)) {
				t.Fatalf("%s: done is %t in epoch %d", name, done, number)
			}
		}
		if !done || loss != 0 {
			t.Errorf("%s: the loss is %g after 500 epochs", name, loss)
		}
		for what, c := range map[string]struct {
			rows []int
			u    dataset.Matrix[float64]
		}{"seen": {e.Rows, e.U}, "unseen": {rows, unseen}} {
			scores, err := model.Score(l.Model(), e.X, c.rows, c.u)
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range c.rows {
				if s := scores.Row(i); s[r%3] != slices.Max(s) {
					t.Errorf("%s: sample %d of the %s classes scores %v, expected class %d", name, r, what, s, r%3)
					break
				}
			}
		}
	}
}

// examples returns nonnegative samples in random rows, correlated with their class.
func examples(samples, dims, attributes, classes int, seed uint64) method.Examples {
	rng := rand.New(rand.NewPCG(seed, 9))
	e := method.Examples{
		X: dataset.NewMatrix[float32](samples+3, dims),
		U: dataset.NewMatrix[float64](classes, attributes),
	}
	for i := range e.U.Data {
		e.U.Data[i] = rng.Float64()
	}
	e.Rows = rng.Perm(samples + 3)[:samples]
	for _, r := range e.Rows {
		z := rng.IntN(classes)
		e.Labels = append(e.Labels, z)
		for d := range dims {
			e.X.Row(r)[d] = float32(math.Abs(rng.NormFloat64() + 2*e.U.Row(z)[d%attributes]))
		}
	}
	return e
}

func newLearner(t testing.TB, c Config, e method.Examples, seed uint64) method.Learner {
	t.Helper()
	l, err := c.Learn(e, seed)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func epoch(t testing.TB, l method.Learner, number int) (loss float64, done bool) {
	t.Helper()
	p, err := l.Epoch(number)
	if err != nil {
		t.Fatal(err)
	}
	return p.Phases[0].Loss, p.Converged
}

func weights(l method.Learner) []float32 { return l.State()[0].Matrix.Data }

var names = []Loss{ALE, SJE, DeViSE}

func TestNotFinite(t *testing.T) {
	for _, name := range names {
		for what, change := range map[string]func(*Config, *method.Examples){
			"a high rate":    func(c *Config, _ *method.Examples) { c.LR = 1e38 },
			"a large margin": func(c *Config, _ *method.Examples) { c.LR, c.Margin = 3e37, 3e38 },
			"the last step": func(c *Config, e *method.Examples) {
				c.LR, c.Margin, e.Rows, e.Labels = 3e38, 1e3, e.Rows[:1], e.Labels[:1]
			},
			"a NaN": func(_ *Config, e *method.Examples) { e.X.Row(e.Rows[4])[1] = float32(math.NaN()) },
		} {
			e, c := examples(100, 12, 7, 9, 8), *New(name)
			c.Features = baseline.None
			change(&c, &e)
			l := newLearner(t, c, e, 1)
			var err error
			for number := 1; number <= 3 && err == nil; number++ {
				_, err = l.Epoch(number)
			}
			if nf := (*model.NotFinite)(nil); !errors.As(err, &nf) || nf.Term != "W" {
				t.Errorf("%s, %s: %v, expected W not to be finite", name, what, err)
			}
		}
	}
}

// BenchmarkEpoch has the sizes of 64 classes of CUB.
func BenchmarkEpoch(b *testing.B) {
	e := examples(3738, 2048, 312, 64, 9)
	for _, name := range names {
		b.Run(string(name), func(b *testing.B) {
			l := newLearner(b, *New(name), e, 1)
			number := 0
			for b.Loop() {
				number++
				epoch(b, l, number)
			}
		})
	}
}

// TestMain chooses the BLAS of the process: $LAGO_BLAS names it, "go" for gonum's.
func TestMain(m *testing.M) {
	if _, err := blas.Use(""); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// oracle is stochastic gradient descent on one sample at a time, in float64.
type oracle struct {
	config Config
	x      [][]float64 // normalised
	labels []int
	u      [][]float64
	w      [][]float64 // D x M
}

// newOracle starts from the W that a learner starts from.
func newOracle(c Config, e method.Examples, l method.Learner) *oracle {
	o := &oracle{config: c, labels: e.Labels}
	for _, r := range e.Rows {
		o.x = append(o.x, baselinetest.Floats(e.X.Row(r)))
	}
	switch c.Features {
	case baseline.Unit:
		for _, x := range o.x {
			scale(x, 1/math.Sqrt(dot(x, x)))
		}
	case baseline.Standardize:
		standardize(o.x)
	}
	u, err := baseline.Describe(e.U, c.Normalise)
	if err != nil {
		panic(err)
	}
	for z := range u.Rows {
		o.u = append(o.u, u.Row(z))
	}
	w := l.State()[0].Matrix
	for d := range w.Rows {
		o.w = append(o.w, baselinetest.Floats(w.Row(d)))
	}
	return o
}

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

func scale(v []float64, by float64) {
	for i := range v {
		v[i] *= by
	}
}

// standardize gives each dimension the mean 0 and the variance 1/D.
func standardize(x [][]float64) {
	n, dims := float64(len(x)), len(x[0])
	for d := range dims {
		var mean, variance float64
		for _, row := range x {
			mean += row[d] / n
		}
		for _, row := range x {
			variance += (row[d] - mean) * (row[d] - mean) / n
		}
		for _, row := range x {
			row[d] = (row[d] - mean) / math.Sqrt(variance*float64(dims))
		}
	}
}

// epoch returns the mean loss.
func (o *oracle) epoch(order []int) float64 {
	loss := losses[o.config.Loss]
	var sum float64
	step := make([]float64, len(o.u))
	for _, i := range order {
		x := o.x[i]
		a := make([]float64, len(o.u[0]))
		for d, row := range o.w {
			for m, w := range row {
				a[m] += x[d] * w
			}
		}
		scores := make([]float64, len(o.u))
		for z, u := range o.u {
			scores[z] = dot(a, u)
		}
		sum += loss(scores, o.labels[i], o.config.Margin, step)
		for d, row := range o.w {
			for m := range row {
				for z, u := range o.u {
					row[m] += o.config.LR * x[d] * step[z] * u[m]
				}
			}
		}
	}
	return sum / float64(len(order))
}

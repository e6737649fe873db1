package ranking

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/baseline"
)

// Samples in blocks give what samples one by one give, whether or not blocks of 64
// divide them.
func TestBlocksAreSGD(t *testing.T) {
	for _, name := range names {
		for _, features := range []baseline.Features{baseline.None, baseline.Unit, baseline.Standardize} {
			for _, samples := range []int{1, 40, 64, 128, 150} {
				e := examples(samples, 12, 7, 9, uint64(samples))
				c := Default(name)
				c.Features, c.LR, c.Margin = features, 0.05, 0.7
				if samples == 1 && features == baseline.Standardize {
					continue // nothing varies
				}
				t.Run(fmt.Sprintf("%s/%s/%d", name, features, samples), func(t *testing.T) {
					l := newLearner(t, c, e, 3)
					o := newOracle(c, e, l)
					for number := 1; number <= 3; number++ {
						loss, _ := epoch(t, l, number)
						if want := o.epoch(baseline.Shuffled(samples, 3, number)); !(math.Abs(loss-want) <= 1e-4*want) {
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

// W starts normal with the standard deviation that was asked for, or at zero.
func TestInit(t *testing.T) {
	e := examples(10, 64, 200, 3, 2)
	c := Default(ALE)
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

// The margin is a scale: from zeros, twice the margin with twice the rate is twice
// the W. That is why no Space has both.
func TestMarginIsAScale(t *testing.T) {
	e := examples(100, 12, 7, 9, 3)
	for _, name := range names {
		c := Default(name)
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

// Classes that can be told apart are, after which there is nothing to learn; the
// unseen class between them is found by what it has of both.
func TestSeparable(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	e := baseline.Examples{
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
		l := newLearner(t, Default(name), e, 1)
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
			scores, err := l.Model().Score(e.X, c.rows, c.u)
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

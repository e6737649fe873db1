package linear

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
)

// evaluate returns the loss of all outputs together and its gradient at w, K x width.
func evaluate(p Objective, w []float64) (loss float64, gradient []float64) {
	e := newEvaluator(p)
	outputs, losses := make([]int, p.Outputs), make([]float64, p.Outputs)
	for k := range outputs {
		outputs[k] = k
	}
	gradient = make([]float64, len(w))
	e.evaluate(outputs, w, gradient, losses)
	for _, l := range losses {
		loss += l
	}
	return loss, gradient
}

// regression returns a linear regression on random targets, n x K, whose minimum is known.
// Samples are in the rows of x in reverse.
func regression(n, dims, outputs int, seed uint64) (p Objective, targets dataset.Matrix[float64]) {
	rng := rand.New(rand.NewPCG(seed, 0))
	p = Objective{X: dataset.NewMatrix[float32](n, dims), Outputs: outputs, Penalty: 0.1 + rng.Float64(), Curvature: 1}
	for i := range p.X.Data {
		p.X.Data[i] = float32(2 + rng.NormFloat64())
	}
	targets = dataset.NewMatrix[float64](n, outputs)
	for i := range targets.Data {
		targets.Data[i] = rng.NormFloat64()
	}
	for i := range n {
		p.Rows = append(p.Rows, n-1-i)
	}
	return p, targets
}

func each(t dataset.Matrix[float64]) func(sample, output int, score float64) (loss, slope float64) {
	return func(sample, output int, score float64) (float64, float64) {
		d := score - t.Row(sample)[output]
		return d * d / 2, d
	}
}

func joint(t dataset.Matrix[float64]) func(sample int, scores []float64) float64 {
	return func(sample int, scores []float64) (loss float64) {
		for k, s := range scores {
			d := s - t.Row(sample)[k]
			loss += d * d / 2
			scores[k] = d
		}
		return loss
	}
}

// solved returns the minimum of a regression by its normal equations, (X'X/n + penalty) W' =
// X'T/n, where a bias is the weight of a constant 1 that is not penalised: K x D and K.
func solved(t rapid.TB, p Objective, targets dataset.Matrix[float64]) (w, b []float64) {
	t.Helper()
	n, dims := len(p.Rows), p.X.Cols
	e := dims
	if p.Bias {
		e++
	}
	x := mat.NewDense(n, e, nil)
	for i, r := range p.Rows {
		var squares float64
		for d, v := range p.X.Row(r) {
			x.Set(i, d, float64(v))
			squares += float64(v) * float64(v)
		}
		if p.Unit {
			for d := range dims {
				x.Set(i, d, x.At(i, d)/math.Sqrt(squares))
			}
		}
		if p.Bias {
			x.Set(i, dims, 1)
		}
	}
	var xx, xt, solution mat.Dense
	xx.Mul(x.T(), x)
	xx.Scale(1/float64(n), &xx)
	for d := range dims {
		xx.Set(d, d, xx.At(d, d)+p.Penalty)
	}
	xt.Mul(x.T(), mat.NewDense(n, p.Outputs, targets.Data))
	xt.Scale(1/float64(n), &xt)
	if err := solution.Solve(&xx, &xt); err != nil {
		t.Fatal(err)
	}
	b = make([]float64, p.Outputs)
	for k := range p.Outputs {
		for d := range dims {
			w = append(w, solution.At(d, k))
		}
		if p.Bias {
			b[k] = solution.At(dims, k)
		}
	}
	return w, b
}

func minimise(t rapid.TB, p Objective) *Classifiers {
	t.Helper()
	c, err := p.Minimise()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMinimumOfALinearRegression(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 6)
		p, targets := regression(rapid.IntRange(1, 30).Draw(t, "samples"), size.Draw(t, "dims"), size.Draw(t, "outputs"), rapid.Uint64().Draw(t, "seed"))
		p.Bias, p.Unit = rapid.Bool().Draw(t, "bias"), rapid.Bool().Draw(t, "unit")
		if rapid.Bool().Draw(t, "joint") {
			p.Joint = joint(targets)
		} else {
			p.Each = each(targets)
		}
		w, b := solved(t, p, targets)
		c := minimise(t, p)
		testkit.NearAll(t, "W", c.W.Data, w, 2e-3)
		testkit.NearAll(t, "b", c.B, b, 5e-3)
		var loss float64
		for i, r := range p.Rows {
			length := 1.0
			if p.Unit {
				length = mat.Norm(mat.NewVecDense(p.X.Cols, baselinetest.Floats(p.X.Row(r))), 2)
			}
			for k := range p.Outputs {
				d := b[k] - targets.Row(i)[k]
				for j, v := range p.X.Row(r) {
					d += w[k*p.X.Cols+j] * float64(v) / length
				}
				loss += d * d / 2 / float64(len(p.Rows))
			}
		}
		testkit.Near(t, "loss", c.Loss, loss, 1e-2)
	})
}

func TestGradientAgainstFiniteDifferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, targets := regression(rapid.IntRange(1, 9).Draw(t, "samples"), 3, 2, rapid.Uint64().Draw(t, "seed"))
		p.Bias, p.Unit = rapid.Bool().Draw(t, "bias"), rapid.Bool().Draw(t, "unit")
		p.Each = each(targets)
		if rapid.Bool().Draw(t, "joint") {
			p.Each, p.Joint = nil, joint(targets)
		}
		w := make([]float64, 6)
		if p.Bias {
			w = make([]float64, 8)
		}
		for i := range w {
			w[i] = rapid.Float64Range(-2, 2).Draw(t, "w")
		}
		_, gradient := evaluate(p, w)
		const h = 1e-5
		differences := make([]float64, len(w))
		for i, at := range w {
			w[i] = at + h
			above, _ := evaluate(p, w)
			w[i] = at - h
			below, _ := evaluate(p, w)
			w[i] = at
			differences[i] = (above - below) / (2 * h)
		}
		testkit.NearAll(t, "gradient", gradient, differences, 1e-7)
	})
}

// Repeating every sample changes nothing, also in several blocks.
func TestManySamples(t *testing.T) {
	p, targets := regression(700, 4, 3, 1)
	p.Bias, p.Each = true, each(targets)
	once := minimise(t, p)
	p.Rows = append(p.Rows, p.Rows...)
	targets.Data = append(targets.Data, targets.Data...)
	targets.Rows *= 2
	p.Each = each(targets)
	twice := minimise(t, p)
	testkit.NearAll(t, "W", twice.W.Data, once.W.Data, 1e-6)
	testkit.NearAll(t, "b", twice.B, once.B, 1e-6)
	testkit.Near(t, "loss", twice.Loss, once.Loss, 1e-9)
}

// Independent outputs do not affect each other: one starts at its optimum, one has no
// samples, one has another scale.
func TestIndependentOutputs(t *testing.T) {
	p, targets := regression(50, 5, 4, 2)
	for i := range targets.Rows {
		targets.Row(i)[1] = 0
		targets.Row(i)[3] *= 1e4
	}
	all := each(targets)
	p.Each = func(sample, output int, score float64) (float64, float64) {
		if output == 2 {
			return 0, 0
		}
		return all(sample, output, score)
	}
	c := minimise(t, p)
	testkit.NearAll(t, "W of zeros", c.W.Row(1), make([]float64, 5), 0)
	testkit.NearAll(t, "W of nothing", c.W.Row(2), make([]float64, 5), 0)
	p.Outputs = 1
	for _, k := range []int{0, 3} {
		p.Each = func(sample, _ int, score float64) (float64, float64) { return all(sample, k, score) }
		testkit.NearAll(t, "W", c.W.Row(k), minimise(t, p).W.Data, 1e-9)
	}
}

func TestMinimiseIsBitIdentical(t *testing.T) {
	p, targets := regression(300, 6, 40, 3)
	p.Bias, p.Each = true, each(targets)
	first := minimise(t, p)
	for range 3 {
		if again := minimise(t, p); !slices.Equal(again.W.Data, first.W.Data) || !slices.Equal(again.B, first.B) || again.Loss != first.Loss {
			t.Fatal("another minimum")
		}
	}
}

func TestMinimiseErrors(t *testing.T) {
	p, targets := regression(5, 2, 3, 4)
	p.Each = each(targets)
	p.X.Data[3] = float32(math.NaN())
	_, err := p.Minimise()
	var e *model.NotFinite
	if !errors.As(err, &e) || e.Term != "loss" {
		t.Errorf("features that are no numbers: %v", err)
	}
	p, targets = regression(5, 2, 3, 4)
	right := each(targets)
	p.Each = func(sample, output int, score float64) (float64, float64) {
		loss, slope := right(sample, output, score)
		if output == 1 {
			slope = -slope
		}
		return loss, slope
	}
	if _, err := p.Minimise(); err == nil || !strings.HasPrefix(err.Error(), "the classifier of output 1 did not converge, its gradient is 1 of that at the start: ") {
		t.Errorf("a slope that leads upwards: %v", err)
	}
}

// Rounding of a matrix product depends on the order of the outputs.
func TestOutputsAreEvaluatedInOrder(t *testing.T) {
	p, targets := regression(3, 2, 40, 6)
	all := each(targets)
	var order []int
	p.Each = func(sample, output int, score float64) (float64, float64) {
		if sample == 0 {
			order = append(order, output)
		}
		return all(sample, output, score)
	}
	minimise(t, p)
	for k, output := range order[:p.Outputs] {
		if output != k {
			t.Fatalf("the first round is of %v", order[:p.Outputs])
		}
	}
}

// The curvature changes the number of steps alone: half of it is as good on a regression,
// whose curvature is 1.
func TestCurvatureDoesNotChangeTheMinimum(t *testing.T) {
	p, targets := regression(60, 8, 3, 5)
	p.Each, p.Bias, p.Penalty = each(targets), true, 1e-3
	for _, r := range p.Rows { // correlated features
		for d := range 7 {
			p.X.Row(r)[d] = p.X.Row(r)[7] + 0.1*p.X.Row(r)[d]
		}
	}
	w, b := solved(t, p, targets)
	for _, curvature := range []float64{0.01, 0.5, 1, 100} {
		p.Curvature = curvature
		c := minimise(t, p)
		testkit.NearAll(t, "W", c.W.Data, w, 1e-3)
		testkit.NearAll(t, "b", c.B, b, 1e-3)
	}
}

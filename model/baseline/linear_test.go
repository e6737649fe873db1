package baseline_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
)

// regression returns a linear regression on random targets, n x K, whose minimum is known.
// Samples are in the rows of x in reverse.
func regression(n, dims, outputs int, seed uint64) (p baseline.Objective, targets dataset.Matrix[float64]) {
	rng := rand.New(rand.NewPCG(seed, 0))
	p = baseline.Objective{X: dataset.NewMatrix[float32](n, dims), Outputs: outputs, Penalty: 0.1 + rng.Float64(), Curvature: 1}
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

func squared(t dataset.Matrix[float64]) func(sample, output int, score float64) (loss, slope float64) {
	return func(sample, output int, score float64) (float64, float64) {
		d := score - t.Row(sample)[output]
		return d * d / 2, d
	}
}

// near compares classifiers with the minimum of a regression by its normal equations, (X'X/n + penalty) W' =
// X'T/n, where a bias is the weight of a constant 1 that is not penalised.
func near(t testkit.TB, p baseline.Objective, targets dataset.Matrix[float64], c *baseline.Classifiers, tolerance float64) {
	t.Helper()
	n, dims := len(p.Rows), p.X.Cols
	x := mat.NewDense(n, dims+1, nil)
	for i, r := range p.Rows {
		row := baselinetest.Floats(p.X.Row(r))
		if p.Unit {
			floats.Scale(1/floats.Norm(row, 2), row)
		}
		x.SetRow(i, append(row, 1))
	}
	if !p.Bias {
		x = mat.DenseCopyOf(x.Slice(0, n, 0, dims))
	}
	var xx, xt, want, residual mat.Dense
	xx.Mul(x.T(), x)
	xx.Scale(1/float64(n), &xx)
	for d := range dims {
		xx.Set(d, d, xx.At(d, d)+p.Penalty)
	}
	goal := mat.NewDense(n, p.Outputs, targets.Data)
	xt.Mul(x.T(), goal)
	xt.Scale(1/float64(n), &xt)
	testkit.NoError(t, want.Solve(&xx, &xt))
	residual.Mul(x, &want)
	residual.Sub(&residual, goal)
	testkit.Near(t, "loss", c.Loss, math.Pow(mat.Norm(&residual, 2), 2)/2/float64(n), 5*tolerance)
	for k := range p.Outputs {
		column := mat.Col(nil, k, &want)
		testkit.NearAll(t, "W", c.W.Row(k), column[:dims], tolerance)
		testkit.NearAll(t, "b", c.B[k:k+1], append(column, 0)[dims:dims+1], 2.5*tolerance)
	}
}

func minimise(t testkit.TB, p baseline.Objective) *baseline.Classifiers {
	t.Helper()
	return testkit.Must(p.Minimise())(t)
}

func TestMinimumOfALinearRegression(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 6)
		p, targets := regression(rapid.IntRange(1, 30).Draw(t, "samples"), size.Draw(t, "dims"), size.Draw(t, "outputs"), rapid.Uint64().Draw(t, "seed"))
		p.Bias, p.Unit = rapid.Bool().Draw(t, "bias"), rapid.Bool().Draw(t, "unit")
		p.Loss = squared(targets)
		near(t, p, targets, minimise(t, p), 2e-3)
	})
}

// Repeating every sample changes nothing, also in several blocks.
func TestManySamples(t *testing.T) {
	p, targets := regression(700, 4, 3, 1)
	p.Bias, p.Loss = true, squared(targets)
	once := minimise(t, p)
	p.Rows = append(p.Rows, p.Rows...)
	targets.Data = append(targets.Data, targets.Data...)
	targets.Rows *= 2
	p.Loss = squared(targets)
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
	all := squared(targets)
	p.Loss = func(sample, output int, score float64) (float64, float64) {
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
		p.Loss = func(sample, _ int, score float64) (float64, float64) { return all(sample, k, score) }
		testkit.NearAll(t, "W", c.W.Row(k), minimise(t, p).W.Data, 1e-9)
	}
}

func TestMinimiseIsBitIdentical(t *testing.T) {
	p, targets := regression(300, 6, 40, 3)
	p.Bias, p.Loss = true, squared(targets)
	first := minimise(t, p)
	for range 3 {
		if again := minimise(t, p); !slices.Equal(again.W.Data, first.W.Data) || !slices.Equal(again.B, first.B) || again.Loss != first.Loss {
			t.Fatal("another minimum")
		}
	}
}

func TestMinimiseErrors(t *testing.T) {
	p, targets := regression(5, 2, 3, 4)
	p.Loss = squared(targets)
	p.X.Data[3] = float32(math.NaN())
	_, err := p.Minimise()
	baselinetest.WantNotFinite(t, err, "loss")
	p, targets = regression(5, 2, 3, 4)
	right := squared(targets)
	p.Loss = func(sample, output int, score float64) (float64, float64) {
		loss, slope := right(sample, output, score)
		if output == 1 {
			slope = -slope
		}
		return loss, slope
	}
	_, err = p.Minimise() // whose slope leads upwards
	testkit.WantError(t, err, "the classifier of output 1 did not converge, its gradient is 1 of that at the start: ")
}

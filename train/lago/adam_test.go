package lago

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/internal/testkit"
)

// parameter is a value and its gradient, as a machine passes them to a solver.
type parameter struct{ value, grad *tensor.Dense }

func (p parameter) Value() G.Value         { return p.value }
func (p parameter) Grad() (G.Value, error) { return p.grad, nil }

func newParameter(n int) parameter {
	return parameter{tensor.New(tensor.WithShape(n), tensor.Of(tensor.Float32)), tensor.New(tensor.WithShape(n), tensor.Of(tensor.Float32))}
}

// drawGradients returns gradients of many magnitudes: at 1e-8 the epsilon of Adam is as
// large as the gradient, and 0 must stay 0.
func drawGradients(rng *rand.Rand, n int) []float64 {
	g := make([]float64, n)
	for i := range g {
		g[i] = float64(float32(rng.NormFloat64() * math.Pow(10, float64(i%11-8))))
	}
	g[0] = 0
	return g
}

// kingmaBa is algorithm 1 of Kingma & Ba (2015), line by line, at step t from 1.
func kingmaBa(theta, m, v, g []float64, alpha float64, t int) {
	const beta1, beta2, epsilon = 0.9, 0.999, 1e-8
	for i := range theta {
		m[i] = beta1*m[i] + (1-beta1)*g[i]
		v[i] = beta2*v[i] + (1-beta2)*g[i]*g[i]
		mHat := m[i] / (1 - math.Pow(beta1, float64(t)))
		vHat := v[i] / (1 - math.Pow(beta2, float64(t)))
		theta[i] -= alpha * mHat / (math.Sqrt(vHat) + epsilon)
	}
}

// TestAdam compares two parameters in one solver with the paper's algorithm.
func TestAdam(t *testing.T) {
	const steps, rate = 100, 0.01
	rng := rand.New(rand.NewPCG(1, 2))
	sizes := []int{37, 11}
	solver := newAdam(rate, nil, sizes...)
	var params []G.ValueGrad
	var theta, m, v [2][]float64
	for i, n := range sizes {
		p := newParameter(n)
		params = append(params, p)
		theta[i], m[i], v[i] = make([]float64, n), make([]float64, n), make([]float64, n)
		for j := range n {
			p.value.Float32s()[j] = float32(rng.NormFloat64())
			theta[i][j] = float64(p.value.Float32s()[j])
		}
	}
	for step := 1; step <= steps; step++ {
		for i, n := range sizes {
			g := drawGradients(rng, n)
			kingmaBa(theta[i], m[i], v[i], g, rate, step)
			for j, g := range g {
				params[i].(parameter).grad.Float32s()[j] = float32(g)
			}
		}
		testkit.NoError(t, solver.Step(params))
		for i := range sizes {
			testkit.NearAll(t, "parameter", params[i].(parameter).value.Float32s(), theta[i], 1e-5)
		}
	}
}

// TestUpdateVectors compares the update of several elements at a time, where the processor
// has it, with that of one after the other, bit by bit.
func TestUpdateVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	draw := func(n int, extremes ...float64) []float32 {
		v := make([]float32, n)
		for i, x := range drawGradients(rng, n+1)[1:] {
			v[i] = float32(x)
			if i%5 == 0 {
				v[i] = float32(extremes[rng.IntN(len(extremes))])
			}
		}
		return v
	}
	tiny, huge := math.SmallestNonzeroFloat32, float64(math.MaxFloat32)
	for n := range 40 {
		value, grad := draw(n, 0, tiny, huge, math.Inf(1)), draw(n, 0, -tiny, huge, 1e-30, math.Inf(-1), math.NaN())
		mean, square := draw(n, 0, tiny, -huge), draw(n, 0, tiny, huge)
		want := [][]float32{slices.Clone(value), slices.Clone(mean), slices.Clone(square)}
		for range 3 {
			updateEach(want[0], grad, want[1], want[2], 0.01, 1.5)
			update(value, grad, mean, square, 0.01, 1.5)
		}
		for k, got := range [][]float32{value, mean, square} {
			for i := range got {
				bothNaN := got[i] != got[i] && want[k][i] != want[k][i]
				if math.Float32bits(got[i]) != math.Float32bits(want[k][i]) && !bothNaN {
					t.Fatalf("%d elements, slice %d: element %d is %v, want %v", n, k, i, got[i], want[k][i])
				}
			}
		}
	}
}

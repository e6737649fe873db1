package lago

import (
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/model/method"
)

// adam is the solver of Kingma & Ba (2015), in one pass over the memory of each
// parameter. It is a gorgonia.Solver for float32 parameters, in the same order at each
// step.
type adam struct {
	rate    float64   // learning rate
	factors []float64 // of the rate, for each parameter; 1 for those beyond

	steps   int
	moments []moments
}

// moments are the running means of the gradient and of its square.
type moments struct{ mean, square []float32 }

// The constants of the Adam paper, which the authors of LAGO use too.
const (
	beta1   = 0.9
	beta2   = 0.999
	epsilon = 1e-8
)

// newAdam returns the solver of parameters with the given sizes.
func newAdam(rate float64, factors []float64, sizes ...int) *adam {
	a := &adam{rate: rate, factors: factors}
	for _, n := range sizes {
		a.moments = append(a.moments, moments{make([]float32, n), make([]float32, n)})
	}
	return a
}

// tensors lists the moments.
func (a *adam) tensors(prefix string) method.Tensors {
	var list method.Tensors
	for i, m := range a.moments {
		name := fmt.Sprintf("%s.%d", prefix, i)
		list = append(list, method.Vector(name+".mean", m.mean), method.Vector(name+".square", m.square))
	}
	return list
}

// Step moves each parameter against its gradient.
func (a *adam) Step(params []G.ValueGrad) error {
	a.steps++
	unbiased := a.rate / (1 - math.Pow(beta1, float64(a.steps)))
	unbias := float32(1 / math.Sqrt(1-math.Pow(beta2, float64(a.steps))))
	for i, p := range params {
		g, err := p.Grad()
		if err != nil {
			return err
		}
		rate := float32(unbiased)
		if i < len(a.factors) {
			rate = float32(unbiased * a.factors[i])
		}
		value, grad, mo := p.Value().(*tensor.Dense).Float32s(), g.(*tensor.Dense).Float32s(), a.moments[i]
		parallel.For(len(value), 1<<13, func(lo, hi int) {
			update(value[lo:hi], grad[lo:hi], mo.mean[lo:hi], mo.square[lo:hi], rate, unbias)
		})
	}
	return nil
}

// updateEach rounds each operation: the conversions forbid the compiler to fuse two of them.
func updateEach(value, grad, mean, square []float32, rate, unbias float32) {
	grad, mean, square = grad[:len(value)], mean[:len(value)], square[:len(value)]
	for i, g := range grad {
		m := mean[i] + float32((1-beta1)*(g-mean[i]))
		s := square[i] + float32((1-beta2)*(float32(g*g)-square[i]))
		mean[i], square[i] = m, s
		value[i] -= rate * m / (float32(float32(math.Sqrt(float64(s)))*unbias) + epsilon)
	}
}

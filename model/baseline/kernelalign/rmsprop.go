package kernelalign

import (
	"math"

	"github.com/lago-train/lago-train/internal/parallel"
)

// The constants of RMSProp in the authors' program. With features and descriptions
// of length 1, gradients are well below epsilon, so that a step is nearly one of
// plain gradient descent at the rate lr / epsilon.
const (
	decay   = 0.99
	epsilon = 1e-2
)

// updateGrain is how many parameters are worth a goroutine.
const updateGrain = 1 << 14

// rmsprop takes a step of w against the gradient. squares is the moving mean of the
// gradient's squares, which goes from one step to the next.
func rmsprop(w, grad, squares []float32, lr float32) {
	parallel.For(len(w), updateGrain, func(lo, hi int) {
		w, grad, squares := w[lo:hi], grad[lo:hi], squares[lo:hi]
		for i, g := range grad {
			squares[i] = decay*squares[i] + (1-decay)*g*g
			w[i] -= lr * g / (float32(math.Sqrt(float64(squares[i]))) + epsilon)
		}
	})
}

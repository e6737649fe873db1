package kernelalign

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"

	"github.com/lago-train/lago-train/internal/finite"
)

// Learn implements baseline.Hyperparameters. The seed determines the initial W and the
// order of the samples.
func (c Config) Learn(e baseline.Examples, seed uint64) (baseline.Learner, error) {
	m, err := newModel(c, e)
	if err != nil {
		return nil, err
	}
	y, err := m.descriptions(e.U)
	if err != nil {
		return nil, err
	}
	dims, attributes, batch := e.X.Cols, e.U.Cols, min(c.Batch, len(e.Rows))
	l := &learner{
		examples: e, seed: seed, model: m,
		squares:   dataset.NewMatrix[float32](dims, attributes),
		objective: newObjective(c, y, dims, batch),
		batch:     dataset.NewMatrix[float32](batch, dims),
		labels:    make([]int, batch),
		grad:      dataset.NewMatrix[float32](dims, attributes),
	}
	rng := rand.New(rand.NewPCG(seed, 0)) // epochs count from 1
	for i := range m.w.Data {
		m.w.Data[i] = rng.Float32() * 2 / float32(dims) // as in the authors' program
	}
	return l, nil
}

type learner struct {
	examples baseline.Examples
	seed     uint64
	model    *Model
	squares  dataset.Matrix[float32] // D x M, of RMSProp

	objective *objective[float32]
	batch     dataset.Matrix[float32] // samples x D
	labels    []int
	grad      dataset.Matrix[float32] // D x M
}

// Epoch implements baseline.Learner. The loss of an example is the objective of its batch
// before the step. Training never converges by itself.
func (l *learner) Epoch(epoch int) (loss float64, converged bool, err error) {
	e, w := l.examples, l.model.w
	order := baseline.Shuffled(len(e.Rows), l.seed, epoch)
	rows := make([]int, l.batch.Rows)
	for part := range slices.Chunk(order, l.batch.Rows) {
		n := len(part)
		for i, p := range part {
			rows[i], l.labels[i] = e.Rows[p], e.Labels[p]
		}
		l.model.features(l.batch, e.X, rows[:n])
		mean := l.objective.step(l.batch.Slice(0, n), l.labels[:n], w, l.grad)
		if mean-mean != 0 {
			return 0, false, &model.NotFinite{Term: "alignment", Value: mean}
		}
		loss += float64(n) * mean
		rmsprop(w.Data, l.grad.Data, l.squares.Data, float32(l.model.config.LR))
	}
	// The loss can be finite while W is not: RMSProp does not move where the squares are
	// infinite.
	for _, s := range l.State() {
		if i := finite.Index(s.Matrix.Data); i >= 0 {
			return 0, false, &model.NotFinite{Term: s.Name, Value: float64(s.Matrix.Data[i])}
		}
	}
	return loss / float64(len(order)), false, nil
}

// Model implements baseline.Learner.
func (l *learner) Model() baseline.Model { return l.model }

// State implements baseline.Learner.
func (l *learner) State() baseline.Tensors {
	return baseline.Tensors{{Name: "W", Matrix: l.model.w}, {Name: "squares", Matrix: l.squares}}
}

// The constants of RMSProp in the authors' program. With features and descriptions of
// length 1, gradients are far below epsilon, and a step is close to gradient descent with
// a learning rate of lr / epsilon.
const (
	decay   = 0.99
	epsilon = 1e-2
)

// rmspropGrain is the least number of parameters for a goroutine.
const rmspropGrain = 1 << 14

// rmsprop takes a step of w. squares is the moving average of the squared gradient.
func rmsprop(w, grad, squares []float32, lr float32) {
	parallel.For(len(w), rmspropGrain, func(lo, hi int) {
		w, grad, squares := w[lo:hi], grad[lo:hi], squares[lo:hi]
		for i, g := range grad {
			squares[i] = decay*squares[i] + (1-decay)*g*g
			w[i] -= lr * g / (float32(math.Sqrt(float64(squares[i]))) + epsilon)
		}
	})
}

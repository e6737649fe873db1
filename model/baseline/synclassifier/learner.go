package synclassifier

import (
	"math"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/baseline"
)

// Learn implements baseline.Settings. Nothing in it is random.
func (c Config) Learn(e baseline.Examples, _ uint64) (baseline.Learner, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := e.Check(); err != nil {
		return nil, err
	}
	m := &Model{Mean: meanOf(e.U), Distance: dataset.NewMatrix[float32](1, 1), config: c}
	m.Distance.Data[0] = 1
	classes, err := m.describe(e.U)
	if err != nil {
		return nil, err
	}
	m.Distance.Data[0] = float32(medianDistance(classes))
	if classes, err = m.describe(e.U); err != nil {
		return nil, err
	}
	count := max(1, int(math.Round(c.Phantoms*float64(classes.Rows))))
	b := phantoms(classes, count)
	m.Phantoms = dataset.NewMatrix[float32](b.Rows, b.Cols)
	for i, v := range b.Data {
		m.Phantoms.Data[i] = float32(v)
	}
	m.V = dataset.NewMatrix[float32](e.X.Cols, count)
	return &learner{c, e, classes, m}, nil
}

// meanOf is the mean of each attribute over the classes that describe it, 1 x M.
func meanOf(u dataset.Matrix[float64]) dataset.Matrix[float32] {
	mean := dataset.NewMatrix[float32](1, u.Cols)
	for m := range mean.Data {
		var sum, n float64
		for z := range u.Rows {
			if v := u.Row(z)[m]; !math.IsNaN(v) {
				sum += v
				n++
			}
		}
		mean.Data[m] = float32(sum / max(n, 1))
	}
	return mean
}

// learner is done after one epoch: SynC is the optimum, not a way to it.
type learner struct {
	config   Config
	examples baseline.Examples
	classes  dataset.Matrix[float64] // C x M, as described
	model    *Model
}

// Epoch implements baseline.Learner.
func (l *learner) Epoch(int) (loss float64, done bool, err error) {
	v, loss, err := l.config.fit(l.examples, l.model.similarities(l.classes), l.classes)
	if err != nil {
		return 0, false, err
	}
	to := l.model.V
	for d := range to.Rows {
		for r := range to.Cols {
			to.Row(d)[r] = float32(v.At(r, d))
		}
	}
	return loss, true, nil
}

// Model implements baseline.Learner.
func (l *learner) Model() baseline.Model { return l.model }

// State implements baseline.Learner.
func (l *learner) State() baseline.Tensors { return l.model.Tensors() }

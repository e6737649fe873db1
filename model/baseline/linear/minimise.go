package linear

import (
	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/dataset"
)

// Classifiers are what was found.
type Classifiers struct {
	W    dataset.Matrix[float64] // K x D
	B    []float64               // K, zeros where there are no biases
	Loss float64                 // mean over samples, without the penalty
}

// Minimise finds the minimum, starting from zeros. Nothing in it is random. The error is
// a *model.NotFinite where the loss of the start is not finite.
//
// Outputs that are problems of their own are solved by an optimiser each, so that each
// takes the steps that it needs; what they want to have evaluated is evaluated together,
// by products of matrices.
func (p Problem) Minimise() (*Classifiers, error) {
	o := newObjective(p)
	size := p.Outputs // of a search
	if p.Joint == nil {
		size = 1
	}
	searches := startSearches(o, size)
	c := &Classifiers{W: dataset.NewMatrix[float64](p.Outputs, p.X.Cols), B: make([]float64, p.Outputs)}
	for i, s := range searches {
		if s.err != nil {
			return nil, s.err
		}
		c.Loss += s.found.F
		for j := range size {
			c.set(i*size+j, s.found.X[j*o.e:(j+1)*o.e], o)
		}
	}
	c.Loss -= p.Penalty / 2 * floats.Dot(c.W.Data, c.W.Data)
	return c, nil
}

// set takes over the classifier of an output, for samples with their mean.
func (c *Classifiers) set(output int, row []float64, o *objective) {
	w := c.W.Row(output)
	copy(w, row)
	if o.Bias {
		c.B[output] = row[o.X.Cols] - floats.Dot(o.mean, w)
	}
}

// Store copies the classifiers into the matrices of a model, W as D x K and the biases as
// 1 x K; these may be empty where there are none.
func (c *Classifiers) Store(w, b dataset.Matrix[float32]) {
	for k := range w.Cols {
		for d, v := range c.W.Row(k) {
			w.Row(d)[k] = float32(v)
		}
	}
	for k := range b.Data {
		b.Data[k] = float32(c.B[k])
	}
}

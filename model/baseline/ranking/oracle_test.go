package ranking

import (
	"math"

	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
)

// oracle is stochastic gradient descent as it is written down: one sample after the
// other, each through the whole of W, in float64.
type oracle struct {
	config Config
	x      [][]float64 // as W takes them
	labels []int
	u      [][]float64
	w      [][]float64 // D x M
}

// newOracle starts from the W that a learner starts from.
func newOracle(c Config, e baseline.Examples, l baseline.Learner) *oracle {
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

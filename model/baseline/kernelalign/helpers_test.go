package kernelalign

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
)

// toy is a data set whose classes have two of six attributes. The features of a sample are
// a random map of its attributes, with noise.
type toy struct {
	seen   method.Examples
	unseen dataset.Matrix[float64]
	rows   []int // samples of unseen classes
	labels []int
}

func newToy(perClass int, noise float64) toy {
	const attributes, dims, unseen = 6, 12, 4
	rng := rand.New(rand.NewPCG(1, 0))
	mix := make([]float64, attributes*dims)
	for i := range mix {
		mix[i] = rng.NormFloat64()
	}
	var classes [][]float64
	for i := range attributes {
		for j := range i {
			class := make([]float64, attributes)
			class[i], class[j] = 1, 1
			classes = append(classes, class)
		}
	}
	rng.Shuffle(len(classes), func(i, j int) { classes[i], classes[j] = classes[j], classes[i] })
	x := dataset.NewMatrix[float32](perClass*len(classes), dims)
	t := toy{unseen: matrixOf(classes[:unseen]...), seen: method.Examples{X: x, U: matrixOf(classes[unseen:]...)}}
	for i := range x.Rows {
		z := i % len(classes)
		for d := range dims {
			v := 3 + noise*rng.NormFloat64()
			for m, u := range classes[z] {
				v += u * mix[m*dims+d]
			}
			x.Row(i)[d] = float32(v)
		}
		if z < unseen {
			t.rows, t.labels = append(t.rows, i), append(t.labels, z)
		} else {
			t.seen.Rows, t.seen.Labels = append(t.seen.Rows, i), append(t.seen.Labels, z-unseen)
		}
	}
	return t
}

// accuracy returns the accuracy on the samples of unseen classes.
func (y toy) accuracy(t *testing.T, m method.Model) float64 {
	t.Helper()
	s, err := model.Score(m, y.seen.X, y.rows, y.unseen)
	if err != nil {
		t.Fatal(err)
	}
	var right float64
	for i, z := range y.labels {
		if row := s.Row(i); row[z] == slices.Max(row) {
			right++
		}
	}
	return right / float64(len(y.labels))
}

func matrixOf[T model.Float](rows ...[]T) dataset.Matrix[T] {
	m := dataset.NewMatrix[T](len(rows), len(rows[0]))
	for i, r := range rows {
		copy(m.Row(i), r)
	}
	return m
}

// train runs epochs from .. to and returns the loss of each.
func train(t *testing.T, l method.Learner, from, to int) []float64 {
	t.Helper()
	var losses []float64
	for epoch := from; epoch <= to; epoch++ {
		loss, done, err := l.Epoch(epoch)
		if err != nil {
			t.Fatal(err)
		}
		if done {
			t.Fatalf("done after epoch %d", epoch)
		}
		losses = append(losses, loss)
	}
	return losses
}

func learn(t *testing.T, c Config, e method.Examples, seed uint64) method.Learner {
	t.Helper()
	l, err := c.Learn(e, seed)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func drawConfig(t *rapid.T) Config {
	c := Default()
	c.Kernel = rapid.SampledFrom([]Kernel{Linear, Polynomial, Gaussian, Cauchy}).Draw(t, "kernel")
	c.Sigma = rapid.Float64Range(0.4, 2).Draw(t, "sigma")
	c.Degree = rapid.IntRange(1, 4).Draw(t, "degree")
	c.Offset = rapid.Float64Range(0, 2).Draw(t, "offset")
	c.Beta = rapid.Float64Range(0, 3).Draw(t, "beta")
	c.Ort = rapid.Bool().Draw(t, "ort")
	c.Orthogonality = rapid.SampledFrom([]float64{0, 0.3}).Draw(t, "orthogonality")
	return c
}

// problem is a batch of samples of length 1, descriptions and a W.
type problem struct {
	x, y, w dataset.Matrix[float64]
	labels  []int
}

func drawProblem(t *rapid.T) problem {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	size := rapid.IntRange(1, 5)
	b, d, m, z := size.Draw(t, "B"), size.Draw(t, "D"), size.Draw(t, "M"), size.Draw(t, "Z")
	random := func(rows, cols int, scale float64) dataset.Matrix[float64] {
		r := dataset.NewMatrix[float64](rows, cols)
		for i := range r.Data {
			r.Data[i] = scale * rng.NormFloat64()
		}
		return r
	}
	p := problem{x: random(b, d, 1), y: random(z, m, 0.7), w: random(d, m, 0.5)}
	for i := range b {
		row := p.x.Row(i)
		length := math.Sqrt(squaredLength(row))
		for j := range row {
			row[j] /= length
		}
		p.labels = append(p.labels, rng.IntN(z))
	}
	return p
}

// step returns the objective and its gradient.
func (p problem) step(c Config) (float64, dataset.Matrix[float64]) {
	grad := dataset.NewMatrix[float64](p.w.Rows, p.w.Cols)
	return newObjective(c, p.y, p.x.Cols, p.x.Rows).step(p.x, p.labels, p.w, grad), grad
}

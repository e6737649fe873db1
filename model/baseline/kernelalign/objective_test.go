package kernelalign

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
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
)

// W = (1/2, 1)', x = (1, 0) of the first of the classes 1 and -1: W'x = 1/2, and W y is (1/2, 1) or (-1/2, -1). Squared distances are 1/4 and
// 9/4 among descriptions, 5/4 and 13/4 among features.
func TestObjectiveByHand(t *testing.T) {
	p := problem{
		x: matrixOf([]float64{1, 0}), y: matrixOf([]float64{1}, []float64{-1}),
		w: matrixOf([]float64{0.5}, []float64{1}), labels: []int{0},
	}
	for name, c := range map[string]struct {
		config Config
		loss   float64
		grad   [2]float64
	}{
		// (1/2 - 1)^2 + 3 (-1/2)^2, by W'x: 2 (1/2 - 1) + 3 2 (1/2); W'x does not see the second feature
		"linear": {Config{Kernel: Linear, Beta: 3}, 1, [2]float64{2, 0}},
		// Ort makes no difference to inner products
		"linear, ort": {Config{Kernel: Linear, Beta: 3, Ort: true}, 1, [2]float64{2, 0}},
		// (4/5 - 1)^2 + 2 (4/13)^2. The kernel's slope by d is -k^2, and d = (W'x - y)^2 has the slopes -1 and 3:
		// 2 (-1/5)(-16/25)(-1) + 2 2 (4/13)(-16/169) 3
		"cauchy": {Config{Kernel: Cauchy, Sigma: 1, Beta: 2}, 0.04 + 32./169, [2]float64{-32./125 - 768./2197, 0}},
		// and (4/9 - 1)^2 + 2 (4/17)^2, where d = |x - W y|^2 has the gradients -2 y (x - W y) = (-1, 2) and (3, 2):
		// 2 (-5/9)(-16/81) (-1, 2) + 2 2 (4/17)(-16/289) (3, 2)
		"cauchy, ort": {
			Config{Kernel: Cauchy, Sigma: 1, Beta: 2, Ort: true},
			0.04 + 32./169 + 25./81 + 32./289,
			[2]float64{-32./125 - 768./2197 - 160./729 - 768./4913, 320./729 - 512./4913},
		},
		// e^(-1/4) and e^(-9/4), 2 sigma^2 = 1; 2 (k - 1)(-k)(-1) + 2 k'(-k') 3
		"gaussian": {
			Config{Kernel: Gaussian, Sigma: math.Sqrt(0.5), Beta: 1},
			math.Pow(1-math.Exp(-0.25), 2) + math.Exp(-4.5),
			[2]float64{2*(math.Exp(-0.25)-1)*math.Exp(-0.25) - 6*math.Exp(-4.5), 0},
		},
		// W'W = 5/4: 2 (1/4)^2, and 2 4 W / 4
		"orthogonality": {Config{Kernel: Linear, Beta: 3, Orthogonality: 2}, 1.125, [2]float64{3, 2}},
	} {
		loss, grad := p.step(c.config)
		testkit.Near(t, name, loss, c.loss, 1e-14)
		testkit.NearAll(t, name, grad.Data, c.grad[:], 1e-14)
	}
}

func drawConfig(t *rapid.T) Config {
	c := *New()
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
		floats.Scale(1/floats.Norm(p.x.Row(i), 2), p.x.Row(i))
		p.labels = append(p.labels, rng.IntN(z))
	}
	return p
}

// step returns the objective and its gradient.
func (p problem) step(c Config) (float64, dataset.Matrix[float64]) {
	grad := dataset.NewMatrix[float64](p.w.Rows, p.w.Cols)
	return newObjective(c, p.y, p.x.Cols, p.x.Rows).step(p.x, p.labels, p.w, grad), grad
}

// naive computes the objective of the package comment.
func naive(c Config, p problem) float64 {
	k := c.kernel()
	compare := func(v, w []float64) float64 {
		var inner, distance float64
		for i := range v {
			inner += v[i] * w[i]
			distance += (v[i] - w[i]) * (v[i] - w[i])
		}
		if k.distance {
			inner = distance
		}
		value, _ := k.at(inner)
		return value
	}
	var sum float64
	for i, own := range p.labels {
		for z := range p.y.Rows {
			ks := []float64{compare(project(p.w, p.x.Row(i)), p.y.Row(z))}
			if c.Ort && k.distance {
				ks = append(ks, compare(p.x.Row(i), lift(p.w, p.y.Row(z))))
			}
			for _, k := range ks {
				if z == own {
					sum += (k - 1) * (k - 1)
				} else {
					sum += c.Beta / float64(p.y.Rows-1) * k * k
				}
			}
		}
	}
	return sum/float64(len(p.labels)) + c.Orthogonality*penalty(p.w)
}

func dense(w dataset.Matrix[float64]) *mat.Dense { return mat.NewDense(w.Rows, w.Cols, w.Data) }

// project is W'x.
func project(w dataset.Matrix[float64], x []float64) []float64 {
	var a mat.VecDense
	a.MulVec(dense(w).T(), mat.NewVecDense(len(x), x))
	return a.RawVector().Data
}

// lift is W y.
func lift(w dataset.Matrix[float64], y []float64) []float64 {
	var x mat.VecDense
	x.MulVec(dense(w), mat.NewVecDense(len(y), y))
	return x.RawVector().Data
}

// penalty is |W'W - I|^2.
func penalty(w dataset.Matrix[float64]) float64 {
	var ww mat.Dense
	ww.Mul(dense(w).T(), dense(w))
	for m := range w.Cols {
		ww.Set(m, m, ww.At(m, m)-1)
	}
	return math.Pow(mat.Norm(&ww, 2), 2)
}

// A step returns the objective of its definition and the gradient of finite differences.
func TestObjectiveAndGradient(t *testing.T) {
	for _, kernel := range []Kernel{Linear, Polynomial, Gaussian, Cauchy} {
		t.Run(string(kernel), rapid.MakeCheck(func(t *rapid.T) {
			c, p := drawConfig(t), drawProblem(t)
			c.Kernel = kernel
			loss, grad := p.step(c)
			testkit.Near(t, "objective", loss, naive(c, p), 1e-9)
			at := slices.Clone(p.w.Data)
			differences := baselinetest.Gradient(func(w []float64) float64 {
				p.w.Data = w
				return naive(c, p)
			}, at, 1e-6)
			testkit.NearAll(t, "gradient", grad.Data, differences, 1e-6*(1+floats.Norm(differences, math.Inf(1))))
		}))
	}
}

// A step does not depend on the one before, also in single precision.
func TestRepeatedSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, p := drawConfig(t), drawProblem(t)
		want, wantGrad := p.step(c)
		o := newObjective(c, dataset.Convert[float32](p.y), p.x.Cols, p.x.Rows+2)
		grad := dataset.NewMatrix[float32](p.w.Rows, p.w.Cols)
		for range 2 {
			got := o.step(dataset.Convert[float32](p.x), p.labels, dataset.Convert[float32](p.w), grad)
			testkit.Near(t, "objective", got, want, 1e-4)
			testkit.NearAll(t, "gradient", grad.Data, wantGrad.Data, 1e-3)
		}
	})
}

func TestKernelsByHand(t *testing.T) {
	for _, c := range []struct {
		config   Config
		number   float64 // v'w, or |v - w|^2
		k, slope float64
	}{
		{Config{Kernel: Linear}, 0.25, 0.25, 1},
		{Config{Kernel: Polynomial, Degree: 2}, 0.5, 0.25, 1},                 // v^2, 2 v
		{Config{Kernel: Polynomial, Degree: 2, Offset: 1}, 0.5, 0.5625, 0.75}, // ((v + 1)/2)^2, (v + 1)/2
		{Config{Kernel: Polynomial, Degree: 3, Offset: 1}, -1, 0, 0},
		{Config{Kernel: Polynomial, Degree: 1, Offset: 3}, -3, 0, 0.25}, // (v + 3)/4
		{Config{Kernel: Gaussian, Sigma: 2}, 8, math.Exp(-1), -math.Exp(-1) / 8},
		{Config{Kernel: Gaussian, Sigma: 0.5}, 0, 1, -2},
		{Config{Kernel: Cauchy, Sigma: 2}, 4, 0.5, -0.0625}, // 1/(1 + d/4), -1/(4 (1 + d/4)^2)
		{Config{Kernel: Cauchy, Sigma: 0.5}, 0, 1, -4},
	} {
		if k, slope := c.config.kernel().at(c.number); math.Abs(k-c.k) > 1e-15 || math.Abs(slope-c.slope) > 1e-15 {
			t.Errorf("%+v at %g: %g with slope %g, expected %g and %g", c.config, c.number, k, slope, c.k, c.slope)
		}
	}
}

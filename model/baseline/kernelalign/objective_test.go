package kernelalign

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
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
		if math.Abs(loss-c.loss) > 1e-14 || math.Abs(grad.Data[0]-c.grad[0]) > 1e-14 || math.Abs(grad.Data[1]-c.grad[1]) > 1e-14 {
			t.Errorf("%s: %g with gradient %g, expected %g and %g", name, loss, grad.Data, c.loss, c.grad)
		}
	}
}

func TestOneClass(t *testing.T) {
	p := problem{x: matrixOf([]float64{1}), y: matrixOf([]float64{1}), w: matrixOf([]float64{0.5}), labels: []int{0}}
	if loss, grad := p.step(Config{Kernel: Linear, Beta: 1}); loss != 0.25 || grad.Data[0] != -1 {
		t.Errorf("%g with gradient %g, expected 0.25 and -1", loss, grad.Data)
	}
}

// naive computes the objective of doc.go.
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

// project is W'x.
func project(w dataset.Matrix[float64], x []float64) []float64 {
	a := make([]float64, w.Cols)
	for d, v := range x {
		for m := range a {
			a[m] += v * w.Row(d)[m]
		}
	}
	return a
}

// lift is W y.
func lift(w dataset.Matrix[float64], y []float64) []float64 {
	x := make([]float64, w.Rows)
	for d := range x {
		for m, v := range y {
			x[d] += v * w.Row(d)[m]
		}
	}
	return x
}

// penalty is |W'W - I|^2.
func penalty(w dataset.Matrix[float64]) (sum float64) {
	for i := range w.Cols {
		for j := range w.Cols {
			var v float64
			for d := range w.Rows {
				v += w.Row(d)[i] * w.Row(d)[j]
			}
			if i == j {
				v--
			}
			sum += v * v
		}
	}
	return sum
}

func TestObjectiveIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, p := drawConfig(t), drawProblem(t)
		if got, _ := p.step(c); math.Abs(got-naive(c, p)) > 1e-9*(1+got) {
			t.Errorf("%g, expected %g", got, naive(c, p))
		}
	})
}

// differences returns the gradient of f by w in finite differences.
func differences(w dataset.Matrix[float64], f func() float64) []float64 {
	const h = 1e-6
	grad := make([]float64, len(w.Data))
	for i, v := range w.Data {
		w.Data[i] = v + h
		above := f()
		w.Data[i] = v - h
		grad[i] = (above - f()) / (2 * h)
		w.Data[i] = v
	}
	return grad
}

func closeTo(t *rapid.T, got, want []float64) {
	t.Helper()
	var scale float64
	for _, v := range want {
		scale = max(scale, math.Abs(v))
	}
	for i, v := range got {
		if !(math.Abs(v-want[i]) <= 1e-6*(1+scale)) {
			t.Fatalf("gradient %v, finite differences %v", got, want)
		}
	}
}

func TestGradientAgainstFiniteDifferences(t *testing.T) {
	for _, kernel := range []Kernel{Linear, Polynomial, Gaussian, Cauchy} {
		t.Run(string(kernel), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				c, p := drawConfig(t), drawProblem(t)
				c.Kernel = kernel
				_, grad := p.step(c)
				closeTo(t, grad.Data, differences(p.w, func() float64 { return naive(c, p) }))
			})
		})
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
			if math.Abs(got-want) > 1e-4*(1+want) {
				t.Fatalf("%g, expected %g", got, want)
			}
			for i, g := range grad.Data {
				if math.Abs(float64(g)-wantGrad.Data[i]) > 1e-4*(1+10*math.Abs(wantGrad.Data[i])) {
					t.Fatalf("gradient %g, expected %g", grad.Data, wantGrad.Data)
				}
			}
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

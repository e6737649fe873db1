package lago

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
)

// An epoch of W does not change V, an epoch of V does not change W and b, and the hard
// variants have no epochs of V.
func TestPhases(t *testing.T) {
	eachVariant(t, func(t *testing.T, v model.Variant) {
		l := learn(t, settings(v))
		now := func() [3][]float32 {
			p := l.model.Params
			return [3][]float32{slices.Clone(p.W.Data), slices.Clone(p.B), slices.Clone(p.V.Data)}
		}
		start := now()
		l.w.Begin(0)
		testkit.Must(l.phase("W", 1, l.w, l.adamW, l.examples.X, l.examples.Rows))(t)
		afterW := now()
		if cmp.Equal(start[0], afterW[0]) || cmp.Equal(start[1], afterW[1]) || !cmp.Equal(start[2], afterW[2]) {
			t.Error("expected W and b to change in an epoch of W, and V to stay")
		}
		want := "W"
		if v.Learned() {
			want = "W V"
			l.v.Begin(l.detect())
			testkit.Must(l.phase("V", 1, l.v, l.adamV, l.detections, l.detections.AllRows()))(t)
			afterV := now()
			if !cmp.Equal(afterW[:2], afterV[:2]) || cmp.Equal(afterW[2], afterV[2]) {
				t.Error("expected V to change in an epoch of V, and W and b to stay")
			}
		}
		var names []string
		for _, p := range train(t, l, 2, 2) {
			names = append(names, p.Name)
			if p.Steps != 13 { // 405 samples, 32 per step
				t.Errorf("phase %s: %d steps, expected 13", p.Name, p.Steps)
			}
		}
		testkit.Equal(t, "phases", strings.Join(names, " "), want)
	})
}

// With the prior of the train classes, a further candidate, here the last, changes the scores of no other,
// also in the model that a file restores. It does if p(a) is the mean over the candidates.
func TestFrozenPrior(t *testing.T) {
	d := tiny.Learnable()
	for _, frozen := range []bool{true, false} {
		s := settings(model.SemanticHard)
		s.Prior, s.FreezePrior = model.PerAttribute, frozen
		l := learn(t, s)
		train(t, l, 1, 1)
		shape := method.Shape{Dims: d.Features.Cols, Attributes: d.Descriptions.Cols, Groups: d.GroupOf()}
		m := testkit.Must(s.Restore(&method.Reader{Tensors: l.Model().Tensors()}, shape))(t)
		var odds [2][]float32
		for i, classes := range [][]int{d.Split.Test, slices.Concat(d.Split.Test, d.Split.Val)} {
			p := testkit.Must(model.Score(m, d.Features, []int{0, 1, 2}, d.Describe(classes)))(t)
			for row := range p.Rows {
				odds[i] = append(odds[i], p.Row(row)[0]-p.Row(row)[1])
			}
		}
		if frozen {
			testkit.NearAll(t, "log odds of two classes", odds[1], odds[0], 1e-5)
		} else if cmp.Equal(odds[0], odds[1], cmpopts.EquateApprox(0, 1e-3)) {
			t.Error("expected other log odds of two classes with more candidates")
		}
	}
}

// The learning rate is too small to change the weights: the means that an epoch reports must
// then be those of one step with all 405 samples, for any batch size and in both phases.
func TestTermsDoNotDependOnTheBatchSize(t *testing.T) {
	eachVariant(t, func(t *testing.T, v model.Variant) {
		var want model.Terms
		for _, batch := range []int{1_000_000, 404, 32, 1} {
			s := settings(v)
			s.Alpha, s.Batch, s.LR, s.LRV = 0.5, batch, 1e-60, 1e-60 // 0 in float32
			l := learn(t, s)
			for _, p := range train(t, l, 1, 1) {
				if want == (model.Terms{}) {
					want = p.Terms
				}
				testkit.Equal(t, fmt.Sprintf("batch %d, phase %s", batch, p.Name), p.Terms, want, cmpopts.EquateApprox(2e-5, 0))
				testkit.Near(t, "loss of phase "+p.Name, p.Loss, s.Loss(want), 2e-5)
				testkit.Equal(t, fmt.Sprintf("steps of batch %d, phase %s", batch, p.Name), p.Steps, (404+min(batch, 405))/min(batch, 405))
			}
		}
		if want.CXE <= 0 || want.BXE <= 0 || want.W2 <= 0 || want.WU2 <= 0 || want.GroupPenalty < 0 {
			t.Errorf("terms %+v", want)
		}
	})
}

// In its first step b moves by its learning rate, which is a multiple of that of W.
func TestBiasFactor(t *testing.T) {
	for _, factor := range []float64{1, 5} {
		s := settings(model.SemanticHard)
		s.BiasFactor, s.Batch = factor, 405
		l := learn(t, s)
		train(t, l, 1, 1)
		testkit.Near(t, "the step of b", math.Abs(float64(l.model.Params.B[0])), s.LR*factor, 0.01*s.LR)
	}
}

// The 768 x 64 weights are enough to be split among several workers.
func TestResultsDoNotDependOnWorkers(t *testing.T) {
	defer parallel.Limit(0)
	d := tiny.Simulate(tiny.Spec{
		Samples: 140, Dims: 768, Attributes: 64, Groups: 8, TrainClasses: 20, ValClasses: 4, TestClasses: 4,
	})
	eachVariant(t, func(t *testing.T, v model.Variant) {
		s := settings(v)
		s.Alpha, s.Complement, s.Batch = 0.1, model.DeMorgan, 64
		var want method.Tensors
		for _, workers := range []int{1, 2, 3} {
			parallel.Limit(workers)
			l := testkit.Must(method.Learn(s, examples(d), 1))(t).(*learner)
			train(t, l, 1, 1)
			if want == nil {
				want = l.State()
			}
			testkit.Equal(t, fmt.Sprintf("weights by %d workers", workers), l.State(), want)
		}
	})
}

// An epoch ends at the first number that is not finite.
func TestNotFinite(t *testing.T) {
	for _, c := range []struct {
		variant model.Variant
		change  func(*Settings)
		scale   float32 // of the features
		want    string
	}{
		{model.SemanticHard, func(s *Settings) { s.LR = 1e30 }, 1, "phase W, step 2: w2 is +Inf"},
		{model.SemanticHard, func(s *Settings) { s.LR, s.Batch = 1e300, 1000 }, 1, "phase W, step 1: W is "},
		{model.KSoft, func(s *Settings) { s.LRV, s.Batch = 1e300, 1000 }, 1, "phase V, step 1: V is "},
		{model.SemanticSoft, func(s *Settings) { s.LRV = 1e300 }, 1, "phase V, step 2: "},
		{model.KSoft, func(*Settings) {}, 1e38, "phase W, step 1: cxe is NaN"},
	} {
		e := examples(tiny.Learnable())
		for i := range e.X.Data {
			e.X.Data[i] *= c.scale // finite, but products with W are not
		}
		s := settings(c.variant)
		c.change(s)
		_, err := testkit.Must(method.Learn(s, e, 1))(t).Epoch(1)
		testkit.WantError(t, err, c.want)
		if !errors.As(err, new(*model.NotFinite)) {
			t.Errorf("%v is no *model.NotFinite", err)
		}
	}
}

// BenchmarkStep times one step of W and of V, each including the copying of the batch and
// Adam, on random data of the size of the paper's data sets.
func BenchmarkStep(b *testing.B) {
	for _, size := range []struct {
		name                                 string
		classes, attributes, groups, samples int
	}{
		{"cub127", 64, 312, 28, 1024},
		{"cub", 100, 312, 28, 1024},
		{"awa2", 27, 85, 11, 1024},
		{"sun", 580, 102, 4, 1024},
	} {
		for _, variant := range model.Variants {
			b.Run(fmt.Sprintf("%s/%s", size.name, variant), func(b *testing.B) {
				l := benchLearner(b, variant, size.classes, size.attributes, size.groups, size.samples)
				floor := l.floor()
				benchPhase(b, "W", floor, func() (method.Phase, error) {
					l.w.Begin(0)
					return l.phase("W", 1, l.w, l.adamW, l.examples.X, l.examples.Rows)
				})
				if l.v == nil {
					return
				}
				benchPhase(b, "V", 0, func() (method.Phase, error) {
					l.v.Begin(l.detect())
					return l.phase("V", 1, l.v, l.adamV, l.detections, l.detections.AllRows())
				})
			})
		}
	}
}

// benchPhase reports the time per step of a phase, which train runs alone: the steps of one
// slow those of the other by what they leave in the caches. Beside it is the ratio to the
// milliseconds of floor, unless that is 0.
func benchPhase(b *testing.B, name string, floor float64, train func() (method.Phase, error)) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		var steps int
		var seconds float64
		for b.Loop() {
			p := testkit.Must(train())(b)
			steps += p.Steps
			seconds += p.Seconds
		}
		b.ReportMetric(1e3*seconds/float64(steps), "ms/step")
		if floor > 0 {
			b.ReportMetric(1e3*seconds/float64(steps)/floor, "x-floor")
		}
	})
}

// floor is the milliseconds of the matrix products of a W step alone, and of one pass of Adam over the
// memory: the least of some rounds.
func (l *learner) floor() float64 {
	n, d, m, z := l.batch(), l.examples.X.Cols, l.examples.U.Cols, l.examples.U.Rows
	products := [][3]int{{n, m, d}, {d, m, n}} // rows and columns of the result, and the length of the sums
	if 2*z > m {
		products = append(products, [3]int{d, m, m})
	} else {
		products = append(products, [3]int{d, z, m}, [3]int{d, m, z})
	}
	if l.settings.Variant == model.KSoft { // groups are products for all attributes
		for range l.settings.K {
			products = append(products, [3]int{n, z, m}, [3]int{n, m, z})
		}
	}
	memory := make([]float32, 3*d*max(d, m, z, n))
	solver, params := newAdam(1e-9, nil, d*m), []G.ValueGrad{newParameter(d * m)}
	least := math.Inf(1)
	for range 20 {
		start := time.Now()
		for _, p := range products {
			a, b, c := memory[:p[0]*p[2]], memory[p[0]*p[2]:][:p[2]*p[1]], memory[p[0]*p[2]+p[2]*p[1]:]
			blas.Gemm(blas.NoTrans, blas.NoTrans, p[0], p[1], p[2], 1, a, p[2], b, p[1], 0, c, p[1])
		}
		if err := solver.Step(params); err != nil {
			panic(err)
		}
		least = min(least, 1e3*time.Since(start).Seconds())
	}
	return least
}

func benchLearner(b *testing.B, variant model.Variant, classes, attributes, groups, samples int) *learner {
	rng := rand.New(rand.NewPCG(1, 1))
	e := method.Examples{X: dataset.NewMatrix[float32](samples, 2048), U: dataset.NewMatrix[float64](classes, attributes)}
	for i := range e.X.Data {
		e.X.Data[i] = max(rng.Float32()-0.5, 0)
	}
	for i := range e.U.Data {
		e.U.Data[i] = rng.Float64()
	}
	for i := range attributes {
		e.Groups = append(e.Groups, i*groups/attributes)
	}
	for i := range samples {
		e.Rows, e.Labels = append(e.Rows, i), append(e.Labels, i%classes)
	}
	s := settings(variant)
	s.LR, s.Batch, s.K = 1e-4, 64, 30
	return testkit.Must(s.Learn(e, 1))(b).(*learner)
}

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

package lago

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"golang.org/x/sys/cpu"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
)

// learner alternates epochs of W and of V.
type learner struct {
	settings Settings
	examples method.Examples
	seed     uint64

	model   *model.LAGO        // with the parameters in training
	classes *model.Description // of the examples

	w            *model.Machine[float32]
	v            *model.Machine[float32] // nil for the hard variants
	adamW, adamV *adam
	detections   dataset.Matrix[float32] // of the examples, on which V trains
}

// Learn implements method.Method: it compiles the machines.
func (s *Settings) Learn(e method.Examples, seed uint64) (method.Learner, error) {
	l := &learner{settings: *s, examples: e, seed: seed}
	l.settings.complete(e.U.Cols, len(e.Rows))
	c := l.settings.Config
	params, err := c.Init(e.X.Cols, e.U.Cols, e.Groups, seed)
	if err != nil {
		return nil, err
	}
	if l.classes, err = c.Describe(e.U, e.Groups); err != nil {
		return nil, err
	}
	l.model = &model.LAGO{Config: c, Params: params, Semantic: e.Groups}
	if c.FreezePrior {
		l.model.Prior = dataset.Convert[float32](dataset.Matrix[float64]{
			Rows: 1, Cols: e.U.Cols, Data: l.classes.P,
		}).Data
	}
	l.adamW = newAdam(s.LR, []float64{1, s.BiasFactor}, len(params.W.Data), len(params.B))
	if l.w, err = model.NewWMachine(c, l.classes, params, l.batch()); err != nil || !c.Variant.Learned() {
		return l, err
	}
	l.adamV = newAdam(s.LRV, nil, len(params.V.Data))
	l.v, err = model.NewVMachine(c, l.classes, params, l.batch())
	return l, err
}

// batch is the number of samples per step.
func (l *learner) batch() int { return min(l.settings.Batch, len(l.examples.Rows)) }

// Epoch implements method.Learner: it trains W, then V if it is learned.
func (l *learner) Epoch(number int) (p method.Progress, err error) {
	l.w.Begin(0)
	phase, err := l.phase("W", number, l.w, l.adamW, l.fillW)
	p.Phases = append(p.Phases, phase)
	if err != nil || l.v == nil {
		return p, err
	}
	l.v.Begin(l.detect()) // of all samples, since W is fixed while V trains
	phase, err = l.phase("V", number, l.v, l.adamV, l.fillV)
	p.Phases = append(p.Phases, phase)
	return p, err
}

func (l *learner) fillW(places []int) {
	l.w.X.CopyRows(l.examples.X, choose(l.examples.Rows, places))
	l.w.Label(choose(l.examples.Labels, places)...)
}

func (l *learner) fillV(places []int) {
	l.v.X.CopyRows(l.detections, places)
	l.v.Label(choose(l.examples.Labels, places)...)
}

func (l *learner) Model() method.Model { return Model{l.model} }

func (l *learner) State() method.Tensors {
	state := Model{l.model}.Tensors()
	state = append(state, l.adamW.tensors("adam_w")...)
	if l.v != nil {
		state = append(state, l.adamV.tensors("adam_v")...)
	}
	return state
}

// choose returns the values at some places of a list.
func choose(list, places []int) []int {
	chosen := make([]int, len(places))
	for i, p := range places {
		chosen[i] = list[p]
	}
	return chosen
}

// detect computes the detections of all examples and returns the mean BXE(a).
func (l *learner) detect() (bxe float64) {
	l.detections, _ = l.model.Logits(l.examples.X, l.examples.Rows) // of as many dimensions as W was made for
	bxe = model.BXE(l.classes, l.detections, l.examples.Labels)
	model.Sigmoid(l.detections.Data, l.detections.Data)
	return bxe
}

// phase runs steps of a machine on batches of shuffled examples, which fill copies by their
// places, and averages the terms over samples.
func (l *learner) phase(name string, epoch int, m *model.Machine[float32], solver *adam,
	fill func(places []int),
) (method.Phase, error) {
	p := method.Phase{Name: name}
	order := epoch << 8 // each phase has another
	if name == "V" {
		order++
	}
	places := method.Shuffled(len(l.examples.Rows), l.seed, order)
	start := time.Now()
	batch := l.batch()
	solver.steps = (epoch - 1) * ((len(places) + batch - 1) / batch)
	for rest := places; len(rest) > 0; {
		part := rest[:min(batch, len(rest))]
		rest = rest[len(part):]
		p.Steps++
		fill(part)
		terms, err := m.Step()
		if err == nil {
			err = solver.Step(m.Learnables())
		}
		if err != nil {
			return p, stepError(p, err)
		}
		p.Terms.Add(terms, float64(len(part))/float64(len(places)))
	}
	p.Seconds = time.Since(start).Seconds()
	p.Loss = l.settings.Loss(p.Terms)
	return p, l.finite(p)
}

func stepError(p method.Phase, err error) error {
	return fmt.Errorf("phase %s, step %d: %w", p.Name, p.Steps, err)
}

// finite checks the parameters after the last step of a phase; the loss of a step shows
// only what the steps before it did.
func (l *learner) finite(p method.Phase) error {
	for _, t := range l.Model().Tensors() {
		if i := matrix.NotFinite(t.Matrix.Data); i >= 0 {
			return stepError(p, &model.NotFinite{Term: t.Name, Value: float64(t.Matrix.Data[i])})
		}
	}
	return nil
}

// adam is the solver of Kingma & Ba (2015), in one pass over the memory of each parameter. It is a
// gorgonia.Solver for float32 parameters, in the same order at each step.
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

// updateAVX, in adam.s, is updateEach for a multiple of 8 elements, 8 at a time, with the same results: the
// processor rounds each operation in the same way, in the same order. It does not check the lengths.
//
//go:noescape
func updateAVX(value, grad, mean, square []float32, rate, unbias, meanGain, squareGain, eps float32)

func update(value, grad, mean, square []float32, rate, unbias float32) {
	vectors := 0
	if runtime.GOARCH == "amd64" && cpu.X86.HasAVX {
		vectors = len(value) &^ 7
		updateAVX(value[:vectors], grad[:vectors], mean[:vectors], square[:vectors], rate, unbias, 1-beta1,
			1-beta2, epsilon)
	}
	updateEach(value[vectors:], grad[vectors:], mean[vectors:], square[vectors:], rate, unbias)
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

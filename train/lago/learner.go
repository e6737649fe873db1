package lago

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/finite"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
)

// learner alternates epochs of W and of V.
type learner struct {
	settings Settings
	examples method.Examples
	seed     uint64

	model   *model.LAGO             // with the parameters in training
	classes *model.Description      // of the examples
	targets dataset.Matrix[float32] // of BXE(a), their descriptions

	w            *model.WMachine[float32]
	v            *model.VMachine[float32] // nil for the hard variants
	adamW, adamV *adam
	detections   dataset.Matrix[float32] // of the examples, on which V trains
}

// Learn implements method.Method: it compiles the machines.
func (s *Settings) Learn(e method.Examples, seed uint64) (method.Learner, error) {
	l := &learner{settings: *s, examples: e, seed: seed}
	l.settings.Resolve(e.U.Cols)
	c := l.settings.Config
	params, err := c.Init(e.X.Cols, e.U.Cols, e.Groups, seed)
	if err != nil {
		return nil, err
	}
	if l.classes, err = c.Describe(e.U, e.Groups); err != nil {
		return nil, err
	}
	l.model = &model.LAGO{Config: c, Params: params, Semantic: e.Groups}
	l.targets = dataset.Convert[float32](l.classes.Targets)
	l.adamW = newAdam(s.LR, []float64{1, s.BiasFactor}, len(params.W.Data), len(params.B))
	if l.w, err = model.NewWMachine(c, l.classes, params, l.batch()); err != nil || !c.Variant.Learned() {
		return l, err
	}
	l.adamV = newAdam(s.LRV, nil, len(params.V.Data))
	l.detections = dataset.NewMatrix[float32](len(e.Rows), e.U.Cols)
	l.v, err = model.NewVMachine(c, l.classes, params, l.batch())
	return l, err
}

// batch is the number of samples per step.
func (l *learner) batch() int { return min(l.settings.Batch, len(l.examples.Rows)) }

// Epoch implements method.Learner: it trains W, then V if it is learned.
func (l *learner) Epoch(number int) (p method.Progress, err error) {
	phase, err := l.phaseW(number)
	p.Phases = append(p.Phases, phase)
	if err != nil || l.v == nil {
		return p, err
	}
	phase, err = l.phaseV(number)
	p.Phases = append(p.Phases, phase)
	return p, err
}

// Model implements method.Learner.
func (l *learner) Model() method.Model { return Model{l.model} }

// State implements method.Learner.
func (l *learner) State() method.Tensors {
	state := Model{l.model}.Tensors()
	state = append(state, l.adamW.tensors("adam_w")...)
	if l.v != nil {
		state = append(state, l.adamV.tensors("adam_v")...)
	}
	return state
}

// phaseW runs an epoch of W and b.
func (l *learner) phaseW(epoch int) (method.Phase, error) {
	l.w.Begin()
	return l.phase("W", epoch, l.adamW, func(part []int) (model.Terms, error) {
		l.w.X.CopyRows(l.examples.X, choose(l.examples.Rows, part))
		l.w.Label(choose(l.examples.Labels, part)...)
		terms, err := l.w.Step()
		if err != nil {
			return terms, err
		}
		return terms, l.adamW.Step(l.w.Learnables())
	})
}

// phaseV computes the detections of all samples, since W is fixed now, and runs an epoch
// of V on them.
func (l *learner) phaseV(epoch int) (method.Phase, error) {
	terms := model.DetectorTerms(l.model.Params, l.classes)
	terms.BXE = l.detect()
	l.v.Begin(terms)
	return l.phase("V", epoch, l.adamV, func(part []int) (model.Terms, error) {
		l.v.X.CopyRows(l.detections, part)
		l.v.Label(choose(l.examples.Labels, part)...)
		terms, err := l.v.Step()
		if err != nil {
			return terms, err
		}
		return terms, l.adamV.Step(l.v.Learnables())
	})
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
	const block = 256
	rows := l.examples.Rows
	x := dataset.NewMatrix[float32](min(block, len(rows)), l.examples.X.Cols)
	for from := 0; from < len(rows); from += block {
		a := l.detections.Slice(from, min(from+block, len(rows)))
		x.CopyRows(l.examples.X, rows[from:from+a.Rows])
		l.model.Params.Logits(x.Slice(0, a.Rows), a)
	}
	for i, z := range l.examples.Labels {
		bxe += model.AttributeEntropy(l.detections.Row(i), l.targets.Row(z), l.classes.Undescribed) / float64(len(rows))
	}
	model.Sigmoid(l.detections.Data)
	return bxe
}

// phase runs step on batches of shuffled examples, by their places, and averages the terms
// over samples.
func (l *learner) phase(name string, epoch int, solver *adam, step func(places []int) (model.Terms, error)) (method.Phase, error) {
	p := method.Phase{Name: name}
	number := 0
	if name == "V" {
		number = 1
	}
	places := shuffled(len(l.examples.Rows), l.seed, epoch, number)
	start := time.Now()
	batch := l.batch()
	solver.steps = (epoch - 1) * ((len(places) + batch - 1) / batch)
	for rest := places; len(rest) > 0; {
		part := rest[:min(batch, len(rest))]
		rest = rest[len(part):]
		p.Steps++
		terms, err := step(part)
		if err != nil {
			return p, stepError(p, err)
		}
		p.Terms.Add(terms, float64(len(part))/float64(len(places)))
	}
	p.Seconds = time.Since(start).Seconds()
	p.Loss = l.settings.Loss(p.Terms)
	return p, l.finite(p)
}

// shuffled returns 0..n-1 in an order that depends on the seed, the epoch and the phase
// alone, so that a resumed run is bit-identical to an uninterrupted one.
func shuffled(n int, seed uint64, epoch, phase int) []int {
	return rand.New(rand.NewPCG(seed, uint64(epoch)<<8|uint64(phase))).Perm(n)
}

func stepError(p method.Phase, err error) error {
	return fmt.Errorf("phase %s, step %d: %w", p.Name, p.Steps, err)
}

// finite checks the parameters after the last step of a phase; the loss of a step shows
// only what the steps before it did.
func (l *learner) finite(p method.Phase) error {
	for _, t := range l.Model().Tensors() {
		if i := finite.Index(t.Matrix.Data); i >= 0 {
			return stepError(p, &model.NotFinite{Term: t.Name, Value: float64(t.Matrix.Data[i])})
		}
	}
	return nil
}

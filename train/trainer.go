package train

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/finite"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train/metrics"
)

// task holds the samples and classes that one run trains and validates on.
type task struct {
	train        Samples
	trainClasses dataset.Matrix[float64] // descriptions of the classes of train, as in the data set
	val          Samples                 // empty: all epochs are run, and the last is kept
	valClasses   dataset.Matrix[float64]
	groups       []int // the group of each attribute, nil where the data set has none

	preprocessing *preprocess.Transform // already applied to the samples
}

// lagoTrainer trains LAGO: it alternates epochs of W and of V.
type lagoTrainer struct {
	loop
	task
	model *model.LAGO                // with the parameters in training, for preprocessed features
	kept  *model.Parameters[float32] // of the best epoch; those in training if there are no val classes

	classes *model.Description      // the train classes
	targets dataset.Matrix[float32] // of BXE(a), their descriptions

	w            *model.WMachine[float32]
	v            *model.VMachine[float32] // nil for the hard variants
	adamW, adamV adam
	detections   *evaluator // of the train samples, on which V trains; nil for the hard variants
	fit          *evaluator // of the train samples whose accuracy is recorded
	validation   *evaluator // nil without val classes
}

// newLAGOTrainer compiles the machines of a run.
func newLAGOTrainer(config model.Config, settings Training, k task) (*lagoTrainer, error) {
	if err := settings.Check(); err != nil {
		return nil, err
	}
	if k.train.Len() == 0 {
		return nil, &invalid.Error{Field: "samples", Want: "samples of the train classes", Got: "none"}
	}
	params, err := config.Init(k.train.X.Cols, k.trainClasses.Cols, k.groups, settings.Seed)
	if err != nil {
		return nil, err
	}
	t := &lagoTrainer{
		loop: loop{settings: settings}, task: k,
		model: &model.LAGO{Config: config, Params: params, Semantic: k.groups}, kept: params,
		adamW: adam{rate: settings.LearningRate, factors: []float64{1, settings.BiasFactor}},
		adamV: adam{rate: settings.LearningRateV},
	}
	if k.val.Len() > 0 {
		t.kept = params.Clone()
	}
	return t, t.compile()
}

func (t *lagoTrainer) compile() error {
	var err error
	if t.model.Impute, err = impute.New(t.trainClasses, t.groups); err != nil {
		return err
	}
	if t.classes, err = t.model.Describe(t.trainClasses); err != nil {
		return err
	}
	t.targets = dataset.Convert[float32](t.classes.Targets)
	c, params, batch := t.model.Config, t.model.Params, min(t.settings.Batch, t.train.Len())
	if t.w, err = model.NewWMachine(c, t.classes, params, batch); err != nil {
		return err
	}
	if c.Variant.Learned() {
		if t.v, err = model.NewVMachine(c, t.classes, params, batch); err != nil {
			return err
		}
		if t.detections, err = newEvaluator(t.model, t.classes, t.train); err != nil {
			return err
		}
	}
	if t.fit, err = newEvaluator(t.model, t.classes, t.train.atMost(recorded)); err != nil || t.val.Len() == 0 {
		return err
	}
	classes, err := t.model.Describe(t.valClasses)
	if err != nil {
		return err
	}
	t.validation, err = newEvaluator(t.model, classes, t.val)
	return err
}

// Run implements trainer.
func (t *lagoTrainer) Run(ctx context.Context) (Status, error) { return t.run(ctx, t) }

// epoch trains W for an epoch, then V if it is learned, and evaluates both.
func (t *lagoTrainer) epoch(number int) (e Epoch, converged bool, err error) {
	e.Epoch = number
	phase, err := t.phaseW(number)
	if err != nil {
		return e, false, err
	}
	e.Phases = append(e.Phases, phase)
	if t.v != nil {
		phase, err = t.phaseV(number)
		if err != nil {
			return e, false, err
		}
		e.Phases = append(e.Phases, phase)
	}
	t.fit.detect(nil)
	fit, err := t.fit.classify()
	if err != nil {
		return e, false, err
	}
	e.TrainAccuracy = fit.Accuracy().PerClass
	if t.validation == nil {
		return e, false, nil
	}
	t.validation.detect(nil)
	val, err := t.validation.classify()
	if err != nil {
		return e, false, err
	}
	e.validate(val)
	return e, false, nil
}

// keep implements learner.
func (t *lagoTrainer) keep() { t.kept.Set(t.model.Params) }

// phaseW runs an epoch of W and b.
func (t *lagoTrainer) phaseW(epoch int) (Phase, error) {
	t.w.Begin()
	return t.phase("W", shuffled(t.train.Len(), t.settings.Seed, epoch, 0), func(part []int) (model.Terms, error) {
		t.train.gather(t.w.X, part)
		t.w.Label(t.train.labels(part)...)
		terms, err := t.w.Step()
		if err != nil {
			return terms, err
		}
		return terms, t.adamW.Step(t.w.Learnables())
	})
}

// phaseV computes the detections of all samples, since W is fixed now, and runs an epoch
// of V on them.
func (t *lagoTrainer) phaseV(epoch int) (Phase, error) {
	terms := model.DetectorTerms(t.model.Params, t.classes)
	labels := t.train.Labels
	t.detections.detect(func(place int, s []float32) {
		terms.BXE += model.AttributeEntropy(s, t.targets.Row(labels[place]), t.classes.Undescribed) / float64(len(labels))
	})
	t.v.Begin(terms)
	return t.phase("V", shuffled(t.train.Len(), t.settings.Seed, epoch, 1), func(part []int) (model.Terms, error) {
		t.v.X.CopyRows(t.detections.a, part)
		t.v.Label(t.train.labels(part)...)
		terms, err := t.v.Step()
		if err != nil {
			return terms, err
		}
		return terms, t.adamV.Step(t.v.Learnables())
	})
}

// phase runs step on batches of places and averages the terms over samples.
func (t *lagoTrainer) phase(name string, places []int, step func(part []int) (model.Terms, error)) (Phase, error) {
	p := Phase{Name: name}
	start := time.Now()
	for rest := places; len(rest) > 0; {
		part := rest[:min(t.settings.Batch, len(rest))]
		rest = rest[len(part):]
		p.Steps++
		terms, err := step(part)
		if err != nil {
			return p, t.stepError(name, p.Steps, err)
		}
		p.Terms.Add(terms, float64(len(part))/float64(len(places)))
	}
	p.Seconds = time.Since(start).Seconds()
	p.Loss = t.model.Config.Loss(p.Terms)
	return p, t.finite(name, p.Steps)
}

func (t *lagoTrainer) stepError(phase string, step int, err error) error {
	return fmt.Errorf("phase %s, epoch %d, step %d: %w", phase, len(t.curve)+1, step, err)
}

// finite checks the parameters after the last step of a phase; the loss of a step shows
// only what the steps before it did.
func (t *lagoTrainer) finite(phase string, step int) error {
	params := t.model.Params
	for _, p := range []struct {
		name string
		data []float32
	}{{"W", params.W.Data}, {"b", params.B}, {"V", params.V.Data}} {
		if i := finite.Index(p.data); i >= 0 {
			return t.stepError(phase, step, &model.NotFinite{Term: p.name, Value: float64(p.data[i])})
		}
	}
	return nil
}

// best returns the model of the best epoch, for preprocessed features.
func (t *lagoTrainer) best() *model.LAGO {
	best := *t.model
	best.Params = t.kept
	return &best
}

// Evaluate implements trainer.
func (t *lagoTrainer) Evaluate(s Samples, classes dataset.Matrix[float64]) (metrics.Confusion, error) {
	return evaluate(t.best(), s, classes)
}

// classifier implements trainer.
func (t *lagoTrainer) classifier() (model.Classifier, error) {
	best := t.best()
	best.Transform = t.preprocessing
	return best, nil
}

// evaluate classifies samples by a trained method.
func evaluate(c model.Classifier, s Samples, classes dataset.Matrix[float64]) (metrics.Confusion, error) {
	scores, err := model.Score(c, s.X, s.Rows, classes)
	if err != nil {
		return nil, err
	}
	confusion := metrics.NewConfusion(classes.Rows)
	return confusion, confusion.Add(scores.Data, s.Labels)
}

// detectBlock is the number of samples whose detections are computed at once.
const detectBlock = 256

// evaluator evaluates samples by a LAGO in training, in two steps: V trains on detections.
type evaluator struct {
	samples Samples
	classes int
	params  *model.Parameters[float32]
	forward *model.Forward[float32]

	x      dataset.Matrix[float32] // features of a block
	a      dataset.Matrix[float32] // detections of the samples, in their order
	scores []float32               // of a block
}

func newEvaluator(l *model.LAGO, classes *model.Description, s Samples) (*evaluator, error) {
	f, err := model.NewForward(l.Config, classes, l.Params)
	return &evaluator{
		samples: s, classes: classes.U.Rows, params: l.Params, forward: f,
		x: dataset.NewMatrix[float32](min(detectBlock, s.Len()), l.Params.W.Rows),
		a: dataset.NewMatrix[float32](s.Len(), l.Params.W.Cols),
	}, err
}

// detect computes the detections of all samples. each, if not nil, gets the logits of
// every sample.
func (e *evaluator) detect(each func(place int, s []float32)) {
	for from := 0; from < e.a.Rows; from += detectBlock {
		a := e.a.Slice(from, min(from+detectBlock, e.a.Rows))
		x := e.x.Slice(0, a.Rows)
		x.CopyRows(e.samples.X, e.samples.Rows[from:from+a.Rows])
		e.params.Logits(x, a)
	}
	for i := 0; each != nil && i < e.a.Rows; i++ {
		each(i, e.a.Row(i))
	}
	model.Sigmoid(e.a.Data)
}

// classify classifies the samples by the detections last computed.
func (e *evaluator) classify() (metrics.Confusion, error) {
	const block = 1024
	e.forward.Update()
	z := e.classes
	confusion := metrics.NewConfusion(z)
	e.scores = slices.Grow(e.scores[:0], min(block, e.a.Rows)*z)
	for from := 0; from < e.a.Rows; from += block {
		a := e.a.Slice(from, min(from+block, e.a.Rows))
		scores := dataset.Matrix[float32]{Rows: a.Rows, Cols: z, Data: e.scores[:a.Rows*z]}
		if err := e.forward.LogP(a, scores); err != nil {
			return nil, err
		}
		if err := confusion.Add(scores.Data, e.samples.Labels[from:from+a.Rows]); err != nil {
			return nil, err
		}
	}
	return confusion, nil
}

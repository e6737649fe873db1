package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train/metrics"
)

// Training are what training is told beside the model and the data.
type Training struct {
	Epochs        int     `json:"epochs"` // at most this many
	LearningRate  float64 `json:"lr"`     // of W and b
	LearningRateV float64 `json:"lr_v"`   // of V
	Batch         int     `json:"batch"`
	Patience      int     `json:"patience"` // epochs without a better val accuracy
	Seed          uint64  `json:"seed"`     // of the start and the shuffling
}

// Problem is what one run learns from, and what it is judged by.
type Problem struct {
	Train        Samples
	TrainClasses dataset.Matrix[float64] // descriptions of the classes of Train, as in the data set
	Val          Samples                 // none: all epochs are run, and the last is kept
	ValClasses   dataset.Matrix[float64]
	Semantic     []int // the group of each attribute, nil where unknown
}

// Trainer trains LAGO.
type Trainer struct {
	loop
	config  model.Config
	problem Problem
	classes *model.Description // of Train

	described dataset.Matrix[float32] // U of them

	w   *model.WMachine[float32]
	v   *model.VMachine[float32] // nil for the hard variants
	val *evaluator               // nil without val classes
	fit *evaluator               // of the train samples

	state *state

	gaps          *impute.Imputer       // by the train classes, for partial descriptions
	preprocessing *preprocess.Transform // of the features, for the classifier
}

// state is all that training carries from one epoch to the next, beside the loop.
type state struct {
	params *model.Parameters[float32]
	kept   *model.Parameters[float32] // of the best epoch; params itself without val classes
	adamW  Adam
	adamV  Adam
}

// New compiles the machines of a run.
func New(config model.Config, settings Training, p Problem) (*Trainer, error) {
	if err := settings.Check(); err != nil {
		return nil, err
	}
	if p.Train.Len() == 0 {
		return nil, errors.New("train: expected samples to train on, found none")
	}
	t := &Trainer{loop: loop{settings: settings}, config: config, problem: p}
	params, err := config.Init(p.Train.X.Cols, p.TrainClasses.Cols, p.Semantic, settings.Seed)
	if err != nil {
		return nil, err
	}
	t.state = &state{params: params, kept: params, adamW: Adam{Rate: settings.LearningRate}, adamV: Adam{Rate: settings.LearningRateV}}
	if p.Val.Len() > 0 {
		t.state.kept = params.Clone()
	}
	return t, t.compile()
}

func (t *Trainer) compile() error {
	var err error
	if t.gaps, err = impute.New(t.problem.TrainClasses, t.problem.Semantic); err != nil {
		return err
	}
	if t.classes, err = t.describe(t.problem.TrainClasses); err != nil {
		return err
	}
	t.described = dataset.NewMatrix[float32](t.classes.U.Rows, t.classes.U.Cols)
	for i, u := range t.classes.U.Data {
		t.described.Data[i] = float32(u)
	}
	mp := model.Problem{Config: t.config, Classes: t.classes, Semantic: t.problem.Semantic, Batch: t.settings.Batch}
	if t.w, err = model.NewWMachine(mp, t.state.params); err != nil {
		return err
	}
	if t.config.Variant.Learned() {
		if t.v, err = model.NewVMachine(mp, t.state.params); err != nil {
			return err
		}
	}
	if t.fit, err = newEvaluator(mp, t.state.params, t.problem.Train); err != nil {
		return err
	}
	if t.problem.Val.Len() > 0 {
		if mp.Classes, err = t.describe(t.problem.ValClasses); err != nil {
			return err
		}
		t.val, err = newEvaluator(mp, t.state.params, t.problem.Val)
	}
	return err
}

// describe makes the description of classes; gaps are filled by the train classes.
func (t *Trainer) describe(classes dataset.Matrix[float64]) (*model.Description, error) {
	full, err := t.gaps.Impute(classes)
	if err != nil {
		return nil, err
	}
	return t.config.Describe(full, t.problem.Semantic)
}

// Check returns an error for the first setting that LAGO can't be trained with.
func (s Training) Check() error {
	if err := s.CheckEpochs(); err != nil {
		return err
	}
	return firstWrong([]check{
		{"lr", s.LearningRate > 0 && !math.IsInf(s.LearningRate, 0), "a finite number above 0", s.LearningRate},
		{"lr_v", s.LearningRateV > 0 && !math.IsInf(s.LearningRateV, 0), "a finite number above 0", s.LearningRateV},
		{"batch", s.Batch >= 1, "at least 1", s.Batch},
	})
}

// CheckEpochs is Check for the settings that every method has.
func (s Training) CheckEpochs() error {
	return firstWrong([]check{
		{"epochs", s.Epochs >= 1, "at least 1", s.Epochs},
		{"patience", s.Patience >= 1, "at least 1", s.Patience},
	})
}

// check is what must hold for a setting.
type check struct {
	field string
	ok    bool
	want  string
	got   any
}

func firstWrong(checks []check) error {
	for _, c := range checks {
		if !c.ok {
			return fmt.Errorf("train: %s: expected %s, found %v", c.field, c.want, c.got)
		}
	}
	return nil
}

// Run trains until an epoch ends it, and says why. A cancelled context ends it
// after the epoch at hand.
func (t *Trainer) Run(ctx context.Context) (Status, error) { return t.run(ctx, t) }

// epoch trains W for an epoch, then V where it is learned, and judges both.
func (t *Trainer) epoch(number int) (e Epoch, converged bool, err error) {
	e.Epoch = number
	phase, err := t.phaseW(number)
	if err != nil {
		return e, false, err
	}
	e.Phases = append(e.Phases, phase)
	if t.v == nil {
		err = t.fit.detect(nil)
	} else {
		phase, err = t.phaseV(number)
		e.Phases = append(e.Phases, phase)
	}
	if err != nil {
		return e, false, err
	}
	named, err := t.fit.judge()
	if err != nil {
		return e, false, err
	}
	e.TrainAccuracy = named.Accuracy().PerClass
	if t.val != nil {
		err = t.judgeVal(&e)
	}
	return e, false, err
}

// judgeVal judges the val classes.
func (t *Trainer) judgeVal(e *Epoch) error {
	if err := t.val.detect(nil); err != nil {
		return err
	}
	named, err := t.val.judge()
	if err != nil {
		return err
	}
	e.validate(named)
	return nil
}

// keep keeps the parameters as they are.
func (t *Trainer) keep() { t.state.kept.Set(t.state.params) }

// phaseW runs an epoch of W and b.
func (t *Trainer) phaseW(epoch int) (Phase, error) {
	t.w.Begin()
	train := t.problem.Train
	return t.phase("W", shuffled(train.Len(), t.settings.Seed, epoch, 0), func(part []int) (model.Terms, error) {
		train.gather(t.w.X, part)
		t.w.Label(train.labels(part)...)
		terms, err := t.w.Step()
		if err != nil {
			return terms, err
		}
		return terms, t.state.adamW.Step(t.w.Learnables())
	})
}

// phaseV makes the detections of all samples, since W is at rest now, and runs an
// epoch of V on them.
func (t *Trainer) phaseV(epoch int) (Phase, error) {
	terms := model.DetectorTerms(t.state.params, t.classes)
	labels := t.problem.Train.Labels
	err := t.fit.detect(func(place int, s []float32) {
		terms.BXE += model.AttributeEntropy(s, t.described.Row(labels[place])) / float64(len(labels))
	})
	if err != nil {
		return Phase{}, err
	}
	t.v.Begin(terms)
	train := t.problem.Train
	return t.phase("V", shuffled(train.Len(), t.settings.Seed, epoch, 1), func(part []int) (model.Terms, error) {
		for i, p := range part {
			copy(t.v.X.Row(i), t.fit.a.Row(p))
		}
		t.v.Label(train.labels(part)...)
		terms, err := t.v.Step()
		if err != nil {
			return terms, err
		}
		return terms, t.state.adamV.Step(t.v.Learnables())
	})
}

// phase runs step on batches of places and means its terms over samples.
func (t *Trainer) phase(name string, places []int, step func(part []int) (model.Terms, error)) (Phase, error) {
	p := Phase{Name: name}
	start := time.Now()
	err := batches(places, t.settings.Batch, func(part []int) error {
		p.Steps++
		terms, err := step(part)
		if err != nil {
			return fmt.Errorf("train: phase %s, epoch %d, step %d: %w", name, len(t.curve)+1, p.Steps, err)
		}
		p.Terms.Add(terms, float64(len(part))/float64(len(places)))
		return nil
	})
	if err == nil {
		err = t.finite(name, p.Steps)
	}
	p.Seconds = time.Since(start).Seconds()
	p.Loss = t.config.Loss(p.Terms)
	return p, err
}

// finite looks at the parameters after the last step of a phase, which no further
// step would find out about.
func (t *Trainer) finite(phase string, step int) error {
	for _, p := range []struct {
		name string
		data []float32
	}{{"W", t.state.params.W.Data}, {"b", t.state.params.B}, {"V", t.state.params.V.Data}} {
		for _, v := range p.data {
			if v-v != 0 {
				return fmt.Errorf("train: phase %s, epoch %d, after step %d: %w", phase, len(t.curve)+1, step,
					&model.NotFinite{Term: p.name, Value: float64(v)})
			}
		}
	}
	return nil
}

// Evaluate names samples of any described classes with the kept weights.
func (t *Trainer) Evaluate(s Samples, classes dataset.Matrix[float64]) (metrics.Confusion, error) {
	described, err := t.describe(classes)
	if err != nil {
		return nil, err
	}
	p := model.Problem{Config: t.config, Classes: described, Semantic: t.problem.Semantic}
	e, err := newEvaluator(p, t.state.kept, s)
	if err != nil {
		return nil, err
	}
	if err := e.detect(nil); err != nil {
		return nil, err
	}
	return e.judge()
}

// classifier is the model of the kept weights.
func (t *Trainer) classifier() (model.TwoStage, error) {
	return &model.LAGO{Config: t.config, Params: t.state.kept, Semantic: t.problem.Semantic, Transform: t.preprocessing, Impute: t.gaps}, nil
}

package train

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/methods"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/train/metrics"
)

// baselineTrainer trains a baseline, in the same loop as LAGO.
type baselineTrainer struct {
	loop
	task            // with missing entries imputed
	fit     Samples // of the train samples, whose accuracy is recorded
	spec    methods.Spec
	learner baseline.Learner
	kept    baseline.Tensors // of the model of the best epoch
	imputer *impute.Imputer  // from the train classes
}

func newBaselineTrainer(spec methods.Spec, s Training, k task, cache *baseline.Cache) (*baselineTrainer, error) {
	imputer, err := impute.New(k.trainClasses, k.groups)
	if err != nil {
		return nil, err
	}
	if k.trainClasses, err = imputer.Impute(k.trainClasses); err != nil {
		return nil, err
	}
	if k.valClasses, err = imputer.Impute(k.valClasses); err != nil {
		return nil, err
	}
	learner, err := baseline.Learn(spec.Settings, baseline.Examples{
		X: k.train.X, Rows: k.train.Rows, Labels: k.train.Labels, U: k.trainClasses, Cache: cache,
	}, s.Seed)
	if err != nil {
		return nil, invalid.At(spec.Method, err)
	}
	t := &baselineTrainer{loop: loop{settings: s}, task: k, fit: k.train.atMost(recorded), spec: spec, learner: learner, imputer: imputer}
	t.kept = learner.Model().Tensors()
	if k.val.Len() > 0 {
		t.kept = slices.Clone(t.kept)
		for i := range t.kept {
			t.kept[i].Matrix.Data = slices.Clone(t.kept[i].Matrix.Data)
		}
	}
	return t, nil
}

// Run implements trainer.
func (t *baselineTrainer) Run(ctx context.Context) (Status, error) { return t.run(ctx, t) }

// epoch implements learner.
func (t *baselineTrainer) epoch(number int) (e Epoch, converged bool, err error) {
	start := time.Now()
	loss, converged, err := t.learner.Epoch(number)
	if err != nil {
		return e, false, fmt.Errorf("%s, epoch %d: %w", t.spec.Method, number, err)
	}
	e = Epoch{Epoch: number, Phases: []Phase{{Name: t.spec.Method, Steps: 1, Seconds: time.Since(start).Seconds(), Loss: loss}}}
	m := t.learner.Model()
	fit, err := evaluate(m, t.fit, t.trainClasses)
	if err != nil {
		return e, false, err
	}
	e.TrainAccuracy = fit.Accuracy().PerClass
	if t.val.Len() > 0 {
		val, err := evaluate(m, t.val, t.valClasses)
		if err != nil {
			return e, false, err
		}
		e.validate(val)
	}
	return e, converged, nil
}

// keep implements learner.
func (t *baselineTrainer) keep() {
	for i, from := range t.learner.Model().Tensors() {
		copy(t.kept[i].Matrix.Data, from.Matrix.Data)
	}
}

// Evaluate implements trainer.
func (t *baselineTrainer) Evaluate(s Samples, classes dataset.Matrix[float64]) (metrics.Confusion, error) {
	m, err := t.spec.Settings.Restore(t.kept)
	if err != nil {
		return nil, err
	}
	return evaluate(&model.Preprocessed{Classifier: m, Impute: t.imputer}, s, classes)
}

// classifier implements trainer.
func (t *baselineTrainer) classifier() (model.Classifier, error) {
	m, err := t.spec.Settings.Restore(t.kept)
	return &model.Preprocessed{Classifier: m, Transform: t.preprocessing, Impute: t.imputer}, err
}

// tensors implements trainer: the learner's state and the kept model.
func (t *baselineTrainer) tensors() []safetensors.Tensor {
	list := baselineTensors("state.", t.learner.State())
	return append(list, baselineTensors("kept.", t.kept)...)
}

// baselineTensors names the tensors of a baseline in files.
func baselineTensors(prefix string, t baseline.Tensors) []safetensors.Tensor {
	list := make([]safetensors.Tensor, len(t))
	for i, m := range t {
		list[i] = safetensors.Tensor{Name: prefix + m.Name, Shape: []int{m.Matrix.Rows, m.Matrix.Cols}, F32: m.Matrix.Data}
	}
	return list
}

// steps and resume implement trainer: the state of a baseline is all in its tensors.
func (t *baselineTrainer) steps() steps { return steps{} }
func (t *baselineTrainer) resume(steps) {}

package train

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/methods"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train/metrics"
	"github.com/lago-train/lago-train/train/safetensors"
)

// baselineTrainer trains a method that LAGO is compared with, by the same rules.
type baselineTrainer struct {
	loop
	config  methods.Spec
	problem Problem
	learner baseline.Learner
	kept    baseline.Tensors // of the model of the best epoch

	gaps          *impute.Imputer       // by the train classes, for partial descriptions
	preprocessing *preprocess.Transform // of the features, for the classifier
}

func newBaselineTrainer(c methods.Spec, s Training, p Problem, preprocessing *preprocess.Transform, shared *baseline.Cache) (*baselineTrainer, error) {
	rule, err := impute.New(p.TrainClasses, p.Semantic)
	if err != nil {
		return nil, err
	}
	if p.TrainClasses, err = rule.Impute(p.TrainClasses); err != nil {
		return nil, err
	}
	if p.ValClasses, err = rule.Impute(p.ValClasses); err != nil {
		return nil, err
	}
	learner, err := c.Settings.Learn(baseline.Examples{
		X: p.Train.X, Rows: p.Train.Rows, Labels: p.Train.Labels, U: p.TrainClasses, Cache: shared,
	}, s.Seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Method, err)
	}
	t := &baselineTrainer{loop: loop{settings: s}, config: c, problem: p, learner: learner, gaps: rule, preprocessing: preprocessing}
	t.kept = learner.Model().Tensors()
	if p.Val.Len() > 0 {
		t.kept = clone(t.kept)
	}
	return t, nil
}

// clone copies tensors into memory of their own.
func clone(t baseline.Tensors) baseline.Tensors {
	c := slices.Clone(t)
	for i := range c {
		c[i].Matrix.Data = slices.Clone(c[i].Matrix.Data)
	}
	return c
}

// Run implements trainee.
func (t *baselineTrainer) Run(ctx context.Context) (Status, error) { return t.run(ctx, t) }

// epoch implements learning.
func (t *baselineTrainer) epoch(number int) (e Epoch, converged bool, err error) {
	start := time.Now()
	loss, converged, err := t.learner.Epoch(number)
	if err != nil {
		return e, false, fmt.Errorf("train: %s, epoch %d: %w", t.config.Method, number, err)
	}
	e = Epoch{Epoch: number, Phases: []Phase{{Name: t.config.Method, Steps: 1, Seconds: time.Since(start).Seconds(), Loss: loss}}}
	m := t.learner.Model()
	named, err := nameBy(m, t.problem.Train, t.problem.TrainClasses)
	if err != nil {
		return e, false, err
	}
	e.TrainAccuracy = named.Accuracy().PerClass
	if t.problem.Val.Len() > 0 {
		if named, err = nameBy(m, t.problem.Val, t.problem.ValClasses); err != nil {
			return e, false, err
		}
		e.validate(named)
	}
	return e, converged, nil
}

// keep implements learning.
func (t *baselineTrainer) keep() {
	for i, from := range t.learner.Model().Tensors() {
		copy(t.kept[i].Matrix.Data, from.Matrix.Data)
	}
}

// nameBy scores samples by a classifier.
func nameBy(c model.Classifier, s Samples, u dataset.Matrix[float64]) (metrics.Confusion, error) {
	scores, err := c.Score(s.X, s.Rows, u)
	if err != nil {
		return nil, err
	}
	named := metrics.NewConfusion(u.Rows)
	named.Add(scores.Data, s.Labels)
	return named, nil
}

// Evaluate implements trainee.
func (t *baselineTrainer) Evaluate(s Samples, classes dataset.Matrix[float64]) (metrics.Confusion, error) {
	m, err := t.config.Settings.Restore(t.kept)
	if err != nil {
		return nil, err
	}
	full, err := t.gaps.Impute(classes)
	if err != nil {
		return nil, err
	}
	return nameBy(m, s, full)
}

// classifier implements trainee.
func (t *baselineTrainer) classifier() (model.TwoStage, error) {
	m, err := t.config.Settings.Restore(t.kept)
	return &model.Preprocessed{TwoStage: m, Transform: t.preprocessing, Impute: t.gaps}, err
}

// tensors names the learner's state and, beside it, the kept model.
func (t *baselineTrainer) tensors() []safetensors.Tensor {
	list := baselineTensors("state.", t.learner.State())
	return append(list, baselineTensors("kept.", t.kept)...)
}

// baselineTensors names the tensors of a baseline as files do.
func baselineTensors(prefix string, t baseline.Tensors) []safetensors.Tensor {
	list := make([]safetensors.Tensor, len(t))
	for i, m := range t {
		list[i] = safetensors.Tensor{Name: prefix + m.Name, Shape: []int{m.Matrix.Rows, m.Matrix.Cols}, F32: m.Matrix.Data}
	}
	return list
}

// steps and resume implement trainee: the state of a baseline is all in its tensors.
func (t *baselineTrainer) steps() steps { return steps{} }
func (t *baselineTrainer) resume(steps) {}

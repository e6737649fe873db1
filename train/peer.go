package train

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/condition"
	"github.com/lago-train/lago-train/model/gaps"
	"github.com/lago-train/lago-train/model/peer"
	"github.com/lago-train/lago-train/model/peer/methods"
	"github.com/lago-train/lago-train/train/metrics"
	"github.com/lago-train/lago-train/train/safetensors"
)

// peerTrainer trains a method that LAGO is compared with, by the same rules.
type peerTrainer struct {
	loop
	config  methods.Config
	problem Problem
	learner peer.Learner
	kept    peer.Tensors // of the model of the best epoch

	gaps         *gaps.Rule     // by the train classes, for partial descriptions
	conditioning *condition.Map // of the features, for the classifier
}

func newPeerTrainer(c methods.Config, s Settings, p Problem, conditioning *condition.Map, shared *peer.Shared) (*peerTrainer, error) {
	rule, err := gaps.New(p.TrainClasses, p.Semantic)
	if err != nil {
		return nil, err
	}
	if p.TrainClasses, err = rule.Fill(p.TrainClasses); err != nil {
		return nil, err
	}
	if p.ValClasses, err = rule.Fill(p.ValClasses); err != nil {
		return nil, err
	}
	learner, err := c.Settings.Learn(peer.Examples{
		X: p.Train.X, Rows: p.Train.Rows, Labels: p.Train.Labels, U: p.TrainClasses, Shared: shared,
	}, s.Seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Method, err)
	}
	t := &peerTrainer{loop: loop{settings: s}, config: c, problem: p, learner: learner, gaps: rule, conditioning: conditioning}
	t.kept = learner.Model().Tensors()
	if p.Val.Len() > 0 {
		t.kept = clone(t.kept)
	}
	return t, nil
}

// clone copies tensors into memory of their own.
func clone(t peer.Tensors) peer.Tensors {
	c := slices.Clone(t)
	for i := range c {
		c[i].Matrix.Data = slices.Clone(c[i].Matrix.Data)
	}
	return c
}

// Run implements trainee.
func (t *peerTrainer) Run(ctx context.Context) (Status, error) { return t.run(ctx, t) }

// epoch implements learning.
func (t *peerTrainer) epoch(number int) (e Epoch, settled bool, err error) {
	start := time.Now()
	loss, settled, err := t.learner.Epoch(number)
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
	return e, settled, nil
}

// keep implements learning.
func (t *peerTrainer) keep() {
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

// Judge implements trainee.
func (t *peerTrainer) Judge(s Samples, classes dataset.Matrix[float64]) (metrics.Confusion, error) {
	m, err := t.config.Settings.Restore(t.kept)
	if err != nil {
		return nil, err
	}
	full, err := t.gaps.Fill(classes)
	if err != nil {
		return nil, err
	}
	return nameBy(m, s, full)
}

// classifier implements trainee.
func (t *peerTrainer) classifier() (model.Detecting, error) {
	m, err := t.config.Settings.Restore(t.kept)
	return &model.Conditioned{Detecting: m, Map: t.conditioning, Gaps: t.gaps}, err
}

// tensors names the learner's state and, beside it, the kept model.
func (t *peerTrainer) tensors() []safetensors.Tensor {
	list := peerTensors("state.", t.learner.State())
	return append(list, peerTensors("kept.", t.kept)...)
}

// peerTensors names the tensors of a peer as files do.
func peerTensors(prefix string, t peer.Tensors) []safetensors.Tensor {
	list := make([]safetensors.Tensor, len(t))
	for i, m := range t {
		list[i] = safetensors.Tensor{Name: prefix + m.Name, Shape: []int{m.Matrix.Rows, m.Matrix.Cols}, F32: m.Matrix.Data}
	}
	return list
}

// steps and resume implement trainee: the state of a peer is all in its tensors.
func (t *peerTrainer) steps() steps { return steps{} }
func (t *peerTrainer) resume(steps) {}

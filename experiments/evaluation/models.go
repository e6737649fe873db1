package evaluation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// Split says which classes models are evaluated on.
type Split string

// The splits.
const (
	ByStage   Split = ""     // val for models of the dev stage, test for models of the test stage
	ValSplit  Split = "val"  // the validation classes, for models of the dev stage
	TestSplit Split = "test" // the test classes
	GZSLSplit Split = "gzsl" // all classes: samples of the test classes and held-out samples of the others
)

// Models are models to evaluate on a data set.
type Models struct {
	Data   *dataset.Dataset
	Split  Split
	Models []*Model // several form an ensemble: the mean of their probabilities
	// Dev are runs of the dev stage that choose gamma and the temperatures, one for each
	// model. If it is nil, runs of the same settings are looked for beside the models.
	Dev []*Model
	// Adapt also evaluates one model adapted to the samples, and to Draws random batches of
	// each kind.
	Adapt bool
	Draws int
}

// EvaluateModels evaluates models on the classes of a split. For validation, models of
// the dev stage are evaluated in the same way on the validation classes.
func (c Config) EvaluateModels(ctx context.Context, m Models) (*Result, error) {
	if err := m.setSplit(); err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	dev, missing, err := m.devRuns()
	if err != nil {
		return nil, err
	}
	var devScores []*Scored
	if dev != nil {
		if devScores, err = m.score(ctx, dev, m.question(true)); err != nil {
			return nil, err
		}
	}
	scores, err := m.score(ctx, m.Models, m.question(m.Split == ValSplit))
	if err != nil {
		return nil, err
	}
	s, validation, err := m.ensemble(scores, devScores, missing)
	if err != nil {
		return nil, err
	}
	r := c.evaluate(s, validation)
	r.Source = m.source(scores)
	if m.Adapt {
		if r.Adapted, err = m.adapt(ctx, r, dev, missing); err != nil {
			return nil, err
		}
	}
	for _, d := range dev {
		r.Validation.Of = append(r.Validation.Of, d.Dir)
	}
	for _, model := range m.Models {
		if model.Fingerprint != m.Data.Fingerprint() {
			r.note("the features, labels or split of %s are not those that %s was trained on. Is it another --dev-split?", m.Data.Name, model.Path)
		}
		if m.Split == TestSplit && model.Stage == train.Dev {
			r.note("%s is a model of the dev stage: settings must not be chosen by its test accuracy", model.Path)
		}
	}
	if missing != "" {
		r.note("neither gamma nor a temperature is chosen: %s", missing)
	}
	return r, nil
}

// adapt evaluates the model adapted to the samples. A model without the settings gets them
// from the run of the dev stage.
func (m Models) adapt(ctx context.Context, r *Result, dev []*Model, missing string) (*adaptation.Report, error) {
	model := m.Models[0]
	if m.Split == ValSplit {
		dev = m.Models
		r.note("the settings of the adaptation were chosen on these classes: its accuracy is optimistic")
	}
	chosen := model.Saved.Adaptation
	if chosen == nil {
		if dev == nil {
			_, err := adaptation.Settings(model.Saved, model.Path)
			return nil, errors.Join(err, errors.New(missing))
		}
		var err error
		if chosen, err = adaptation.ChooseOn(ctx, []adaptation.Fold{{Model: dev[0].Saved, Data: m.Data, HoldOut: dev[0].HoldOut}}); err != nil {
			return nil, err
		}
		if model.Saved.Adaptation, err = adaptation.Fitted(model.Saved, m.Data, chosen); err != nil {
			return nil, err
		}
	}
	s := r.scored
	batch, err := adaptation.Scored(model.Saved, train.Samples{X: m.Data.Features, Rows: s.Rows, Labels: s.Labels}, s.Scores)
	if err != nil {
		return nil, err
	}
	return adaptation.Evaluate(ctx, batch, chosen, m.Draws)
}

// setSplit sets the split by the stage of the models.
func (m *Models) setSplit() error {
	if m.Split != ByStage || len(m.Models) == 0 {
		return nil
	}
	for _, model := range m.Models {
		if first := m.Models[0]; model.Stage != first.Stage {
			return &invalid.Error{
				Where: model.Path, Want: fmt.Sprintf("a model of the %s stage, as %s", first.Stage, first.Path),
				Got: fmt.Sprintf("one of the %s stage", model.Stage), Hint: "Choose a --split.",
			}
		}
	}
	m.Split = TestSplit
	if m.Models[0].Stage == train.Dev {
		m.Split = ValSplit
	}
	return nil
}

// source records what was evaluated; scores are those of each model alone.
func (m Models) source(scores []*Scored) Source {
	source := Source{Split: string(m.Split), Dataset: m.Data.Name}
	for i, model := range m.Models {
		s, l := scores[i].Scores, scores[i].Labels
		source.Models = append(source.Models, EvaluatedModel{
			model.Path, model.Saved.Method, model.Training.Seed, metrics.TopK(s, l, 1).PerClass, metrics.TopKInterval(s, l, 1),
		})
	}
	return source
}

// question is a set of samples to predict as one of some classes.
type question struct {
	rows       []int // of the data set; samples of unseen classes come first
	classes    []int
	unseen     []int         // the unseen ones of classes
	sides      metrics.Sides // of classes; nil if all are unseen
	unseenRows int           // number of samples of unseen classes
}

// question returns the samples and classes of the split. For models of the dev stage the
// validation classes are the unseen ones; held-out samples of these are seen ones of the test
// stage, and must not choose gamma.
func (m Models) question(dev bool) question {
	seen, unseen := m.Data.Split.Seen(), m.Data.Split.Test
	if dev {
		seen, unseen = m.Data.Split.Train, m.Data.Split.Val
	}
	q := question{rows: m.Data.SamplesOf(unseen), classes: unseen, unseen: unseen}
	if dev && slices.ContainsFunc(m.Models, func(model *Model) bool { return model.HoldOut }) {
		q.rows = train.Select(m.Data, m.Data.Features, unseen).Without(m.Data.TestSeen).Rows
	}
	q.unseenRows = len(q.rows)
	if m.Split != GZSLSplit {
		return q
	}
	for _, row := range m.Data.TestSeen {
		if slices.Contains(seen, m.Data.Labels[row]) {
			q.rows = append(q.rows, row)
		}
	}
	q.classes = slices.Sorted(slices.Values(slices.Concat(seen, unseen)))
	for _, z := range q.classes {
		q.sides = append(q.sides, slices.Contains(unseen, z))
	}
	return q
}

// score scores the samples of a question with each of some models.
func (m Models) score(ctx context.Context, models []*Model, q question) ([]*Scored, error) {
	var names []string
	for _, z := range q.classes {
		names = append(names, m.Data.Classes[z])
	}
	list := make([]*Scored, len(models))
	for i, model := range models {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s := &Scored{Labels: labelsOf(m.Data, q.rows, q.classes), Kind: model.kind(), Sides: q.sides, Names: names, Rows: q.rows, IDs: m.Data.IDs}
		if err := model.score(s, m.Data, q); err != nil {
			return nil, invalid.At(model.Path, err)
		}
		if err := s.check(model.Path, m.Data.Name); err != nil {
			return nil, err
		}
		list[i] = s
	}
	return list, nil
}

// labelsOf returns the positions of the samples' classes in a list of classes.
func labelsOf(d *dataset.Dataset, rows, classes []int) []int {
	labels := make([]int, len(rows))
	for i, row := range rows {
		labels[i] = slices.Index(classes, d.Labels[row])
	}
	return labels
}

// score scores the samples for all classes and, if some are seen, the samples of unseen
// classes for these alone: scores may depend on the other candidates.
func (model *Model) score(s *Scored, d *dataset.Dataset, q question) error {
	a, err := model.Saved.Classifier.Detect(d.Features, q.rows)
	if err != nil {
		return err
	}
	if s.Scores, err = model.Saved.Classifier.Classify(a, d.Describe(q.classes)); err != nil || q.sides == nil {
		return err
	}
	a.Rows, a.Data = q.unseenRows, a.Data[:q.unseenRows*a.Cols]
	s.Alone = &Scored{Labels: labelsOf(d, q.rows[:q.unseenRows], q.unseen), Kind: s.Kind}
	s.Alone.Scores, err = model.Saved.Classifier.Classify(a, d.Describe(q.unseen))
	return err
}

// kind returns the kind of the model's scores: those of LAGO are log p(z|x).
func (model *Model) kind() ScoreKind {
	if model.Baseline.Method == "" {
		return Logits
	}
	return BareScores
}

// ensemble averages the probabilities of several models, and of their runs of the dev
// stage. missing says why there are none of these.
func (m Models) ensemble(scores, dev []*Scored, missing string) (s, validation *Scored, err error) {
	if len(scores) == 1 {
		if dev != nil {
			validation = dev[0]
		}
		return scores[0], validation, nil
	}
	temperatures := make([]float64, len(m.Models))
	for i, model := range m.Models {
		temperatures[i] = 1
		if model.kind() == Logits {
			continue
		}
		if dev == nil {
			return nil, nil, &invalid.Error{
				Where: model.Path, Want: "probabilities, whose mean an ensemble takes", Got: "scores of " + model.Saved.Method + " and no validation",
				Hint: "No temperature can be fitted: " + missing + ".",
			}
		}
		if temperatures[i], err = metrics.FitTemperature(dev[i].Scores, dev[i].Labels); err != nil {
			return nil, nil, invalid.At(model.Path+": temperature", err)
		}
	}
	if s, err = mean(scores, temperatures); err != nil || dev == nil {
		return s, nil, err
	}
	validation, err = mean(dev, temperatures)
	return s, validation, err
}

// mean averages the probabilities that several models give to the same samples.
func mean(members []*Scored, temperatures []float64) (*Scored, error) {
	joined := *members[0]
	joined.Kind = Logits
	var e metrics.Ensemble
	var alone []*Scored
	for i, s := range members {
		if err := e.Add(s.Scores, temperatures[i]); err != nil {
			return nil, err
		}
		if s.Alone != nil {
			alone = append(alone, s.Alone)
		}
	}
	joined.Scores = e.Scores()
	if alone == nil {
		return &joined, nil
	}
	var err error
	joined.Alone, err = mean(alone, temperatures)
	return &joined, err
}

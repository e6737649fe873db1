package evaluation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
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

// Model is a trained model with its run.
type Model struct {
	lab.Run
	Path  string // of the model file
	Saved *train.Saved
}

// ReadModel reads a model by the folder of its run or by its file, beside which the
// trial.json must lie.
func ReadModel(path string) (*Model, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, invalid.File(path, err)
	}
	m := &Model{Path: path}
	dir := filepath.Dir(path)
	if info.IsDir() {
		dir, m.Path = path, filepath.Join(path, train.ModelFile)
	}
	m.Run, _, err = lab.ReadRun(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &invalid.Error{Where: dir, Want: "the folder of a run, with a " + train.TrialFile, Err: err}
	}
	if damaged := (*invalid.Error)(nil); errors.As(m.Err, &damaged) { // names its file
		return nil, m.Err
	}
	if m.Err != nil {
		return nil, invalid.At(dir, m.Err)
	}
	m.Saved, err = train.Load(m.Path)
	return m, err
}

// kind returns the kind of the model's scores: those of LAGO are log p(z|x).
func (model *Model) kind() ScoreKind {
	if model.Method.Name == methods.LAGO {
		return Logits
	}
	return BareScores
}

// devRun returns the folder of the model's run if it is of the dev stage, otherwise that of
// the run of the dev stage beside it that has the same settings except epochs and patience,
// "" if there is none. Of several it is the one with the most epochs.
func (model *Model) devRun() (dir string, err error) {
	if model.Stage == train.Dev {
		return model.Dir, nil
	}
	runs, err := lab.ReadRuns(filepath.Dir(filepath.Clean(model.Dir)))
	if err != nil {
		return "", err
	}
	name := model.Trial.Name()
	runs = slices.DeleteFunc(runs, func(r lab.Run) bool {
		same := r.Trial
		same.Stage, same.Epochs, same.Patience = model.Stage, model.Epochs, model.Patience
		return r.Stage != train.Dev || r.Err != nil || same.Name() != name
	})
	if len(runs) == 0 {
		return "", nil
	}
	return slices.MaxFunc(runs, func(a, b lab.Run) int {
		return cmp.Or(cmp.Compare(a.Epochs, b.Epochs), cmp.Compare(a.Patience, b.Patience))
	}).Dir, nil
}

// EvaluateModels evaluates models on the classes of a split. For validation, models of
// the dev stage are evaluated in the same way on the validation classes.
func (c Config) EvaluateModels(ctx context.Context, m Models) (*Result, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	dev, missing, err := m.devRuns()
	if err != nil {
		return nil, err
	}
	devScores, err := m.score(ctx, dev, true)
	if err != nil {
		return nil, err
	}
	scores, err := m.score(ctx, m.Models, m.Split == ValSplit)
	if err != nil {
		return nil, err
	}
	s, validation, err := m.ensemble(scores, devScores, missing)
	if err != nil {
		return nil, err
	}
	r := c.evaluate(s, validation)
	r.Source = Source{Split: string(m.Split), Dataset: m.Data.Name}
	for i, model := range m.Models {
		alone, interval := scores[i].top(1)
		r.Source.Models = append(r.Source.Models, EvaluatedModel{model.Path, model.Method.Label(), model.Seed, alone.PerClass, interval})
	}
	if m.Adapt {
		if err := m.adapt(ctx, r, dev, missing); err != nil {
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
func (m Models) adapt(ctx context.Context, r *Result, dev []*Model, missing string) (err error) {
	model := m.Models[0]
	if m.Split == ValSplit {
		dev = m.Models
		r.note("the settings of the adaptation were chosen on these classes: its accuracy is optimistic")
	}
	if _, none := adaptation.Settings(model.Saved, model.Path); none != nil {
		if dev == nil {
			return errors.Join(none, errors.New(missing))
		}
		chosen, err := adaptation.Choose(ctx, []adaptation.Fold{{Model: dev[0].Path, Data: m.Data, HoldOut: dev[0].HoldOut}})
		if err != nil {
			return err
		}
		if err := adaptation.Set(model.Saved, m.Data, chosen); err != nil {
			return err
		}
	}
	s := train.Samples{X: m.Data.Features, Rows: r.scored.rows, Labels: r.scored.labels}
	r.Adapted, err = adaptation.Evaluate(ctx, model.Saved, s, r.scored.scores, m.Draws)
	return err
}

// check sets the split by the stage of the models. It returns an error if they cannot be
// evaluated on the split, or the runs of the dev stage cannot validate.
func (m *Models) check() error {
	if len(m.Models) == 0 {
		return &invalid.Error{Field: "model", Want: "at least one model", Got: "none"}
	}
	if m.Split == ByStage {
		first := m.Models[0]
		m.Split = TestSplit
		if first.Stage == train.Dev {
			m.Split = ValSplit
		}
		for _, model := range m.Models {
			if model.Stage != first.Stage {
				want := fmt.Sprintf("a model of the %s stage, as %s", first.Stage, first.Path)
				return &invalid.Error{Where: model.Path, Want: want, Got: model.stage(), Hint: "Choose a --split."}
			}
		}
	}
	if m.Split == GZSLSplit && m.Data.TestSeen == nil {
		return &invalid.Error{Where: m.Data.Name, Want: "a data set with held-out samples of seen classes (test_seen_loc)", Got: "none"}
	}
	if m.Adapt && (len(m.Models) > 1 || m.Split == GZSLSplit) {
		got := fmt.Sprintf("%s, %s", format.Count(len(m.Models), "model"), m.Split)
		return &invalid.Error{Field: "adapt", Want: "one model, and the split val or test", Got: got}
	}
	for _, model := range m.Models {
		if err := m.checkModel(model, m.Split == ValSplit); err != nil {
			return err
		}
	}
	if len(m.Dev) > 0 && len(m.Dev) != len(m.Models) {
		return &invalid.Error{Field: "dev", Want: fmt.Sprintf("one run for each of the %d models", len(m.Models)), Got: fmt.Sprint(len(m.Dev))}
	}
	if len(m.Dev) > 0 && m.Split == ValSplit {
		return &invalid.Error{Field: "dev", Want: "the split test or gzsl", Got: "val, which is used for validation"}
	}
	for i, run := range m.Dev {
		if err := m.checkModel(run, true); err != nil {
			return err
		}
		if want := m.Models[i].Method.Label(); run.Method.Label() != want {
			return &invalid.Error{Where: run.Dir, Want: "a run of " + want + ", as the model", Got: "one of " + run.Method.Label()}
		}
	}
	return nil
}

func (model *Model) stage() string { return fmt.Sprintf("one of the %s stage", model.Stage) }

// checkModel returns an error if a model is of the wrong stage, does not fit the data set,
// or was trained on what it is to be evaluated on: with dev on the validation classes.
func (m Models) checkModel(model *Model, dev bool) error {
	bad := func(want, got, hint string) error {
		return &invalid.Error{Where: model.Path, Want: want, Got: got, Hint: hint}
	}
	if dev && model.Stage != train.Dev {
		return bad("a run of the dev stage, which is not trained on the validation classes", model.stage(), "")
	}
	if !dev && m.Split == GZSLSplit && model.Stage != train.Test {
		return bad("a run of the test stage", model.stage(), "")
	}
	if err := model.Saved.Fits(m.Data); err != nil {
		return invalid.At(model.Path, err)
	}
	const other = "Is it another --dev-split?"
	if found := m.Data.Fingerprint(); m.Split == GZSLSplit && model.Fingerprint != found {
		want := fmt.Sprintf("the data set that samples were held out of, with the fingerprint %.12s", model.Fingerprint)
		return bad(want, fmt.Sprintf("%s with %.12s", m.Data.Name, found), other)
	}
	if m.Split == GZSLSplit && !model.HoldOut {
		command := fmt.Sprintf("run --dataset %s --variant %s", m.Data.Name, model.Method.Label())
		if model.Method.Name != methods.LAGO {
			command = fmt.Sprintf("compare --dataset %s --methods %s", m.Data.Name, model.Method.Name)
		}
		return bad("a model that was not trained on the held-out samples of seen classes", "one that was", "Train one: lago-train "+command+" --hold-out.")
	}
	for _, z := range m.question(dev).unseen {
		if name := m.Data.Classes[z]; model.Saved.TrainedOn(name) {
			return bad(fmt.Sprintf("a model that was not trained on the class %q of %s", name, m.Data.Name), "one that was", other)
		}
	}
	return nil
}

// devRuns returns the runs to validate with, one for each model, or says what is missing.
func (m Models) devRuns() (dev []*Model, missing string, err error) {
	if m.Split == ValSplit {
		return nil, "the validation classes themselves are evaluated", nil
	}
	if len(m.Dev) > 0 {
		return m.Dev, "", nil
	}
	for _, model := range m.Models {
		dir, err := model.devRun()
		if err != nil {
			return nil, "", err
		}
		if dir == "" {
			return nil, fmt.Sprintf("no finished run of the dev stage with the settings of %s was found beside it (run --stage full trains both; --dev gives another one)", model.Dir), nil
		}
		found, err := ReadModel(dir)
		if err != nil {
			return nil, "", err
		}
		if err := m.checkModel(found, true); err != nil {
			return nil, fmt.Sprintf("the run of the dev stage beside %s cannot validate: %v", model.Dir, err), nil
		}
		dev = append(dev, found)
	}
	return dev, "", nil
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

// score scores the samples of the split, with dev those of validation, with each of some
// models.
func (m Models) score(ctx context.Context, models []*Model, dev bool) ([]*scored, error) {
	q := m.question(dev)
	var names []string
	for _, z := range q.classes {
		names = append(names, m.Data.Classes[z])
	}
	var list []*scored
	for _, model := range models {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s, err := model.score(m.Data, q)
		if err != nil {
			return nil, invalid.At(model.Path, err)
		}
		s.names, s.rows, s.ids = names, q.rows, m.Data.IDs
		if err := s.check(model.Path, m.Data.Name); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// score scores the samples for all classes and, if some are seen, the samples of unseen
// classes for these alone: scores may depend on the other candidates.
func (model *Model) score(d *dataset.Dataset, q question) (*scored, error) {
	a, err := model.Saved.Detect(d.Features, q.rows)
	if err != nil {
		return nil, err
	}
	among := func(rows, classes []int) (*scored, error) {
		s := &scored{kind: model.kind(), labels: make([]int, len(rows))}
		for i, row := range rows {
			s.labels[i] = slices.Index(classes, d.Labels[row])
		}
		s.scores, err = model.Saved.Classify(a.Slice(0, len(rows)), d.Describe(classes))
		return s, err
	}
	s, err := among(q.rows, q.classes)
	if err != nil || q.sides == nil {
		return s, err
	}
	s.sides = q.sides
	s.alone, err = among(q.rows[:q.unseenRows], q.unseen)
	return s, err
}

// ensemble averages the probabilities of several models, and of their runs of the dev
// stage. missing says why there are none of these.
func (m Models) ensemble(scores, dev []*scored, missing string) (s, validation *scored, err error) {
	temperatures := make([]float64, len(m.Models))
	for i, model := range m.Models {
		temperatures[i] = 1
		if len(scores) == 1 || model.kind() == Logits {
			continue
		}
		if dev == nil {
			return nil, nil, &invalid.Error{
				Where: model.Path, Want: "probabilities, whose mean an ensemble takes", Got: "scores of " + model.Method.Label() + " and no validation",
				Hint: "No temperature can be fitted: " + missing + ".",
			}
		}
		if temperatures[i], err = metrics.FitTemperature(dev[i].scores, dev[i].labels); err != nil {
			return nil, nil, invalid.At(model.Path+": temperature", err)
		}
	}
	if s, err = mean(scores, temperatures); err == nil && dev != nil {
		validation, err = mean(dev, temperatures)
	}
	return s, validation, err
}

// mean averages the probabilities that several models give to the same samples. The scores of
// one model stay as they are.
func mean(members []*scored, temperatures []float64) (*scored, error) {
	if len(members) == 1 {
		return members[0], nil
	}
	joined := *members[0]
	joined.kind = Logits
	var e metrics.Ensemble
	var alone []*scored
	for i, s := range members {
		if err := e.Add(s.scores, temperatures[i]); err != nil {
			return nil, err
		}
		if s.alone != nil {
			alone = append(alone, s.alone)
		}
	}
	joined.scores = e.Scores()
	if alone == nil {
		return &joined, nil
	}
	var err error
	joined.alone, err = mean(alone, temperatures)
	return &joined, err
}

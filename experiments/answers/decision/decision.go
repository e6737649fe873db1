// Package decision chooses how the scores of trained models become predictions, see model.Decision: the
// correction where seen and unseen classes are candidates together, the temperature of the probabilities, how
// well samples fit, and the adaptation to unlabelled samples, a file for each. All are chosen on validation
// classes, by models that were not trained on these, and stored in model files.
package decision

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/experiments/runs/engine"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

// Fold is a model of the dev stage and the data whose validation classes it predicts.
type Fold struct {
	Model string // file
	Data  *dataset.Dataset
	// the model was trained without Data.TestSeen, which must not choose what concerns unseen classes
	HoldOut bool
}

// validated is a fold with the samples of its validation classes.
type validated struct {
	Fold
	*predictor.Model
	samples  train.Samples
	detected dataset.Matrix[float32]
	scores   scored
}

// scored is samples with the scores of a model.
type scored struct {
	scores  dataset.Matrix[float32]
	labels  []int // columns of the scores
	classes []int // of the columns, by which those that are in several folds are known
}

func (f Fold) validate() (*validated, error) {
	m, err := predictor.Open(f.Model)
	if err != nil {
		return nil, err
	}
	classes := f.Data.Split.Val
	v := &validated{Fold: f, Model: m, samples: train.Select(f.Data, f.Data.Features, classes)}
	if f.HoldOut {
		v.samples = v.samples.Without(f.Data.TestSeen)
	}
	if v.detected, err = m.Detect(v.samples.X, v.samples.Rows); err != nil {
		return nil, err
	}
	v.scores.labels, v.scores.classes = v.samples.Labels, classes
	v.scores.scores, err = m.Classify(v.detected, f.Data.Describe(classes))
	return v, err
}

// Choose chooses by at least one fold. The models have one correction, which stays.
func Choose(ctx context.Context, folds []Fold) (*model.Decision, error) {
	var list []*validated
	var alone []scored
	for _, f := range folds {
		v, err := f.validate()
		if err != nil {
			return nil, err
		}
		list, alone = append(list, v), append(alone, v.scores)
	}
	first, err := list[0], error(nil)
	probabilities := first.Method.Name == methods.LAGO
	d := &model.Decision{Kind: first.Decision.Kind, Scoring: model.Scoring{Omega: first.Decision.Omega}}
	d.Calibration = calibrate(alone, probabilities)
	if d.Mixed, err = mixed(ctx, list, probabilities); err != nil {
		return nil, err
	}
	if d.Fit, err = measureFit(ctx, list); err != nil {
		return nil, err
	}
	d.Adaptation, err = chooseAdaptation(ctx, list)
	return d, err
}

// ChooseForOutcome chooses on the validation classes of an outcome, by the dev run of one seed for each fold,
// since further seeds have the same samples, and stores what it chose in the models of all runs of the
// outcome. Without a dev stage it does nothing.
func ChooseForOutcome(ctx context.Context, o *engine.Outcome) (*model.Decision, error) {
	var folds []Fold
	for _, v := range o.Folds {
		i := slices.IndexFunc(o.Val, func(r lab.Run) bool { return r.Fingerprint == v.Fingerprint })
		if i >= 0 {
			folds = append(folds, Fold{
				Model: lab.ModelFiles(o.Val[i : i+1])[0], Data: v.Data, HoldOut: o.Val[i].HoldOut,
			})
		}
	}
	return chooseAndStore(ctx, folds, lab.ModelFiles(slices.Concat(o.Val, o.Test)))
}

func chooseAndStore(ctx context.Context, folds []Fold, models []string) (*model.Decision, error) {
	if len(folds) == 0 {
		return nil, nil
	}
	d, err := Choose(ctx, folds)
	if err != nil {
		return nil, err
	}
	return d, store(ctx, folds[0].Data, models, d)
}

// Stored returns what was chosen for model files, nil if one of them has no choice.
func Stored(models []string) (*model.Decision, error) {
	var d model.Decision
	for _, path := range models {
		var err error
		if d, err = train.ReadDecision(filepath.Dir(path)); err != nil || d.Adaptation == nil {
			return nil, err
		}
	}
	return &d, nil
}

// store stores a decision in the models of runs. Models that were trained on the same classes share the
// fitted preprocessing.
func store(ctx context.Context, d *dataset.Dataset, paths []string, chosen *model.Decision) error {
	var done []*train.Saved
	for _, path := range paths {
		m, err := train.Load(path)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(done, func(other *train.Saved) bool {
			return slices.Equal(other.Learned, m.Learned)
		})
		if i < 0 {
			if err := SetAdaptation(m, d, chosen.Adaptation); err != nil {
				return err
			}
			i, done = len(done), append(done, m)
		}
		err = train.Decide(ctx, filepath.Dir(path), func(decided *model.Decision) {
			*decided = *chosen
			decided.Adaptation = done[i].Decision.Adaptation
		})
		if err != nil {
			return err
		}
	}
	return nil
}

package adaptation

import (
	"context"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// Fold is a model of the dev stage and the data whose validation classes it predicts.
type Fold struct {
	Model   string // file
	Data    *dataset.Dataset
	HoldOut bool // the model was trained without Data.TestSeen, which must not choose settings
}

// whitened is the chain that is tried for models that do not whiten their features: classes
// form rounder clusters in whitened features.
const whitened preprocess.Chain = "sqrt,l2,whiten"

// Choose chooses temperature and tau over at least one fold, on the samples of the validation
// classes, with the preprocessing of the models or, if none of them whitens its features, with
// whitened ones where these are better.
func Choose(ctx context.Context, folds []Fold) (*train.Adaptation, error) {
	var list []*batch
	for _, f := range folds {
		m, err := train.Load(f.Model)
		if err != nil {
			return nil, err
		}
		m.Adaptation = nil // to use the features of the model itself
		s := train.Select(f.Data, f.Data.Features, f.Data.Split.Val)
		if f.HoldOut {
			s = s.Without(f.Data.TestSeen)
		}
		b, err := score(m, s, f.Data.Describe(f.Data.Split.Val))
		if err != nil {
			return nil, err
		}
		b.classes = f.Data.Split.Val
		list = append(list, b)
		if m.Transform.Chain.Has(preprocess.Whiten) {
			continue
		}
		fitted, err := fitted(m, f.Data, &train.Adaptation{Preprocess: whitened})
		if err != nil {
			return nil, err
		}
		x, err := fitted.Transform.Apply(s.X, s.Rows)
		if err != nil {
			return nil, err
		}
		b.x = append(b.x, x)
	}
	chosen, kind, err := choose(ctx, list)
	if err == nil && kind == 1 {
		chosen.Preprocess = whitened
	}
	return chosen, err
}

// ChooseAndStore stores the settings that Choose returns in models of the same data set.
// Without a fold it does nothing.
func ChooseAndStore(ctx context.Context, folds []Fold, models []string) (*train.Adaptation, error) {
	if len(folds) == 0 {
		return nil, nil
	}
	a, err := Choose(ctx, folds)
	if err != nil {
		return nil, err
	}
	return a, store(folds[0].Data, models, a)
}

// Stored returns the settings in model files, nil if one of them has none.
func Stored(models []string) (a *train.Adaptation, err error) {
	for _, path := range models {
		m, err := train.Load(path)
		if err != nil || m.Adaptation == nil {
			return nil, err
		}
		a = m.Adaptation
	}
	return a, nil
}

// Settings returns the settings of a model at path. The error says how to choose them
// where it has none.
func Settings(m *train.Saved, path string) (*train.Adaptation, error) {
	if m.Adaptation != nil {
		return m.Adaptation, nil
	}
	return nil, &invalid.Error{
		Where: path, Field: "adaptation", Want: "a temperature and tau, chosen on validation classes", Got: "none",
		Hint: "Repeat the command that trained it, lago-train run with --stage full or lago-train compare --adapt: finished runs are reused, and their models get them.",
	}
}

// Set sets the settings of a model, with their preprocessing fitted on d.
func Set(m *train.Saved, d *dataset.Dataset, a *train.Adaptation) (err error) {
	m.Adaptation, err = fitted(m, d, a)
	return err
}

// fitted returns a copy of a with its preprocessing fitted on the samples of the classes that
// the model was trained on, without d.TestSeen: a model does not record whether it was trained on
// these.
func fitted(m *train.Saved, d *dataset.Dataset, a *train.Adaptation) (*train.Adaptation, error) {
	fitted := *a
	fitted.Transform = nil
	if a.Preprocess == "" {
		return &fitted, nil
	}
	var learned []int
	for z, name := range d.Classes {
		if m.TrainedOn(name) {
			learned = append(learned, z)
		}
	}
	s := train.Select(d, d.Features, learned).Without(d.TestSeen)
	var err error
	fitted.Transform, err = preprocess.Fit(a.Preprocess, 0, s.X, s.Rows)
	return &fitted, err
}

// store stores settings in model files. Models that were trained on the same classes share the
// fitted preprocessing.
func store(d *dataset.Dataset, paths []string, a *train.Adaptation) error {
	var done []*train.Saved
	for _, path := range paths {
		m, err := train.Load(path)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(done, func(other *train.Saved) bool { return slices.Equal(other.Learned, m.Learned) })
		if i < 0 {
			if err := Set(m, d, a); err != nil {
				return err
			}
			i, done = len(done), append(done, m)
		}
		m.Adaptation = done[i].Adaptation
		if err := train.Save(path, m); err != nil {
			return err
		}
	}
	return nil
}

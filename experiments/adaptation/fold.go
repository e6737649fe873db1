package adaptation

import (
	"context"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
)

// Fold is a model of the dev stage and the data whose validation classes it predicts.
type Fold struct {
	Model   *train.Saved
	Data    *dataset.Dataset
	HoldOut bool // the model was trained without Data.TestSeen, which must not choose settings
}

// samples are those of the validation classes.
func (f Fold) samples() train.Samples {
	s := train.Select(f.Data, f.Data.Features, f.Data.Split.Val)
	if f.HoldOut {
		s = s.Without(f.Data.TestSeen)
	}
	return s
}

// whitened is the chain that is tried for models that do not whiten their features: classes
// form rounder clusters in whitened features.
const whitened preprocess.Chain = "sqrt,l2,whiten"

// ChooseOn chooses the settings, see Choose, with the preprocessing of the models or, if none of
// them whitens its features, with whitened ones where these are better.
func ChooseOn(ctx context.Context, folds []Fold) (*train.Adaptation, error) {
	kinds := [][]*Batch{nil}
	for _, f := range folds {
		m := *f.Model
		m.Adaptation = nil // to use the features of the model itself
		b, err := newBatch(&m, f.Data, f.samples(), f.Data.Split.Val)
		if err != nil {
			return nil, err
		}
		kinds[0] = append(kinds[0], b)
	}
	if !slices.ContainsFunc(folds, func(f Fold) bool { return f.Model.Transform.Chain.Has(preprocess.Whiten) }) {
		kinds = append(kinds, nil)
		for i, f := range folds {
			fitted, err := Fitted(f.Model, f.Data, &train.Adaptation{Preprocess: whitened})
			if err != nil {
				return nil, err
			}
			b := *kinds[0][i]
			if b.X, err = fitted.Transform.Apply(f.Data.Features, f.samples().Rows); err != nil {
				return nil, err
			}
			kinds[1] = append(kinds[1], &b)
		}
	}
	chosen, features, err := Choose(ctx, kinds...)
	if err == nil && features == 1 {
		chosen.Preprocess = whitened
	}
	return chosen, err
}

// Fitted returns a copy of a with its preprocessing fitted on the samples of the classes that
// the model was trained on, without d.TestSeen: a model does not record whether it was trained on
// these.
func Fitted(m *train.Saved, d *dataset.Dataset, a *train.Adaptation) (*train.Adaptation, error) {
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

// Store stores settings in model files, with their preprocessing fitted for each.
func Store(d *dataset.Dataset, paths []string, a *train.Adaptation) error {
	fitted := map[string]*train.Adaptation{} // by the classes trained on
	for _, path := range paths {
		m, err := train.Load(path)
		if err != nil {
			return err
		}
		key := ""
		for _, z := range m.Learned {
			key += m.Classes[z] + "\n"
		}
		if fitted[key] == nil {
			if fitted[key], err = Fitted(m, d, a); err != nil {
				return err
			}
		}
		m.Adaptation = fitted[key]
		if err := train.Save(path, m); err != nil {
			return err
		}
	}
	return nil
}

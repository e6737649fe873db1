// Package adaptation adapts the predictions of trained models to batches of unlabelled samples
// (see model/adapt), and chooses on validation classes whether and how.
//
// A choice is made on samples of the validation classes, which are treated as unlabelled,
// scored by models that were not trained on these classes. It is also made under stress:
// with absent and imbalanced classes and small batches. Adaptation is off where its gain on
// the validation classes may be chance, or where it loses with absent or imbalanced classes.
// The settings chosen are stored in model files.
package adaptation

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// Predictions are those of a batch, adapted to it.
type Predictions struct {
	*adapt.Result
	Blocks  []adapt.Block // the batch: normalised features, and scores
	Changed int           // number of predictions that differ from those of the scores
}

// Predict adapts the predictions for some rows of x, features as in the data set, among the
// classes that u describes, by the settings of the model.
func Predict(m *train.Saved, x dataset.Matrix[float32], rows []int, u dataset.Matrix[float64]) (*Predictions, error) {
	b, err := score(m, train.Samples{X: x, Rows: rows}, u)
	if err != nil {
		return nil, err
	}
	return fit([]adapt.Block{b.Block}, m.Adaptation.Settings)
}

// readRows is the number of samples of a block that PredictAll reads.
const readRows = 1024

// Source supplies samples. A *features.Reader is one.
type Source interface {
	Cols() int // D
	// Read fills the first rows of a block of D columns and returns their number, which
	// is smaller than the block only at the end. After the last sample the error is io.EOF.
	Read(block dataset.Matrix[float32]) (int, error)
}

// PredictAll is Predict for all samples of a source, which scorer scores for a number of
// classes. The features are in memory once, with two numbers per sample and class.
func PredictAll(ctx context.Context, src Source, m *train.Saved, scorer model.Scorer, classes int) (*Predictions, error) {
	var blocks []adapt.Block
	for {
		x := dataset.NewMatrix[float32](readRows, src.Cols())
		n, err := src.Read(x)
		if errors.Is(err, io.EOF) && n == 0 {
			break
		}
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		b := adapt.Block{X: x.Slice(0, n), Scores: dataset.NewMatrix[float32](n, classes)}
		if err := cmp.Or(scorer.Score(b.X, b.Scores), m.AdaptedFeatures().ApplyInPlace(b.X)); err != nil {
			return nil, err
		}
		blocks = append(blocks, b)
	}
	if blocks == nil {
		return nil, &invalid.Error{Field: "adapt", Want: "at least one sample", Got: "none"}
	}
	return fit(blocks, m.Adaptation.Settings)
}

// fit normalises a batch in place and adapts to it.
func fit(blocks []adapt.Block, s adapt.Settings) (*Predictions, error) {
	adapt.Normalise(blocks)
	r, err := adapt.Fit(blocks, s)
	if err != nil {
		return nil, err
	}
	p, row := &Predictions{Result: r, Blocks: blocks}, 0
	for _, b := range blocks {
		for i := range b.Scores.Rows {
			if metrics.Argmax(b.Scores.Row(i)) != metrics.Argmax(r.P.Row(row)) {
				p.Changed++
			}
			row++
		}
	}
	return p, nil
}

// ClassAccuracy is the accuracy of the model in a file on each of some classes of d, adapted
// to the samples of these classes together; NaN for classes without samples.
func ClassAccuracy(path string, d *dataset.Dataset, classes []int) ([]float64, error) {
	m, err := train.Load(path)
	if err != nil {
		return nil, err
	}
	if _, err := Settings(m, path); err != nil {
		return nil, err
	}
	s := train.Select(d, d.Features, classes)
	p, err := Predict(m, s.X, s.Rows, d.Describe(classes))
	if err != nil {
		return nil, err
	}
	return metrics.ClassAccuracy(p.P, s.Labels), nil
}

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
	kinds := make([][]*batch, 2) // with the features of the models, and whitened ones
	for _, f := range folds {
		m, err := train.Load(f.Model)
		if err != nil {
			return nil, err
		}
		m.Adaptation = nil // to use the features of the model itself
		classes := f.Data.Split.Val
		s := train.Select(f.Data, f.Data.Features, classes)
		if f.HoldOut {
			s = s.Without(f.Data.TestSeen)
		}
		b, err := score(m, s, f.Data.Describe(classes))
		if err != nil {
			return nil, err
		}
		b.classes = classes
		kinds[0] = append(kinds[0], b)
		if m.Transform.Chain.Has(preprocess.Whiten) {
			continue
		}
		if err := Set(m, f.Data, &train.Adaptation{Preprocess: whitened}); err != nil {
			return nil, err
		}
		white := *b
		if white.X, err = m.AdaptedFeatures().Apply(s.X, s.Rows); err != nil {
			return nil, err
		}
		kinds[1] = append(kinds[1], &white)
	}
	if len(kinds[1]) < len(folds) {
		kinds = kinds[:1]
	}
	chosen, kind, err := choose(ctx, kinds)
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

// Set sets a copy of the settings of a model. Their preprocessing is fitted on the samples of
// the classes that the model was trained on, without d.TestSeen: a model does not record whether
// it was trained on these.
func Set(m *train.Saved, d *dataset.Dataset, a *train.Adaptation) (err error) {
	fitted := *a
	m.Adaptation, fitted.Transform = &fitted, nil
	if a.Preprocess == "" {
		return nil
	}
	var learned []int
	for z, name := range d.Classes {
		if m.TrainedOn(name) {
			learned = append(learned, z)
		}
	}
	s := train.Select(d, d.Features, learned).Without(d.TestSeen)
	fitted.Transform, err = preprocess.Fit(a.Preprocess, 0, s.X, s.Rows)
	return err
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

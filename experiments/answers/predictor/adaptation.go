package predictor

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// whitened is the chain for models that do not whiten their features: classes
// form rounder clusters in whitened features.
const whitened preprocess.Chain = "sqrt,l2,whiten"

// chooseAdaptation chooses the settings of the adaptation on features that are whitened, as the models do or
// by a chain of its own.
func chooseAdaptation(ctx context.Context, folds []*validated) (*model.Adaptation, error) {
	var batches []*batch
	var chain preprocess.Chain // of the features to adapt to, if the models do not whiten theirs
	for _, f := range folds {
		saved := *f.Saved
		pipeline := *f.Pipeline
		saved.Pipeline = &pipeline
		if saved.Decision.Adaptation = nil; !f.Transform.Chain.Has(preprocess.Whiten) {
			chain = whitened
			if err := SetAdaptation(&saved, f.Data, &model.Adaptation{Preprocess: chain}); err != nil {
				return nil, err
			}
		}
		x, err := saved.AdaptedFeatures().Apply(f.samples.X, f.samples.Rows)
		if err != nil {
			return nil, err
		}
		batches = append(batches, &batch{
			adapt.Block{X: x, Scores: f.scores.scores}, f.scores.labels, f.scores.classes,
		})
	}
	a, err := choose(ctx, batches)
	if err == nil && a.Tau > 0 {
		a.Preprocess = chain
	}
	return a, err
}

// SetAdaptation sets a copy of the settings of a model. Their preprocessing is fitted on the samples of the
// classes that the model was trained on, without d.TestSeen: a model does not record whether it was trained
// on these.
func SetAdaptation(m *train.Saved, d *dataset.Dataset, a *model.Adaptation) (err error) {
	fitted := *a
	m.Decision.Adaptation, fitted.Transform = &fitted, nil
	if a.Preprocess == "" {
		return nil
	}
	var learned []int
	names := m.LearnedClasses()
	for z, name := range d.Classes {
		if names[name] {
			learned = append(learned, z)
		}
	}
	s := train.Select(d, d.Features, learned).Without(d.TestSeen)
	fitted.Transform, err = preprocess.Fit(a.Preprocess, 0, s.X, s.Rows)
	return err
}

// The settings to choose from: temperatures relative to the one with the lowest negative
// log-likelihood on the validation classes, and tau.
var (
	temperatures = []float64{1, 2, 4}
	taus         = []float64{15, 30, 60, 120, 240}
)

const (
	maxSamples = 2000 // of a fold, to bound the time of a choice
)

// batch is samples with the scores of a model.
type batch struct {
	adapt.Block       // preprocessed features, and scores
	labels      []int // columns of the scores
	classes     []int // of the columns, by which choose knows those that are in several folds
}

// pick returns a normalised copy of some samples.
func (b *batch) pick(rows []int) *batch {
	s := &batch{Block: adapt.Block{X: b.X.Gather(rows), Scores: b.Scores.Gather(rows)}, classes: b.classes}
	for _, r := range rows {
		s.labels = append(s.labels, b.labels[r])
	}
	adapt.Normalise([]adapt.Block{s.Block})
	return s
}

// before is the accuracy by class of the scores.
func (b *batch) before() []float64 { return metrics.Count(b.Scores, b.labels).Recall() }

// after is the accuracy by class after adaptation; b is normalised.
func (b *batch) after(ctx context.Context, s adapt.Settings) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, err := adapt.Fit([]adapt.Block{b.Block}, s)
	if err != nil {
		return nil, err
	}
	return metrics.Count(r.P, b.labels).Recall(), nil
}

// choose chooses the temperature and tau with the highest accuracy on samples of validation classes. If the
// 95 % interval of their gain over classes includes 0, Tau is 0.
func choose(ctx context.Context, folds []*batch) (*model.Adaptation, error) {
	a := &model.Adaptation{Settings: adapt.Settings{Temperature: 1}}
	r := rand.New(rand.NewPCG(13, 0))
	var whole []*batch
	var before []float64
	scale := 0.0
	for _, b := range folds {
		rows := r.Perm(len(b.labels))
		part := b.pick(rows[:min(maxSamples, len(rows))])
		whole, before = append(whole, part), append(before, part.before()...)
		a.Samples += len(b.labels)
		t, err := metrics.FitTemperature(part.Scores, part.labels)
		if err != nil {
			scale = math.NaN() // scores at chance, or without a mistake
		}
		scale += t / float64(len(folds))
	}
	a.Before = meanOf(before)
	a.After = a.Before
	perClass := byClass(whole, before)
	a.Classes = len(perClass)
	if math.IsNaN(scale) {
		return a, nil
	}
	var best []float64 // by class
	settings := a.Settings
	for _, tau := range taus {
		for _, t := range temperatures {
			s, after := adapt.Settings{Temperature: t * scale, Tau: tau}, []float64(nil)
			for _, f := range whole {
				of, err := f.after(ctx, s)
				if err != nil {
					return nil, err
				}
				after = append(after, of...)
			}
			if best == nil || meanOf(after) > meanOf(best) {
				settings, best = s, after
			}
		}
	}
	if gain := metrics.PairedDifference(byClass(whole, best), perClass).Interval; gain.Low > 0 {
		a.Settings, a.After, a.Interval = settings, meanOf(best), &gain
	}
	return a, nil
}

// byClass averages accuracies, by class of all folds, over the folds that have the class. The
// order is that in which the folds have them.
func byClass(folds []*batch, accuracies []float64) []float64 {
	of := map[int][]float64{}
	var classes []int
	for _, f := range folds {
		for i, z := range f.classes {
			if of[z] == nil {
				classes = append(classes, z)
			}
			of[z] = append(of[z], accuracies[i])
		}
		accuracies = accuracies[len(f.classes):]
	}
	means := make([]float64, len(classes))
	for i, z := range classes {
		means[i] = meanOf(of[z])
	}
	return means
}

// meanOf leaves out NaN.
func meanOf(perClass []float64) float64 {
	var sum, n float64
	for _, v := range perClass {
		if v == v {
			sum += v
			n++
		}
	}
	return sum / n
}

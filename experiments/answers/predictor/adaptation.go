package predictor

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// whitened is the chain for models that do not whiten their features: classes
// form rounder clusters in whitened features.
const whitened preprocess.Chain = "sqrt,l2,whiten"

// adaptedFeatures returns the preprocessing of features to adapt to by a chain, nil without one. It is fitted
// on the samples of the classes that the model was trained on, without d.TestSeen: a model does not record
// whether it was trained on these.
func adaptedFeatures(m *train.Saved, d *dataset.Dataset, chain preprocess.Chain) (
	*preprocess.Transform, error,
) {
	if chain == "" {
		return nil, nil
	}
	var learned []int
	names := m.LearnedClasses()
	for z, name := range d.Classes {
		if names[name] {
			learned = append(learned, z)
		}
	}
	s := train.Select(d, learned).Without(d.TestSeen)
	return preprocess.Fit(chain, 0, s.X, s.Rows)
}

// chooseAdaptation chooses the settings of the adaptation on features that are whitened, as the models do or
// by a chain of its own.
func chooseAdaptation(ctx context.Context, folds []*fold) (*model.Adaptation, error) {
	var batches []*batch
	var chain preprocess.Chain // of the features to adapt to, if the models do not whiten theirs
	for _, f := range folds {
		transform := f.Transform
		if !transform.Chain.Has(preprocess.Whiten) {
			var err error
			chain = whitened
			if transform, err = adaptedFeatures(f.Saved, f.data, chain); err != nil {
				return nil, err
			}
		}
		x, err := transform.Apply(f.data.Features, f.rows)
		if err != nil {
			return nil, err
		}
		batches = append(batches, &batch{x, f.scored})
	}
	a, err := chooseSettings(ctx, batches)
	if err == nil && a.Tau > 0 {
		a.Preprocess = chain
	}
	return a, err
}

// The settings to choose from: temperatures relative to the one with the lowest negative
// log-likelihood on the validation classes, and tau.
var (
	temperatures = []float64{1, 2, 4}
	taus         = []float64{15, 30, 60, 120, 240}
)

const maxSamples = 2000 // of a fold, to bound the time of a choice

type batch struct {
	x dataset.Matrix[float32]
	scored
}

// part returns a normalised copy of some samples.
func (b *batch) part(rows []int) *batch {
	p := &batch{b.x.Gather(rows), scored{scores: b.scores.Gather(rows), classes: b.classes}}
	for _, r := range rows {
		p.labels = append(p.labels, b.labels[r])
	}
	adapt.Normalise(p.blocks())
	return p
}

func (b *batch) blocks() []adapt.Block { return []adapt.Block{{X: b.x, Scores: b.scores}} }

// chooseSettings chooses the temperature and tau with the highest accuracy on samples of validation classes.
// If the 95 % interval of their gain over classes includes 0, Tau is 0.
func chooseSettings(ctx context.Context, folds []*batch) (*model.Adaptation, error) {
	a := &model.Adaptation{Settings: adapt.Settings{Temperature: 1}}
	r := rand.New(rand.NewPCG(13, 0))
	var parts []*batch
	var before []float64 // by fold and class
	scale := 0.0
	for _, b := range folds {
		rows := r.Perm(len(b.labels))
		p := b.part(rows[:min(maxSamples, len(rows))])
		parts = append(parts, p)
		before = append(before, metrics.Count(p.scores, p.labels).Recall()...)
		a.Samples += len(b.labels)
		t, err := metrics.FitTemperature(p.scores, p.labels)
		if err != nil {
			scale = math.NaN() // scores at chance, or without a mistake
		}
		scale += t / float64(len(folds))
	}
	a.Before = meanOf(before)
	a.After = a.Before
	perClass := byClass(parts, before)
	a.Classes = len(perClass)
	if math.IsNaN(scale) {
		return a, nil
	}
	var best []float64
	settings := a.Settings
	for _, tau := range taus {
		for _, t := range temperatures {
			s, after := adapt.Settings{Temperature: t * scale, Tau: tau}, []float64(nil)
			for _, p := range parts {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				fitted, err := adapt.Fit(p.blocks(), s)
				if err != nil {
					return nil, err
				}
				after = append(after, metrics.Count(fitted.P, p.labels).Recall()...)
			}
			if best == nil || meanOf(after) > meanOf(best) {
				settings, best = s, after
			}
		}
	}
	if gain := metrics.PairedDifference(byClass(parts, best), perClass).Interval; gain.Low > 0 {
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

// AdaptationSettings are those that are stored with the model. The error says how to choose them
// where it has none.
func (m *Model) AdaptationSettings() (*model.Adaptation, error) {
	if a := m.Decision.Adaptation; a != nil {
		return a, nil
	}
	return nil, &invalid.Error{
		Where: m.Path, Field: "adaptation", Want: "a temperature and tau, chosen on validation classes",
		Got: "none",
		Hint: "Repeat the command that trained it, lago-train run with --stage full: finished runs are " +
			"reused, and their models get them.",
	}
}

// AdaptationWarning says why predictions are not adapted, "" if they are.
func AdaptationWarning(a *model.Adaptation) string {
	if a.Tau > 0 {
		return ""
	}
	return fmt.Sprintf("adaptation is not recommended for this model (no reliable gain on %s)",
		format.Count(a.Classes, "validation class"))
}

// Adapted is the predictions for a batch, adapted to it unless they are Declined.
type Adapted struct {
	*adapt.Mixture
	Changed int // number of predictions that differ from those of the scores
}

// Adapt normalises a batch in place and adapts the predictions to it, see adapt.Fit.
func Adapt(blocks []adapt.Block, s adapt.Settings) (*Adapted, error) {
	adapt.Normalise(blocks)
	r, err := adapt.Fit(blocks, s)
	if err != nil {
		return nil, err
	}
	a, row := &Adapted{Mixture: r}, 0
	for _, b := range blocks {
		for i := range b.Scores.Rows {
			if metrics.Argmax(b.Scores.Row(i)) != metrics.Argmax(r.P.Row(row)) {
				a.Changed++
			}
			row++
		}
	}
	return a, nil
}

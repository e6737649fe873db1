package decision

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// Fold is a model of the dev stage and the data whose validation classes it predicts.
type Fold struct {
	Model   string // file
	Data    *dataset.Dataset
	HoldOut bool // the model was trained without Data.TestSeen, which must not choose settings
}

// whitened is the chain for models that do not whiten their features: classes
// form rounder clusters in whitened features.
const whitened preprocess.Chain = "sqrt,l2,whiten"

// Chosen is what the validation classes choose for the predictions of models.
type Chosen struct {
	Adaptation  *train.Adaptation
	Calibration *train.Calibration // of predictions that are not adapted; nil if no temperature fits
	Fit         *train.Fit         // of the samples to their best classes
	Generalised *train.Remedy
}

// Choose chooses temperature and tau over at least one fold, on the samples of the validation classes, with
// features that are whitened, as the models do or by a chain of its own. It also calibrates the probabilities there, and measures how well samples fit.
func Choose(ctx context.Context, folds []Fold) (*Chosen, error) {
	lago, fits, described, models := false, []float64(nil), map[int]bool{}, []*predictor.Model(nil)
	var batches []*batch
	var chain preprocess.Chain // of the features to adapt to, if the models do not whiten theirs
	for _, f := range folds {
		m, err := predictor.Open(f.Model)
		if err != nil {
			return nil, err
		}
		m.Adaptation = nil // to use the features of the model itself
		lago = m.Method.Name == methods.LAGO
		classes := f.Data.Split.Val
		s := train.Select(f.Data, f.Data.Features, classes)
		if f.HoldOut {
			s = s.Without(f.Data.TestSeen)
		}
		u := f.Data.Describe(classes)
		block, detected, err := m.Batch(s.X, s.Rows, u)
		if err != nil {
			return nil, err
		}
		models = append(models, m)
		fit, err := m.BestFit(detected, u)
		if err != nil {
			return nil, err
		}
		fits = append(fits, fit...)
		for _, z := range classes {
			described[z] = true
		}
		if !m.Transform.Chain.Has(preprocess.Whiten) {
			chain = whitened
			if err := Set(m.Saved, f.Data, &train.Adaptation{Preprocess: chain}); err != nil {
				return nil, err
			}
			if block.X, err = m.AdaptedFeatures().Apply(s.X, s.Rows); err != nil {
				return nil, err
			}
		}
		batches = append(batches, &batch{block, s.Labels, classes})
	}
	g, err := generalise(ctx, folds, models)
	if err != nil {
		return nil, err
	}
	a, err := choose(ctx, batches)
	if a != nil && a.Tau > 0 {
		a.Preprocess = chain
	}
	return &Chosen{a, calibrate(batches, lago), train.NewFit(fits, len(described)), g}, err
}

const calibrationBins = 15 // as evaluate has by default

// calibrate chooses the temperature of the probabilities, the mean over the folds. It returns nil
// if no temperature fits one of them.
func calibrate(folds []*batch, probabilities bool) *train.Calibration {
	c, classes := new(train.Calibration), map[int]bool{}
	for _, f := range folds {
		for _, z := range f.classes {
			classes[z] = true
		}
		t, err := metrics.FitTemperature(f.Scores, f.labels)
		if err != nil {
			return nil // scores at chance, or without a mistake
		}
		c.Temperature += t / float64(len(folds))
		c.Samples += len(f.labels)
	}
	ece := func(temperature float64) float64 {
		var confidence []float64
		var right []bool
		for _, f := range folds {
			confidence = append(confidence, metrics.Confidence(f.Scores, temperature)...)
			right = append(right, metrics.Right(f.Scores, f.labels)...)
		}
		return metrics.NewReliability(confidence, right, calibrationBins).ECE()
	}
	if probabilities {
		before := ece(1)
		c.ErrorBefore = &before
	}
	c.ErrorAfter, c.Classes = ece(c.Temperature), len(classes)
	return c
}

// ChooseAndStore stores what Choose returns in model files of the same data set. Without a
// fold it does nothing.
func ChooseAndStore(ctx context.Context, folds []Fold, models []string) (*Chosen, error) {
	if len(folds) == 0 {
		return nil, nil
	}
	c, err := Choose(ctx, folds)
	if err != nil {
		return nil, err
	}
	return c, store(ctx, folds[0].Data, models, c)
}

// store decides what was chosen for models of runs. Models that were trained on the same classes share
// the fitted preprocessing.
func store(ctx context.Context, d *dataset.Dataset, paths []string, c *Chosen) error {
	var done []*train.Saved
	for _, path := range paths {
		m, err := train.Load(path)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(done, func(other *train.Saved) bool { return slices.Equal(other.Learned, m.Learned) })
		if i < 0 {
			if err := Set(m, d, c.Adaptation); err != nil {
				return err
			}
			i, done = len(done), append(done, m)
		}
		err = train.Decide(ctx, filepath.Dir(path), func(decided *train.Decisions) error {
			decided.Adaptation, decided.Calibration = done[i].Adaptation, c.Calibration
			decided.Fit, decided.Generalised = c.Fit, c.Generalised
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Set sets a copy of the settings of a model. Their preprocessing is fitted on the samples of the classes
// that the model was trained on, without d.TestSeen: a model does not record whether it was trained on these.
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
func (b *batch) before() []float64 { return metrics.TopK(b.Scores, b.labels, 1).Recall() }

// after is the accuracy by class after adaptation; b is normalised.
func (b *batch) after(ctx context.Context, s adapt.Settings) ([]float64, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r, err := adapt.Fit([]adapt.Block{b.Block}, s)
	if err != nil {
		return nil, err
	}
	return metrics.TopK(r.P, b.labels, 1).Recall(), nil
}

// choose chooses the temperature and tau with the highest accuracy on samples of validation classes. If the
// 95 % interval of their gain over classes includes 0, Tau is 0.
func choose(ctx context.Context, folds []*batch) (*train.Adaptation, error) {
	a := &train.Adaptation{Settings: adapt.Settings{Temperature: 1}}
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
	if gain := metrics.PairedDifference(byClass(whole, best), perClass); gain.Interval.Low > 0 {
		a.Settings, a.After, a.Interval = settings, meanOf(best), &gain.Interval
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

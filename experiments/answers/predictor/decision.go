package predictor

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// fold is a model of the dev stage with the samples of the validation classes of its data. Those that were
// held out of its training do not choose what concerns unseen classes.
type fold struct {
	*train.Saved
	data     *dataset.Dataset
	rows     []int // of the samples
	detected dataset.Matrix[float32]
	scored
}

type scored struct {
	scores  dataset.Matrix[float32]
	labels  []int // columns of the scores
	classes []int // of the columns, by which those that are in several folds are known
}

func newFold(path string, d *dataset.Dataset) (*fold, error) {
	m, err := train.Load(path)
	if err != nil {
		return nil, err
	}
	s := train.Select(d, d.Split.Val)
	if m.Trial.HoldOut {
		s = s.Without(d.TestSeen)
	}
	f := &fold{Saved: m, data: d, rows: s.Rows, scored: scored{labels: s.Labels, classes: d.Split.Val}}
	if f.detected, err = m.Detect(s.X, s.Rows); err == nil {
		f.scores, err = model.Classify(m, f.detected, d.Describe(f.classes))
	}
	return f, err
}

// ChooseForOutcome chooses on the validation classes of an outcome, by the dev run of one seed for each fold,
// since further seeds have the same samples, and stores what it chose in the models of all runs of the
// outcome. Without a dev stage it does nothing.
func ChooseForOutcome(ctx context.Context, o *lab.Outcome) (*model.Decision, error) {
	var folds []*fold
	for _, v := range o.Folds {
		i := slices.IndexFunc(o.Val, func(r lab.Run) bool { return r.Fingerprint == v.Fingerprint })
		if i < 0 {
			continue
		}
		f, err := newFold(lab.ModelFiles(o.Val[i : i+1])[0], v.Data)
		if err != nil {
			return nil, err
		}
		folds = append(folds, f)
	}
	if folds == nil {
		return nil, nil
	}
	d, err := choose(ctx, folds)
	if err != nil {
		return nil, err
	}
	return d, store(ctx, folds[0].data, lab.ModelFiles(slices.Concat(o.Val, o.Test)), d)
}

// choose chooses by at least one fold. The models have one correction, which stays.
func choose(ctx context.Context, folds []*fold) (d *model.Decision, err error) {
	first := folds[0]
	probabilities := first.Method.Name == methods.LAGO
	var alone []scored
	for _, f := range folds {
		alone = append(alone, f.scored)
	}
	d = &model.Decision{Kind: first.Decision.Kind, Scoring: model.Scoring{Omega: first.Decision.Omega}}
	d.Calibration = calibrate(alone, probabilities)
	if d.Mixed, d.Stacking, err = mixed(ctx, folds, probabilities); err != nil {
		return nil, err
	}
	if d.Fit, err = measureFit(ctx, folds); err != nil {
		return nil, err
	}
	d.Adaptation, err = chooseAdaptation(ctx, folds)
	return d, err
}

// StoredDecision returns what was chosen for model files, nil if one of them has not all choices.
func StoredDecision(models []string) (*model.Decision, error) {
	var d model.Decision
	for _, path := range models {
		var err error
		d, err = train.ReadDecision(filepath.Dir(path))
		if err != nil || d.Adaptation == nil || d.Mixed != nil && d.Stacking == nil {
			return nil, err
		}
	}
	return &d, nil
}

// store stores a decision in the models of runs. Models that were trained on the same classes share the
// fitted preprocessing.
func store(ctx context.Context, d *dataset.Dataset, paths []string, chosen *model.Decision) error {
	fitted := map[string]*model.Adaptation{}
	for _, path := range paths {
		m, err := train.Load(path)
		if err != nil {
			return err
		}
		learned := fmt.Sprint(m.Learned)
		if fitted[learned] == nil {
			a := *chosen.Adaptation
			if a.Transform, err = adaptedFeatures(m, d, a.Preprocess); err != nil {
				return err
			}
			fitted[learned] = &a
		}
		err = train.Decide(ctx, m.Dir(), func(decided *model.Decision) {
			*decided = *chosen
			decided.Adaptation = fitted[learned]
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// omegas are those that validation chooses from where seen and unseen classes are candidates together.
var omegas = []float64{0, 0.25, 0.5, 1}

// mixed chooses omega and the temperature where seen and unseen classes are candidates together, and omega
// and gamma of calibrated stacking, on held-out samples of train classes and those of validation classes.
// Without held-out samples it returns nil.
func mixed(ctx context.Context, folds []*fold, probabilities bool) (*model.Scoring, *model.Stacking, error) {
	var best omegaChoice
	var scores []scored
	for _, omega := range omegas {
		var list []scored
		var stackings []*metrics.Stacking
		for _, f := range folds {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			s, stacking, err := f.among(omega)
			if err != nil || s == nil {
				return nil, nil, err
			}
			list, stackings = append(list, *s), append(stackings, stacking)
		}
		if best.try(omega, stackings) {
			scores = list
		}
	}
	alone := &model.Scoring{Omega: best.omega, Calibration: calibrate(scores, probabilities)}
	return alone, &best.stacked, nil
}

// omegaChoice is the omega with the highest harmonic mean of the accuracies on seen and unseen classes, over
// the folds; of equals it is the largest, since the reference of seen classes is corrected in full by 1. In
// stacked each omega has the gamma that is best for it, the mean over the folds.
type omegaChoice struct {
	omega, mean float64
	stacked     model.Stacking
}

// try tries an omega, larger than those before, by scores with it. It reports whether it is chosen without
// gamma.
func (c *omegaChoice) try(omega float64, folds []*metrics.Stacking) bool {
	mean, stacked, n := 0.0, model.Stacking{Omega: omega}, float64(len(folds))
	for _, s := range folds {
		gamma := s.Best()
		mean += s.At(0).Mean / n
		stacked.Gamma += gamma / n
		stacked.HarmonicMean += s.At(gamma).Mean / n
	}
	if stacked.HarmonicMean >= c.stacked.HarmonicMean {
		c.stacked = stacked
	}
	if mean < c.mean {
		return false
	}
	c.omega, c.mean = omega, mean
	return true
}

// among scores the choosing half of the held-out samples of train classes, which is not evaluated, see
// dataset.HeldOut, and the samples of validation classes that are not held out, for all of these
// with an omega; nil without samples of both.
func (f *fold) among(omega float64) (*scored, *metrics.Stacking, error) {
	d := f.data
	s := &scored{classes: slices.Concat(d.Split.Train, d.Split.Val)}
	sides, rows := make(metrics.Sides, len(s.classes)), []int(nil)
	for z := range sides {
		sides[z] = z >= len(d.Split.Train)
	}
	all := train.Select(d, s.classes)
	choosing, _ := d.HeldOut()
	for i, row := range all.Rows {
		z := all.Labels[i]
		_, held := slices.BinarySearch(d.TestSeen, row)
		_, chooses := slices.BinarySearch(choosing, row)
		if sides[z] && !held || !sides[z] && chooses {
			rows, s.labels = append(rows, row), append(s.labels, z)
		}
	}
	if !f.Trial.HoldOut || sides.Check(s.labels) != nil {
		return nil, nil, nil
	}
	p := *f.Pipeline
	p.Decision.Omega = omega
	var err error
	if s.scores, err = model.Score(&p, d.Features, rows, d.Describe(s.classes)); err != nil {
		return nil, nil, err
	}
	return s, metrics.NewStacking(s.scores, s.labels, sides), nil
}

// Bins is the number of bins of confidence in calibration errors.
const Bins = 15

// calibrate chooses the temperature of the probabilities, the mean over the folds. Its calibration error is
// that of the samples of half of the classes with the temperature of the other half. It returns nil if no
// temperature fits one of the folds.
func calibrate(folds []scored, probabilities bool) *model.Calibration {
	c, classes := new(model.Calibration), map[int]bool{}
	var before, after []float64 // confidences
	var right []bool
	for _, f := range folds {
		for _, z := range f.classes {
			classes[z] = true
		}
		t, err := metrics.FitTemperature(f.scores, f.labels)
		if err != nil {
			return nil // scores at chance, or without a mistake
		}
		c.Temperature += t / float64(len(folds))
		c.Samples += len(f.labels)
		for half := range 2 {
			scores, labels := f.half(half)
			t := 1.0
			if others, err := metrics.FitTemperature(f.half(1 - half)); err == nil {
				t = others
			}
			before = append(before, metrics.Confidence(scores, 1)...)
			after = append(after, metrics.Confidence(scores, t)...)
			right = append(right, metrics.Right(scores, labels)...)
		}
	}
	if probabilities {
		e := metrics.NewReliability(before, right, Bins).ECE()
		c.ErrorBefore = &e
	}
	c.ErrorAfter, c.Classes = metrics.NewReliability(after, right, Bins).ECE(), len(classes)
	return c
}

// half returns the samples of every other class, from class 0 or 1 on, scored for all.
func (s scored) half(half int) (scores dataset.Matrix[float32], labels []int) {
	var rows []int
	for i, z := range s.labels {
		if z%2 == half {
			rows, labels = append(rows, i), append(labels, z)
		}
	}
	return s.scores.Gather(rows), labels
}

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
	for z, name := range d.Classes {
		if m.TrainedOn(name) {
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

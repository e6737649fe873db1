package predictor

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
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
	*Model
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
	m, err := Open(f.Model)
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
func ChooseForOutcome(ctx context.Context, o *lab.Outcome) (*model.Decision, error) {
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

// StoredDecision returns what was chosen for model files, nil if one of them has no choice.
func StoredDecision(models []string) (*model.Decision, error) {
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

// omegas are those that validation chooses from where seen and unseen classes are candidates together.
var omegas = []float64{0, 0.25, 0.5, 1}

// mixed chooses omega and the temperature where seen and unseen classes are candidates together: omega has
// the highest harmonic mean, over the folds, of the accuracies on held-out samples of train classes and on
// those of validation classes; of equals it is the largest, since the reference of seen classes is corrected
// in full by 1. Without held-out samples it returns nil.
func mixed(ctx context.Context, folds []*validated, probabilities bool) (*model.Scoring, error) {
	var best *model.Scoring
	var scores []scored
	highest := -1.0
	for _, omega := range omegas {
		var list []scored
		mean := 0.0
		for _, f := range folds {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			s, harmonic, err := f.among(omega)
			if err != nil || s == nil {
				return nil, err
			}
			list, mean = append(list, *s), mean+harmonic/float64(len(folds))
		}
		if mean >= highest {
			highest, best, scores = mean, &model.Scoring{Omega: omega}, list
		}
	}
	best.Calibration = calibrate(scores, probabilities)
	return best, nil
}

// among scores the choosing half of the held-out samples of train classes, which is not evaluated, see
// dataset.HeldOut, and the samples of validation classes that are not held out, for all of these
// with an omega, and returns their harmonic mean; nil without samples of both.
func (f *validated) among(omega float64) (*scored, float64, error) {
	d := f.Data
	s := &scored{classes: slices.Concat(d.Split.Train, d.Split.Val)}
	sides, rows := make(metrics.Sides, len(s.classes)), []int(nil)
	for z := range sides {
		sides[z] = z >= len(d.Split.Train)
	}
	all := train.Select(d, d.Features, s.classes)
	choosing, _ := d.HeldOut()
	for i, row := range all.Rows {
		z := all.Labels[i]
		_, held := slices.BinarySearch(d.TestSeen, row)
		_, chooses := slices.BinarySearch(choosing, row)
		if sides[z] && !held || !sides[z] && chooses {
			rows, s.labels = append(rows, row), append(s.labels, z)
		}
	}
	if !f.HoldOut || sides.Check(s.labels) != nil {
		return nil, 0, nil
	}
	p := *f.Pipeline
	p.Decision.Omega = omega
	var err error
	if s.scores, err = model.Score(&p, d.Features, rows, d.Describe(s.classes)); err != nil {
		return nil, 0, err
	}
	return s, metrics.NewStacking(s.scores, s.labels, sides).At(0).Mean, nil
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

// CalibrationText says in one line what was chosen, and whether that helped.
func CalibrationText(c *model.Calibration) string {
	if c == nil {
		return "none: no temperature fits the validation classes"
	}
	text := fmt.Sprintf("temperature %.3g; expected calibration error on validation classes "+
		"that did not choose it: ", c.Temperature)
	if c.ErrorBefore == nil {
		return text + fmt.Sprintf("%.3f", c.ErrorAfter)
	}
	text += fmt.Sprintf("%.3f -> %.3f", *c.ErrorBefore, c.ErrorAfter)
	if !Calibrated(c) {
		text += ", not lower: treat probabilities as a ranking"
	}
	return text
}

// Calibrated reports whether probabilities are closer to accuracies with the temperature.
func Calibrated(c *model.Calibration) bool {
	return c != nil && (c.ErrorBefore == nil || c.ErrorAfter < *c.ErrorBefore)
}

const (
	fitDraws    = 5    // of candidates, for each number of them
	mostFitting = 1024 // candidates, and validation classes of a draw: work grows with their product
)

// measureFit measures how well samples of validation classes fit their best class among numbers of
// candidates, theirs among them: random parts of the validation classes, then all of these with random train
// classes.
func measureFit(ctx context.Context, folds []*validated) (*model.Fit, error) {
	f, classes, most := new(model.Fit), map[int]bool{}, mostFitting
	for _, v := range folds {
		most = min(most, len(v.Data.Split.Seen()))
		f.Samples += len(v.samples.Rows)
		for _, z := range v.scores.classes {
			classes[z] = true
		}
	}
	f.Classes = len(classes)
	described := make([]dataset.Matrix[float64], len(folds)) // by class
	for i, v := range folds {
		// Imputed once, by all classes that are drawn: of a sparse table this takes seconds.
		drawn := slices.Concat(v.scores.classes, v.Data.Split.Train)
		u, err := v.Imputed(v.Data.Describe(drawn))
		if err != nil {
			return nil, err
		}
		described[i] = dataset.NewMatrix[float64](len(v.Data.Classes), u.Cols)
		for k, z := range drawn {
			copy(described[i].Row(z), u.Row(k))
		}
	}
	for n := 1; ; n = min(n+max(n/2, 1), most) {
		var fits []float64
		r := rand.New(rand.NewPCG(17, uint64(n)))
		for range fitDraws {
			for i, v := range folds {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				drawn, err := v.fits(n, described[i], r)
				if err != nil {
					return nil, err
				}
				fits = append(fits, drawn...)
			}
		}
		if f.Add(n, fits); n == most {
			return f, nil
		}
	}
}

// fits returns the fits of the samples, each among n candidates, which are described by class.
func (v *validated) fits(n int, described dataset.Matrix[float64], r *rand.Rand) (all []float64, err error) {
	val, seen := v.scores.classes, v.Data.Split.Train
	others := max(n-len(val), 0) // train classes
	order := r.Perm(len(val))
	order = order[:min(len(order), mostFitting)]
	of := make([][]int, len(val))
	for i, z := range v.samples.Labels {
		of[z] = append(of[z], i)
	}
	for from := 0; from < len(order); from += n {
		to := min(from+n, len(order))
		from = max(to-n, 0) // the last part has n classes, too
		part := order[from:to]
		var candidates, rows []int
		for _, z := range part {
			candidates, rows = append(candidates, val[z]), append(rows, of[z]...)
		}
		for _, z := range r.Perm(len(seen))[:others] {
			candidates = append(candidates, seen[z])
		}
		fits, err := v.BestFit(v.detected.Gather(rows), described.Gather(candidates))
		if err != nil {
			return nil, err
		}
		all = append(all, fits...)
	}
	return all, nil
}

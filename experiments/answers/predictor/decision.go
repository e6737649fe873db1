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

const (
	fitDraws    = 5    // of candidates, for each number of them
	mostFitting = 1024 // candidates, and validation classes of a draw: work grows with their product
)

// measureFit measures how well samples of validation classes fit their best class among numbers of
// candidates, theirs among them: random parts of the validation classes, then all of these with random train
// classes.
func measureFit(ctx context.Context, folds []*fold) (*model.Fit, error) {
	measured, classes, most := new(model.Fit), map[int]bool{}, mostFitting
	described := make([]dataset.Matrix[float64], len(folds)) // by class
	for i, f := range folds {
		most = min(most, len(f.data.Split.Seen()))
		measured.Samples += len(f.rows)
		for _, z := range f.classes {
			classes[z] = true
		}
		// Imputed once, by all classes that are drawn: of a sparse table this takes seconds.
		drawn := slices.Concat(f.classes, f.data.Split.Train)
		u, err := f.Imputed(f.data.Describe(drawn))
		if err != nil {
			return nil, err
		}
		described[i] = dataset.NewMatrix[float64](len(f.data.Classes), u.Cols)
		for k, z := range drawn {
			copy(described[i].Row(z), u.Row(k))
		}
	}
	measured.Classes = len(classes)
	for n := 1; ; n = min(n+max(n/2, 1), most) {
		var fits []float64
		r := rand.New(rand.NewPCG(17, uint64(n)))
		for range fitDraws {
			for i, f := range folds {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				drawn, err := f.fits(n, described[i], r)
				if err != nil {
					return nil, err
				}
				fits = append(fits, drawn...)
			}
		}
		if measured.Add(n, fits); n == most {
			return measured, nil
		}
	}
}

// fits returns the fits of the samples, each among n candidates, which are described by class.
func (f *fold) fits(n int, described dataset.Matrix[float64], r *rand.Rand) (all []float64, err error) {
	val, seen := f.classes, f.data.Split.Train
	others := max(n-len(val), 0) // train classes
	order := r.Perm(len(val))
	order = order[:min(len(order), mostFitting)]
	of := make([][]int, len(val))
	for i, z := range f.labels {
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
		fits, err := f.BestFit(f.detected.Gather(rows), described.Gather(candidates))
		if err != nil {
			return nil, err
		}
		all = append(all, fits...)
	}
	return all, nil
}

// Package decision adapts the predictions of trained models to batches of unlabelled samples
// (see model/adapt), and chooses whether and how, for models that were not trained on the validation
// classes, by samples of these, treated as unlabelled. Adaptation is off where its gain may be chance,
// or where it loses with absent or imbalanced classes. The settings are stored in model files.
package decision

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// ClassAccuracy is the accuracy of the model in a file on each of some classes of d, adapted
// to the samples of these classes together; NaN for classes without samples.
func ClassAccuracy(path string, d *dataset.Dataset, classes []int) ([]float64, error) {
	m, err := predictor.Open(path)
	if err != nil {
		return nil, err
	}
	settings, err := m.AdaptationSettings()
	if err != nil {
		return nil, err
	}
	s := train.Select(d, d.Features, classes)
	b, _, err := m.Batch(s.X, s.Rows, d.Describe(classes))
	if err != nil {
		return nil, err
	}
	adapted, err := predictor.Adapt([]adapt.Block{b}, settings.Settings, false)
	if err != nil {
		return nil, err
	}
	return metrics.TopK(adapted.P, s.Labels, 1).Recall(), nil
}

// Stored returns what was chosen for model files, nil if one of them has no settings.
func Stored(models []string) (c *Chosen, err error) {
	for _, path := range models {
		m, err := train.Load(path)
		if err != nil || m.Adaptation == nil || m.Fit == nil {
			return nil, err
		}
		c = &Chosen{m.Adaptation, m.Calibration, m.Fit, m.Generalised}
	}
	return c, nil
}

// Report compares inductive predictions, each sample by itself, with transductive ones,
// adapted to the batch. Accuracies are fractions.
type Report struct {
	PerClass   float64            `json:"per_class_accuracy"`
	PerSample  float64            `json:"per_sample_accuracy"`
	Interval   metrics.Interval   `json:"interval"`   // over classes
	Difference metrics.Difference `json:"difference"` // transductive minus inductive, over classes
	adapt.Settings
	Changed int         `json:"changed"`           // number of predictions
	Rounds  int         `json:"rounds"`            // of EM
	Warning string      `json:"warning,omitempty"` // why adaptation may not help
	Stress  []Condition `json:"stress,omitempty"`  // batches of other compositions, with --stress

	inductive metrics.Accuracy
	interval  metrics.Interval // of inductive.PerClass
}

// Evaluate adapts a model with settings to labelled samples that it has scored, and to draws
// random batches of them for each condition of stress.
func Evaluate(ctx context.Context, m *train.Saved, s train.Samples, scores dataset.Matrix[float32], draws int) (*Report, error) {
	x, err := m.AdaptedFeatures().Apply(s.X, s.Rows)
	if err != nil {
		return nil, err
	}
	a, b := m.Adaptation, &batch{Block: adapt.Block{X: x, Scores: scores}, labels: s.Labels}
	fitted, err := predictor.Adapt([]adapt.Block{{X: x.Gather(x.AllRows()), Scores: scores}}, a.Settings, false)
	if err != nil {
		return nil, err
	}
	tally := metrics.TopK(fitted.P, b.labels, 1)
	before, after, accuracy := b.before(), tally.Recall(), tally.Accuracy()
	r := &Report{
		PerClass: accuracy.PerClass, PerSample: accuracy.PerSample, Interval: metrics.ClassInterval(after),
		Difference: metrics.PairedDifference(after, before), Settings: a.Settings,
		Changed: fitted.Changed, Rounds: len(fitted.Objective) - 1, Warning: predictor.AdaptationWarning(a, len(b.labels)),
		inductive: metrics.TopK(b.Scores, b.labels, 1).Accuracy(), interval: metrics.ClassInterval(before),
	}
	r.Stress, err = stress(ctx, []*batch{b}, a.Settings, draws, draws)
	for i, row := range r.Stress {
		r.Stress[i].Warned = row.Samples > 0 && row.Samples < a.Smallest
	}
	return r, err
}

// Tables compares the predictions, and lists the conditions of stress.
func (r *Report) Tables() []*table.Table {
	title := fmt.Sprintf("Adapted to the unlabelled batch (transductive): temperature %.3g, tau %g, %s, %s changed%s",
		r.Temperature, r.Tau, format.Count(r.Rounds, "round"), format.Count(r.Changed, "prediction"), AtEnd(r.Settings))
	t := table.New(title, "predictions", "per class", "95 % over classes", "per sample").Right(2, 3, 4)
	t.Row("inductive", format.Percent(r.inductive.PerClass), r.interval, format.Percent(r.inductive.PerSample))
	t.Row("transductive", format.Percent(r.PerClass), r.Interval, format.Percent(r.PerSample))
	t.Row("difference", format.Points(r.Difference.Mean), r.Difference.Interval, format.Points(r.PerSample-r.inductive.PerSample))
	t.Note("p = %.2g by paired permutation over classes", r.Difference.P)
	if r.Warning != "" {
		t.Note("Warning: %s.", r.Warning)
	}
	if len(r.Stress) == 0 {
		return []*table.Table{t}
	}
	title = fmt.Sprintf("Change of the per-class accuracy on random batches, %s each", format.Count(r.Stress[0].Draws, "draw"))
	batches := table.New(title, "batch", "mean change", "10th percentile", "worst draw", "predict --adapt").Right(2, 3, 4)
	for _, c := range r.Stress {
		warned := ""
		if c.Warned {
			warned = "does not adapt: too small"
		} else if c.Declined > 0 {
			warned = fmt.Sprintf("does not adapt to %d: absent classes", c.Declined)
		}
		batches.Row(c.Name, format.Points(c.Mean), format.Points(c.Tenth), format.Points(c.Worst), warned)
	}
	return []*table.Table{t, batches}
}

// CalibrationText says in one line what was chosen.
func CalibrationText(c *train.Calibration) string {
	if c == nil {
		return "none: no temperature fits the validation classes"
	}
	change := fmt.Sprintf("%.3f", c.ErrorAfter)
	if c.ErrorBefore != nil {
		change = fmt.Sprintf("%.3f -> %.3f", *c.ErrorBefore, c.ErrorAfter)
	}
	return fmt.Sprintf("temperature %.3g; expected calibration error on %d validation classes: %s", c.Temperature, c.Classes, change)
}

// AtEnd says whether the chosen tau is at an end of the values to choose from, so that the best may lie
// beyond them.
func AtEnd(s adapt.Settings) string {
	if s.Tau != taus[0] && s.Tau != taus[len(taus)-1] {
		return ""
	}
	return fmt.Sprintf("; tau %g is at an end of the values tried, %g to %g", s.Tau, taus[0], taus[len(taus)-1])
}

// Condition is the effect of adaptation on random batches of one kind. Changes are
// differences of per-class accuracy, over the classes that are present.
type Condition struct {
	Name    string  `json:"condition"`         // how the batches were drawn
	Samples int     `json:"samples,omitempty"` // of a small batch
	Mean    float64 `json:"mean_change"`       // of the per-class accuracy
	Tenth   float64 `json:"tenth_percentile"`  // of the change
	Worst   float64 `json:"worst_change"`      // in the worst batch
	Draws   int     `json:"draws"`             // number of batches
	// batches that are not adapted to, since most classes seem to be absent: their change is 0
	Declined int  `json:"declined"`
	Warned   bool `json:"warned"` // whether predict would warn that the batch is too small
}

// conditions select the samples of a batch: at most Samples, unless that is 0, and of the class
// with a random rank the share that keep returns, nil for all. Sizes fall.
var conditions = []struct {
	Condition
	keep func(rank, classes int) float64
}{
	{Condition{Name: "a third of the classes absent"}, func(rank, classes int) float64 { return present[rank >= classes/3] }},
	{Condition{Name: "nine tenths of the classes absent"}, func(rank, classes int) float64 { return present[rank < max(2, (classes+5)/10)] }},
	{Condition{Name: "imbalanced, 20 to 1"}, func(rank, classes int) float64 { return math.Pow(0.05, float64(rank)/float64(max(classes-1, 1))) }},
	{Condition{Name: "500 samples", Samples: 500}, nil},
	{Condition{Name: "200 samples", Samples: 200}, nil},
	{Condition{Name: "50 samples", Samples: 50}, nil},
}

var present = map[bool]float64{true: 1}

// stress adapts to random batches from each of some batches: draws for each condition with classes
// that are absent but still candidates or geometrically imbalanced, and ofSize for each number of
// samples. Conditions for which there are not more samples are left out.
func stress(ctx context.Context, folds []*batch, s adapt.Settings, draws, ofSize int) ([]Condition, error) {
	var table []Condition
	for i, c := range conditions {
		row := c.Condition
		var changes []float64
		n := draws
		if c.Samples > 0 {
			n = ofSize
		}
		for f, fold := range folds {
			if len(fold.labels) <= c.Samples {
				continue
			}
			for draw := range n {
				r := rand.New(rand.NewPCG(uint64(draw), uint64(i*len(folds)+f)))
				b := fold.pick(fold.draw(i, r))
				after, declined, err := b.after(ctx, s)
				if err != nil {
					return nil, err
				}
				changes = append(changes, meanOf(after)-meanOf(b.before()))
				if declined {
					row.Declined++
				}
			}
		}
		if row.Draws = len(changes); row.Draws > 0 {
			row.Mean = meanOf(changes)
			slices.Sort(changes)
			row.Worst, row.Tenth = changes[0], stat.Quantile(0.1, stat.Empirical, changes, nil)
			table = append(table, row)
		}
	}
	return table, nil
}

// draw returns the rows of a random batch under a condition.
func (b *batch) draw(condition int, r *rand.Rand) []int {
	c, rank := conditions[condition], r.Perm(b.Scores.Cols)
	var rows, others []int
	for _, i := range r.Perm(len(b.labels)) {
		switch {
		case c.Samples > 0 && len(rows) == c.Samples:
		case c.keep == nil || r.Float64() < c.keep(rank[b.labels[i]], b.Scores.Cols):
			rows = append(rows, i)
		default:
			others = append(others, i)
		}
	}
	if len(rows) == 0 { // all classes that were drawn have no samples
		rows = others
	}
	return rows
}

// omegas are those that validation chooses from where seen and unseen classes are candidates together.
var omegas = []float64{0, 0.25, 0.5, 1}

// RemedyNames are those of Remedies.
var RemedyNames = []string{"raw", "stacked", "corrected", "both"}

// Remedies returns what makes up for the higher scores of seen classes, in the order of their names: nothing,
// calibrated stacking, the correction by seen classes, and both. Omega and gamma, the mean over the folds,
// have the highest harmonic mean of the accuracies on held-out samples of train classes and on those of
// validation classes, all of them candidates; of equals the largest omega, since the stored detections of
// seen classes are corrected in full by 1. Without such samples it returns nil. models are those of the folds.
func Remedies(ctx context.Context, folds []Fold, models []*predictor.Model) ([]train.Remedy, error) {
	kind := models[0].CorrectionKind()
	list := make([]train.Remedy, len(RemedyNames))
	at := make([][]*metrics.Stacking, len(omegas)) // by omega and fold
	for i, f := range folds {
		d, p := f.Data, *models[i].Pipeline
		classes := slices.Concat(d.Split.Train, d.Split.Val)
		all, sides := train.Select(d, d.Features, classes), make(metrics.Sides, len(classes))
		s := train.Samples{X: d.Features}
		for z := range sides {
			sides[z] = z >= len(d.Split.Train)
		}
		for k, row := range all.Rows {
			z := all.Labels[k]
			if _, held := slices.BinarySearch(d.TestSeen, row); held != sides[z] {
				s.Rows, s.Labels = append(s.Rows, row), append(s.Labels, z)
			}
		}
		if !f.HoldOut || sides.Check(s.Labels) != nil {
			return nil, ctx.Err()
		}
		detected, err := p.Detect(s.X, s.Rows)
		if err != nil {
			return nil, err
		}
		for o, omega := range omegas {
			p.Correction = model.Correction{Kind: kind, Omega: omega}
			scores, err := p.Classify(detected, d.Describe(classes))
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return nil, err
			}
			at[o] = append(at[o], metrics.NewStacking(scores, s.Labels, sides))
		}
	}
	for o, omega := range omegas {
		gamma := 0.0
		for _, s := range at[o] {
			gamma += s.Best() / float64(len(at[o]))
		}
		for i := range list {
			if (omega > 0) != (i > 1) {
				continue
			}
			r := train.Remedy{Correction: model.Correction{Kind: kind, Omega: omega}, Gamma: gamma * float64(i%2)}
			for _, s := range at[o] {
				r.Validation += s.At(r.Gamma).Mean / float64(len(at[o]))
			}
			if r.Validation >= list[i].Validation {
				list[i] = r
			}
		}
	}
	return list, nil
}

// Preferred returns the index of the remedy that validation prefers, of equals the first in the order
// corrected, raw, stacked and both.
func Preferred(list []train.Remedy) int {
	best := 2
	for _, i := range []int{0, 1, 3} {
		if list[i].Validation > list[best].Validation {
			best = i
		}
	}
	return best
}

// generalise returns the preferred remedy. Without held-out samples it is the correction in full.
func generalise(ctx context.Context, folds []Fold, models []*predictor.Model) (*train.Remedy, error) {
	list, err := Remedies(ctx, folds, models)
	if list == nil {
		return &train.Remedy{Correction: model.Correction{Kind: models[0].CorrectionKind(), Omega: 1}}, err
	}
	return &list[Preferred(list)], err
}

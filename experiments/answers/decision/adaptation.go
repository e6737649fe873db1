// Package decision adapts the predictions of trained models to batches of unlabelled samples
// (see model/adapt), and chooses whether and how, for models that were not trained on the validation
// classes, by samples of these, treated as unlabelled. Adaptation is off where its gain may be chance. The
// settings are stored in model files.
package decision

import (
	"cmp"
	"context"
	"fmt"
	"slices"

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
	adapted, err := predictor.Adapt([]adapt.Block{b}, settings.Settings)
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
	Changed  int    `json:"changed"`           // number of predictions
	Declined bool   `json:"declined"`          // whether nothing was adapted, since most candidates seem to be absent
	Rounds   int    `json:"rounds"`            // of EM
	Warning  string `json:"warning,omitempty"` // why nothing is adapted

	inductive metrics.Accuracy
	interval  metrics.Interval // of inductive.PerClass
}

// Evaluate adapts a model with settings to labelled samples that it has scored.
func Evaluate(m *train.Saved, s train.Samples, scores dataset.Matrix[float32]) (*Report, error) {
	x, err := m.AdaptedFeatures().Apply(s.X, s.Rows)
	if err != nil {
		return nil, err
	}
	a := m.Adaptation
	fitted, err := predictor.Adapt([]adapt.Block{{X: x.Gather(x.AllRows()), Scores: scores}}, a.Settings)
	if err != nil {
		return nil, err
	}
	tally, alone := metrics.TopK(fitted.P, s.Labels, 1), metrics.TopK(scores, s.Labels, 1)
	before, after, accuracy := alone.Recall(), tally.Recall(), tally.Accuracy()
	return &Report{
		PerClass: accuracy.PerClass, PerSample: accuracy.PerSample, Interval: metrics.ClassInterval(after),
		Difference: metrics.PairedDifference(after, before), Settings: a.Settings,
		Changed: fitted.Changed, Declined: fitted.Declined, Rounds: len(fitted.Objective) - 1, Warning: predictor.AdaptationWarning(a),
		inductive: alone.Accuracy(), interval: metrics.ClassInterval(before),
	}, nil
}

// Table compares the predictions.
func (r *Report) Table() *table.Table {
	title := fmt.Sprintf("Adapted to the unlabelled batch (transductive): temperature %.3g, tau %g, %s, %s changed",
		r.Temperature, r.Tau, format.Count(r.Rounds, "round"), format.Count(r.Changed, "prediction"))
	t := table.New(title, "predictions", "per class", "95 % over classes", "per sample").Right(2, 3, 4)
	t.Row("inductive", format.Percent(r.inductive.PerClass), r.interval, format.Percent(r.inductive.PerSample))
	t.Row("transductive", format.Percent(r.PerClass), r.Interval, format.Percent(r.PerSample))
	t.Row("difference", format.Points(r.Difference.Mean), r.Difference.Interval, format.Points(r.PerSample-r.inductive.PerSample))
	t.Note("p = %.2g by paired permutation over classes", r.Difference.P)
	if r.Warning != "" {
		t.Note("Warning: %s.", r.Warning)
	}
	if r.Declined {
		t.Note("Not adapted: most of the candidate classes seem to be absent.")
	}
	return t
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

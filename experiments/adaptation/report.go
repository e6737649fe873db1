package adaptation

import (
	"context"
	"fmt"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// Report compares inductive predictions, each sample by itself, with transductive ones,
// adapted to the batch. Accuracies are fractions.
type Report struct {
	PerClass   float64            `json:"per_class_accuracy"`
	PerSample  float64            `json:"per_sample_accuracy"`
	Interval   metrics.Interval   `json:"interval"`   // of PerClass, over classes
	Difference metrics.Difference `json:"difference"` // transductive minus inductive, over classes
	adapt.Settings
	Changed int         `json:"changed"` // number of predictions
	Rounds  int         `json:"rounds"`
	Warning string      `json:"warning,omitempty"`
	Stress  []Condition `json:"stress,omitempty"`

	inductive metrics.Accuracy
	interval  metrics.Interval // of inductive.PerClass
}

// Evaluate adapts to a labelled batch, and to draws random batches from it for each
// condition of Stress.
func Evaluate(ctx context.Context, b *Batch, a *train.Adaptation, draws int) (*Report, error) {
	blocks := b.Blocks()
	fitted, err := adapt.Fit(blocks, a.Settings)
	if err != nil {
		return nil, err
	}
	accuracy := metrics.TopK(fitted.P, b.Labels, 1)
	before, after := metrics.ClassAccuracy(b.Scores, b.Labels), metrics.ClassAccuracy(fitted.P, b.Labels)
	r := &Report{
		PerClass: accuracy.PerClass, PerSample: accuracy.PerSample, Interval: metrics.ClassInterval(after),
		Difference: metrics.PairedDifference(after, before), Settings: a.Settings,
		Changed: Changed(blocks, fitted.P), Rounds: len(fitted.Objective) - 1,
		Warning: Warning(a, len(b.Labels)), Stress: []Condition{},
		inductive: metrics.TopK(b.Scores, b.Labels, 1), interval: metrics.ClassInterval(before),
	}
	if draws > 0 {
		r.Stress, err = Stress(ctx, []*Batch{b}, a.Settings, draws)
		for i, row := range r.Stress {
			if row.Samples > 0 && row.Samples < a.Smallest {
				r.Stress[i].Warned = true
			}
		}
	}
	return r, err
}

// Changed counts the samples whose prediction by the scores of their blocks differs from that
// by p, N x Z.
func Changed(blocks []adapt.Block, p dataset.Matrix[float32]) (n int) {
	row := 0
	for _, b := range blocks {
		for i := range b.Scores.Rows {
			if metrics.Argmax(b.Scores.Row(i)) != metrics.Argmax(p.Row(row)) {
				n++
			}
			row++
		}
	}
	return n
}

// Warning says why adaptation to a batch may not help, "" if it should.
func Warning(a *train.Adaptation, samples int) string {
	switch {
	case a.Tau == 0:
		return "adaptation is off for this model: on its validation classes no setting had a gain that is above chance and holds with absent and imbalanced classes"
	case samples < a.Smallest:
		return fmt.Sprintf("the batch of %s is small: on the validation classes adaptation helped from %d samples", format.Count(samples, "sample"), a.Smallest)
	}
	return ""
}

// Text says in one line what was chosen.
func Text(a *train.Adaptation) string {
	if a.Tau == 0 {
		return "off: no setting had a gain on the validation classes that is above chance and holds with absent and imbalanced classes"
	}
	features := ""
	if a.Preprocess != "" {
		features = ", features preprocessed by " + string(a.Preprocess)
	}
	return fmt.Sprintf("temperature %.3g, tau %g%s; validation %s -> %s (change over %d classes: %s), from %s",
		a.Temperature, a.Tau, features, format.Percent(a.Before), format.Percent(a.After), a.Classes, a.Interval, format.Count(a.Smallest, "sample"))
}

// String returns the tables of the report.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Adapted to the unlabelled batch (transductive): temperature %.3g, tau %g, %s, %s changed\n",
		r.Temperature, r.Tau, format.Count(r.Rounds, "round"), format.Count(r.Changed, "prediction"))
	t := format.NewTable("predictions", "per class", "95 % over classes", "per sample")
	t.Right(2, 3, 4)
	t.Row("inductive", format.Percent(r.inductive.PerClass), r.interval, format.Percent(r.inductive.PerSample))
	t.Row("transductive", format.Percent(r.PerClass), r.Interval, format.Percent(r.PerSample))
	t.Row("difference", format.Points(r.Difference.Mean), r.Difference.Interval, format.Points(r.PerSample-r.inductive.PerSample))
	fmt.Fprintf(&b, "%sp = %.2g by paired permutation over classes\n", t, r.Difference.P)
	if r.Warning != "" {
		fmt.Fprintf(&b, "Warning: %s.\n", r.Warning)
	}
	if len(r.Stress) > 0 {
		fmt.Fprintf(&b, "\nChange of the per-class accuracy on random batches, %s each\n%s", format.Count(r.Stress[0].Draws, "draw"), stressTable(r.Stress))
	}
	return b.String()
}

func stressTable(list []Condition) *format.Table {
	t := format.NewTable("batch", "mean change", "worst draw", "predict --adapt")
	t.Right(2, 3)
	for _, c := range list {
		warned := ""
		if c.Warned {
			warned = "warned: too small"
		}
		t.Row(c.Name, format.Points(c.Mean), format.Points(c.Worst), warned)
	}
	return t
}

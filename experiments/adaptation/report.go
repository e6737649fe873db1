package adaptation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/table"
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

// Evaluate adapts a model with settings to labelled samples that it has scored, and to draws
// random batches of them for each condition of stress.
func Evaluate(ctx context.Context, m *train.Saved, s train.Samples, scores dataset.Matrix[float32], draws int) (*Report, error) {
	x, err := m.AdaptedFeatures().Apply(s.X, s.Rows)
	if err != nil {
		return nil, err
	}
	return evaluate(ctx, &batch{Block: adapt.Block{X: x, Scores: scores}, labels: s.Labels}, m.Adaptation, draws)
}

func evaluate(ctx context.Context, b *batch, a *train.Adaptation, draws int) (*Report, error) {
	whole := adapt.Block{X: b.X.Gather(b.X.AllRows()), Scores: b.Scores}
	fitted, err := fit([]adapt.Block{whole}, a.Settings)
	if err != nil {
		return nil, err
	}
	before, after := b.before(), metrics.ClassAccuracy(fitted.P, b.labels)
	accuracy := metrics.TopK(fitted.P, b.labels, 1)
	r := &Report{
		PerClass: accuracy.PerClass, PerSample: accuracy.PerSample, Interval: metrics.ClassInterval(after),
		Difference: metrics.PairedDifference(after, before), Settings: a.Settings,
		Changed: fitted.Changed, Rounds: len(fitted.Objective) - 1, Warning: Warning(a, len(b.labels)),
		inductive: metrics.TopK(b.Scores, b.labels, 1), interval: metrics.ClassInterval(before),
	}
	r.Stress, err = stress(ctx, []*batch{b}, a.Settings, draws)
	for i, row := range r.Stress {
		r.Stress[i].Warned = row.Samples > 0 && row.Samples < a.Smallest
	}
	return r, err
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

// Tables compares the predictions, and lists the conditions of stress.
func (r *Report) Tables() []*table.Table {
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
	if len(r.Stress) == 0 {
		return []*table.Table{t}
	}
	title = fmt.Sprintf("Change of the per-class accuracy on random batches, %s each", format.Count(r.Stress[0].Draws, "draw"))
	batches := table.New(title, "batch", "mean change", "worst draw", "predict --adapt").Right(2, 3)
	for _, c := range r.Stress {
		warned := ""
		if c.Warned {
			warned = "warned: too small"
		}
		batches.Row(c.Name, format.Points(c.Mean), format.Points(c.Worst), warned)
	}
	return []*table.Table{t, batches}
}

// Table lists the estimated share of each class, the largest first, and the classes of which
// no sample is expected.
func (p *Predictions) Table(classes []string) *table.Table {
	n := p.P.Rows
	title := fmt.Sprintf("adapted to %s: %s changed", format.Count(n, "sample"), format.Count(p.Changed, "prediction"))
	t := table.New(title, "class", "estimated share", "samples").Right(2, 3)
	order := make([]int, len(classes))
	for z := range order {
		order[z] = z
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(p.Shares[y], p.Shares[x]) })
	var absent []string
	for _, z := range order {
		// The share of a class without samples is that of the prior, one sample.
		samples := p.Shares[z]*float64(n+len(order)) - 1
		if samples < 0.5 {
			absent = append(absent, classes[z])
			continue
		}
		t.Row(classes[z], format.Percent(samples/float64(n)), fmt.Sprintf("%.0f", samples))
	}
	t.Note("candidate classes that seem to be absent: %s", cmp.Or(strings.Join(absent, ", "), "none"))
	if 2*len(absent) > len(order) {
		t.Note("warning: more than half of the candidate classes seem to be absent, and adaptation can then lower accuracy; restrict the candidates with --classes")
	}
	return t
}

package adaptation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
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
	return evaluate(ctx, &batch{x: []dataset.Matrix[float32]{x}, scores: scores, labels: s.Labels}, m.Adaptation, draws)
}

func evaluate(ctx context.Context, b *batch, a *train.Adaptation, draws int) (*Report, error) {
	fitted, err := fit([]adapt.Block{{X: b.x[0].Gather(b.x[0].AllRows()), Scores: b.scores}}, a.Settings)
	if err != nil {
		return nil, err
	}
	before, after := b.before(), metrics.ClassAccuracy(fitted.P, b.labels)
	accuracy := metrics.TopK(fitted.P, b.labels, 1)
	r := &Report{
		PerClass: accuracy.PerClass, PerSample: accuracy.PerSample, Interval: metrics.ClassInterval(after),
		Difference: metrics.PairedDifference(after, before), Settings: a.Settings,
		Changed: fitted.Changed, Rounds: len(fitted.Objective) - 1, Warning: Warning(a, len(b.labels)),
		inductive: metrics.TopK(b.scores, b.labels, 1), interval: metrics.ClassInterval(before),
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

// Condition is the effect of adaptation on random batches of one kind. Changes are
// differences of per-class accuracy, over the classes that are present.
type Condition struct {
	Name    string  `json:"condition"`
	Samples int     `json:"samples,omitempty"` // of a small batch
	Mean    float64 `json:"mean_change"`
	Worst   float64 `json:"worst_change"`
	Draws   int     `json:"draws"`
	Warned  bool    `json:"warned"` // predict would warn that the batch is too small
}

// condition selects the samples of a batch.
type condition struct {
	name    string
	samples int                             // at most; 0 is all
	keep    func(rank, classes int) float64 // the share kept of the class with a random rank; nil is 1
}

func present(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// conditions are in the order of falling size.
var conditions = []condition{
	{"a third of the classes absent", 0, func(rank, classes int) float64 { return present(rank >= classes/3) }},
	{"nine tenths of the classes absent", 0, func(rank, classes int) float64 { return present(rank < max(2, (classes+5)/10)) }},
	{"imbalanced, 20 to 1", 0, func(rank, classes int) float64 { return math.Pow(0.05, float64(rank)/float64(max(classes-1, 1))) }},
	{"500 samples", 500, nil},
	{"200 samples", 200, nil},
	{"50 samples", 50, nil},
}

// stress adapts to random batches from each of some batches, draws for each condition:
// classes that are absent but still candidates, geometrically imbalanced classes, and few
// samples. Conditions for which there are not more samples are left out.
func stress(ctx context.Context, folds []*batch, s adapt.Settings, draws int) ([]Condition, error) {
	var table []Condition
	for i, c := range conditions {
		row := Condition{Name: c.name, Samples: c.samples, Worst: math.Inf(1)}
		for f, fold := range folds {
			if len(fold.labels) <= c.samples {
				continue
			}
			for draw := range draws {
				r := rand.New(rand.NewPCG(uint64(draw), uint64(i*len(folds)+f)))
				b := fold.pick(c.draw(fold, r))
				after, err := b.after(ctx, s)
				if err != nil {
					return nil, err
				}
				change := meanOf(after) - meanOf(b.before())
				row.Mean += change
				row.Worst = min(row.Worst, change)
				row.Draws++
			}
		}
		if row.Draws > 0 {
			row.Mean /= float64(row.Draws)
			table = append(table, row)
		}
	}
	return table, nil
}

// draw returns the rows of a random batch.
func (c condition) draw(b *batch, r *rand.Rand) []int {
	rank := r.Perm(b.scores.Cols)
	var rows, others []int
	for _, i := range r.Perm(len(b.labels)) {
		switch {
		case c.samples > 0 && len(rows) == c.samples:
		case c.keep == nil || r.Float64() < c.keep(rank[b.labels[i]], b.scores.Cols):
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

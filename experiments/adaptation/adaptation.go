// Package adaptation adapts the predictions of trained models to batches of unlabelled samples
// (see model/adapt), and chooses on validation classes whether and how.
//
// A choice is made on samples of the validation classes, which are treated as unlabelled,
// scored by models that were not trained on these classes. It is also made under stress:
// with absent and imbalanced classes and small batches. Adaptation is off where its gain on
// the validation classes may be chance, or where it loses with absent or imbalanced classes.
// The settings chosen are stored in model files.
package adaptation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// Predictions are those of a batch, adapted to it.
type Predictions struct {
	*adapt.Result
	Blocks  []adapt.Block // the batch: normalised features, and scores
	Changed int           // number of predictions that differ from those of the scores
}

// Predict adapts the predictions for some rows of x, features as in the data set, among the
// classes that u describes, by the settings of the model.
func Predict(m *train.Saved, x dataset.Matrix[float32], rows []int, u dataset.Matrix[float64]) (*Predictions, error) {
	b, err := score(m, train.Samples{X: x, Rows: rows}, u)
	if err != nil {
		return nil, err
	}
	return fit([]adapt.Block{b.Block}, m.Adaptation.Settings)
}

// Source supplies samples. A *features.Reader is one.
type Source interface {
	Cols() int // D
	// Read fills the first rows of a block of D columns and returns their number, which
	// is smaller than the block only at the end. After the last sample the error is io.EOF.
	Read(block dataset.Matrix[float32]) (int, error)
}

// PredictAll is Predict for all samples of a source, which scorer scores for a number of
// classes. The features are in memory once, with two numbers per sample and class. If there are
// too few samples to adapt to and force is not set, Predictions.Result is nil.
func PredictAll(ctx context.Context, src Source, m *train.Saved, scorer model.Scorer, classes int, force bool) (*Predictions, error) {
	const readRows = 1024 // samples of a block
	var blocks []adapt.Block
	samples := 0
	for {
		x := dataset.NewMatrix[float32](readRows, src.Cols())
		n, err := src.Read(x)
		if errors.Is(err, io.EOF) && n == 0 {
			break
		}
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		b := adapt.Block{X: x.Slice(0, n), Scores: dataset.NewMatrix[float32](n, classes)}
		if err := scorer(b.X, b.Scores); err != nil {
			return nil, err
		}
		if b.X, err = m.AdaptedFeatures().Apply(b.X, b.X.AllRows()); err != nil {
			return nil, err
		}
		blocks, samples = append(blocks, b), samples+n
	}
	if blocks == nil {
		return nil, &invalid.Error{Field: "adapt", Want: "at least one sample", Got: "none"}
	}
	if samples < m.Adaptation.Smallest && !force {
		return &Predictions{Blocks: blocks}, nil
	}
	return fit(blocks, m.Adaptation.Settings)
}

// Scores returns the scores of the batch.
func (p *Predictions) Scores() dataset.Matrix[float32] {
	var all dataset.Matrix[float32]
	for _, b := range p.Blocks {
		all.Rows, all.Cols = all.Rows+b.Scores.Rows, b.Scores.Cols
		all.Data = append(all.Data, b.Scores.Data...)
	}
	return all
}

// fit normalises a batch in place and adapts to it.
func fit(blocks []adapt.Block, s adapt.Settings) (*Predictions, error) {
	adapt.Normalise(blocks)
	r, err := adapt.Fit(blocks, s)
	if err != nil {
		return nil, err
	}
	p, row := &Predictions{Result: r, Blocks: blocks}, 0
	for _, b := range blocks {
		for i := range b.Scores.Rows {
			if metrics.Argmax(b.Scores.Row(i)) != metrics.Argmax(r.P.Row(row)) {
				p.Changed++
			}
			row++
		}
	}
	return p, nil
}

// ClassAccuracy is the accuracy of the model in a file on each of some classes of d, adapted
// to the samples of these classes together; NaN for classes without samples.
func ClassAccuracy(path string, d *dataset.Dataset, classes []int) ([]float64, error) {
	m, err := train.Load(path)
	if err != nil {
		return nil, err
	}
	if _, err := Settings(m, path); err != nil {
		return nil, err
	}
	s := train.Select(d, d.Features, classes)
	p, err := Predict(m, s.X, s.Rows, d.Describe(classes))
	if err != nil {
		return nil, err
	}
	return metrics.ClassAccuracy(p.P, s.Labels), nil
}

// Stored returns what was chosen for model files, nil if one of them has no settings.
func Stored(models []string) (c *Chosen, err error) {
	for _, path := range models {
		m, err := train.Load(path)
		if err != nil || m.Adaptation == nil {
			return nil, err
		}
		c = &Chosen{m.Adaptation, m.Calibration}
	}
	return c, nil
}

// Settings returns the settings of a model at path. The error says how to choose them
// where it has none.
func Settings(m *train.Saved, path string) (*train.Adaptation, error) {
	if m.Adaptation != nil {
		return m.Adaptation, nil
	}
	return nil, &invalid.Error{
		Where: path, Field: "adaptation", Want: "a temperature and tau, chosen on validation classes", Got: "none",
		Hint: "Repeat the command that trained it, lago-train run with --stage full or lago-train compare --adapt: finished runs are reused, and their models get them.",
	}
}

// Set sets a copy of the settings of a model. Their preprocessing is fitted on the samples of
// the classes that the model was trained on, without d.TestSeen: a model does not record whether
// it was trained on these.
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
	fitted, err := fit([]adapt.Block{{X: x.Gather(x.AllRows()), Scores: scores}}, a.Settings)
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
	r.Stress, err = stress(ctx, []*batch{b}, a.Settings, draws, draws)
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
		return fmt.Sprintf("the batch of %s is too small: on the validation classes the 10th percentile of the change is not below zero from %d samples",
			format.Count(samples, "sample"), a.Smallest)
	}
	return ""
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
	batches := table.New(title, "batch", "mean change", "10th percentile", "worst draw", "predict --adapt").Right(2, 3, 4)
	for _, c := range r.Stress {
		warned := ""
		if c.Warned {
			warned = "does not adapt: too small"
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

// Table lists the estimated share of each class, the largest first, and the classes that are not
// predicted and of which no sample is expected.
func (p *Predictions) Table(classes []string) *table.Table {
	n := p.P.Rows
	title := fmt.Sprintf("adapted to %s: %s changed", format.Count(n, "sample"), format.Count(p.Changed, "prediction"))
	t := table.New(title, "class", "estimated share", "expected samples").Right(2, 3)
	order, predicted := make([]int, len(classes)), make([]bool, len(classes))
	for i := range n {
		predicted[metrics.Argmax(p.P.Row(i))] = true
	}
	for z := range order {
		order[z] = z
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(p.Shares[y], p.Shares[x]) })
	var absent []string
	for _, z := range order {
		// The share of a class without samples is that of the prior, one sample.
		samples := max(p.Shares[z]*float64(n+len(order))-1, 0)
		if samples < 0.5 && !predicted[z] {
			absent = append(absent, classes[z])
			continue
		}
		t.Row(classes[z], format.Percent(samples/float64(n)), fmt.Sprintf("%.1f", samples))
	}
	t.Note("candidate classes that seem to be absent: %s", cmp.Or(strings.Join(absent, ", "), "none"))
	if 2*len(absent) > len(order) {
		t.Note("warning: more than half of the candidate classes seem to be absent, and adaptation can then lower accuracy; restrict the candidates with --classes")
	}
	return t
}

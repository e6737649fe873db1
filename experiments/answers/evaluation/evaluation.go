// Package evaluation measures how well a model predicts classes: accuracy, generalised zero-shot accuracy
// and calibration of the probabilities, with what validation chose for the model, see model.Decision.
package evaluation

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train/metrics"
)

// Evaluation is what was measured of a model. Accuracies are fractions and, unless stated otherwise, means
// over classes. Numbers that do not exist are null; Notes say why.
type Evaluation struct {
	Source Source `json:"source"` // what was evaluated

	Samples int `json:"samples"`
	Classes int `json:"classes"` // number of candidates
	// those of unseen classes, all unless seen classes are candidates
	UnseenSamples int `json:"unseen_samples"`
	UnseenClasses int `json:"unseen_classes"` // number of unseen candidates

	PerClass  float64 `json:"per_class_accuracy"`
	PerSample float64 `json:"per_sample_accuracy"`

	ZSL float64 `json:"zsl"` // on unseen classes, chosen among these alone
	// on seen classes, chosen among all; null without seen classes
	Seen         *float64  `json:"seen"`
	Unseen       *float64  `json:"unseen"`        // on unseen classes, chosen among all
	HarmonicMean *float64  `json:"harmonic_mean"` // of seen and unseen
	AUSUC        *float64  `json:"ausuc"`         // area under the seen-unseen curve
	Raw          *Stacking `json:"raw"`           // of scores without correction
	Calibrated   *Stacking `json:"calibrated"`    // with the omega and gamma that validation chose together

	Intervals Intervals `json:"intervals"` // over classes

	Kind string `json:"score_kind"` // logits or scores
	Calibration
	// of the probabilities that predict prints; null if it prints scores
	Temperature *Tempered `json:"temperature"`

	Mistakes []Mistake       `json:"mistakes"` // the most frequent ones
	ByClass  []ClassAccuracy `json:"by_class"`

	Adapted *Transductive `json:"adapted,omitempty"` // transductive predictions, with --adapt

	Notes []string `json:"notes"` // remarks, as sentences

	AsScored Stacking `json:"-"` // of seen and unseen classes

	scored       *scored
	calibrations []*Calibration // that exist and differ: without and with the temperature
}

// Intervals are the 95 % confidence intervals over classes of the accuracies with these names, of a single
// class over its samples. Those without a value are null.
type Intervals struct {
	PerClass metrics.Interval `json:"per_class_accuracy"`
	ZSL      metrics.Interval `json:"zsl"`
	metrics.GeneralisedInterval
}

// Source says what was evaluated.
type Source struct {
	Split      string `json:"split"`      // val or test: whose samples
	Candidates string `json:"candidates"` // as in "test classes"
	Dataset    string `json:"dataset"`
	Model      string `json:"model"`  // its file
	Method     string `json:"method"` // variant or baseline
	Seed       uint64 `json:"seed"`
}

// Stacking is the accuracy with a correction and calibrated stacking (Chao et al. 2016). Pooled, omega, gamma
// and the area are means.
type Stacking struct {
	Omega float64 `json:"omega"` // of the correction
	Gamma float64 `json:"gamma"` // subtracted from the scores of seen classes
	metrics.Generalised
	AUSUC     float64                     `json:"ausuc"` // area under the seen-unseen curve, over all gammas
	Intervals metrics.GeneralisedInterval `json:"intervals"`

	scores *metrics.Stacking
	names  []string // of the classes
}

func (s *scored) stack(scores dataset.Matrix[float32], omega, gamma float64) Stacking {
	stacking := metrics.NewStacking(scores, s.labels, s.sides)
	return Stacking{
		omega, gamma, stacking.At(gamma), metrics.AUSUC(stacking.Curve()), stacking.Interval(gamma),
		stacking, s.names,
	}
}

// Pool joins the accuracies with several divisions into seen and unseen classes, see metrics.Pool. That
// of one is returned as it is.
func Pool(list []Stacking) Stacking {
	if len(list) == 1 {
		return list[0]
	}
	var scores []*metrics.Stacking
	var omegas, gammas, areas []float64
	var columns [][]int
	classes := map[string]int{}
	for _, s := range list {
		var of []int
		for _, name := range s.names {
			if _, known := classes[name]; !known {
				classes[name] = len(classes)
			}
			of = append(of, classes[name])
		}
		scores, gammas, columns = append(scores, s.scores), append(gammas, s.Gamma), append(columns, of)
		omegas, areas = append(omegas, s.Omega), append(areas, s.AUSUC)
	}
	pooled, gamma := metrics.Pool(scores, gammas, columns, len(classes))
	return Stacking{
		stat.Mean(omegas, nil), gamma, pooled.At(gamma), stat.Mean(areas, nil), pooled.Interval(gamma),
		pooled, nil,
	}
}

// Minus is the difference of the harmonic means of two accuracies on the same samples.
func (s Stacking) Minus(other Stacking) metrics.Difference {
	return s.scores.Difference(s.Gamma, other.scores, other.Gamma)
}

// Transductive compares inductive predictions, each sample by itself, with transductive ones,
// adapted to the batch. Accuracies are fractions.
type Transductive struct {
	PerClass   float64            `json:"per_class_accuracy"`
	PerSample  float64            `json:"per_sample_accuracy"`
	Interval   metrics.Interval   `json:"interval"`   // over classes
	Difference metrics.Difference `json:"difference"` // transductive minus inductive, over classes
	adapt.Settings
	Changed int `json:"changed"` // number of predictions
	// whether nothing was adapted, since most candidates seem to be absent
	Declined bool   `json:"declined"`
	Rounds   int    `json:"rounds"`            // of EM
	Warning  string `json:"warning,omitempty"` // why nothing is adapted

	inductive metrics.Accuracy
	interval  metrics.Interval // of inductive.PerClass
}

// Calibration says how reliable p(z|x) is. Its fields are null for bare scores.
type Calibration struct {
	ECE         *float64      `json:"ece"`         // expected calibration error
	NLL         *float64      `json:"nll"`         // mean -log p of the true class
	Reliability []metrics.Bin `json:"reliability"` // bins of confidence

	label      string    // of its column or line
	confidence []float64 // of each sample
}

// Tempered is the calibration with a temperature.
type Tempered struct {
	Temperature float64 `json:"temperature"` // T of softmax(s/T)
	Calibration
}

// Mistake counts the samples of one class that were predicted as another.
type Mistake struct {
	True      string  `json:"true"`
	Predicted string  `json:"predicted"`
	Samples   int     `json:"samples"`
	Share     float64 `json:"share"` // of the samples of the true class
}

// ClassAccuracy is the accuracy of one class.
type ClassAccuracy struct {
	Class    string  `json:"class"`
	Unseen   bool    `json:"unseen"`
	Samples  int     `json:"samples"`
	Accuracy float64 `json:"accuracy"`
}

const maxMistakes = 10 // listed; samples.csv has all

func evaluate(s *scored) *Evaluation {
	tally, none := metrics.Count(s.scores, s.labels), metrics.ClassInterval(nil)
	accuracy, interval := tally.Accuracy(), tally.Interval()
	r := &Evaluation{
		Samples: s.scores.Rows, Classes: s.scores.Cols, Kind: s.kind, Notes: []string{}, scored: s,
		PerClass: accuracy.PerClass, PerSample: accuracy.PerSample, ZSL: accuracy.PerClass,
		Intervals: Intervals{
			interval, interval, metrics.GeneralisedInterval{Seen: none, Unseen: none, Mean: none},
		},
	}
	r.listClasses(tally)
	if r.UnseenSamples, r.UnseenClasses = r.Samples, r.Classes; s.sides != nil {
		r.generalise()
	}
	if s.kind != bareScores {
		r.Calibration = calibrate(s, 1, "as scored")
		r.calibrations = append(r.calibrations, &r.Calibration)
	}
	if t := s.temperature; t > 0 {
		r.Temperature = &Tempered{t, calibrate(s, t, fmt.Sprintf("temperature %.3g", t))}
	} else {
		r.note("the scores are not probabilities, and no temperature is stored that converts them: " +
			"calibration is not available")
	}
	if r.Temperature != nil && (r.ECE == nil || s.temperature != 1) {
		r.calibrations = append(r.calibrations, &r.Temperature.Calibration)
	}
	return r
}

func (r *Evaluation) listClasses(tally metrics.Tally) {
	s := r.scored
	confusion, err := metrics.Confuse(s.scores, s.labels)
	if err != nil {
		panic(err) // score refuses NaN
	}
	for _, pair := range confusion {
		if z, k, n := pair[0], pair[1], pair[2]; z != k {
			r.Mistakes = append(r.Mistakes, Mistake{
				s.names[z], s.names[k], n, float64(n) / float64(tally.Samples[z]),
			})
		}
	}
	for z, accuracy := range tally.Recall() {
		if n := tally.Samples[z]; n > 0 {
			r.ByClass = append(r.ByClass, ClassAccuracy{
				s.names[z], s.sides == nil || s.sides[z], n, accuracy,
			})
		}
	}
	slices.SortStableFunc(r.Mistakes, func(a, b Mistake) int { return cmp.Compare(b.Samples, a.Samples) })
	r.Mistakes = r.Mistakes[:min(maxMistakes, len(r.Mistakes))]
}

func (r *Evaluation) generalise() {
	s := r.scored
	alone, labels := s.sides.Alone(s.scores, s.labels)
	if s.alone.Rows > 0 {
		alone = s.alone
	}
	zsl := metrics.Count(alone, labels)
	r.ZSL, r.Intervals.ZSL = zsl.Accuracy().PerClass, metrics.ClassInterval(zsl.Recall())

	r.UnseenSamples, r.UnseenClasses = len(labels), alone.Cols
	raw := s.stack(s.raw, 0, 0)
	r.AsScored, r.Raw = s.stack(s.scores, s.omega, 0), &raw
	r.Seen, r.Unseen, r.HarmonicMean = &r.AsScored.Seen, &r.AsScored.Unseen, &r.AsScored.Mean
	r.Intervals.GeneralisedInterval, r.AUSUC = r.AsScored.Intervals, &r.AsScored.AUSUC
	if c := s.stacking; c != nil {
		stacked := s.stack(s.corrected, c.Omega, c.Gamma)
		r.Calibrated = &stacked
	}
}

func calibrate(s *scored, temperature float64, label string) Calibration {
	confidence, right := metrics.Confidence(s.scores, temperature), metrics.Right(s.scores, s.labels)
	bins := metrics.NewReliability(confidence, right, predictor.Bins)
	ece, nll := bins.ECE(), metrics.NLL(s.scores, s.labels, temperature)
	return Calibration{ECE: &ece, NLL: &nll, Reliability: bins, label: label, confidence: confidence}
}

func (r *Evaluation) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// Tables shows accuracy, calibration and the most frequent mistakes.
func (r *Evaluation) Tables() []*table.Table {
	list := []*table.Table{r.sourceTable(), r.accuracyTable()}
	if r.Adapted != nil {
		list = append(list, r.Adapted.table())
	}
	if r.Seen != nil {
		list = append(list, r.generalisedTable())
	}
	if len(r.calibrations) > 0 {
		list = append(list, r.calibrationTable())
	}
	if len(r.Mistakes) > 0 {
		t := table.New("Most frequent mistakes", "true class", "predicted", "samples", "of the class").
			Right(4)
		for _, m := range r.Mistakes {
			t.Row(m.True, m.Predicted, m.Samples, format.Percent(m.Share))
		}
		list = append(list, t)
	}
	for _, note := range r.Notes {
		list = append(list, table.New("Note: "+note+"."))
	}
	return list
}

func (s Source) title() string {
	title := fmt.Sprintf("%s, %s", format.Printable(s.Dataset), s.Split)
	if s.Candidates != s.Split+" classes" {
		title += " among " + format.Printable(s.Candidates)
	}
	return title
}

func (r *Evaluation) sourceTable() *table.Table {
	t := table.New(fmt.Sprintf("%s: %s of %s", r.Source.title(), format.Count(r.Samples, "sample"),
		format.Count(r.Classes, "class")))
	if seen := r.Classes - r.UnseenClasses; seen > 0 {
		t.Note("unseen: %s of %s; seen: %s of %s", format.Count(r.UnseenSamples, "sample"),
			format.Count(r.UnseenClasses, "class"),
			format.Count(r.Samples-r.UnseenSamples, "sample"), format.Count(seen, "class"))
	}
	return t.Note("predicted by %s, random seed %d, %s", r.Source.Method, r.Source.Seed, r.Source.Model)
}

func (r *Evaluation) accuracyTable() *table.Table {
	over := "classes"
	if len(r.ByClass) == 1 { // see metrics.Tally
		over = "samples"
	}
	t := table.New("", "accuracy", "per class", "95 % over "+over, "per sample").Right(2, 3, 4)
	t.Row("top 1", format.Percent(r.PerClass), r.Intervals.PerClass, format.Percent(r.PerSample))
	if r.Seen != nil {
		t.Row("unseen among unseen (zsl)", format.Percent(r.ZSL), r.Intervals.ZSL)
	}
	return t
}

func (r *Transductive) table() *table.Table {
	title := fmt.Sprintf("Adapted to the unlabelled batch (transductive): temperature %.3g, "+
		"tau %g, %s, %s changed",
		r.Temperature, r.Tau, format.Count(r.Rounds, "round"), format.Count(r.Changed, "prediction"))
	t := table.New(title, "predictions", "per class", "95 % over classes", "per sample").Right(2, 3, 4)
	t.Row("inductive", format.Percent(r.inductive.PerClass), r.interval,
		format.Percent(r.inductive.PerSample))
	t.Row("transductive", format.Percent(r.PerClass), r.Interval, format.Percent(r.PerSample))
	t.Row("difference", format.Points(r.Difference.Mean), r.Difference.Interval,
		format.Points(r.PerSample-r.inductive.PerSample))
	t.Note("p = %.2g by paired permutation over classes", r.Difference.P)
	if r.Warning != "" {
		t.Note("Warning: %s.", r.Warning)
	}
	if r.Declined {
		t.Note("Not adapted: most of the candidate classes seem to be absent.")
	}
	return t
}

// StackingHeader has the columns of Stacking.Cells, which are numbers.
var StackingHeader = []string{"seen", "unseen", "harmonic mean", "95 % over classes", "AUSUC"}

// Cells are the accuracies in a row of a table.
func (s Stacking) Cells() []any {
	return []any{
		format.Percent(s.Seen), format.Percent(s.Unseen), format.Percent(s.Mean), s.Intervals.Mean,
		fmt.Sprintf("%.3f", s.AUSUC),
	}
}

// generalisedTable has the accuracies among seen and unseen classes, as scored, without correction and with
// calibrated stacking.
func (r *Evaluation) generalisedTable() *table.Table {
	t := table.New("seen and unseen classes as candidates", append([]string{""}, StackingHeader...)...).
		Right(2, 3, 4, 5, 6)
	row := func(name string, s Stacking) { t.Row(append([]any{name}, s.Cells()...)...) }
	row("as scored", r.AsScored)
	if omega := r.AsScored.Omega; omega > 0 {
		t.Note("as scored: corrected, omega %g, as predict and explain do", omega)
		row("raw: without correction", *r.Raw)
	}
	if c := r.Calibrated; c != nil {
		row(fmt.Sprintf("stacked: omega %g, gamma %.4g", c.Omega, c.Gamma), *c)
		t.Note("stacked: calibrated stacking (Chao et al. 2016) of corrected scores, no part of predictions")
	}
	return t.Note("AUSUC: area under the curve of seen against unseen, over all gammas")
}

func (r *Evaluation) calibrationTable() *table.Table {
	t := table.New("Calibration of the probabilities", "").Right(2, 3)
	t.Row("expected calibration error, " + format.Count(len(r.calibrations[0].Reliability), "bin"))
	t.Row("negative log-likelihood")
	for _, c := range r.calibrations {
		t.Header = append(t.Header, c.label)
		for i, v := range []*float64{c.ECE, c.NLL} {
			t.Rows[i] = append(t.Rows[i], fmt.Sprintf("%.4f", *v))
		}
	}
	if r.scored.temperature > 0 {
		t.Note("temperature %.3g: the probabilities that predict prints", r.scored.temperature)
	}
	return t
}

// WriteCSV writes samples.csv and classes.csv into a folder, which it creates if necessary. write writes
// a file as fileio.Write does.
func (r *Evaluation) WriteCSV(dir string, write func(path string, write func(io.Writer) error) error) error {
	classes := table.New("classes", "class", "unseen", "samples", "accuracy")
	for _, c := range r.ByClass {
		classes.Row(c.Class, c.Unseen, c.Samples, c.Accuracy)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return invalid.Folder(dir, "a folder", err)
	}
	for _, t := range []*table.Table{r.sampleTable(), classes} {
		if err := write(filepath.Join(dir, t.Title+".csv"), t.WriteCSV); err != nil {
			return err
		}
	}
	return nil
}

func (r *Evaluation) sampleTable() *table.Table {
	s := r.scored
	t := table.New("samples", "row", "label", "true class", "predicted")
	for i, label := range s.labels {
		t.Row(s.rows[i], label, s.names[label], s.names[metrics.Argmax(s.scores.Row(i))])
	}
	for _, c := range r.calibrations {
		t.Header = append(t.Header, "confidence "+c.label)
		for i := range t.Rows {
			t.Rows[i] = append(t.Rows[i], c.confidence[i])
		}
	}
	if s.ids != nil {
		t.Header = append(t.Header, "id")
		for i, row := range s.rows {
			t.Rows[i] = append(t.Rows[i], s.ids[row])
		}
	}
	return t
}

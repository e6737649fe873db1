// Package evaluation measures how well a model predicts classes: accuracy, generalised zero-shot accuracy
// and calibration of the probabilities, with what validation chose for the model, see model.Decision.
package evaluation

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train/metrics"
)

// ScoreKind says how scores relate to probabilities.
type ScoreKind string

// The kinds of scores.
const (
	// Logits are scores whose softmax is p(z|x), such as log p(z|x), the scores of LAGO.
	Logits ScoreKind = "logits"
	// BareScores only rank the classes. With a temperature T that validation chose, the softmax of s/T is
	// p(z|x).
	BareScores ScoreKind = "scores"
)

// scored is samples to predict as one of some classes, with their scores.
type scored struct {
	names  []string      // of the classes
	sides  metrics.Sides // tells seen from unseen classes; nil if all are unseen
	labels []int         // of the samples, columns of the scores
	rows   []int         // of the samples in their data set
	ids    []string      // of the samples of that data set, nil if it has none
	kind   ScoreKind
	// T of the probabilities that predict prints, 0 if the scores are none
	temperature float64
	omega       float64                 // of the scores
	scores      dataset.Matrix[float32] // samples x classes
	// Unless all classes are unseen: scores without correction, and those that stacking is applied to, if it
	// was chosen.
	raw, corrected dataset.Matrix[float32]
	stacking       *model.Stacking
	// alone are the scores of the samples of unseen classes for these alone. If it is empty,
	// the columns of the seen classes are left out.
	alone dataset.Matrix[float32]
}

// check returns an error if s cannot be evaluated. scores and labels are where they are from.
func (s *scored) check(scores, labels string) error {
	if err := metrics.CheckScores(s.scores); err != nil {
		return invalid.At(scores, err)
	}
	if s.sides != nil {
		return invalid.At(labels, s.sides.Check(s.labels))
	}
	return nil
}

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

	Kind ScoreKind `json:"score_kind"` // logits or scores
	Calibration
	// of the probabilities that predict prints; null if it prints scores
	Temperature *Tempered `json:"temperature"`

	Mistakes []Mistake       `json:"mistakes"` // the most frequent ones
	ByClass  []ClassAccuracy `json:"by_class"`

	Adapted *Transductive `json:"adapted,omitempty"` // transductive predictions, with --adapt

	Notes []string `json:"notes"` // remarks, as sentences

	scored       *scored
	asScored     Stacking       // of seen and unseen classes
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

// stack returns the accuracy by scores that were corrected with omega.
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

// evaluate evaluates scores that passed check.
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
	if s.kind != BareScores {
		r.Calibration = calibrate(s, 1, "as scored")
		r.calibrations = append(r.calibrations, &r.Calibration)
	}
	if t := s.temperature; t > 0 {
		r.Temperature = &Tempered{t, calibrate(s, t, fmt.Sprintf("temperature %.4g", t))}
	} else {
		r.note("the scores are not probabilities, and no temperature is stored that converts them: " +
			"calibration is not available")
	}
	if r.Temperature != nil && (r.ECE == nil || s.temperature != 1) {
		r.calibrations = append(r.calibrations, &r.Temperature.Calibration)
	}
	return r
}

// listClasses lists the most frequent mistakes and the accuracy of each class.
func (r *Evaluation) listClasses(tally metrics.Tally) {
	s := r.scored
	confusion, err := metrics.Confuse(s.scores, s.labels)
	if err != nil {
		panic(err) // check refuses NaN
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

// generalise compares seen and unseen classes.
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
	r.asScored, r.Raw = s.stack(s.scores, s.omega, 0), &raw
	r.Seen, r.Unseen, r.HarmonicMean = &r.asScored.Seen, &r.asScored.Unseen, &r.asScored.Mean
	r.Intervals.GeneralisedInterval, r.AUSUC = r.asScored.Intervals, &r.asScored.AUSUC
	if c := s.stacking; c != nil {
		stacked := s.stack(s.corrected, c.Omega, c.Gamma)
		r.Calibrated = &stacked
	}
}

// Corrected returns the accuracies of seen and unseen classes together as scored.
func (r *Evaluation) Corrected() Stacking { return r.asScored }

// calibrate evaluates the probabilities with a temperature.
func calibrate(s *scored, temperature float64, label string) Calibration {
	confidence, right := metrics.Confidence(s.scores, temperature), metrics.Right(s.scores, s.labels)
	bins := metrics.NewReliability(confidence, right, predictor.Bins)
	ece, nll := bins.ECE(), metrics.NLL(s.scores, s.labels, temperature)
	return Calibration{ECE: &ece, NLL: &nll, Reliability: bins, label: label, confidence: confidence}
}

func (r *Evaluation) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

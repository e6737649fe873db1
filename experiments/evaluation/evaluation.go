package evaluation

import (
	"fmt"
	"strconv"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/train/metrics"
)

// Config says how scores are evaluated.
type Config struct {
	Bins int // of the reliability diagram
}

// maxBins is more than a reliability diagram can use.
const maxBins = 10_000

// Check returns an *invalid.Error if a field is out of range.
func (c Config) Check() error {
	if c.Bins < 1 || c.Bins > maxBins {
		return &invalid.Error{Where: "--bins", Want: fmt.Sprintf("1 to %d", maxBins), Got: strconv.Itoa(c.Bins)}
	}
	return nil
}

// Scored holds samples with their scores.
type Scored struct {
	Scores dataset.Matrix[float32] // samples x classes
	Labels []int                   // columns of Scores
	Kind   ScoreKind
	// Sides tells seen from unseen classes, for generalised zero-shot learning. It is nil
	// if all classes are unseen.
	Sides metrics.Sides
	// Alone holds the samples of unseen classes, scored for these alone. If it is nil, the
	// columns of the seen classes are left out.
	Alone *Scored
	Names []string // of the classes; nil for numbers
	Rows  []int    // of the samples in their data set; nil for 0, 1, 2...
	IDs   []string // of the samples of that data set, nil if it has none
}

// check returns an error if s cannot be evaluated. scores and labels are where they are
// from.
func (s *Scored) check(scores, labels string) error {
	if err := metrics.CheckScores(s.Scores); err != nil {
		return invalid.At(scores, err)
	}
	if err := metrics.CheckLabels(s.Labels, s.Scores.Rows, s.Scores.Cols); err != nil {
		return invalid.At(labels+", labels of "+scores, err)
	}
	if s.Sides != nil {
		return invalid.At(labels, s.Sides.Check(s.Labels))
	}
	return nil
}

// Result is an evaluation. Accuracies are fractions and, unless stated otherwise, means
// over classes. Numbers that do not exist are null; Notes say why.
type Result struct {
	Source Source `json:"source"`

	Samples int `json:"samples"`
	Classes int `json:"classes"` // to choose from

	PerClass      float64 `json:"per_class_accuracy"`
	PerSample     float64 `json:"per_sample_accuracy"`
	Top5          float64 `json:"top5"`
	Top5PerSample float64 `json:"top5_per_sample"`

	ZSL float64 `json:"zsl"` // of the unseen classes, chosen among these alone
	// Of seen and unseen classes, chosen among all.
	Seen         *float64  `json:"seen"`
	Unseen       *float64  `json:"unseen"`
	HarmonicMean *float64  `json:"harmonic_mean"`
	AUSUC        *float64  `json:"ausuc"`      // area under the seen-unseen curve
	Calibrated   *Stacking `json:"calibrated"` // with the gamma that validation chose

	Intervals Intervals `json:"intervals"`

	Kind ScoreKind `json:"score_kind"`
	Calibration
	Temperature *Tempered `json:"temperature"` // that validation chose

	Mistakes []Mistake       `json:"mistakes"` // the most frequent ones
	ByClass  []ClassAccuracy `json:"by_class"`

	Adapted *adaptation.Report `json:"adapted,omitempty"` // transductive predictions, if they were asked for

	Validation *Validation `json:"validation"`
	Notes      []string    `json:"notes"`

	scored    *Scored
	names     []string
	confusion metrics.Confusion
	curve     []metrics.Point // nil without seen classes
}

// Intervals are the 95 % confidence intervals over classes of the accuracies with these
// names. Those without a value are null.
type Intervals struct {
	PerClass metrics.Interval `json:"per_class_accuracy"`
	Top5     metrics.Interval `json:"top5"`
	ZSL      metrics.Interval `json:"zsl"`
	metrics.GeneralisedInterval
}

// Source says what was evaluated: models, or files of scores and labels.
type Source struct {
	Split   string           `json:"split,omitempty"` // val, test or gzsl
	Dataset string           `json:"dataset,omitempty"`
	Models  []EvaluatedModel `json:"models,omitempty"` // several are an ensemble
	Scores  string           `json:"scores,omitempty"`
	Labels  string           `json:"labels,omitempty"`
}

// EvaluatedModel is one of the models that were evaluated.
type EvaluatedModel struct {
	Path     string           `json:"path"`
	Method   string           `json:"method"`
	Seed     uint64           `json:"seed"`
	PerClass float64          `json:"per_class_accuracy"` // of this model alone
	Interval metrics.Interval `json:"interval"`           // of PerClass, over classes
}

// Validation says what gamma and the temperature were chosen by.
type Validation struct {
	Of           []string `json:"of"` // folders of runs, or the file of scores
	Samples      int      `json:"samples"`
	Classes      int      `json:"classes"`
	HarmonicMean *float64 `json:"harmonic_mean"` // with gamma
	NLL          *float64 `json:"nll"`           // with the temperature
}

// Stacking is the accuracy of calibrated stacking.
type Stacking struct {
	Gamma float64 `json:"gamma"` // subtracted from the scores of seen classes
	metrics.Generalised
	Intervals metrics.GeneralisedInterval `json:"intervals"`
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

// maxMistakes is the number of mistakes listed; the confusion matrix has all.
const maxMistakes = 10

// evaluate evaluates scores that passed check. validation chooses gamma and the
// temperature; if it is nil neither is chosen.
func (c Config) evaluate(s, validation *Scored) *Result {
	r := &Result{Samples: s.Scores.Rows, Classes: s.Scores.Cols, Kind: s.Kind, Notes: []string{}, scored: s, names: s.Names}
	if r.names == nil {
		for z := range s.Scores.Cols {
			r.names = append(r.names, strconv.Itoa(z))
		}
	}
	r.confusion = metrics.NewConfusion(s.Scores.Cols)
	if err := r.confusion.Add(s.Scores.Data, s.Labels); err != nil {
		panic(err) // check refuses NaN
	}
	a, top := r.confusion.Accuracy(), metrics.TopK(s.Scores, s.Labels, 5)
	r.PerClass, r.PerSample, r.Top5, r.Top5PerSample = a.PerClass, a.PerSample, top.PerClass, top.PerSample
	none := metrics.ClassInterval(nil)
	r.Intervals = Intervals{
		PerClass: metrics.TopKInterval(s.Scores, s.Labels, 1), Top5: metrics.TopKInterval(s.Scores, s.Labels, 5),
		GeneralisedInterval: metrics.GeneralisedInterval{Seen: none, Unseen: none, Mean: none},
	}
	r.ZSL, r.Intervals.ZSL = r.PerClass, r.Intervals.PerClass
	r.listClasses()
	if validation != nil {
		r.Validation = &Validation{Samples: validation.Scores.Rows, Classes: validation.Scores.Cols}
	}
	if s.Sides != nil {
		r.ZSL, r.Intervals.ZSL = s.zsl()
		r.generalise(validation)
	}
	c.calibrate(r, validation)
	return r
}

// listClasses lists the most frequent mistakes and the accuracy of each class.
func (r *Result) listClasses() {
	mistakes := r.confusion.Mistakes()
	for _, m := range mistakes[:min(maxMistakes, len(mistakes))] {
		r.Mistakes = append(r.Mistakes, Mistake{r.names[m.True], r.names[m.Predicted], m.Samples, m.Share})
	}
	sides := r.scored.Sides
	samples, accuracy := r.confusion.Recall()
	for z, n := range samples {
		if n > 0 {
			r.ByClass = append(r.ByClass, ClassAccuracy{r.names[z], sides == nil || sides[z], n, accuracy[z]})
		}
	}
}

// zsl returns the accuracy of the unseen classes among themselves.
func (s *Scored) zsl() (float64, metrics.Interval) {
	alone := s.Alone
	if alone == nil {
		scores, labels := metrics.Among(s.Scores, s.Labels, s.Sides.Classes(true))
		alone = &Scored{Scores: scores, Labels: labels}
	}
	return metrics.TopK(alone.Scores, alone.Labels, 1).PerClass, metrics.TopKInterval(alone.Scores, alone.Labels, 1)
}

// generalise compares seen and unseen classes without and with gamma.
func (r *Result) generalise(validation *Scored) {
	s := r.scored
	stacking := metrics.NewStacking(s.Scores, s.Labels, s.Sides)
	plain := stacking.At(0)
	r.Seen, r.Unseen, r.HarmonicMean = &plain.Seen, &plain.Unseen, &plain.Mean
	r.Intervals.GeneralisedInterval = stacking.Interval(0)
	r.curve = stacking.Curve()
	area := metrics.AUSUC(r.curve)
	r.AUSUC = &area
	if validation == nil {
		return
	}
	v := metrics.NewStacking(validation.Scores, validation.Labels, validation.Sides)
	gamma := v.Best()
	r.Calibrated = &Stacking{gamma, stacking.At(gamma), stacking.Interval(gamma)}
	mean := v.At(gamma).Mean
	r.Validation.HarmonicMean = &mean
}

func (r *Result) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// Scores returns the scores that were evaluated, samples x classes; for an ensemble the
// logs of the mean probabilities.
func (r *Result) Scores() dataset.Matrix[float32] { return r.scored.Scores }

package evaluation

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/train/metrics"
)

// Scored is samples with scores, to be judged or to validate by.
type Scored struct {
	Scores dataset.Matrix[float32] // samples x classes
	Labels []int                   // columns of Scores
	Kind   ScoreKind
	// Sides says which classes are unseen where the others are seen, as in generalised
	// zero-shot learning. It is nil where all are unseen.
	Sides metrics.Sides
	// Alone is the samples of unseen classes, scored for these alone. Where it is nil,
	// the columns of the others are left out.
	Alone *Scored
	Names []string // of the classes; nil for numbers
	Rows  []int    // of the samples in their data set; nil for 0, 1, 2...
}

// classes names the classes.
func (s *Scored) classes() []string {
	if s.Names != nil {
		return s.Names
	}
	names := make([]string, s.Scores.Cols)
	for z := range names {
		names[z] = strconv.Itoa(z)
	}
	return names
}

// Evaluation is what scores are worth. Accuracies are fractions, and means over
// classes where nothing else is said. What there is no number for is null, and Notes
// say why.
type Result struct {
	Source Source `json:"source"`

	Samples int `json:"samples"`
	Classes int `json:"classes"` // that are chosen between

	PerClass      float64 `json:"per_class_accuracy"`
	PerSample     float64 `json:"per_sample_accuracy"`
	Top5          float64 `json:"top5"`
	Top5PerSample float64 `json:"top5_per_sample"`

	ZSL float64 `json:"zsl"` // of the unseen classes, chosen between these alone
	// Of seen and unseen classes, chosen between all.
	Seen         *float64         `json:"seen"`
	Unseen       *float64         `json:"unseen"`
	HarmonicMean *float64         `json:"harmonic_mean"`
	AUSUC        *float64         `json:"ausuc"`      // area under the seen-unseen curve
	Calibrated   *StackedAccuracy `json:"calibrated"` // by a gamma that validation chose

	Kind ScoreKind `json:"score_kind"`
	Trust
	Temperature *Tempered `json:"temperature"` // that validation chose

	Mistakes []NamedMistake  `json:"mistakes"` // the most frequent ones
	ByClass  []ClassAccuracy `json:"by_class"`

	Validation *ValidationSource `json:"validation"`
	Notes      []string          `json:"notes"`

	scored    *Scored
	names     []string
	confusion metrics.Confusion
	curve     []metrics.Point // nil without seen classes
}

// EvaluationSource says what is judged.
type Source struct {
	Split   string           `json:"split,omitempty"` // val, test or gzsl
	Dataset string           `json:"dataset,omitempty"`
	Models  []EvaluatedModel `json:"models,omitempty"` // an ensemble where they are several
	Scores  string           `json:"scores,omitempty"` // the files, where other programs wrote them
	Labels  string           `json:"labels,omitempty"`
}

// EvaluatedModel is one of the models that judge.
type EvaluatedModel struct {
	Path     string  `json:"path"`
	Method   string  `json:"method"`
	Seed     uint64  `json:"seed"`
	PerClass float64 `json:"per_class_accuracy"` // of it alone
}

// ValidationSource says what chose gamma and the temperature.
type ValidationSource struct {
	Of           []string `json:"of"` // folders of runs, or the files of scores
	Samples      int      `json:"samples"`
	Classes      int      `json:"classes"`
	HarmonicMean *float64 `json:"harmonic_mean"` // with gamma
	NLL          *float64 `json:"nll"`           // with the temperature
}

// StackedAccuracy is what calibrated stacking comes to.
type StackedAccuracy struct {
	Gamma float64 `json:"gamma"` // subtracted from the scores of seen classes
	metrics.Generalised
}

// NamedMistake is a class that was taken for another.
type NamedMistake struct {
	True    string  `json:"true"`
	Named   string  `json:"named"`
	Samples int     `json:"samples"`
	Share   float64 `json:"share"` // of the samples of the true class
}

// ClassAccuracy is how a class fares.
type ClassAccuracy struct {
	Class    string  `json:"class"`
	Unseen   bool    `json:"unseen"`
	Samples  int     `json:"samples"`
	Accuracy float64 `json:"accuracy"`
}

// EvaluateConfig says how scores are judged.
type Config struct {
	Bins int // of the reliability diagram
}

// Check returns an error for what nothing can be judged with.
func (c Config) Check() error {
	if c.Bins < 1 {
		return fmt.Errorf("bins: expected at least 1, found %d", c.Bins)
	}
	return nil
}

// mostMistakes is how many pairs of classes are listed; all are in the confusion.
const mostMistakes = 10

// Evaluate judges scores. validation, where it is not nil, chooses gamma and the
// temperature. Both must have passed check.
func (c Config) Evaluate(s, validation *Scored) *Result {
	e := &Result{Samples: s.Scores.Rows, Classes: s.Scores.Cols, Kind: s.Kind, Notes: []string{}, scored: s, names: s.classes()}
	e.confusion = metrics.NewConfusion(s.Scores.Cols)
	e.confusion.Add(s.Scores.Data, s.Labels)
	a, top := e.confusion.Accuracy(), metrics.TopK(s.Scores, s.Labels, 5)
	e.PerClass, e.PerSample, e.Top5, e.Top5PerSample = a.PerClass, a.PerSample, top.PerClass, top.PerSample
	e.ZSL = e.PerClass
	e.listClasses(s.Sides)
	if validation != nil {
		e.Validation = &ValidationSource{Samples: validation.Scores.Rows, Classes: validation.Scores.Cols}
	}
	if s.Sides != nil {
		e.ZSL = s.zsl()
		e.generalise(s, validation)
	}
	c.trust(e, s, validation)
	return e
}

// listClasses fills in what is said of single classes.
func (e *Result) listClasses(sides metrics.Sides) {
	for i, m := range e.confusion.Mistakes() {
		if i == mostMistakes {
			break
		}
		e.Mistakes = append(e.Mistakes, NamedMistake{e.names[m.True], e.names[m.Named], m.Samples, m.Share})
	}
	samples, right := e.confusion.Recall()
	for z, n := range samples {
		if n > 0 {
			e.ByClass = append(e.ByClass, ClassAccuracy{e.names[z], sides == nil || sides[z], n, right[z]})
		}
	}
}

// zsl is the accuracy of the unseen classes among themselves.
func (s *Scored) zsl() float64 {
	alone := s.Alone
	if alone == nil {
		scores, labels := metrics.Among(s.Scores, s.Labels, s.Sides.Classes(true))
		alone = &Scored{Scores: scores, Labels: labels}
	}
	return metrics.TopK(alone.Scores, alone.Labels, 1).PerClass
}

// generalise compares seen and unseen classes, as they are scored and with gamma.
func (e *Result) generalise(s, validation *Scored) {
	stacking := metrics.NewStacking(s.Scores, s.Labels, s.Sides)
	plain := stacking.At(0)
	e.Seen, e.Unseen, e.HarmonicMean = &plain.Seen, &plain.Unseen, &plain.Mean
	e.curve = stacking.Curve()
	area := metrics.AUSUC(e.curve)
	e.AUSUC = &area
	if validation == nil {
		return
	}
	v := metrics.NewStacking(validation.Scores, validation.Labels, validation.Sides)
	gamma := v.Best()
	e.Calibrated = &StackedAccuracy{gamma, stacking.At(gamma)}
	mean := v.At(gamma).Mean
	e.Validation.HarmonicMean = &mean
}

// check returns an error where s can't be judged. The scores are told by one name,
// and the labels by another.
func (s *Scored) check(scores, labels string) error {
	if err := metrics.CheckScores(s.Scores); err != nil {
		return fmt.Errorf("%s: %w", scores, err)
	}
	if err := metrics.CheckLabels(s.Labels, s.Scores.Rows, s.Scores.Cols); err != nil {
		return fmt.Errorf("%s, of %s: %w", labels, scores, err)
	}
	if s.Sides != nil {
		if err := s.Sides.Check(s.Labels); err != nil {
			return fmt.Errorf("%s: %w", cmp.Or(labels, scores), err)
		}
	}
	return nil
}

// Scores are those that were judged: samples x classes, the mean probabilities of an
// ensemble as logs.
func (e *Result) Scores() dataset.Matrix[float32] { return e.scored.Scores }

package predictor

import (
	"fmt"
	"image"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/model"
)

// Explanation is the prediction of one sample by a model of LAGO, in float64, with the reasons for it. Names
// are those of the data set.
type Explanation struct {
	Dataset    string           `json:"dataset"` // that the model was trained on
	Method     model.Variant    `json:"method"`
	Prior      model.Prior      `json:"prior"`      // kind of attribute prior
	Complement model.Complement `json:"complement"` // kind of none-of-group term
	Attributes int              `json:"attributes"`

	Sample     Sample `json:"sample"`
	Candidates string `json:"candidates"` // as in "test classes"
	Classes    int    `json:"classes"`    // number of candidates

	// T of the probabilities; log odds and contributions are divided by it
	Temperature float64 `json:"temperature"`

	Predicted string        `json:"predicted"`
	Correct   *bool         `json:"correct"`    // null if the true class is not known, or no candidate
	Likely    []Probability `json:"likely"`     // the most likely classes, at most five
	Label     *Probability  `json:"true_class"` // null where correct is
	// share of the held-out samples of described classes that fit their best class less well; null if not
	// measured
	Fit *float64 `json:"fit"`

	Comparisons []Comparison `json:"comparisons"` // with the runner-up, and with the true or another class
}

// Sample identifies a sample.
type Sample struct {
	Index   int         `json:"index"`        // in the data set or file, from 0
	ID      string      `json:"id,omitempty"` // as the data set or the image is named
	From    string      `json:"from"`         // the data set or file
	Label   *string     `json:"label"`        // its true class; null if not known
	Trained bool        `json:"trained"`      // whether the model was trained on samples of the true class
	Picture image.Image `json:"-"`            // nil if there is none
}

// FindSample returns a sample of a data set by its id or index.
func FindSample(d *dataset.Dataset, name string) (Sample, error) {
	row, err := slices.Index(d.IDs, dataset.Name(name)), error(nil)
	if row < 0 {
		row, err = strconv.Atoi(name)
	}
	if err != nil || row < 0 || row >= d.Features.Rows {
		e := &invalid.Error{
			Field: "sample",
			Want:  fmt.Sprintf("the index of a sample of %s, 0 to %d", d.Name, d.Features.Rows-1),
			Got:   invalid.Quote(name),
		}
		if d.IDs != nil {
			e.Want, e.Hint = e.Want+", or its id", invalid.DidYouMean(name, d.IDs)
		}
		return Sample{}, e
	}
	s := Sample{Index: row, From: d.Name, Label: &d.Classes[d.Labels[row]]}
	if d.IDs != nil {
		s.ID = d.IDs[row]
	}
	return s, nil
}

// Probability is that of one class.
type Probability struct {
	Class string  `json:"class"`
	Rank  int     `json:"rank"` // from 1
	P     float64 `json:"p"`    // p(z|x), with the temperature
	LogP  float64 `json:"log_p"`
}

// Question is the prediction to explain.
type Question struct {
	Predictor *Predictor
	Sample    Sample
	X         dataset.Matrix[float32] // features as they are in the data set
	Row       int                     // of X, the sample's
	Against   string                  // the class to compare the prediction with; "" for the runner-up
}

const mostLikely = 5 // classes listed with their probability

// Explain compares the predicted class with the one asked for or, by default, with the
// runner-up and, if the prediction is wrong, with the true class.
func Explain(q Question) (*Explanation, error) {
	p := q.Predictor
	lago, err := p.LAGO()
	if err != nil {
		return nil, err
	}
	if n := len(p.Candidates.Names); n < 2 {
		return nil, &invalid.Error{
			Where: p.Candidates.What, Want: "at least two classes to choose from", Got: strconv.Itoa(n),
		}
	}
	a, err := p.answer(q.X, q.Row)
	if err != nil {
		return nil, err
	}
	r := &Explanation{
		Dataset: p.Dataset, Method: lago.Config.Variant, Prior: lago.Config.Prior,
		Complement: lago.Config.Complement, Attributes: len(p.Attributes), Sample: q.Sample,
		Candidates: p.Candidates.What, Classes: len(a.order), Temperature: p.Temperature,
		Predicted: p.Candidates.Names[a.order[0]], Fit: a.fit,
	}
	for rank := range min(mostLikely, len(a.order)) {
		r.Likely = append(r.Likely, a.class(rank))
	}
	label := slices.IndexFunc(a.order, func(z int) bool {
		return q.Sample.Label != nil && p.Candidates.Names[z] == *q.Sample.Label
	})
	if label >= 0 {
		own, correct := a.class(label), label == 0
		r.Label, r.Correct = &own, &correct
	}
	others := []other{{1, RunnerUp}}
	switch {
	case q.Against != "":
		rank, err := a.find(q.Against)
		if err != nil {
			return nil, err
		}
		others = []other{{rank, Requested}}
	case label == 1:
		others[0].reason = TrueClass
	case label > 1:
		others = append(others, other{label, TrueClass})
	}
	for _, o := range others {
		c, err := a.compare(o)
		if err != nil {
			return nil, err
		}
		r.Comparisons = append(r.Comparisons, *c)
	}
	return r, nil
}

// answer is the prediction of one sample.
type answer struct {
	*Predictor
	detected []float64 // p(a_m|x)
	logP     []float64 // log p(z|x) of the candidates
	added    []float64 // what decide adds to the scores of the candidates
	order    []int     // the candidates, most likely first
	fit      *float64  // nil if the fit of held-out samples was not measured
}

func (p *Predictor) answer(x dataset.Matrix[float32], row int) (*answer, error) {
	detected, err := p.DetectOne(x, row)
	if err == nil && p.explainer == nil {
		p.explainer, err = p.Explainer(p.Candidates.U)
	}
	if err != nil {
		return nil, err
	}
	a := &answer{Predictor: p, detected: detected, order: p.Candidates.U.AllRows()}
	scores, err := p.explainer.LogP(dataset.Matrix[float64]{Rows: 1, Cols: len(detected), Data: detected})
	if err != nil {
		return nil, err
	}
	if p.Decision.Fit != nil {
		fit, err := p.explainer.BestFit(detected)
		if err != nil {
			return nil, err
		}
		share := p.fitShare(fit)
		a.fit = &share
	}
	a.logP, a.added = scores.Data, make([]float64, scores.Cols)
	p.decide(a.logP)
	p.decide(a.added)
	floats.AddConst(-matrix.LogSumExp(a.logP), a.logP)
	SortBy(a.order, func(z int) float64 { return a.logP[z] })
	return a, nil
}

// class returns the candidate of a rank from 0.
func (a *answer) class(rank int) Probability {
	z := a.order[rank]
	return Probability{
		Class: a.Candidates.Names[z], Rank: rank + 1, P: math.Exp(a.logP[z]), LogP: a.logP[z],
	}
}

// find returns the rank of the candidate with a name, as in the data set or as people write it: case,
// underscores, hyphens and a number in front may differ. It is not the predicted one.
func (a *answer) find(name string) (int, error) {
	fold := func(name string) string {
		return strings.ToLower(strings.ReplaceAll(format.ClassName(name), "-", " "))
	}
	name = dataset.Name(name)
	var names []string
	for _, class := range a.Candidates.Names {
		names = append(names, format.ClassName(class))
	}
	z := slices.Index(a.Candidates.Names, name)
	if z < 0 {
		z = slices.IndexFunc(names, func(class string) bool { return fold(class) == fold(name) })
	}
	rank, wrong := slices.Index(a.order, z), &invalid.Error{Field: "against", Got: invalid.Quote(name)}
	switch rank {
	case -1:
		wrong.Want = fmt.Sprintf("one of the %d %s", len(names), a.Candidates.What)
		wrong.Hint = invalid.DidYouMean(name, names)
	case 0:
		wrong.Want = "another class than the predicted one"
	default:
		return rank, nil
	}
	return 0, wrong
}

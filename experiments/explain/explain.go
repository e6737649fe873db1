// Package explain explains one prediction of a LAGO model by its attribute groups, as
// the paper's example figure does: how much each group favours the predicted class over
// another one, which detected and described attributes contribute, and which detections
// would change the prediction.
//
// The numbers are those of package model in float64; the contributions of the groups add
// up to the log odds between the two classes. They are written as text, JSON or an HTML
// page. Package predict predicts many samples without explaining them.
package explain

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/adaptation"
	"github.com/lago-train/lago-train/experiments/candidates"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

const (
	mostLikely = 5  // classes listed with their probability
	flipLimit  = 20 // detections changed at most to change the prediction
	neighbours = 5  // samples of a batch listed
)

// Question is the prediction to explain.
type Question struct {
	Sample     Sample
	X          dataset.Matrix[float32] // features as they are in the data set
	Row        int                     // of X, the sample's
	Candidates candidates.Set
	Against    string // the class to compare the prediction with; "" for the runner-up
	Top        int    // changes of single detections to list
	// Together, if set, is a batch to adapt the prediction to by the settings of the model.
	Together *Together
}

// Together is a batch of samples that predictions are adapted to.
type Together struct {
	Rows []int // of Question.X; the sample's among them
	IDs  []string
	// Picture returns the picture of a row, nil if there is none.
	Picture func(row int) (image.Image, error)
}

// FindSample returns a sample of a data set by its id or index.
func FindSample(d *dataset.Dataset, name string) (Sample, error) {
	row := slices.Index(d.IDs, name)
	if row < 0 {
		var err error
		if row, err = strconv.Atoi(name); err != nil || row < 0 || row >= d.Features.Rows {
			e := &invalid.Error{
				Field: "sample", Want: fmt.Sprintf("the index of a sample of %s, 0 to %d", d.Name, d.Features.Rows-1), Got: strconv.Quote(name),
			}
			if d.IDs != nil {
				e.Want, e.Hint = e.Want+", or its id", invalid.DidYouMean(name, d.IDs)
			}
			return Sample{}, e
		}
	}
	s := Sample{Index: row, From: d.Name, Label: &d.Classes[d.Labels[row]]}
	if d.IDs != nil {
		s.ID = d.IDs[row]
	}
	return s, nil
}

// explainer answers a question with a model.
type explainer struct {
	Question
	saved  *train.Saved
	config model.Config
	model  *model.Explainer
	a      []float64 // p(a_m|x)
	logP   []float64 // of the candidates
	order  []int     // the candidates, most likely first
}

// Explain compares the predicted class with the one asked for or, by default, with the
// runner-up and, if the prediction is wrong, with the true class.
func Explain(m *train.Saved, q Question) (*Result, error) {
	e, err := newExplainer(m, q)
	if err != nil {
		return nil, err
	}
	r := &Result{
		Dataset: m.Dataset, Variant: e.config.Variant, Prior: e.config.Prior, Complement: e.config.Complement,
		Attributes: len(m.Attributes), Sample: q.Sample, Among: q.Candidates.What, Classes: len(q.Candidates.Names),
		Predicted: q.Candidates.Names[e.order[0]],
	}
	for rank := range min(mostLikely, len(e.order)) {
		r.Likely = append(r.Likely, e.probability(rank))
	}
	label := -1
	if q.Sample.Label != nil {
		label = slices.Index(q.Candidates.Names, *q.Sample.Label)
	}
	if label >= 0 {
		p, correct := e.probability(slices.Index(e.order, label)), label == e.order[0]
		r.Label, r.Correct = &p, &correct
	}
	others, err := e.others(label)
	if err != nil {
		return nil, err
	}
	if q.Together != nil {
		if r.Adapted, err = e.adapted(q.Together); err != nil {
			return nil, err
		}
	}
	for _, o := range others {
		c, err := e.compare(o.class, o.reason)
		if err != nil {
			return nil, err
		}
		r.Comparisons = append(r.Comparisons, *c)
	}
	return r, nil
}

// newExplainer scores the sample.
func newExplainer(m *train.Saved, q Question) (*explainer, error) {
	lago, err := m.LAGO()
	if err != nil {
		return nil, err
	}
	if n := len(q.Candidates.Names); n < 2 {
		return nil, &invalid.Error{Where: q.Candidates.What, Want: "at least two classes to choose from", Got: strconv.Itoa(n)}
	}
	e := &explainer{Question: q, saved: m, config: lago.Config}
	if e.model, err = m.Explainer(q.Candidates.U); err != nil {
		return nil, err
	}
	if e.a, err = m.DetectOne(q.X, q.Row); err != nil {
		return nil, err
	}
	l, err := e.model.LogP(dataset.Matrix[float64]{Rows: 1, Cols: len(e.a), Data: e.a})
	e.logP = l.Data
	for z := range e.logP {
		e.order = append(e.order, z)
	}
	slices.SortStableFunc(e.order, func(x, y int) int { return cmp.Compare(e.logP[y], e.logP[x]) })
	return e, err
}

// probability returns that of the candidate with a rank, from 0.
func (e *explainer) probability(rank int) Probability {
	z := e.order[rank]
	return Probability{Class: e.Candidates.Names[z], Rank: rank + 1, P: math.Exp(e.logP[z]), LogP: e.logP[z]}
}

// other is a candidate to compare the predicted class with.
type other struct {
	class  int
	reason Reason
}

func (e *explainer) others(label int) ([]other, error) {
	predicted, runnerUp := e.order[0], e.order[1]
	if e.Against != "" {
		z, err := findClass(e.Candidates, e.Against)
		if err == nil && z == predicted {
			err = &invalid.Error{
				Field: "against", Want: "another class than the predicted one", Got: strconv.Quote(e.Candidates.Names[z]),
				Hint: fmt.Sprintf("The runner-up is %q.", e.Candidates.Names[runnerUp]),
			}
		}
		return []other{{z, Requested}}, err
	}
	switch label {
	case -1, predicted:
		return []other{{runnerUp, RunnerUp}}, nil
	case runnerUp:
		return []other{{runnerUp, TrueClass}}, nil
	}
	return []other{{runnerUp, RunnerUp}, {label, TrueClass}}, nil
}

// adapted adapts to the batch. The features' part of the log odds between two classes is a
// sum over its samples, up to a constant for each class:
//
//	tau x (mu_a - mu_b) = sum_n tau x x_n (P[n,a]/(mass_a + Shrinkage) - P[n,b]/(mass_b + Shrinkage))
func (e *explainer) adapted(t *Together) (*Adapted, error) {
	r, err := adaptation.Predict(e.saved, e.X, t.Rows, e.Candidates.U)
	if err != nil {
		return nil, err
	}
	place := slices.Index(t.Rows, e.Row)
	own, class := e.order[0], metrics.Argmax(r.P.Row(place))
	a := &Adapted{
		Samples: len(t.Rows), Predicted: e.Candidates.Names[class], P: float64(r.P.Row(place)[class]),
		LogOdds: e.logP[own] - e.logP[class], Changed: own != class, Neighbours: []Neighbour{},
	}
	if !a.Changed {
		return a, nil
	}
	massOfClass, massOfOwn := float64(adapt.Shrinkage), float64(adapt.Shrinkage)
	for i := range t.Rows {
		massOfClass += float64(r.P.Row(i)[class])
		massOfOwn += float64(r.P.Row(i)[own])
	}
	x := r.Blocks[0].X // normalised
	for i, row := range t.Rows {
		p := r.P.Row(i)
		cosine := float64(blas32.Implementation().Sdot(x.Cols, x.Row(place), 1, x.Row(i), 1))
		n := Neighbour{
			Sample: row, Predicted: e.Candidates.Names[metrics.Argmax(p)], Cosine: cosine,
			LogOdds: e.saved.Adaptation.Tau * cosine * (float64(p[class])/massOfClass - float64(p[own])/massOfOwn),
		}
		if t.IDs != nil {
			n.ID = t.IDs[row]
		}
		if i != place && n.LogOdds > 0 {
			a.Neighbours = append(a.Neighbours, n)
		}
	}
	slices.SortStableFunc(a.Neighbours, func(x, y Neighbour) int { return cmp.Compare(y.LogOdds, x.LogOdds) })
	a.Neighbours = slices.Clip(a.Neighbours[:min(neighbours, len(a.Neighbours))])
	for i := range a.Neighbours {
		if t.Picture != nil && err == nil {
			a.Neighbours[i].Picture, err = t.Picture(a.Neighbours[i].Sample)
		}
	}
	return a, err
}

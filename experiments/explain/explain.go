package explain

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/candidates"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

const (
	mostLikely = 5  // classes listed with their probability
	flipLimit  = 20 // detections changed at most to change the prediction
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
	row := slices.Index(d.IDs, name)
	if row < 0 {
		n, err := strconv.Atoi(name)
		if err != nil || n < 0 || n >= d.Features.Rows {
			e := &invalid.Error{
				Where: "--sample", Want: fmt.Sprintf("the index of a sample of %s, 0 to %d", d.Name, d.Features.Rows-1), Got: strconv.Quote(name),
			}
			if d.IDs != nil {
				e.Want, e.Hint = e.Want+", or its id", invalid.DidYouMean(name, d.IDs)
			}
			return Sample{}, e
		}
		row = n
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
	saved *train.Saved
	lago  *model.LAGO
	model *model.Explainer
	a     []float64 // p(a_m|x)
	logP  []float64 // of the candidates
	order []int     // the candidates, most likely first
}

// Explain compares the predicted class with the one asked for or, by default, with the
// runner-up and, if the prediction is wrong, with the true class.
func Explain(m *train.Saved, q Question) (*Result, error) {
	e, err := newExplainer(m, q)
	if err != nil {
		return nil, err
	}
	r := &Result{
		Dataset: m.Dataset, Variant: e.lago.Config.Variant, Prior: e.lago.Config.Prior, Complement: e.lago.Config.Complement,
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
	pairs, err := e.pairs(label)
	if err != nil {
		return nil, err
	}
	if q.Together != nil {
		if r.Adapted, err = e.adapted(q.Together); err != nil {
			return nil, err
		}
	}
	for _, p := range pairs {
		c, err := e.compare(p.against, p.reason)
		if err != nil {
			return nil, err
		}
		r.Comparisons = append(r.Comparisons, *c)
	}
	return r, nil
}

// newExplainer scores the sample.
func newExplainer(m *train.Saved, q Question) (*explainer, error) {
	lago, err := m.LAGO("explain")
	if err != nil {
		return nil, err
	}
	if n := len(q.Candidates.Names); n < 2 {
		return nil, &invalid.Error{Where: q.Candidates.What, Want: "at least two classes to choose from", Got: strconv.Itoa(n)}
	}
	e := &explainer{Question: q, saved: m, lago: lago}
	if e.model, err = lago.Explainer(q.Candidates.U); err != nil {
		return nil, err
	}
	if e.a, err = lago.DetectOne(q.X, q.Row); err != nil {
		return nil, err
	}
	l, err := e.model.LogP(dataset.Matrix[float64]{Rows: 1, Cols: len(e.a), Data: e.a})
	if err != nil {
		return nil, err
	}
	e.logP = l.Data
	for z := range e.logP {
		e.order = append(e.order, z)
	}
	slices.SortStableFunc(e.order, func(x, y int) int { return cmp.Compare(e.logP[y], e.logP[x]) })
	return e, nil
}

// probability returns that of the candidate with a rank, from 0.
func (e *explainer) probability(rank int) Probability {
	z := e.order[rank]
	return Probability{Class: e.Candidates.Names[z], Rank: rank + 1, P: math.Exp(e.logP[z]), LogP: e.logP[z]}
}

// pair is a class to compare the predicted class with.
type pair struct {
	against int
	reason  Reason
}

func (e *explainer) pairs(label int) ([]pair, error) {
	predicted, runnerUp := e.order[0], e.order[1]
	if e.Against != "" {
		z, err := findClass(e.Candidates, e.Against)
		if err != nil {
			return nil, err
		}
		if z == predicted {
			return nil, &invalid.Error{
				Where: "--against", Want: "another class than the predicted one", Got: strconv.Quote(e.Candidates.Names[z]),
				Hint: fmt.Sprintf("The runner-up is %q.", e.Candidates.Names[runnerUp]),
			}
		}
		return []pair{{z, Requested}}, nil
	}
	list := []pair{{runnerUp, RunnerUp}}
	switch label {
	case -1, predicted:
	case runnerUp:
		list[0].reason = TrueClass
	default:
		list = append(list, pair{label, TrueClass})
	}
	return list, nil
}

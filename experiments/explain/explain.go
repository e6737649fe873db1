// Package explain explains one prediction of a LAGO model by its attribute groups, as
// the paper's example figure does: how much each group favours the predicted class over
// another one, which detected and described attributes contribute, and which detections
// would change the prediction.
//
// The contributions are those of package predictor. This package adds what other detections
// would change and what a batch changes, and writes all as text, JSON or an HTML page.
package explain

import (
	"fmt"
	"image"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/predictor"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/adapt"
	"github.com/lago-train/lago-train/train/metrics"
)

const (
	mostLikely = 5  // classes listed with their probability
	flipLimit  = 20 // detections changed at most to change the prediction
	neighbours = 5  // samples of a batch listed
)

// Thresholds of substitutions, close to the paper's example: 0.6 and 0.5 described, 0.1 and
// 0.7 detected. In soft groups an attribute counts in the group that has most of it.
const (
	minGamma     = 0.5
	minDescribed = 0.3
	maxMissed    = 0.2
)

// Question is the prediction to explain.
type Question struct {
	Predictor *predictor.Predictor
	Sample    Sample
	X         dataset.Matrix[float32] // features as they are in the data set
	Row       int                     // of X, the sample's
	Against   string                  // the class to compare the prediction with; "" for the runner-up
	Top       int                     // changes of single detections to list
	// Batch is what the prediction is adapted to, if the predictor adapts to a batch of its size.
	Batch Batch
}

// Batch is samples that predictions are adapted to.
type Batch struct {
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
				Field: "sample", Want: fmt.Sprintf("the index of a sample of %s, 0 to %d", d.Name, d.Features.Rows-1), Got: invalid.Quote(name),
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

// explainer answers a question.
type explainer struct {
	Question
	answer *predictor.Answer
}

// Explain compares the predicted class with the one asked for or, by default, with the
// runner-up and, if the prediction is wrong, with the true class.
func Explain(q Question) (*Result, error) {
	p := q.Predictor
	answer, err := p.Answer(q.X, q.Row)
	if err != nil {
		return nil, err
	}
	e := &explainer{q, answer}
	lago, _ := p.LAGO() // see Answer
	r := &Result{
		Dataset: p.Dataset, Variant: lago.Config.Variant, Prior: lago.Config.Prior, Complement: lago.Config.Complement,
		Attributes: len(p.Attributes), Sample: q.Sample, Candidates: p.Candidates.What, Classes: len(answer.Order),
		Predicted: answer.Class(1).Class, Likely: answer.Likely(mostLikely), Temperature: p.Temperature,
	}
	if label := slices.IndexFunc(answer.Order, func(z int) bool { return q.Sample.Label != nil && p.Candidates.Names[z] == *q.Sample.Label }); label >= 0 {
		of, correct := answer.Class(label+1), label == 0
		r.Label, r.Correct = &of, &correct
	}
	others, err := answer.Others(q.Against, q.Sample.Label)
	if err != nil {
		return nil, err
	}
	if p.AdaptsTo(len(q.Batch.Rows)) {
		if r.Adapted, err = e.adapted(); err != nil {
			return nil, err
		}
	}
	for _, other := range others {
		c, err := e.compare(other)
		if err != nil {
			return nil, err
		}
		r.Comparisons = append(r.Comparisons, *c)
	}
	return r, nil
}

// adapted adapts to the batch. The features' part of the log odds between two classes is a
// sum over its samples, up to a constant for each class:
//
//	tau x (mu_a - mu_b) = sum_n tau x x_n (P[n,a]/(mass_a + Shrinkage) - P[n,b]/(mass_b + Shrinkage))
func (e *explainer) adapted() (*Adapted, error) {
	p, names, rows := e.Predictor, e.Predictor.Candidates.Names, e.Batch.Rows
	b, err := p.Batch(e.X, rows, p.Candidates.U)
	if err != nil {
		return nil, err
	}
	r, err := predictor.Adapt([]adapt.Block{b}, p.Adaptation.Settings)
	if err != nil {
		return nil, err
	}
	place := slices.Index(rows, e.Row)
	own, class := e.answer.Order[0], metrics.Argmax(r.P.Row(place))
	a := &Adapted{
		Samples: len(rows), Predicted: names[class], P: float64(r.P.Row(place)[class]),
		LogOdds: e.answer.LogP[own] - e.answer.LogP[class], Changed: own != class, Neighbours: []Neighbour{},
	}
	if !a.Changed {
		return a, nil
	}
	massOfClass, massOfOwn := float64(adapt.Shrinkage), float64(adapt.Shrinkage)
	for i := range rows {
		massOfClass += float64(r.P.Row(i)[class])
		massOfOwn += float64(r.P.Row(i)[own])
	}
	x := b.X // normalised
	for i, row := range rows {
		posterior := r.P.Row(i)
		n := Neighbour{Sample: row, Predicted: names[metrics.Argmax(posterior)]}
		n.Cosine = float64(blas32.Implementation().Sdot(x.Cols, x.Row(place), 1, x.Row(i), 1))
		n.LogOdds = p.Adaptation.Tau * n.Cosine * (float64(posterior[class])/massOfClass - float64(posterior[own])/massOfOwn)
		if e.Batch.IDs != nil {
			n.ID = e.Batch.IDs[row]
		}
		if i != place && n.LogOdds > 0 {
			a.Neighbours = append(a.Neighbours, n)
		}
	}
	predictor.SortBy(a.Neighbours, func(n Neighbour) float64 { return n.LogOdds })
	a.Neighbours = a.Neighbours[:min(neighbours, len(a.Neighbours))]
	for i := range a.Neighbours {
		if e.Batch.Picture != nil && err == nil {
			a.Neighbours[i].Picture, err = e.Batch.Picture(a.Neighbours[i].Sample)
		}
	}
	return a, err
}

// compare compares the predicted class with another one, and adds what other detections change.
func (e *explainer) compare(other predictor.Other) (*Comparison, error) {
	parts, err := e.answer.Compare(other)
	if err != nil {
		return nil, err
	}
	c := &Comparison{Comparison: *parts, Substitutions: []Substitution{}, Changes: []Change{}, Flip: Flip{Limit: flipLimit, Changes: []Change{}}}
	class, detected := e.answer.Order[0], e.answer.Detected
	changes, err := e.answer.Changes(detected, class, other.Class)
	if err != nil {
		return nil, err
	}
	gain := map[string]float64{} // if an attribute is detected with certainty
	for i, one := range changes {
		change := e.change(one, c.LogOdds)
		if i < e.Top {
			c.Changes = append(c.Changes, change)
		}
		if change.To == 1 {
			gain[change.Attribute] = change.By
		}
	}
	for _, g := range c.Groups {
		c.Substitutions = append(c.Substitutions, substitutions(g, gain)...)
	}
	flip, found, err := e.answer.Flip(detected, class, other.Class, flipLimit)
	c.Flip.Found = found
	before := c.LogOdds
	for _, one := range flip {
		change := e.change(one, before)
		c.Flip.Changes, before = append(c.Flip.Changes, change), change.LogOdds
	}
	return c, err
}

// change returns a change with its effect on the log odds, which were before.
func (e *explainer) change(c model.Counterfactual, before float64) Change {
	odds := c.LogOdds / e.Predictor.Temperature
	return Change{
		Attribute: e.Predictor.Attributes[c.Attribute], From: c.From, To: c.To,
		LogOdds: odds, By: odds - before, Predicted: e.Predictor.Candidates.Names[c.Predicted],
	}
}

// substitutions lists the attributes of a group that the class is described by and that were not
// detected, with the attribute of the group that was. gain is the effect of detecting an attribute
// with certainty.
func substitutions(g predictor.Group, gain map[string]float64) (list []Substitution) {
	var substitute predictor.Term
	for _, t := range g.Terms {
		if describes(t) && t.Detected >= predictor.MinDetected && (substitute.Attribute == "" || t.Term.Class > substitute.Term.Class) {
			substitute = t
		}
	}
	if g.Contribution < 0 || substitute.Attribute == "" {
		return nil
	}
	for _, t := range g.Terms {
		if describes(t) && t.Detected <= maxMissed {
			list = append(list, Substitution{g.Name, t.Attribute, substitute.Attribute, gain[t.Attribute]})
		}
	}
	return list
}

// describes reports whether the predicted class is described by the attribute.
func describes(t predictor.Term) bool {
	return t.Gamma >= minGamma && t.Described.Class != nil && *t.Described.Class >= minDescribed
}

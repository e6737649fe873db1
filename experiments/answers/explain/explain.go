// Package explain explains one prediction of a LAGO model by its attribute groups, as the paper's
// example figure does, and writes the explanation as text, JSON or an HTML page. To the contributions,
// which package predictor answers, it adds what other detections and what a batch would change.
package explain

import (
	"fmt"
	"image"
	"path/filepath"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/answers/predictor"
	"github.com/lago-train/lago-train/internal/format"
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
	row, err := slices.Index(d.IDs, dataset.Name(name)), error(nil)
	if row < 0 {
		row, err = strconv.Atoi(name)
	}
	if err != nil || row < 0 || row >= d.Features.Rows {
		e := &invalid.Error{Field: "sample", Want: fmt.Sprintf("the index of a sample of %s, 0 to %d", d.Name, d.Features.Rows-1), Got: invalid.Quote(name)}
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

// Explain compares the predicted class with the one asked for or, by default, with the
// runner-up and, if the prediction is wrong, with the true class.
func Explain(q Question) (*Result, error) {
	p := q.Predictor
	answer, err := p.Answer(q.X, q.Row)
	if err != nil {
		return nil, err
	}
	lago, _ := p.LAGO() // see Answer
	r := &Result{
		Dataset: p.Dataset, Variant: lago.Config.Variant, Prior: lago.Config.Prior, Complement: lago.Config.Complement,
		Attributes: len(p.Attributes), Sample: q.Sample, Candidates: p.Candidates.What, Classes: len(answer.Order),
		Predicted: answer.Class(1).Class, Likely: answer.Likely(mostLikely), Fit: answer.Fit, Temperature: p.Temperature,
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
		if r.Adapted, err = q.adapted(answer); err != nil {
			return nil, err
		}
	}
	for _, other := range others {
		c, err := q.compare(answer, other)
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
func (q *Question) adapted(answer *predictor.Answer) (*Adapted, error) {
	p, names, rows := q.Predictor, q.Predictor.Candidates.Names, q.Batch.Rows
	b, _, err := p.Batch(q.X, rows, p.Candidates.U)
	if err != nil {
		return nil, err
	}
	r, err := predictor.Adapt([]adapt.Block{b}, p.Adaptation.Settings, p.ForceAdapt)
	if err != nil {
		return nil, err
	}
	place := slices.Index(rows, q.Row)
	own, class := answer.Order[0], metrics.Argmax(r.P.Row(place))
	a := &Adapted{
		Samples: len(rows), Predicted: names[class], P: float64(r.P.Row(place)[class]),
		LogOdds: answer.LogP[own] - answer.LogP[class], Changed: own != class && !r.Declined, Declined: r.Declined, Neighbours: []Neighbour{},
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
		if q.Batch.IDs != nil {
			n.ID = q.Batch.IDs[row]
		}
		if i != place && n.LogOdds > 0 {
			a.Neighbours = append(a.Neighbours, n)
		}
	}
	predictor.SortBy(a.Neighbours, func(n Neighbour) float64 { return n.LogOdds })
	a.Neighbours = a.Neighbours[:min(neighbours, len(a.Neighbours))]
	for i := range a.Neighbours {
		if q.Batch.Picture != nil && err == nil {
			a.Neighbours[i].Picture, err = q.Batch.Picture(a.Neighbours[i].Sample)
		}
	}
	return a, err
}

// compare compares the predicted class with another one, and adds what other detections change.
func (q *Question) compare(answer *predictor.Answer, other predictor.Other) (*Comparison, error) {
	parts, err := answer.Compare(other)
	if err != nil {
		return nil, err
	}
	c := &Comparison{Comparison: *parts, Substitutions: []Substitution{}, Changes: []Change{}, Flip: Flip{Limit: flipLimit, Changes: []Change{}}}
	class, detected := answer.Order[0], answer.Detected
	change := func(x model.Counterfactual, before float64) Change {
		odds := x.LogOdds / q.Predictor.Temperature
		return Change{q.Predictor.Attributes[x.Attribute], x.From, x.To, odds, odds - before, q.Predictor.Candidates.Names[x.Predicted]}
	}
	changes, err := answer.Changes(detected, class, other.Class)
	if err != nil {
		return nil, err
	}
	gain := map[string]float64{} // if an attribute is detected with certainty
	for i, x := range changes {
		one := change(x, c.LogOdds)
		if i < q.Top {
			c.Changes = append(c.Changes, one)
		}
		if one.To == 1 {
			gain[one.Attribute] = one.By
		}
	}
	for _, g := range c.Groups {
		c.Substitutions = append(c.Substitutions, substitutions(g, gain)...)
	}
	flip, found, err := answer.Flip(detected, class, other.Class, flipLimit)
	c.Flip.Found = found
	before := c.LogOdds
	for _, x := range flip {
		one := change(x, before)
		c.Flip.Changes, before = append(c.Flip.Changes, one), one.LogOdds
	}
	return c, err
}

// substitutions lists the attributes of a group that the class is described by and that were not detected,
// with the attribute of the group that was. gain is the effect of detecting an attribute with certainty.
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

// Result explains one prediction. Names are those of the data set.
type Result struct {
	Dataset    string           `json:"dataset"` // that the model was trained on
	Variant    model.Variant    `json:"variant"`
	Prior      model.Prior      `json:"prior"`      // kind of attribute prior
	Complement model.Complement `json:"complement"` // kind of none-of-group term
	Attributes int              `json:"attributes"`

	Sample     Sample `json:"sample"`
	Candidates string `json:"candidates"` // as in "test classes"
	Classes    int    `json:"classes"`    // number of candidates

	Temperature float64 `json:"temperature"` // T of the probabilities; log odds, contributions and gains are divided by it

	Predicted string                  `json:"predicted"`
	Correct   *bool                   `json:"correct"`    // null if the true class is not known, or no candidate
	Likely    []predictor.Probability `json:"likely"`     // the most likely classes, at most five
	Label     *predictor.Probability  `json:"true_class"` // null where correct is
	// share of the held-out samples of described classes that fit their best class less well; null if not measured
	Fit *float64 `json:"fit"`

	Adapted *Adapted `json:"adapted,omitempty"` // transductive prediction, with --adapt

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

// Adapted is the prediction adapted to a batch (transductive), and the samples that moved it.
type Adapted struct {
	Samples   int     `json:"samples"` // of the batch
	Predicted string  `json:"predicted"`
	P         float64 `json:"p"`        // its adapted probability
	LogOdds   float64 `json:"log_odds"` // of the class predicted without adaptation over the adapted one, without adaptation
	Changed   bool    `json:"changed"`
	Declined  bool    `json:"declined"` // whether nothing was adapted, since most candidates seem to be absent
	// samples that favour the adapted class most, at most five; none if the prediction did not change
	Neighbours []Neighbour `json:"neighbours"`
}

// Neighbour is another sample of the batch.
type Neighbour struct {
	Sample    int         `json:"index"`
	ID        string      `json:"id,omitempty"`
	Predicted string      `json:"predicted"` // adapted
	Cosine    float64     `json:"cosine"`    // of the preprocessed, centred features
	LogOdds   float64     `json:"log_odds"`  // what it adds to the adapted class over the model's own
	Picture   image.Image `json:"-"`
}

// Comparison compares the predicted class with another one.
type Comparison struct {
	predictor.Comparison

	Substitutions []Substitution `json:"substitutions"` // described attributes that were not detected, and what replaced them

	Changes []Change `json:"changes"` // of single detections, those that change the log odds most
	Flip    Flip     `json:"flip"`    // the fewest changes found that reverse the prediction
}

// Substitution is the soft OR at work: of two described attributes of a group one was detected.
type Substitution struct {
	Group      string  `json:"group"`
	Missed     string  `json:"missed"`                    // described, but not detected
	Substitute string  `json:"substitute"`                // detected in its place
	Gain       float64 `json:"log_odds_gain_if_detected"` // if the missed attribute had been detected with certainty
}

// Change is the effect of another detection of one attribute.
type Change struct {
	Attribute string  `json:"attribute"`
	From      float64 `json:"from"`      // p(a|x)
	To        float64 `json:"to"`        // 1 or 0
	LogOdds   float64 `json:"log_odds"`  // of the two compared classes after the change
	By        float64 `json:"by"`        // difference to the log odds before
	Predicted string  `json:"predicted"` // class predicted after the change, which can be a third
}

// Flip is a set of changes after which the other class is more likely, as a greedy search finds it.
type Flip struct {
	Found   bool     `json:"found"`
	Limit   int      `json:"limit"`   // of the number of changes
	Changes []Change `json:"changes"` // cumulative; as far as the search went if none was found
}

// name says which sample it is.
func (s Sample) name() string {
	from := format.Printable(s.From)
	switch s.ID {
	case "":
		return fmt.Sprintf("sample %d of %s", s.Index, from)
	case s.From:
		return "photograph " + filepath.Base(from)
	}
	return fmt.Sprintf("%s (sample %d of %s)", format.Printable(s.ID), s.Index, from)
}

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
	"strings"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

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
	mostLikely = 5    // classes listed with their probability
	flipLimit  = 20   // detections changed at most to change the prediction
	neighbours = 5    // samples of a batch listed
	strongest  = 3    // attributes that label a learned group
	minShare   = 0.01 // of an attribute in a group, or of a score in an attribute, to be listed
)

// Thresholds of substitutions, close to the paper's example: 0.6 and 0.5 described, 0.1 and
// 0.7 detected. In soft groups an attribute counts in the group that has most of it.
const (
	minGamma     = 0.5
	minDescribed = 0.3
	maxMissed    = 0.2
	minDetected  = 0.5
)

// Question is the prediction to explain.
type Question struct {
	Sample     Sample
	X          dataset.Matrix[float32] // features as they are in the data set
	Row        int                     // of X, the sample's
	Candidates candidates.Set
	Against    string // the class to compare the prediction with; "" for the runner-up
	Top        int    // changes of single detections to list
	Brief      bool   // no changes of detections, which take most of the time
	// Uncalibrated leaves out the temperature that is stored with the model.
	Uncalibrated bool
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

// explainer answers a question with a model.
type explainer struct {
	Question
	saved  *train.Saved
	config model.Config
	model  *model.Explainer
	a      []float64 // p(a_m|x)

	temperature float64
	logP        []float64 // of the candidates
	order       []int     // of the candidates, most likely first
}

// Explain compares the predicted class with the one asked for or, by default, with the
// runner-up and, if the prediction is wrong, with the true class.
func Explain(m *train.Saved, q Question) (*Result, error) {
	lago, err := m.LAGO()
	if err != nil {
		return nil, err
	}
	names := q.Candidates.Names
	if len(names) < 2 {
		return nil, &invalid.Error{Where: q.Candidates.What, Want: "at least two classes to choose from", Got: strconv.Itoa(len(names))}
	}
	e := &explainer{Question: q, saved: m, config: lago.Config}
	if e.model, err = m.Explainer(q.Candidates.U); err != nil {
		return nil, err
	}
	if e.a, err = m.DetectOne(q.X, q.Row); err != nil {
		return nil, err
	}
	l, err := e.model.LogP(dataset.Matrix[float64]{Rows: 1, Cols: len(e.a), Data: e.a})
	if err != nil {
		return nil, err
	}
	e.logP, e.order = l.Data, q.Candidates.U.AllRows()
	e.temperature = 1
	if m.Calibration != nil && !q.Uncalibrated {
		e.temperature = m.Calibration.Temperature
		floats.Scale(1/e.temperature, e.logP)
		floats.AddConst(-model.LogSumExp(e.logP), e.logP)
	}
	sortBy(e.order, func(z int) float64 { return e.logP[z] })
	r := &Result{
		Dataset: m.Dataset, Variant: e.config.Variant, Prior: e.config.Prior, Complement: e.config.Complement,
		Attributes: len(m.Attributes), Sample: q.Sample, Among: q.Candidates.What, Classes: len(names), Predicted: names[e.order[0]],
		Temperature: e.temperature,
	}
	others := map[int]Reason{e.order[1]: RunnerUp}
	for i, z := range e.order {
		p := Probability{Class: names[z], Rank: i + 1, P: math.Exp(e.logP[z]), LogP: e.logP[z]}
		if i < mostLikely {
			r.Likely = append(r.Likely, p)
		}
		if q.Sample.Label != nil && p.Class == *q.Sample.Label {
			correct := i == 0
			r.Label, r.Correct = &p, &correct
			if !correct {
				others[z] = TrueClass
			}
		}
	}
	if q.Against != "" {
		class, err := e.findClass(q.Against)
		if err != nil {
			return nil, err
		}
		others = map[int]Reason{class: Requested}
	}
	if q.Together != nil {
		if r.Adapted, err = e.adapted(q.Together); err != nil {
			return nil, err
		}
	}
	for _, z := range e.order {
		if reason, ok := others[z]; ok {
			c, err := e.compare(z, reason)
			if err != nil {
				return nil, err
			}
			c.scale(1 / e.temperature)
			r.Comparisons = append(r.Comparisons, *c)
		}
	}
	return r, nil
}

// sortBy sorts a list by keys, the largest first.
func sortBy[T any](list []T, key func(T) float64) {
	slices.SortStableFunc(list, func(x, y T) int { return cmp.Compare(key(y), key(x)) })
}

// findClass returns the candidate with a name, as spelled in the data set or by people: case,
// underscores, hyphens and a number in front may differ. It is not the predicted one.
func (e *explainer) findClass(name string) (int, error) {
	var names []string
	for _, class := range e.Candidates.Names {
		names = append(names, className(class))
	}
	fold := func(name string) string { return strings.ToLower(strings.ReplaceAll(className(name), "-", " ")) }
	z := slices.Index(e.Candidates.Names, name)
	if z < 0 {
		z = slices.IndexFunc(names, func(class string) bool { return fold(class) == fold(name) })
	}
	wrong := &invalid.Error{Field: "against", Got: invalid.Quote(name)}
	switch z {
	case -1:
		wrong.Want, wrong.Hint = fmt.Sprintf("one of the %d %s", len(names), e.Candidates.What), invalid.DidYouMean(name, names)
	case e.order[0]:
		wrong.Want = "another class than the predicted one"
		wrong.Hint = fmt.Sprintf("The runner-up is %q.", e.Candidates.Names[e.order[1]])
	default:
		return z, nil
	}
	return z, wrong
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
		n := Neighbour{Sample: row, Predicted: e.Candidates.Names[metrics.Argmax(p)]}
		n.Cosine = float64(blas32.Implementation().Sdot(x.Cols, x.Row(place), 1, x.Row(i), 1))
		n.LogOdds = e.saved.Adaptation.Tau * n.Cosine * (float64(p[class])/massOfClass - float64(p[own])/massOfOwn)
		if t.IDs != nil {
			n.ID = t.IDs[row]
		}
		if i != place && n.LogOdds > 0 {
			a.Neighbours = append(a.Neighbours, n)
		}
	}
	sortBy(a.Neighbours, func(n Neighbour) float64 { return n.LogOdds })
	a.Neighbours = a.Neighbours[:min(neighbours, len(a.Neighbours))]
	for i := range a.Neighbours {
		if t.Picture != nil && err == nil {
			a.Neighbours[i].Picture, err = t.Picture(a.Neighbours[i].Sample)
		}
	}
	return a, err
}

// compare compares the predicted class with another one.
func (e *explainer) compare(against int, reason Reason) (*Comparison, error) {
	class := e.order[0]
	x, err := e.model.Explain(e.a, class, against)
	if err != nil {
		return nil, err
	}
	c := &Comparison{
		Class: e.Candidates.Names[class], Against: e.Candidates.Names[against], Reason: reason, LogOdds: x.LogOdds, Correction: x.Correction,
		Substitutions: []Substitution{}, Changes: []Change{}, Flip: Flip{Limit: flipLimit, Changes: []Change{}},
	}
	for k := range x.Groups {
		c.Groups = append(c.Groups, e.group(x, k))
	}
	sortBy(c.Groups, func(g Group) float64 { return math.Abs(g.Contribution) })
	for i, g := range slices.Backward(c.Groups) {
		if g.Contribution > 0 {
			c.BestFor = &c.Groups[i].Name
		}
		if g.Contribution < 0 {
			c.BestAgainst = &c.Groups[i].Name
		}
	}
	if e.Brief {
		return c, nil
	}
	changes, err := e.model.Changes(e.a, class, against)
	if err != nil {
		return nil, err
	}
	gain := map[string]float64{} // if an attribute is detected with certainty
	for i, one := range changes {
		change := e.change(one, x.LogOdds)
		if i < e.Top {
			c.Changes = append(c.Changes, change)
		}
		if change.To == 1 {
			gain[change.Attribute] = change.By
		}
	}
	for _, g := range c.Groups {
		c.Substitutions = append(c.Substitutions, g.substitutions(gain)...)
	}
	flip, found, err := e.model.Flip(e.a, class, against, flipLimit)
	c.Flip.Found = found
	before := x.LogOdds
	for _, change := range flip {
		c.Flip.Changes = append(c.Flip.Changes, e.change(change, before))
		before = change.LogOdds
	}
	return c, err
}

// scale multiplies the log odds and their parts, so that they agree with calibrated probabilities.
func (c *Comparison) scale(by float64) {
	c.LogOdds *= by
	c.Correction *= by
	for i := range c.Groups {
		c.Groups[i].Contribution *= by
	}
	for i := range c.Substitutions {
		c.Substitutions[i].Gain *= by
	}
	for _, list := range [][]Change{c.Changes, c.Flip.Changes} {
		for i := range list {
			list[i].LogOdds *= by
			list[i].By *= by
		}
	}
}

func (e *explainer) change(c model.Counterfactual, before float64) Change {
	return Change{
		Attribute: e.saved.Attributes[c.Attribute], From: c.From, To: c.To,
		LogOdds: c.LogOdds, By: c.LogOdds - before, Predicted: e.Candidates.Names[c.Predicted],
	}
}

// group lists the terms of a group.
func (e *explainer) group(x *model.Evidence, k int) Group {
	from, u, used, gamma := x.Groups[k], e.Candidates.U, e.model.Classes.U, e.model.Gamma
	g := Group{K: k, Contribution: from.Contribution, Score: Pair{from.Class.Score, from.Against.Score}, Terms: []Term{}}
	g.Name, g.Strongest = e.groupName(k)
	g.None = None{Detected: from.None, Term: Pair{from.Class.None, from.Against.None}}
	g.None.Share = g.share(g.None.Term)
	for m, name := range e.saved.Attributes {
		t := Term{
			Attribute: name, Gamma: gamma.Row(m)[k], Detected: e.a[m], Prior: e.model.Prior[m],
			Described: Described{described(u.Row(x.Class)[m]), described(u.Row(x.Against)[m])},
			Used:      Pair{used.Row(x.Class)[m], used.Row(x.Against)[m]},
			Term:      Pair{from.Class.Terms[m], from.Against.Terms[m]},
		}
		t.Share = g.share(t.Term)
		if t.Gamma >= minShare || t.Share.most() >= minShare {
			g.Terms = append(g.Terms, t)
			continue
		}
		g.Others.Count++
		g.Others.Term.add(t.Term)
	}
	g.Others.Share = g.share(g.Others.Term)
	sortBy(g.Terms, func(t Term) float64 { return math.Abs(t.Term.Class - t.Term.Against) })
	return g
}

// described returns nil for a missing entry.
func described(u float64) *float64 {
	if math.IsNaN(u) {
		return nil
	}
	return &u
}

// share returns the share of a part in the scores, 0 of a score of 0.
func (g Group) share(part Pair) (s Pair) {
	if g.Score.Class > 0 {
		s.Class = part.Class / g.Score.Class
	}
	if g.Score.Against > 0 {
		s.Against = part.Against / g.Score.Against
	}
	return s
}

// groupName returns the name of a group and, for a group of k-soft, the attributes with
// the largest share of it.
func (e *explainer) groupName(k int) (string, []string) {
	switch v := e.config.Variant; {
	case v == model.Singletons:
		return e.saved.Attributes[k], nil
	case v.Semantic():
		return e.saved.Groups[k], nil
	}
	names, gamma := slices.Clone(e.saved.Attributes), e.model.Gamma
	sortBy(names, func(name string) float64 { return gamma.Row(slices.Index(e.saved.Attributes, name))[k] })
	return strconv.Itoa(k), names[:min(strongest, len(names))]
}

// substitutions lists the attributes that the class is described by and that were not
// detected, with the attribute of the group that was. gain is the effect of detecting an
// attribute with certainty.
func (g Group) substitutions(gain map[string]float64) (list []Substitution) {
	var by Term
	for _, t := range g.Terms {
		if t.describes() && t.Detected >= minDetected && (by.Attribute == "" || t.Term.Class > by.Term.Class) {
			by = t
		}
	}
	if g.Contribution < 0 || by.Attribute == "" {
		return nil
	}
	for _, t := range g.Terms {
		if t.describes() && t.Detected <= maxMissed {
			list = append(list, Substitution{g.Name, t.Attribute, by.Attribute, gain[t.Attribute]})
		}
	}
	return list
}

// describes reports whether the predicted class is described by the attribute.
func (t Term) describes() bool {
	return t.Gamma >= minGamma && t.Described.Class != nil && *t.Described.Class >= minDescribed
}

package predictor

import (
	"cmp"
	"fmt"
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

const (
	strongest = 3    // attributes that label a learned group
	minShare  = 0.01 // of an attribute in a group, or of a score in an attribute, to be listed
)

// Answer is the prediction of one sample by a model of LAGO, in float64, with the reasons for it.
type Answer struct {
	Detected []float64 // p(a_m|x)
	LogP     []float64 // log p(z|x) of the candidates, with the temperature
	Order    []int     // the candidates, most likely first
	Fit      *float64  // as in Prediction; nil if the fit of held-out samples was not measured
	*model.Explainer

	predictor *Predictor
}

// Answer predicts the sample in a row of the features x.
func (p *Predictor) Answer(x dataset.Matrix[float32], row int) (*Answer, error) {
	if _, err := p.LAGO(); err != nil {
		return nil, err
	}
	if n := len(p.Candidates.Names); n < 2 {
		return nil, &invalid.Error{
			Where: p.Candidates.What, Want: "at least two classes to choose from", Got: strconv.Itoa(n),
		}
	}
	detected, err := p.DetectOne(x, row)
	if err == nil && p.explainer == nil {
		p.explainer, err = p.Saved.Explainer(p.Candidates.U)
	}
	if err != nil {
		return nil, err
	}
	a := &Answer{Detected: detected, Order: p.Candidates.U.AllRows(), Explainer: p.explainer, predictor: p}
	l, err := a.Explainer.LogP(dataset.Matrix[float64]{Rows: 1, Cols: len(a.Detected), Data: a.Detected})
	if err != nil {
		return nil, err
	}
	a.LogP = l.Data
	if p.Decision.Fit != nil {
		fit, err := a.BestFit(a.Detected)
		if err != nil {
			return nil, err
		}
		share := p.Decision.Fit.Share(fit, len(p.Candidates.Names))
		a.Fit = &share
	}
	if p.Temperature != 1 {
		floats.Scale(1/p.Temperature, a.LogP)
		floats.AddConst(-matrix.LogSumExp(a.LogP), a.LogP)
	}
	SortBy(a.Order, func(z int) float64 { return a.LogP[z] })
	return a, nil
}

// SortBy sorts a list by keys, the largest first.
func SortBy[T any](list []T, key func(T) float64) {
	slices.SortStableFunc(list, func(x, y T) int { return cmp.Compare(key(y), key(x)) })
}

// Class returns the candidate of a rank from 1.
func (a *Answer) Class(rank int) Probability {
	z := a.Order[rank-1]
	return Probability{
		Class: a.predictor.Candidates.Names[z], Rank: rank, P: math.Exp(a.LogP[z]), LogP: a.LogP[z],
	}
}

// Likely returns the most likely candidates.
func (a *Answer) Likely(most int) (list []Probability) {
	for rank := range min(most, len(a.Order)) {
		list = append(list, a.Class(rank+1))
	}
	return list
}

// Other is a class that the predicted one is compared with.
type Other struct {
	Class  int // a candidate
	Reason Reason
}

// Others returns the class of a name or, if that is "", the runner-up and, if the prediction is wrong,
// the true class; label is nil if it is not known.
func (a *Answer) Others(name string, label *string) (list []Other, err error) {
	if name != "" {
		z, err := a.find(name)
		return []Other{{z, Requested}}, err
	}
	for i, z := range a.Order[1:] {
		switch {
		case label != nil && a.predictor.Candidates.Names[z] == *label:
			list = append(list, Other{z, TrueClass})
		case i == 0:
			list = append(list, Other{z, RunnerUp})
		}
	}
	return list, nil
}

// find returns the candidate with a name, as in the data set or as people write it: case, underscores,
// hyphens and a number in front may differ. It is not the predicted one.
func (a *Answer) find(name string) (int, error) {
	c := a.predictor.Candidates
	var names []string
	for _, class := range c.Names {
		names = append(names, format.ClassName(class))
	}
	fold := func(name string) string {
		return strings.ToLower(strings.ReplaceAll(format.ClassName(name), "-", " "))
	}
	name = dataset.Name(name)
	z := slices.Index(c.Names, name)
	if z < 0 {
		z = slices.IndexFunc(names, func(class string) bool { return fold(class) == fold(name) })
	}
	wrong := &invalid.Error{Field: "against", Got: invalid.Quote(name)}
	switch z {
	case -1:
		wrong.Want, wrong.Hint = fmt.Sprintf("one of the %d %s", len(names), c.What), cmp.Or(
			invalid.DidYouMean(name, names), invalid.DidYouMean(name, a.predictor.Classes))
		if slices.Contains(a.predictor.Classes, name) {
			wrong.Hint = fmt.Sprintf("With --candidates all %q is one, too.", name)
		}
	case a.Order[0]:
		wrong.Want = "another class than the predicted one"
		wrong.Hint = fmt.Sprintf("The runner-up is %q.", c.Names[a.Order[1]])
	default:
		return z, nil
	}
	return z, wrong
}

// Compare compares the predicted class with another one.
func (a *Answer) Compare(other Other) (*Comparison, error) {
	p, class := a.predictor, a.Order[0]
	x, err := a.Explain(a.Detected, class, other.Class)
	if err != nil {
		return nil, err
	}
	c := &Comparison{
		Class: p.Candidates.Names[class], Against: p.Candidates.Names[other.Class], Reason: other.Reason,
		LogOdds: x.LogOdds / p.Temperature, Correction: x.Correction / p.Temperature,
	}
	c.Given = Pair{p.Candidates.Given(class), p.Candidates.Given(other.Class)}
	for k := range x.Groups {
		g := a.group(x, k)
		g.Contribution /= p.Temperature
		c.Groups = append(c.Groups, g)
	}
	SortBy(c.Groups, func(g Group) float64 { return math.Abs(g.Contribution) })
	return c, nil
}

// group lists the terms of a group.
func (a *Answer) group(x *model.Contributions, k int) Group {
	p := a.predictor
	part, u, used, gamma, deciles := x.Groups[k], p.Candidates.U, a.Classes.U, a.Gamma, p.Reference.Deciles
	g := Group{K: k, Contribution: part.Contribution, Score: Pair{
		part.Class.Score, part.Against.Score,
	}, Terms: []Term{}}
	g.Name, g.Strongest = a.groupName(k)
	g.None = None{Detected: part.None, Term: Pair{part.Class.None, part.Against.None}}
	g.None.Share = g.share(g.None.Term)
	for m, name := range p.Attributes {
		t := Term{
			Attribute: name, Gamma: gamma.Row(m)[k], Detected: a.Detected[m], Prior: a.Prior[m],
			Described: Described{format.Known(u.Row(x.Class)[m]), format.Known(u.Row(x.Against)[m])},
			Used:      Pair{used.Row(x.Class)[m], used.Row(x.Against)[m]},
			Term:      Pair{part.Class.Terms[m], part.Against.Terms[m]},
		}
		t.Share = g.share(t.Term)
		if deciles.Rows > 0 {
			above := 0.0
			for i := range deciles.Rows { // one that is equal as printed counts half
				difference := math.Round(100*a.Detected[m]) - math.Round(100*float64(deciles.Row(i)[m]))
				above += (1 + min(max(difference, -1), 1)) / 2 / float64(deciles.Rows+1)
			}
			t.Above = &above
		}
		if t.Gamma >= minShare || t.Share.Most() >= minShare {
			g.Terms = append(g.Terms, t)
			continue
		}
		g.Others.Count++
		g.Others.Term.Add(t.Term)
	}
	g.Others.Share = g.share(g.Others.Term)
	SortBy(g.Terms, func(t Term) float64 { return math.Abs(t.Term.Class - t.Term.Against) })
	return g
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

// groupName returns the name of a group and, for a free group, the attributes with the largest share of it.
func (a *Answer) groupName(k int) (string, []string) {
	p := a.predictor
	l, _ := p.LAGO() // see Answer
	switch l.Config.Variant.Info().Groups {
	case model.AttributeGroups:
		return p.Attributes[k], nil
	case model.DataGroups:
		return p.Groups[k], nil
	}
	names := slices.Clone(p.Attributes)
	SortBy(names, func(name string) float64 { return a.Gamma.Row(slices.Index(p.Attributes, name))[k] })
	return strconv.Itoa(k), names[:min(strongest, len(names))]
}

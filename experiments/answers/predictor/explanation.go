package predictor

import (
	"cmp"
	"fmt"
	"image"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
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
		e := invalid.Expected("sample", invalid.Quote(name), "the index of a sample of %s, 0 to %d", d.Name,
			d.Features.Rows-1)
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
		return nil, invalid.At(p.Candidates.What,
			invalid.Expected("", n, "at least two classes to choose from"))
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
	asScored := slices.Clone(a.logP)
	p.decide(a.logP)
	p.decide(a.added)
	if !slices.Equal(a.logP, asScored) {
		floats.AddConst(-matrix.LogSumExp(a.logP), a.logP)
	}
	SortBy(a.order, func(z int) float64 { return a.logP[z] })
	return a, nil
}

func (a *answer) class(rank int) Probability {
	z := a.order[rank]
	return Probability{
		Class: a.Candidates.Names[z], Rank: rank + 1, P: math.Exp(a.logP[z]), LogP: a.logP[z],
	}
}

// find returns the rank of the candidate with a name, as in the data set or as people write it: case,
// spaces, punctuation and a number in front may differ. It is not the predicted one.
func (a *answer) find(name string) (int, error) {
	fold := func(name string) string { return descriptions.FoldName(format.ClassName(name)) }
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
		wrong.Want = fmt.Sprintf("one of the %d candidates (%s)", len(names), a.Candidates.What)
		wrong.Hint = invalid.DidYouMean(name, names)
	case 0:
		wrong.Want = "another class than the predicted one"
	default:
		return rank, nil
	}
	return 0, wrong
}

// Reason says why the predicted class is compared with another one.
type Reason string

// The reasons.
const (
	RunnerUp  Reason = "runner-up"
	TrueClass Reason = "true class" // of a wrong prediction
	Requested Reason = "requested"
)

// Comparison compares the predicted class with another one.
type Comparison struct {
	Class   string `json:"class"`   // the predicted one
	Against string `json:"against"` // the other class
	Reason  Reason `json:"reason"`  // runner-up, true class (of a wrong prediction) or requested
	// log p(class|x) - log p(against|x), the sum of the groups' contributions and the correction
	LogOdds float64 `json:"log_odds"`
	// part of the correction of the scores; above 0 where the other class gets more from samples of seen
	// classes
	Correction float64 `json:"correction"`

	// share of the entries that the classes' descriptions give; the others are imputed
	Given  Pair    `json:"given"`
	Groups []Group `json:"groups"` // by the size of their contribution
}

// Pair holds a number for the predicted class and one for the class it is compared with.
type Pair struct {
	Class   float64 `json:"class"`   // of the predicted class
	Against float64 `json:"against"` // of the other class
}

// Most is the larger number.
func (p Pair) Most() float64 { return max(p.Class, p.Against) }

// Add adds another pair.
func (p *Pair) Add(q Pair) {
	p.Class += q.Class
	p.Against += q.Against
}

// Group is the contribution of one attribute group.
type Group struct {
	K int `json:"k"` // number, from 0
	// of the data set; the attribute's for singletons, a number for k-soft
	Name string `json:"name"`
	// for k-soft, the attributes with the largest share of the group
	Strongest    []string `json:"strongest,omitempty"`
	Contribution float64  `json:"contribution"` // log of the ratio of the scores
	Score        Pair     `json:"score"`        // G[k,z] (Eq. 5), the sum of terms, others and none

	Terms  []Term `json:"terms"`  // the attributes of the group, by the difference of their terms
	Others Others `json:"others"` // all other attributes
	None   None   `json:"none"`   // the none-of-group term
}

// Term is what one attribute adds to the score of a group.
type Term struct {
	Attribute string  `json:"attribute"`
	Gamma     float64 `json:"gamma"`    // share of the attribute that belongs to the group
	Detected  float64 `json:"detected"` // p(a|x)
	// share of the training samples with a lower detection, by deciles; null if the model has none
	Above     *float64  `json:"above"`
	Prior     float64   `json:"prior"`     // p(a)
	Described Described `json:"described"` // p(a|z) as given, null if missing
	// p(a|z) as the model uses it: scaled within the group, imputed if missing
	Used  Pair `json:"used"`
	Term  Pair `json:"term"`  // Gamma U/p A
	Share Pair `json:"share"` // of the scores
}

// Described is p(a|z) in the data set, null if the entry is missing.
type Described struct {
	Class   *float64 `json:"class"`
	Against *float64 `json:"against"`
}

// Others is what the attributes add that have almost no share in a group.
type Others struct {
	Count int  `json:"count"`
	Term  Pair `json:"term"`
	Share Pair `json:"share"`
}

// None is the none-of-group term, the paper's complementary attribute.
type None struct {
	Detected float64 `json:"detected"` // p(none|x): 1 if the term is constant, 0 without one
	Term     Pair    `json:"term"`     // (Uc/pc) Ac
	Share    Pair    `json:"share"`
}

type other struct {
	rank   int // from 0
	reason Reason
}

func (a *answer) compare(o other) (*Comparison, error) {
	class, against := a.order[0], a.order[o.rank]
	x, err := a.explainer.Explain(a.detected, class, against)
	if err != nil {
		return nil, err
	}
	added := a.added[class] - a.added[against]
	c := &Comparison{
		Class: a.Candidates.Names[class], Against: a.Candidates.Names[against], Reason: o.reason,
		LogOdds: x.LogOdds/a.Temperature + added, Correction: x.Correction/a.Temperature + added,
		Given: Pair{a.Candidates.given(class), a.Candidates.given(against)},
	}
	for k := range x.Groups {
		c.Groups = append(c.Groups, a.group(x, k))
	}
	SortBy(c.Groups, func(g Group) float64 { return math.Abs(g.Contribution) })
	return c, nil
}

const (
	strongest = 3    // attributes that label a learned group
	minShare  = 0.01 // of an attribute in a group, or of a score in an attribute, to be listed
)

func (a *answer) group(x *model.Contributions, k int) Group {
	part, u, used := x.Groups[k], a.Candidates.U, a.explainer.Classes.U
	g := Group{
		K: k, Contribution: part.Contribution / a.Temperature,
		Score: Pair{part.Class.Score, part.Against.Score}, Terms: []Term{},
		None: None{Detected: part.None, Term: Pair{part.Class.None, part.Against.None}},
	}
	g.Name, g.Strongest = a.groupName(k)
	g.None.Share = g.share(g.None.Term)
	for m, name := range a.Attributes {
		t := Term{
			Attribute: name, Gamma: a.explainer.Gamma.Row(m)[k],
			Detected: a.detected[m], Above: a.above(m), Prior: a.explainer.Prior[m],
			Described: Described{format.Known(u.Row(x.Class)[m]), format.Known(u.Row(x.Against)[m])},
			Used:      Pair{used.Row(x.Class)[m], used.Row(x.Against)[m]},
			Term:      Pair{part.Class.Terms[m], part.Against.Terms[m]},
		}
		t.Share = g.share(t.Term)
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

// above returns the share of the training samples with a lower detection of an attribute, nil if the model
// has no deciles.
func (a *answer) above(m int) *float64 {
	deciles := a.Reference.Deciles
	if deciles.Rows == 0 {
		return nil
	}
	above := 0.0
	for i := range deciles.Rows { // one that is equal as printed counts half
		difference := math.Round(100*a.detected[m]) - math.Round(100*float64(deciles.Row(i)[m]))
		above += (1 + min(max(difference, -1), 1)) / 2 / float64(deciles.Rows+1)
	}
	return &above
}

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
func (a *answer) groupName(k int) (string, []string) {
	l, _ := a.LAGO() // see Explain
	switch l.Config.Variant.Info().Groups {
	case model.AttributeGroups:
		return a.Attributes[k], nil
	case model.DataGroups:
		return a.Groups[k], nil
	}
	attributes := a.explainer.Gamma.AllRows()
	SortBy(attributes, func(m int) float64 { return a.explainer.Gamma.Row(m)[k] })
	var names []string
	for _, m := range attributes[:min(strongest, len(attributes))] {
		names = append(names, a.Attributes[m])
	}
	return strconv.Itoa(k), names
}

// SortBy sorts a list by keys, the largest first.
func SortBy[T any](list []T, key func(T) float64) {
	slices.SortStableFunc(list, func(x, y T) int { return cmp.Compare(key(y), key(x)) })
}

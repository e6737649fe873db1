package predictor

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/model"
)

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

	// share of the entries that the classes' descriptions give; the others are filled
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

// other is a class that the predicted one is compared with.
type other struct {
	rank   int // from 0
	reason Reason
}

// compare compares the predicted class with another one.
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
		Given: Pair{a.Candidates.Given(class), a.Candidates.Given(against)},
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

// group lists the terms of a group.
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
func (a *answer) groupName(k int) (string, []string) {
	l, _ := a.LAGO() // see Explain
	switch l.Config.Variant.Info().Groups {
	case model.AttributeGroups:
		return a.Attributes[k], nil
	case model.DataGroups:
		return a.Groups[k], nil
	}
	names := slices.Clone(a.Attributes)
	SortBy(names, func(name string) float64 { return a.explainer.Gamma.Row(slices.Index(a.Attributes, name))[k] })
	return strconv.Itoa(k), names[:min(strongest, len(names))]
}

// SortBy sorts a list by keys, the largest first.
func SortBy[T any](list []T, key func(T) float64) {
	slices.SortStableFunc(list, func(x, y T) int { return cmp.Compare(key(y), key(x)) })
}

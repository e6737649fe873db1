package explain

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/model"
)

// compare compares the predicted class with another one.
func (e *explainer) compare(against int, reason Reason) (*Comparison, error) {
	class := e.order[0]
	x, err := e.model.Explain(e.a, class, against)
	if err != nil {
		return nil, err
	}
	c := &Comparison{
		Class: e.Candidates.Names[class], Against: e.Candidates.Names[against], Reason: reason, LogOdds: x.LogOdds,
		Groups: e.groups(x), Substitutions: []Substitution{}, Changes: []Change{},
	}
	byContribution := func(x, y Group) int { return cmp.Compare(x.Contribution, y.Contribution) }
	if g := slices.MaxFunc(c.Groups, byContribution); g.Contribution > 0 {
		c.BestFor = &g.Name
	}
	if g := slices.MinFunc(c.Groups, byContribution); g.Contribution < 0 {
		c.BestAgainst = &g.Name
	}
	changes, err := e.model.Changes(e.a, class, against)
	if err != nil {
		return nil, err
	}
	for _, change := range changes[:min(max(e.Top, 0), len(changes))] {
		c.Changes = append(c.Changes, e.change(change, x.LogOdds))
	}
	c.findSubstitutions(e.gains(changes, x.LogOdds))
	flip, found, err := e.model.Flip(e.a, class, against, flipLimit)
	if err != nil {
		return nil, err
	}
	c.Flip = Flip{Found: found, Limit: flipLimit, Changes: []Change{}}
	before := x.LogOdds
	for _, change := range flip {
		c.Flip.Changes = append(c.Flip.Changes, e.change(change, before))
		before = change.LogOdds
	}
	return c, nil
}

func (e *explainer) change(c model.Counterfactual, before float64) Change {
	return Change{
		Attribute: e.saved.Attributes[c.Attribute], From: c.From, To: c.To,
		LogOdds: c.LogOdds, By: c.LogOdds - before, Predicted: e.Candidates.Names[c.Predicted],
	}
}

// gains returns how much the log odds change if an attribute is detected with certainty.
func (e *explainer) gains(changes []model.Counterfactual, odds float64) map[string]float64 {
	by := make(map[string]float64, len(e.a))
	for _, c := range changes {
		if c.To == 1 {
			by[e.saved.Attributes[c.Attribute]] = c.LogOdds - odds
		}
	}
	return by
}

// minShare is the share of an attribute in a group, or of a score in an attribute, from
// which the attribute is listed.
const minShare = 0.01

// groups lists the groups, those that contribute most first.
func (e *explainer) groups(x *model.Evidence) []Group {
	gamma := e.model.Gamma()
	list := make([]Group, len(x.Groups))
	for k, from := range x.Groups {
		g := Group{
			K: k, Contribution: from.Contribution, Score: Pair{from.Class.Score, from.Against.Score}, Terms: []Term{},
		}
		g.Name, g.Strongest = e.groupName(k)
		g.None = None{Detected: from.None, Term: Pair{from.Class.None, from.Against.None}}
		g.None.Share = g.share(g.None.Term)
		for m := range e.a {
			t := e.term(x, g, m, Pair{from.Class.Terms[m], from.Against.Terms[m]}, gamma.Row(m)[k])
			if t.Gamma >= minShare || max(t.Share.Class, t.Share.Against) >= minShare {
				g.Terms = append(g.Terms, t)
				continue
			}
			g.Others.Count++
			g.Others.Term.Class += t.Term.Class
			g.Others.Term.Against += t.Term.Against
		}
		g.Others.Share = g.share(g.Others.Term)
		slices.SortStableFunc(g.Terms, func(x, y Term) int {
			return cmp.Compare(math.Abs(y.Term.Class-y.Term.Against), math.Abs(x.Term.Class-x.Term.Against))
		})
		list[k] = g
	}
	slices.SortStableFunc(list, func(x, y Group) int {
		return cmp.Compare(math.Abs(y.Contribution), math.Abs(x.Contribution))
	})
	return list
}

func (e *explainer) term(x *model.Evidence, g Group, m int, term Pair, gamma float64) Term {
	classes, u := e.model.Classes, e.Candidates.U
	return Term{
		Attribute: e.saved.Attributes[m], Gamma: gamma, Detected: e.a[m], Prior: e.model.Prior()[m],
		Described: Described{described(u.Row(x.Class)[m]), described(u.Row(x.Against)[m])},
		Used:      Pair{classes.U.Row(x.Class)[m], classes.U.Row(x.Against)[m]},
		Term:      term, Share: g.share(term),
	}
}

// described returns nil for a missing entry.
func described(u float64) *float64 {
	if math.IsNaN(u) {
		return nil
	}
	return &u
}

// share returns the share of a part in the scores, 0 of a score of 0.
func (g Group) share(part Pair) Pair {
	var s Pair
	if g.Score.Class > 0 {
		s.Class = part.Class / g.Score.Class
	}
	if g.Score.Against > 0 {
		s.Against = part.Against / g.Score.Against
	}
	return s
}

// strongest is the number of attributes that label a learned group.
const strongest = 3

// groupName returns the name of a group and, for a group of k-soft, the attributes with
// the largest share of it.
func (e *explainer) groupName(k int) (string, []string) {
	switch v := e.lago.Config.Variant; {
	case v == model.Singletons:
		return e.saved.Attributes[k], nil
	case v.Semantic():
		return e.saved.Groups[k], nil
	}
	gamma := e.model.Gamma()
	order := make([]int, gamma.Rows)
	for m := range order {
		order[m] = m
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(gamma.Row(y)[k], gamma.Row(x)[k]) })
	var names []string
	for _, m := range order[:min(strongest, len(order))] {
		names = append(names, e.saved.Attributes[m])
	}
	return strconv.Itoa(k), names
}

// Thresholds of findSubstitutions, close to the paper's example: 0.6 and 0.5 described,
// 0.1 and 0.7 detected. In soft groups an attribute counts in the group that has most of
// it.
const (
	minGamma     = 0.5
	minDescribed = 0.3
	maxMissed    = 0.2
	minDetected  = 0.5
)

// findSubstitutions lists the described attributes of the class that were not detected,
// with the attribute of the same group that was. gain is the effect of detecting an
// attribute with certainty.
func (c *Comparison) findSubstitutions(gain map[string]float64) {
	for _, g := range c.Groups {
		if g.Contribution < 0 {
			continue
		}
		var by *Term
		for i, t := range g.Terms {
			if t.describesClass() && t.Detected >= minDetected && (by == nil || t.Term.Class > by.Term.Class) {
				by = &g.Terms[i]
			}
		}
		if by == nil {
			continue
		}
		for _, t := range g.Terms {
			if t.describesClass() && t.Detected <= maxMissed {
				c.Substitutions = append(c.Substitutions, Substitution{
					Group: g.Name, Missed: t.Attribute, Substitute: by.Attribute, Gain: gain[t.Attribute],
				})
			}
		}
	}
}

// describesClass reports whether the class is described by the attribute, and the
// attribute belongs to the group.
func (t Term) describesClass() bool {
	return t.Gamma >= minGamma && t.Described.Class != nil && *t.Described.Class >= minDescribed
}

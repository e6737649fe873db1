package explain

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/model"
)

// compare says why the predicted class is ahead of another one.
func (w *asked) compare(against int, why Why) (*Comparison, error) {
	class := w.order[0]
	e, err := w.explainer.Explain(w.a, class, against)
	if err != nil {
		return nil, err
	}
	c := &Comparison{
		Class: w.Candidates.Names[class], Against: w.Candidates.Names[against], Why: why, LogOdds: e.LogOdds,
		Groups: w.groups(e), SoftOR: []Made{}, Changes: []Change{},
	}
	// By contribution the first and the last speak most for one and for the other.
	byContribution := func(x, y Group) int { return cmp.Compare(x.Contribution, y.Contribution) }
	if g := slices.MaxFunc(c.Groups, byContribution); g.Contribution > 0 {
		c.TurnedAway = &g.Name
	}
	if g := slices.MinFunc(c.Groups, byContribution); g.Contribution < 0 {
		c.BestOf = &g.Name
	}
	changes, err := w.explainer.Changes(w.a, class, against)
	if err != nil {
		return nil, err
	}
	for _, change := range changes[:min(max(w.Top, 0), len(changes))] {
		c.Changes = append(c.Changes, w.change(change, e.LogOdds))
	}
	c.softOR(w.whatIf(changes, e.LogOdds))
	flip, found, err := w.explainer.Flip(w.a, class, against, flipLimit)
	if err != nil {
		return nil, err
	}
	c.Flip = Flip{Found: found, Limit: flipLimit, Changes: []Change{}}
	before := e.LogOdds
	for _, change := range flip {
		c.Flip.Changes = append(c.Flip.Changes, w.change(change, before))
		before = change.LogOdds
	}
	return c, nil
}

func (w *asked) change(c model.Counterfactual, before float64) Change {
	return Change{
		Attribute: w.model.Attributes[c.Attribute], From: c.From, To: c.To,
		LogOdds: c.LogOdds, By: c.LogOdds - before, Predicted: w.Candidates.Names[c.Predicted],
	}
}

// whatIf is how far the log odds move by seeing an attribute for sure.
func (w *asked) whatIf(changes []model.Counterfactual, odds float64) map[string]float64 {
	by := make(map[string]float64, len(w.a))
	for _, c := range changes {
		if c.To == 1 {
			by[w.model.Attributes[c.Attribute]] = c.LogOdds - odds
		}
	}
	return by
}

// leastShare is the share of an attribute that a group has, or the share of a score
// that the attribute makes up, from which it is told by itself.
const leastShare = 0.01

// groups lists what the groups have to say, those that contribute most first.
func (w *asked) groups(e *model.Evidence) []Group {
	gamma := w.explainer.Gamma()
	list := make([]Group, len(e.Groups))
	for k, from := range e.Groups {
		g := Group{
			K: k, Contribution: from.Contribution, Score: Pair{from.Class.Score, from.Against.Score}, Terms: []Term{},
		}
		g.Name, g.Strongest = w.name(k)
		g.None = None{Seen: from.None, Term: Pair{from.Class.Complement, from.Against.Complement}}
		g.None.Share = g.share(g.None.Term)
		for m := range w.a {
			t := w.term(e, g, m, Pair{from.Class.Terms[m], from.Against.Terms[m]}, gamma.Row(m)[k])
			if t.Gamma >= leastShare || max(t.Share.Class, t.Share.Against) >= leastShare {
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

func (w *asked) term(e *model.Evidence, g Group, m int, term Pair, gamma float64) Term {
	classes, u := w.explainer.Classes, w.Candidates.U
	return Term{
		Attribute: w.model.Attributes[m], Gamma: gamma, Seen: w.a[m], Prior: classes.P[m],
		Described: Described{described(u.Row(e.Class)[m]), described(u.Row(e.Against)[m])},
		Used:      Pair{classes.U.Row(e.Class)[m], classes.U.Row(e.Against)[m]},
		Term:      term, Share: g.share(term),
	}
}

// described is nil for what is not described.
func described(u float64) *float64 {
	if math.IsNaN(u) {
		return nil
	}
	return &u
}

// share is a part of the scores; of a score of 0 there are none.
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

// strongestOf is how many attributes name a learned group.
const strongestOf = 3

// name is that of a group and, where it was learned from nothing, the attributes with
// most of it.
func (w *asked) name(k int) (string, []string) {
	switch v := w.lago.Config.Variant; {
	case v == model.Singletons:
		return w.model.Attributes[k], nil
	case v.Semantic():
		return w.model.Groups[k], nil
	}
	gamma := w.explainer.Gamma()
	order := make([]int, gamma.Rows)
	for m := range order {
		order[m] = m
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(gamma.Row(y)[k], gamma.Row(x)[k]) })
	var names []string
	for _, m := range order[:min(strongestOf, len(order))] {
		names = append(names, w.model.Attributes[m])
	}
	return strconv.Itoa(k), names
}

// What counts as described, as hardly seen and as seen, for softOR: about where the
// paper's example has them (0.6 and 0.5 described, 0.1 and 0.7 seen). An attribute of
// soft groups counts where most of it belongs.
const (
	leastOwned     = 0.5
	leastDescribed = 0.3
	mostMissed     = 0.2
	leastSeen      = 0.5
)

// softOR lists the attributes of the class that were missed, and what made up for
// them. gain is what seeing each attribute for sure would add to the log odds.
func (c *Comparison) softOR(gain map[string]float64) {
	for _, g := range c.Groups {
		if g.Contribution < 0 {
			continue
		}
		var by *Term
		for i, t := range g.Terms {
			if t.isDescribed() && t.Seen >= leastSeen && (by == nil || t.Term.Class > by.Term.Class) {
				by = &g.Terms[i]
			}
		}
		if by == nil {
			continue
		}
		for _, t := range g.Terms {
			if t.isDescribed() && t.Seen <= mostMissed {
				c.SoftOR = append(c.SoftOR, Made{Group: g.Name, Missed: t.Attribute, By: by.Attribute, Gain: gain[t.Attribute]})
			}
		}
	}
}

// isDescribed says whether the class is described to have the attribute, and the group
// is where most of it belongs.
func (t Term) isDescribed() bool {
	return t.Gamma >= leastOwned && t.Described.Class != nil && *t.Described.Class >= leastDescribed
}

package explain

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/experiments/candidates"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
)

var separators = regexp.MustCompile(`[\s\pZ\pP+]`)

// findClass returns the candidate with a name, as spelled in the data set or by people: case,
// spaces and punctuation may differ.
func findClass(c candidates.Set, name string) (int, error) {
	if z := slices.Index(c.Names, name); z >= 0 {
		return z, nil
	}
	fold := func(name string) string { return strings.ToLower(separators.ReplaceAllString(name, "")) }
	var matches, names []string
	for _, other := range c.Names {
		names = append(names, className(other))
		if fold(other) == fold(name) || fold(className(other)) == fold(name) {
			matches = append(matches, other)
		}
	}
	if len(matches) == 1 {
		return slices.Index(c.Names, matches[0]), nil
	}
	e := &invalid.Error{
		Field: "against", Want: fmt.Sprintf("one of the %d %s", len(c.Names), c.What), Got: strconv.Quote(name),
		Hint: invalid.DidYouMean(name, names),
	}
	if len(matches) > 1 {
		e.Hint = `Choose one of "` + strings.Join(matches, `", "`) + `".`
	}
	return 0, e
}

// compare compares the predicted class with another one.
func (e *explainer) compare(against int, reason Reason) (*Comparison, error) {
	class := e.order[0]
	x, err := e.model.Explain(e.a, class, against)
	if err != nil {
		return nil, err
	}
	c := &Comparison{
		Class: e.Candidates.Names[class], Against: e.Candidates.Names[against], Reason: reason, LogOdds: x.LogOdds,
		Groups: e.groups(x), Substitutions: []Substitution{}, Changes: []Change{}, Flip: Flip{Limit: flipLimit, Changes: []Change{}},
	}
	for i, g := range c.Groups { // by the size of their contribution
		switch {
		case g.Contribution > 0 && c.BestFor == nil:
			c.BestFor = &c.Groups[i].Name
		case g.Contribution < 0 && c.BestAgainst == nil:
			c.BestAgainst = &c.Groups[i].Name
		}
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
	c.findSubstitutions(gain)
	flip, found, err := e.model.Flip(e.a, class, against, flipLimit)
	c.Flip.Found = found
	before := x.LogOdds
	for _, change := range flip {
		c.Flip.Changes = append(c.Flip.Changes, e.change(change, before))
		before = change.LogOdds
	}
	return c, err
}

func (e *explainer) change(c model.Counterfactual, before float64) Change {
	return Change{
		Attribute: e.saved.Attributes[c.Attribute], From: c.From, To: c.To,
		LogOdds: c.LogOdds, By: c.LogOdds - before, Predicted: e.Candidates.Names[c.Predicted],
	}
}

// minShare is the share of an attribute in a group, or of a score in an attribute, from
// which the attribute is listed.
const minShare = 0.01

// groups lists the groups, those that contribute most first.
func (e *explainer) groups(x *model.Evidence) []Group {
	u, gamma, prior := e.Candidates.U, e.model.Gamma(), e.model.Prior()
	used := e.model.Classes.U
	list := make([]Group, len(x.Groups))
	for k, from := range x.Groups {
		g := Group{K: k, Contribution: from.Contribution, Score: Pair{from.Class.Score, from.Against.Score}, Terms: []Term{}}
		g.Name, g.Strongest = e.groupName(k)
		g.None = None{Detected: from.None, Term: Pair{from.Class.None, from.Against.None}}
		g.None.Share = g.share(g.None.Term)
		for m, detected := range e.a {
			t := Term{
				Attribute: e.saved.Attributes[m], Gamma: gamma.Row(m)[k], Detected: detected, Prior: prior[m],
				Described: Described{described(u.Row(x.Class)[m]), described(u.Row(x.Against)[m])},
				Used:      Pair{used.Row(x.Class)[m], used.Row(x.Against)[m]},
				Term:      Pair{from.Class.Terms[m], from.Against.Terms[m]},
			}
			t.Share = g.share(t.Term)
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

// strongest is the number of attributes that label a learned group.
const strongest = 3

// groupName returns the name of a group and, for a group of k-soft, the attributes with
// the largest share of it.
func (e *explainer) groupName(k int) (string, []string) {
	switch v := e.config.Variant; {
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
		var missed []string
		var by Term
		for _, t := range g.Terms {
			switch describes := t.Gamma >= minGamma && t.Described.Class != nil && *t.Described.Class >= minDescribed; {
			case describes && t.Detected >= minDetected && (by.Attribute == "" || t.Term.Class > by.Term.Class):
				by = t
			case describes && t.Detected <= maxMissed:
				missed = append(missed, t.Attribute)
			}
		}
		if g.Contribution < 0 || by.Attribute == "" {
			continue
		}
		for _, name := range missed {
			c.Substitutions = append(c.Substitutions, Substitution{Group: g.Name, Missed: name, Substitute: by.Attribute, Gain: gain[name]})
		}
	}
}

package explain

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/model"
)

// headline states the prediction and whether it is correct.
func (r *Result) headline() string {
	s := r.Sample.name() + " is predicted as " + className(r.Predicted)
	switch {
	case r.Sample.Label == nil:
		return s
	case r.Correct == nil:
		return s + "; its true class, " + className(*r.Sample.Label) + ", is not among the " + format.Printable(r.Among)
	case *r.Correct:
		return s + ", which is correct"
	}
	return fmt.Sprintf("%s, which is wrong: the true class is %s, rank %d with p = %s", s, className(*r.Sample.Label), r.Label.Rank, probability(r.Label.P))
}

func (s Sample) name() string {
	switch s.ID {
	case "":
	case s.From:
		return "photograph " + format.Printable(filepath.Base(s.From))
	default:
		return fmt.Sprintf("%s (sample %d of %s)", format.Printable(s.ID), s.Index, format.Printable(s.From))
	}
	return fmt.Sprintf("sample %d of %s", s.Index, format.Printable(s.From))
}

func (r *Result) settings() string {
	none := map[model.Complement]string{
		model.Const: "constant none-of-group term", model.DeMorgan: "De Morgan none-of-group term", model.NoComplement: "no none-of-group term",
	}[r.Complement]
	s := fmt.Sprintf("%s trained on %s (%s prior, %s), choosing from %d %s",
		r.Variant, format.Printable(r.Dataset), r.Prior, none, r.Classes, format.Printable(r.Among))
	if r.Sample.Trained {
		s += "; the model was trained on samples of the true class"
	}
	return s
}

// likely lists the most likely classes with their names for people, and all others together.
func (r *Result) likely() []Probability {
	var list []Probability
	rest := 1.0
	for _, p := range r.Likely {
		if probability(p.P) == probability(0) {
			break // less likely ones follow
		}
		list = append(list, Probability{Class: className(p.Class), P: p.P})
		rest -= p.P
	}
	if others := r.Classes - len(list); others > 0 {
		list = append(list, Probability{Class: format.Count(others, "other"), P: max(rest, 0)})
	}
	return list
}

// headline says whether the batch changed the prediction of LAGO itself.
func (a *Adapted) headline(own string) string {
	adapted := fmt.Sprintf("Adapted to %s together, the prediction", format.Count(a.Samples, "sample"))
	if !a.Changed {
		return fmt.Sprintf("%s stays (p = %s)", adapted, probability(a.P))
	}
	return fmt.Sprintf("%s changes to %s (p = %s); LAGO itself prefers %s, %s",
		adapted, className(a.Predicted), probability(a.P), className(own), odds(a.LogOdds))
}

// name is the id of the neighbour, or else its index.
func (n Neighbour) name() string { return cmp.Or(format.Printable(n.ID), fmt.Sprint(n.Sample)) }

// verdict says in one sentence why the predicted class is more likely than the other.
func (c Comparison) verdict() string {
	class, against := className(c.Class), className(c.Against)
	times := "about"
	if c.LogOdds >= math.Log(1.05) {
		times = ratio(c.LogOdds) + " times"
	}
	s := fmt.Sprintf("%s is %s as likely as %s%s", class, times, against, c.role())
	if reasons := c.reasons(1, mainReasons); reasons != "" {
		s += ", mainly because of " + reasons
	}
	if reasons := c.reasons(-1, 1); reasons != "" {
		s += "; " + reasons + " favours " + against + " most"
	}
	return s + "."
}

// role names the other class, as in ", the runner-up".
func (c Comparison) role() string {
	return map[Reason]string{RunnerUp: ", the runner-up", TrueClass: ", the true class"}[c.Reason]
}

// mainReasons is the number of groups that a verdict lists.
const mainReasons = 3

// reasons lists the groups that favour the predicted class (sign 1) or the other one (-1)
// most.
func (c Comparison) reasons(sign float64, most int) string {
	var list []string
	for _, g := range c.Groups {
		if len(list) < most && !negligible(g.Contribution) && sign*g.Contribution > 0 {
			if reason := g.reason(); !slices.Contains(list, reason) {
				list = append(list, reason)
			}
		}
	}
	return format.List(list, "and")
}

// title names the classes that are compared.
func (c Comparison) title() string {
	return className(c.Class) + " against " + className(c.Against) + c.role()
}

// sum says how much all groups together favour the predicted class.
func (c Comparison) sum() string {
	return fmt.Sprintf("The sum over %s %s in log probability, which is %s.", format.Count(len(c.Groups), "group"), c.favour(c.LogOdds), odds(c.LogOdds))
}

// favour says which class a difference of log probabilities favours: "favours wren by 0.67".
func (c Comparison) favour(v float64) string {
	if negligible(v) {
		return "favours neither class"
	}
	return "favours " + c.favoured(v) + " by " + fixed(math.Abs(v))
}

// favoured names the class that a difference of log probabilities favours.
func (c Comparison) favoured(v float64) string {
	switch {
	case negligible(v):
		return "neither"
	case v < 0:
		return className(c.Against)
	}
	return className(c.Class)
}

// negligible reports whether a number is printed as 0.00.
func negligible(v float64) bool { return math.Abs(v) < 0.005 }

// counterfactual is a list of other detections, with what it shows.
type counterfactual struct {
	Headline string
	Changes  []Change // nil if none was found
}

// counterfactuals returns the changes of single detections that have an effect, if any, and
// those that change the prediction.
func (c Comparison) counterfactuals() (list []counterfactual) {
	var single []Change
	for _, change := range c.Changes {
		if !negligible(change.By) {
			single = append(single, change)
		}
	}
	if single != nil {
		list = append(list, counterfactual{
			fmt.Sprintf("If a single attribute were detected differently (now: %s by %s)", c.favoured(c.LogOdds), fixed(math.Abs(c.LogOdds))), single,
		})
	}
	class, against := className(c.Class), className(c.Against)
	if !c.Flip.Found {
		return append(list, counterfactual{Headline: fmt.Sprintf("A greedy search of up to %s found none that make %s more likely than %s",
			format.Count(c.Flip.Limit, "change"), against, class)})
	}
	s := fmt.Sprintf("%s becomes more likely than %s after %s", against, class, format.Count(len(c.Flip.Changes), "change"))
	if len(c.Flip.Changes) > 1 {
		s += ", applied in order (greedy search; fewer may suffice)"
	}
	return append(list, counterfactual{s, c.Flip.Changes})
}

// substituted says which attributes the soft OR substitutes.
func (c Comparison) substituted() []string {
	var list []string
	for _, s := range c.Substitutions {
		list = append(list, fmt.Sprintf("%s is described but was not detected; %s was detected in its place (soft OR). With both, the sum %s.",
			attributeName(s.Missed), nameWithin(s.Substitute, s.Group), c.favour(c.LogOdds+s.Gain)))
	}
	return list
}

// minDifference is the least difference between the descriptions of two classes for
// which reason names an attribute that one of them lacks.
const minDifference = 0.1

// reason names the attribute of a group that adds most to the class that the group favours
// or, if none does, the one that was not detected and that the other class is described by.
func (g Group) reason() string {
	sign := math.Copysign(1, g.Contribution)
	var adds, lacks string
	var most, mostLacked float64 = 0, minDifference
	for _, t := range g.Terms {
		if d := sign * (t.Term.Class - t.Term.Against); d > most {
			adds, most = attributeName(t.Attribute), d
		}
		if d := sign * t.Gamma * (t.Used.Against - t.Used.Class); d > mostLacked {
			lacks, mostLacked = attributeName(t.Attribute)+" (not detected)", d
		}
	}
	return cmp.Or(adds, lacks, g.title())
}

var (
	className     = format.ClassName
	attributeName = format.AttributeName
)

// nameWithin returns the name of an attribute without that of its group.
func nameWithin(name, group string) string {
	if g, value, found := strings.Cut(name, "::"); found && g == group {
		return format.Spaced(value)
	}
	return attributeName(name)
}

// title returns the name of a group for people.
func (g Group) title() string {
	if g.Strongest == nil {
		return attributeName(g.Name)
	}
	var names []string
	for _, name := range g.Strongest {
		names = append(names, attributeName(name))
	}
	return fmt.Sprintf("group %s (%s)", g.Name, strings.Join(names, ", "))
}

// ratio returns how many times the more likely class is as likely as the other.
func ratio(logOdds float64) string {
	if r := math.Exp(math.Abs(logOdds)); r < 1e6 {
		return fmt.Sprintf("%.1f", r)
	}
	return "over a million"
}

func odds(logOdds float64) string { return ratio(logOdds) + " to 1" }

func probability(p float64) string { return fmt.Sprintf("%.3f", p) }
func fixed(v float64) string       { return fmt.Sprintf("%.2f", v) }

// optional returns a number with two digits, or other for nil.
func optional(p *float64, other string) string {
	if p == nil {
		return other
	}
	return fixed(*p)
}

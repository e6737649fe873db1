package explain

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/model"
)

// writeText writes the result, with the details of the top groups of each comparison.
func (r *Result) writeText(w io.Writer, top int) error {
	var b strings.Builder
	fmt.Fprintln(&b, r.headline())
	for _, c := range r.Comparisons {
		fmt.Fprintln(&b, c.verdict())
	}
	likely := format.NewTable("class", "probability")
	for _, p := range r.likely() {
		likely.Row(p.Class, probability(p.P))
	}
	fmt.Fprintf(&b, "%s\n\n%s", r.settings(), likely)
	if r.Adapted != nil {
		fmt.Fprintf(&b, "\n%s\n", r.Adapted.Headline(r.Predicted))
		if len(r.Adapted.Neighbours) > 0 {
			fmt.Fprintf(&b, "Samples that favour %s most\n%s", className(r.Adapted.Predicted), r.Adapted.table())
		}
	}
	for _, c := range r.Comparisons {
		fmt.Fprintf(&b, "\n%s\n%s\n", c.title(), c.sum())
		for _, line := range c.substituted() {
			fmt.Fprintf(&b, "  %s\n", line)
		}
		fmt.Fprintf(&b, "\n%s\n%s", c.groupTable(top), r.termTable(c, top))
		if changes := c.changes(); len(changes) > 0 {
			fmt.Fprintf(&b, "\n%s\n%s", c.changesHeadline(), c.changeTable(changes))
		}
		fmt.Fprintf(&b, "\n%s\n", c.flipHeadline())
		if c.Flip.Found {
			b.WriteString(c.changeTable(c.Flip.Changes).String())
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

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

// verdict says in one sentence why the predicted class is more likely than the other.
func (c Comparison) verdict() string {
	class, against := className(c.Class), className(c.Against)
	s := fmt.Sprintf("%s is %s %s%s", class, times(c.LogOdds), against, c.role())
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

func (c Comparison) changesHeadline() string {
	return fmt.Sprintf("If a single attribute were detected differently (now: %s by %s)", c.favoured(c.LogOdds), fixed(math.Abs(c.LogOdds)))
}

func (c Comparison) flipHeadline() string {
	class, against := className(c.Class), className(c.Against)
	if !c.Flip.Found {
		return fmt.Sprintf("A greedy search of up to %s found none that make %s more likely than %s",
			format.Count(c.Flip.Limit, "change"), against, class)
	}
	s := fmt.Sprintf("%s becomes more likely than %s after %s", against, class, format.Count(len(c.Flip.Changes), "change"))
	if len(c.Flip.Changes) > 1 {
		s += ", applied in order (greedy search; fewer may suffice)"
	}
	return s
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

// shown returns the top groups that contribute, and the sum and number of all others.
func (c Comparison) shown(top int) (groups []Group, rest float64, others int) {
	for _, g := range c.Groups {
		if len(groups) < top && (!negligible(g.Contribution) || len(groups) == 0) {
			groups = append(groups, g)
		} else {
			rest += g.Contribution
		}
	}
	return groups, rest, len(c.Groups) - len(groups)
}

// changes lists the changes of single detections that have an effect.
func (c Comparison) changes() []Change {
	return slices.DeleteFunc(slices.Clone(c.Changes), func(change Change) bool { return negligible(change.By) })
}

func (c Comparison) groupTable(top int) *format.Table {
	t := format.NewTable("group", "favours", "by", "◂ other  predicted ▸")
	t.Wrap(52, 1)
	t.Wrap(24, 2)
	t.Right(3)
	groups, rest, others := c.shown(top)
	row := func(name string, v float64, bar string) {
		t.Row(name, c.favoured(v), fixed(math.Abs(v)), bar)
	}
	for _, g := range groups {
		row(g.title(), g.Contribution, bar(g.Contribution, c.widest()))
	}
	if others > 0 {
		row(format.Count(others, "other"), rest, "")
	}
	t.Footer("total", c.favoured(c.LogOdds), fixed(math.Abs(c.LogOdds)), "")
	return t
}

// widest is the largest contribution: groups are ordered.
func (c Comparison) widest() float64 { return math.Abs(c.Groups[0].Contribution) }

// bar draws a number as a bar to the left or right of the middle.
func bar(value, widest float64) string {
	const width = 10
	n := 0
	if widest > 0 {
		n = int(math.Round(math.Abs(value) / widest * width))
	}
	left, right := 0, n
	if value < 0 {
		left, right = n, 0
	}
	return strings.Repeat(" ", width-left) + strings.Repeat("█", left) + "│" + strings.Repeat("█", right) + strings.Repeat(" ", width-right)
}

// row is a line of the details of a group. What does not apply is nil.
type row struct {
	Name           string
	IsAttribute    bool
	Detected       *float64
	Prior          *float64
	Class, Against *float64 // described
	Share          Pair
}

// Of a group, the rows list at most maxRows attributes: those that describe one of the
// classes, or make up part of its score, to this degree.
const (
	minUsed       = 0.1
	minTermShare  = 0.05
	minOtherShare = 0.005 // of all other attributes together
	maxRows       = 6
)

// rows lists the attributes that matter, those with the highest descriptions first; all
// others together; and the none-of-group term, if the model has one.
func (r *Result) rows(g Group) []row {
	var shown []Term
	others := g.Others.Share
	for _, t := range g.Terms {
		matters := t.Gamma*max(t.Used.Class, t.Used.Against) >= minUsed || max(t.Share.Class, t.Share.Against) >= minTermShare
		if matters && len(shown) < maxRows {
			shown = append(shown, t)
			continue
		}
		others.Class += t.Share.Class
		others.Against += t.Share.Against
	}
	slices.SortStableFunc(shown, func(x, y Term) int {
		return cmp.Compare(max(y.Used.Class, y.Used.Against), max(x.Used.Class, x.Used.Against))
	})
	var list []row
	for _, t := range shown {
		name := nameWithin(t.Attribute, g.Name)
		if t.Gamma < 0.95 {
			name += fmt.Sprintf(" (%s of it)", format.Percent(t.Gamma))
		}
		list = append(list, row{name, true, &t.Detected, &t.Prior, t.Described.Class, t.Described.Against, t.Share})
	}
	if max(others.Class, others.Against) >= minOtherShare {
		list = append(list, row{Name: "other attributes", Share: others})
	}
	none := row{Name: "none of the group", Share: g.None.Share}
	if r.Complement == model.DeMorgan {
		none.Detected = &g.None.Detected
	}
	if r.Complement != model.NoComplement && max(none.Share.Class, none.Share.Against) >= minOtherShare {
		list = append(list, none)
	}
	return list
}

// termTable shows the details of the top groups. Priors are shown if they differ.
func (r *Result) termTable(c Comparison, top int) *format.Table {
	class, against := className(c.Class), className(c.Against)
	first, names := []any{"", ""}, []any{"attribute", "detected"}
	if r.hasPriors() {
		first, names = append(first, ""), append(names, "prior")
	}
	t := format.NewTable()
	t.Span(append(first, "described", "described", "share of the score", "share of the score")...)
	t.Span(append(names, class, against, class, against)...)
	t.Wrap(40, 1)
	for column := 2; column <= len(names)+4; column++ {
		t.Right(column)
		t.Wrap(18, column)
	}
	groups, _, _ := c.shown(top)
	for i, g := range groups {
		if i > 0 {
			t.Line()
		}
		t.Row(g.title() + " " + c.favour(g.Contribution))
		for _, line := range r.rows(g) {
			missing := ""
			if line.IsAttribute {
				missing = "-"
			}
			cells := []any{"  " + line.Name, optional(line.Detected, "")}
			if r.hasPriors() {
				cells = append(cells, optional(line.Prior, ""))
			}
			t.Row(append(cells, optional(line.Class, missing), optional(line.Against, missing),
				format.Percent(line.Share.Class), format.Percent(line.Share.Against))...)
		}
	}
	return t
}

// hasPriors reports whether the prior differs between attributes.
func (r *Result) hasPriors() bool { return r.Prior != model.Uniform }

func (c Comparison) changeTable(changes []Change) *format.Table {
	t := format.NewTable("attribute", "detected", "changed to", "then favours", "by", "prediction")
	for _, change := range changes {
		t.Row(attributeName(change.Attribute), fixed(change.From), fmt.Sprintf("%.0f", change.To),
			c.favoured(change.LogOdds), fixed(math.Abs(change.LogOdds)), className(change.Predicted))
	}
	t.Right(2, 3, 5)
	return t
}

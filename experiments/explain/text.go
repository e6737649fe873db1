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
	likely := format.NewTable("class", "p(class | x)")
	for _, p := range r.Likely {
		likely.Row(className(p.Class), probability(p.P))
	}
	fmt.Fprintf(&b, "%s\n%s\n\n%s", r.headline(), r.settings(), likely)
	for _, c := range r.Comparisons {
		fmt.Fprintf(&b, "\n%s\n", c.headline())
		for _, line := range c.highlights() {
			fmt.Fprintf(&b, "  %s\n", line)
		}
		fmt.Fprintf(&b, "\n%s", c.groupTable(top))
		for _, g := range c.Groups[:min(top, len(c.Groups))] {
			fmt.Fprintf(&b, "\n%s %s\n%s", g.title(), g.scores(), r.termTable(c, g))
		}
		if len(c.Changes) > 0 {
			fmt.Fprintf(&b, "\n%s\n%s", c.changesHeadline(), changeTable(c.Changes))
		}
		fmt.Fprintf(&b, "\n%s\n", c.flipHeadline())
		if c.Flip.Found {
			b.WriteString(changeTable(c.Flip.Changes).String())
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
	return fmt.Sprintf("%s trained on %s (%s prior, %s), choosing from %d %s",
		r.Variant, format.Printable(r.Dataset), r.Prior, none, r.Classes, format.Printable(r.Among))
}

// headline states by how much the predicted class is more likely.
func (c Comparison) headline() string {
	reason := map[Reason]string{RunnerUp: "the runner-up", TrueClass: "the true class", Requested: "as requested"}[c.Reason]
	return fmt.Sprintf("%s against %s, %s: log odds %+.2f (%s), the sum over %s", className(c.Class), className(c.Against),
		reason, c.LogOdds, odds(c.LogOdds), format.Count(len(c.Groups), "group"))
}

func (g Group) scores() string {
	return fmt.Sprintf("%+.2f: scores %.3g and %.3g", g.Contribution, g.Score.Class, g.Score.Against)
}

func (c Comparison) changesHeadline() string {
	return fmt.Sprintf("If a single attribute were detected differently (log odds now %+.2f)", c.LogOdds)
}

func (c Comparison) flipHeadline() string {
	class, against := className(c.Class), className(c.Against)
	if !c.Flip.Found {
		return fmt.Sprintf("A greedy search of %s found none that make %s more likely than %s",
			format.Count(c.Flip.Limit, "change"), against, class)
	}
	s := fmt.Sprintf("%s becomes more likely than %s after %s", against, class, format.Count(len(c.Flip.Changes), "change"))
	if len(c.Flip.Changes) > 1 {
		s += ", applied in order (greedy search; fewer may do)"
	}
	return s
}

// highlights are sentences on the groups that favour either class most, and on the
// attributes that the soft OR substitutes.
func (c Comparison) highlights() []string {
	var list []string
	for _, best := range []struct {
		group *string
		class string
	}{{c.BestFor, c.Class}, {c.BestAgainst, c.Against}} {
		for _, g := range c.Groups {
			if best.group != nil && g.Name == *best.group {
				list = append(list, fmt.Sprintf("%s favours %s most, %+.2f%s", g.title(), className(best.class), g.Contribution, g.evidence()))
			}
		}
	}
	for _, s := range c.Substitutions {
		list = append(list, fmt.Sprintf("soft OR: %s was not detected, but %s was (with both, the log odds would be %+.2f)",
			attributeName(s.Missed), nameWithin(s.Substitute, s.Group), c.LogOdds+s.Gain))
	}
	return list
}

// minDifference is the least difference between the descriptions of two classes for
// which evidence names an attribute that one of them lacks.
const minDifference = 0.1

// evidence names the attribute that adds most to the class that the group favours, and
// the one that the other class lacks most.
func (g Group) evidence() string {
	sign := 1.0
	if g.Contribution < 0 {
		sign = -1
	}
	var adds, lacks *Term
	var most, mostLacked float64 = 0, minDifference
	for i, t := range g.Terms {
		if d := sign * (t.Term.Class - t.Term.Against); d > most {
			adds, most = &g.Terms[i], d
		}
		if d := sign * t.Gamma * (t.Used.Against - t.Used.Class); d > mostLacked {
			lacks, mostLacked = &g.Terms[i], d
		}
	}
	var parts []string
	for _, t := range []*Term{adds, lacks} {
		if t != nil {
			parts = append(parts, fmt.Sprintf("%s detected %.2f (described %s and %s)",
				nameWithin(t.Attribute, g.Name), t.Detected, optional(t.Described.Class, "-"), optional(t.Described.Against, "-")))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, "; ")
}

func (c Comparison) groupTable(top int) *format.Table {
	t := format.NewTable("group", "log odds", "against   for")
	t.Wrap(52, 1)
	t.Right(2)
	shown := min(top, len(c.Groups))
	for _, g := range c.Groups[:shown] {
		t.Row(g.title(), signed(g.Contribution), bar(g.Contribution, c.widest()))
	}
	if others := c.Groups[shown:]; len(others) > 0 {
		t.Row(format.Count(len(others), "other"), signed(sum(others)), "")
	}
	t.Footer("total", signed(c.LogOdds), "")
	return t
}

// widest is the largest contribution: groups are ordered.
func (c Comparison) widest() float64 { return math.Abs(c.Groups[0].Contribution) }

func sum(groups []Group) (sum float64) {
	for _, g := range groups {
		sum += g.Contribution
	}
	return sum
}

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
	switch r.Complement {
	case model.Const:
		list = append(list, row{Name: "none of the group", Share: g.None.Share})
	case model.DeMorgan:
		list = append(list, row{Name: "none of the group", Detected: &g.None.Detected, Share: g.None.Share})
	}
	return list
}

// termTable shows the details of a group. Priors are shown if they differ.
func (r *Result) termTable(c Comparison, g Group) *format.Table {
	class, against := className(c.Class), className(c.Against)
	first, names := []any{"", ""}, []any{"attribute", "detected"}
	if r.hasPriors() {
		first, names = append(first, ""), append(names, "prior")
	}
	t := format.NewTable()
	t.Span(append(first, "described", "described", "share of the score", "share of the score")...)
	t.Span(append(names, class, against, class, against)...)
	for column := 2; column <= len(names)+4; column++ {
		t.Right(column)
		t.Wrap(18, column)
	}
	for _, line := range r.rows(g) {
		missing := ""
		if line.IsAttribute {
			missing = "-"
		}
		cells := []any{line.Name, optional(line.Detected, "")}
		if r.hasPriors() {
			cells = append(cells, optional(line.Prior, ""))
		}
		t.Row(append(cells, optional(line.Class, missing), optional(line.Against, missing),
			format.Percent(line.Share.Class), format.Percent(line.Share.Against))...)
	}
	return t
}

// hasPriors reports whether the prior differs between attributes.
func (r *Result) hasPriors() bool { return r.Prior != model.Uniform }

func changeTable(changes []Change) *format.Table {
	t := format.NewTable("attribute", "detected", "changed to", "log odds", "by", "prediction")
	for _, c := range changes {
		t.Row(attributeName(c.Attribute), fixed(c.From), fmt.Sprintf("%.0f", c.To), signed(c.LogOdds), signed(c.By), className(c.Predicted))
	}
	t.Right(2, 3, 4, 5)
	return t
}

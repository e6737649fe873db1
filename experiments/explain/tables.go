package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
)

// Tables returns the explanation, with the details of the top groups of each comparison.
func (r *Result) Tables(top int) []*table.Table {
	head := []string{r.headline()}
	for _, c := range r.Comparisons {
		head = append(head, c.verdict())
	}
	likely := table.New("", "class", "probability")
	for _, p := range r.likely() {
		likely.Row(p.Class, probability(p.P))
	}
	list := []*table.Table{prose(append(head, r.settings())...), likely}
	if a := r.Adapted; a != nil {
		list = append(list, a.table(r.Predicted))
	}
	for _, c := range r.Comparisons {
		lines := []string{c.title(), c.sum()}
		for _, line := range c.substituted() {
			lines = append(lines, "  "+line)
		}
		list = append(list, prose(lines...), c.groupTable(top), r.termTable(c, top))
		for _, counterfactual := range c.counterfactuals() {
			list = append(list, c.changeTable(counterfactual))
		}
	}
	return list
}

func prose(lines ...string) *table.Table { return table.New(strings.Join(lines, "\n")) }

func (a *Adapted) table(own string) *table.Table {
	if len(a.Neighbours) == 0 {
		return prose(a.headline(own))
	}
	t := table.New(fmt.Sprintf("%s\nSamples that favour %s most", a.headline(own), className(a.Predicted)),
		"sample", "adapted prediction", "similarity (cosine)", "effect").Right(3, 4)
	for _, n := range a.Neighbours {
		t.Row(n.name(), className(n.Predicted), fixed(n.Cosine), odds(n.LogOdds))
	}
	return t
}

// shown are the top groups that contribute, and the sum and number of all others.
type shown struct {
	Groups []Group
	Rest   float64
	Others int
}

func (c Comparison) shown(top int) (s shown) {
	for _, g := range c.Groups {
		if len(s.Groups) < top && (!negligible(g.Contribution) || len(s.Groups) == 0) {
			s.Groups = append(s.Groups, g)
		} else {
			s.Rest += g.Contribution
			s.Others++
		}
	}
	return s
}

func (c Comparison) groupTable(top int) *table.Table {
	t := table.New("", "group", "favours", "by", "◂ other  predicted ▸").Wrap(52, 1).Wrap(24, 2).Right(3)
	s := c.shown(top)
	for _, g := range s.Groups {
		t.Row(g.title(), c.favoured(g.Contribution), fixed(math.Abs(g.Contribution)), bar(g.Contribution, c.widest()))
	}
	if s.Others > 0 {
		t.Row(format.Count(s.Others, "other"), c.favoured(s.Rest), fixed(math.Abs(s.Rest)), "")
	}
	return t.Footer("total", c.favoured(c.LogOdds), fixed(math.Abs(c.LogOdds)), "")
}

// widest is the largest contribution: groups are ordered.
func (c Comparison) widest() float64 { return math.Abs(c.Groups[0].Contribution) }

// bar draws a number as a bar to the left or right of the middle.
func bar(value, widest float64) string {
	const side = 10
	var left, right int
	if n := int(math.Round(math.Abs(value) / max(widest, math.SmallestNonzeroFloat64) * side)); value < 0 {
		left = n
	} else {
		right = n
	}
	return strings.Repeat(" ", side-left) + strings.Repeat("█", left) + "│" + strings.Repeat("█", right) + strings.Repeat(" ", side-right)
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
func (r *Result) termTable(c Comparison, top int) *table.Table {
	class, against := className(c.Class), className(c.Against)
	first, names := []string{"", ""}, []string{"attribute", "detected"}
	if r.hasPriors() {
		first, names = append(first, ""), append(names, "prior")
	}
	t := table.New("", append(names, class, against, class, against)...).Wrap(40, 1)
	t.Span(append(first, "described", "described", "share of the score", "share of the score")...)
	for column := 2; column <= len(names)+4; column++ {
		t.Right(column).Wrap(18, column)
	}
	for i, g := range c.shown(top).Groups {
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

func (c Comparison) changeTable(of counterfactual) *table.Table {
	if of.Changes == nil {
		return prose(of.Headline)
	}
	t := table.New(of.Headline, "attribute", "detected", "changed to", "then favours", "by", "prediction").Right(2, 3, 5)
	for _, change := range of.Changes {
		t.Row(attributeName(change.Attribute), fixed(change.From), fmt.Sprintf("%.0f", change.To),
			c.favoured(change.LogOdds), fixed(math.Abs(change.LogOdds)), className(change.Predicted))
	}
	return t
}

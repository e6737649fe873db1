package explain

import (
	"fmt"

	"github.com/lago-train/lago-train/model"
)

// headline says what the sample was named, and whether rightly.
func (x *Explanation) headline() string {
	s := x.Sample.name() + " is named " + proseClass(x.Predicted)
	switch {
	case x.Sample.Label == nil:
		return s
	case x.Correct == nil:
		return s + "; its class, " + proseClass(*x.Sample.Label) + ", is not among the " + x.Among
	case *x.Correct:
		return s + ", rightly"
	}
	return fmt.Sprintf("%s, wrongly: it is a %s, which comes %s with p = %s", s, proseClass(*x.Sample.Label),
		ordinal(x.LabelAt.Rank), probability(x.LabelAt.P))
}

// name is that of the sample.
func (s Sample) name() string {
	if s.ID != "" {
		return fmt.Sprintf("sample %s of %s", printable(s.ID), printable(s.From))
	}
	return fmt.Sprintf("sample %d of %s", s.Index, printable(s.From))
}

func (x *Explanation) settings() string {
	complement := map[model.Complement]string{
		model.Const: "a constant complement", model.DeMorgan: "De Morgan's complement", model.NoComplement: "no complement",
	}[x.Complement]
	return fmt.Sprintf("%s trained on %s (%s prior, %s), chosen between %d %s",
		x.Variant, printable(x.Dataset), x.Prior, complement, x.Classes, printable(x.Among))
}

// headline says who is ahead of whom, and by how much.
func (c Comparison) headline() string {
	return fmt.Sprintf("%s against %s, %s: log odds %+.2f (%s), the sum of what %s",
		proseClass(c.Class), proseClass(c.Against), c.Why.prose(), c.LogOdds, odds(c.LogOdds), contribute(len(c.Groups)))
}

func (w Why) prose() string {
	switch w {
	case RunnerUp:
		return "the runner-up"
	case TrueClass:
		return "the true class"
	}
	return "as asked for"
}

func contribute(groups int) string {
	if groups == 1 {
		return "1 group contributes"
	}
	return fmt.Sprintf("%d groups contribute", groups)
}

// scores are those of the two classes.
func (g Group) scores() string { return fmt.Sprintf("%.3g and %.3g", g.Score.Class, g.Score.Against) }

// changesHeadline says what the single changes are.
func (c Comparison) changesHeadline() string {
	return fmt.Sprintf("had a single attribute been seen otherwise (log odds now %+.2f)", c.LogOdds)
}

// flipHeadline says what it takes to put the other class ahead.
func (c Comparison) flipHeadline() string {
	class, against := proseClass(c.Class), proseClass(c.Against)
	if !c.Flip.Found {
		return fmt.Sprintf("%s is not ahead of %s after any %s that a greedy search makes", against, class, plural(c.Flip.Limit, "change"))
	}
	s := fmt.Sprintf("%s is ahead of %s after %s", against, class, plural(len(c.Flip.Changes), "change"))
	if len(c.Flip.Changes) > 1 {
		s += ", one after the other (by a greedy search: there may be fewer)"
	}
	return s
}

// readings tell in words what stands out: the group that speaks most for the class,
// the one that speaks most for the other, and what the soft OR made up for.
func (c Comparison) readings() []string {
	var list []string
	if g := c.group(c.TurnedAway); g != nil {
		list = append(list, fmt.Sprintf("%s speaks most against %s, %+.2f%s", g.title(), proseClass(c.Against), g.Contribution, g.reason()))
	}
	if g := c.group(c.BestOf); g != nil {
		list = append(list, fmt.Sprintf("%s speaks most for %s, %+.2f%s", g.title(), proseClass(c.Against), g.Contribution, g.reason()))
	}
	for _, m := range c.SoftOR {
		list = append(list, fmt.Sprintf("soft OR: %s was missed, %s made up for it (had it been seen too, the log odds would be %+.2f)",
			proseAttribute(m.Missed), proseWithin(m.By, m.Group), c.LogOdds+m.Gain))
	}
	return list
}

// group returns the group of a name, nil for none.
func (c Comparison) group(name *string) *Group {
	for i, g := range c.Groups {
		if name != nil && g.Name == *name {
			return &c.Groups[i]
		}
	}
	return nil
}

// leastApart is how far apart two classes must be described for an attribute to be
// named as what one of them lacks.
const leastApart = 0.1

// reason names the attribute that made the group speak for one of the classes and, if
// there is one, the attribute that the other would have needed.
func (g Group) reason() string {
	sign := 1.0
	if g.Contribution < 0 {
		sign = -1
	}
	var carried, lacked *Term
	for i, t := range g.Terms {
		if by := sign * (t.Term.Class - t.Term.Against); by > 0 && (carried == nil || by > sign*(carried.Term.Class-carried.Term.Against)) {
			carried = &g.Terms[i]
		}
		if by := sign * t.Gamma * (t.Used.Against - t.Used.Class); by > leastApart && (lacked == nil || by > sign*lacked.Gamma*(lacked.Used.Against-lacked.Used.Class)) {
			lacked = &g.Terms[i]
		}
	}
	s := ""
	for _, t := range []*Term{carried, lacked} {
		if t == nil {
			continue
		}
		parted := ";"
		if s == "" {
			parted = ":"
		}
		s += fmt.Sprintf("%s %s seen %.2f (described %s and %s)",
			parted, proseWithin(t.Attribute, g.Name), t.Seen, fixed(t.Described.Class, "-"), fixed(t.Described.Against, "-"))
	}
	return s
}

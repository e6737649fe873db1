package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lago-train/lago-train/model"
)

// What is told of the attributes of a group: those that one of the classes is
// described by, or that make up a part of its score, to this degree; and of them so
// many.
const (
	leastUsed    = 0.1
	leastCarried = 0.05
	leastRest    = 0.005 // of the score, of all others together
	mostTelling  = 6
)

// row is a line of what carried a group. What does not apply is nil.
type row struct {
	Name           string
	Seen, Prior    *float64
	Class, Against *float64 // described
	Share          Pair
}

// rows lists the attributes that say something, those that are described most first;
// all others together; and none of the group, where the model knows a complement.
func (x *Explanation) rows(g Group) []row {
	var told []Term
	rest := g.Others
	for _, t := range g.Terms {
		counts := t.Gamma*max(t.Used.Class, t.Used.Against) >= leastUsed || max(t.Share.Class, t.Share.Against) >= leastCarried
		if counts && len(told) < mostTelling {
			told = append(told, t)
			continue
		}
		rest.Count++
		rest.Share.Class += t.Share.Class
		rest.Share.Against += t.Share.Against
	}
	slices.SortStableFunc(told, func(x, y Term) int {
		return cmp.Compare(max(y.Used.Class, y.Used.Against), max(x.Used.Class, x.Used.Against))
	})
	var list []row
	for _, t := range told {
		list = append(list, row{t.title(g), &t.Seen, &t.Prior, t.Described.Class, t.Described.Against, t.Share})
	}
	if max(rest.Share.Class, rest.Share.Against) >= leastRest {
		list = append(list, row{Name: "all others", Share: rest.Share})
	}
	switch x.Complement {
	case model.Const: // seen for sure, whatever is seen
		list = append(list, row{Name: "none of them", Share: g.None.Share})
	case model.DeMorgan:
		list = append(list, row{Name: "none of them", Seen: &g.None.Seen, Share: g.None.Share})
	}
	return list
}

// title is the name of the attribute, with its share of the group where the group has
// not nearly all of it.
func (t Term) title(g Group) string {
	name := proseWithin(t.Attribute, g.Name)
	if t.Gamma < 0.95 {
		name += fmt.Sprintf(" (%s of it)", percent(t.Gamma))
	}
	return name
}

// odds writes log odds as people say odds.
func odds(logOdds float64) string {
	const most = 1e6
	switch ratio := math.Exp(math.Abs(logOdds)); {
	case ratio >= most:
		return "over a million to 1"
	case ratio >= 10:
		return fmt.Sprintf("%.0f to 1", ratio)
	default:
		return fmt.Sprintf("%.1f to 1", ratio)
	}
}

// probability writes one so that what is close to 0 or 1 is not taken for it.
func probability(p float64) string {
	switch {
	case p > 0 && p < 0.001:
		return "< 0.001"
	case p < 1 && p > 0.999:
		return "> 0.999"
	}
	return fmt.Sprintf("%.3f", p)
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// fixed writes a probability with two digits, other for what there is none of.
func fixed(p *float64, other string) string {
	if p == nil {
		return other
	}
	return fmt.Sprintf("%.2f", *p)
}

// plural is a number of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// ordinal is a rank.
func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}

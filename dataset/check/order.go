package check

import (
	"cmp"
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset/descriptions"
)

// Group says what it would bring to describe a group of attributes.
type Group struct {
	Name    string `json:"name"`    // "" without groups
	Missing int    `json:"missing"` // empty cells
	Pairs   int    `json:"pairs"`   // of classes that are still alike, of which one or both lack it
	// Confusion is the mean expected confusion by the group alone, see Pair, over the pairs of classes that
	// have it; null if there are none.
	Confusion *float64 `json:"confusion"`
}

// Order is the groups in the order in which they should be described.
type Order struct {
	Groups []Group `json:"groups"`
	Alike  int     `json:"alike"` // pairs of classes that are still alike
}

// orderedClasses is the most classes whose pairs Describing compares; of more it takes each nth.
const orderedClasses = 300

// Describing orders the groups of a table: those first that should tell apart the most pairs of classes
// that are still alike, by the pairs that lack them and by how well they distinguish the classes that
// have them. A group that fewer than two classes have counts by its number of attributes.
// Two classes are alike as in Describe; those without any value are too.
func Describing(t *descriptions.Table) Order {
	u := t.Values()
	o, groups := Order{}, t.Groups()
	o.Groups = make([]Group, len(groups)) // not null in JSON
	group := make([]int, u.Cols)          // of the attributes
	for k, g := range groups {
		o.Groups[k].Name = g.Name
		for _, m := range g.Members {
			group[m] = k
			for z := range u.Rows {
				if math.IsNaN(u.Row(z)[m]) {
					o.Groups[k].Missing++
				}
			}
		}
	}
	overlaps, pairs := make([]float64, len(groups)), make([]float64, len(groups))
	step := 1 + u.Rows/orderedClasses
	for a := 0; a < u.Rows; a += step {
		for b := a + step; b < u.Rows; b += step {
			overlap, lacks := slices.Repeat([]float64{1}, len(groups)), make([]bool, len(groups))
			for m, p := range u.Row(a) {
				if q := u.Row(b)[m]; math.IsNaN(p + q) {
					lacks[group[m]] = true
				} else {
					overlap[group[m]] *= math.Sqrt(p*q) + math.Sqrt((1-p)*(1-q))
				}
			}
			product := 1.0
			for k, v := range overlap {
				if product *= v; !lacks[k] {
					overlaps[k] += v
					pairs[k]++
				}
			}
			if product >= 2*LeastConfusion {
				o.Alike++
				for k, lack := range lacks {
					if lack {
						o.Groups[k].Pairs++
					}
				}
			}
		}
	}
	gain := map[string]float64{}
	for k := range o.Groups {
		g, n := &o.Groups[k], float64(len(groups[k].Members))
		apart := n / (n + 3)
		if pairs[k] > 0 {
			apart = 1 - overlaps[k]/pairs[k]
			g.Confusion = new(overlaps[k] / pairs[k] / 2)
		}
		gain[g.Name] = float64(g.Pairs) * apart
	}
	slices.SortStableFunc(o.Groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(gain[b.Name], gain[a.Name]), cmp.Compare(b.Missing, a.Missing))
	})
	return o
}

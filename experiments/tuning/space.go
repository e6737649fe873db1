package tuning

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/samplemv"
)

// dimension is one setting that a search varies, with the values that it tries: numbers
// in ascending order, or words without an order.
type dimension struct {
	key     string
	values  []any
	whole   bool // the numbers are integers
	get     func(candidate) any
	set     func(*candidate, any)
	applies func(candidate) bool // whether the setting makes a difference
}

// number returns the value in c, if it is a number.
func (d dimension) number(c candidate) (float64, bool) {
	switch v := d.get(c).(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	}
	return 0, false
}

// with returns c with another value.
func (d dimension) with(c candidate, value any) candidate {
	d.set(&c, value)
	return c
}

// neighbours returns candidates that differ from c in this setting alone: by the
// next listed numbers and, on a log scale, those halfway to them, or by another word.
func (d dimension) neighbours(c candidate) []candidate {
	var near []candidate
	at, isNumber := d.number(c)
	if !isNumber {
		for _, word := range d.values {
			if fmt.Sprint(word) != fmt.Sprint(d.get(c)) {
				near = append(near, d.with(c, word))
			}
		}
		return near
	}
	above := slices.IndexFunc(d.values, func(v any) bool { return v.(float64) >= at })
	if above < 0 {
		above = len(d.values)
	}
	below := above - 1
	if above < len(d.values) && d.values[above] == at {
		above++
	}
	for _, i := range []int{below, above} {
		if i < 0 || i >= len(d.values) {
			continue
		}
		next := d.values[i].(float64)
		near = append(near, d.with(c, next))
		if half := d.round(math.Sqrt(at * next)); half > min(at, next) && half < max(at, next) {
			near = append(near, d.with(c, half))
		}
	}
	return near
}

// round keeps two significant digits, or whole numbers whole.
func (d dimension) round(value float64) float64 {
	if d.whole {
		return math.Round(value)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'e', 1, 64), 64)
	if err != nil {
		panic("tuning: a number that was written does not read: " + err.Error())
	}
	return rounded
}

// edge says at which end of the listed numbers the value of c lies, "lowest", "highest"
// or, inside of them, "". A value outside of them, such as the ridge 0, is at no end, nor
// is a lowest value of 0, beyond which there is none.
func (d dimension) edge(c candidate) string {
	at, isNumber := d.number(c)
	switch {
	case !isNumber || len(d.values) < 2:
	case at == d.values[0] && at != 0:
		return "lowest"
	case at == d.values[len(d.values)-1]:
		return "highest"
	}
	return ""
}

// space is what a search looks through.
type space []dimension

// draw returns n candidates spread evenly over the space, by a scrambled Halton
// sequence. The first of them are the same for any n.
func (s space) draw(base candidate, n int, src rand.Source) []candidate {
	if len(s) == 0 {
		return []candidate{base}
	}
	points := mat.NewDense(n, len(s), nil)
	samplemv.Halton{Kind: samplemv.Owen, Q: distmv.NewUnitUniform(len(s), nil), Src: src}.Sample(points)
	drawn := make([]candidate, n)
	for i := range drawn {
		drawn[i] = base
		for j, d := range s {
			d.set(&drawn[i], d.values[min(int(points.At(i, j)*float64(len(d.values))), len(d.values)-1)])
		}
	}
	return drawn
}

// neighbours returns those of c in every dimension, in a random order in which each
// dimension has its first before any has its second.
func (s space) neighbours(c candidate, rng *rand.Rand) []candidate {
	var mixed []candidate
	lists := make([][]candidate, len(s))
	longest := 0
	for i, place := range rng.Perm(len(s)) {
		near := s[place].neighbours(c)
		rng.Shuffle(len(near), func(a, b int) { near[a], near[b] = near[b], near[a] })
		lists[i] = near
		longest = max(longest, len(near))
	}
	for turn := range longest {
		for _, near := range lists {
			if turn < len(near) {
				mixed = append(mixed, near[turn])
			}
		}
	}
	return mixed
}

// Edge is a setting whose best value is at an end of the listed ones.
type Edge struct {
	Setting string `json:"setting"`
	Value   any    `json:"value"`
	End     string `json:"end"` // lowest or highest of the values that were searched
}

func (s space) edges(c candidate) []Edge {
	edges := []Edge{}
	for _, d := range s {
		if end := d.edge(c); end != "" && d.applies(c) {
			edges = append(edges, Edge{d.key, d.get(c), end})
		}
	}
	return edges
}

package tuning

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/samplemv"

	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model"
)

// dimension is one setting that a search varies, with the values that it tries: numbers
// in ascending order, or words without an order.
type dimension struct {
	protocol.Setting
	values []any
}

// number returns the value in c, if it is a number.
func (d dimension) number(c protocol.Config) (float64, bool) {
	switch v := d.Value(c).(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	}
	return 0, false
}

// with returns c with another value.
func (d dimension) with(c protocol.Config, value any) protocol.Config {
	d.SetValue(&c, value)
	return c
}

// neighbours returns configurations that differ from c in this setting alone: by the
// next listed numbers and, on a log scale, those halfway to them, or by another word.
func (d dimension) neighbours(c protocol.Config) []protocol.Config {
	var near []protocol.Config
	at, isNumber := d.number(c)
	if !isNumber {
		for _, word := range d.values {
			if word != d.Value(c) {
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
	if _, whole := d.Value(protocol.Config{}).(int); whole {
		return math.Round(value)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'e', 1, 64), 64)
	if err != nil {
		panic("tuning: a number that was written does not read: " + err.Error())
	}
	return rounded
}

// edge says at which end of the listed numbers the value of c lies, "lowest", "highest"
// or, inside of them, "". A value outside of them, such as the ridge 0, is at no end.
func (d dimension) edge(c protocol.Config) string {
	at, isNumber := d.number(c)
	switch {
	case !isNumber || len(d.values) < 2:
	case at == d.values[0]:
		return "lowest"
	case at == d.values[len(d.values)-1]:
		return "highest"
	}
	return ""
}

// space is what a search looks through.
type space []dimension

// searchSpace returns the paper's space (supplement A), with preprocessing and its
// ridge, for the settings that a variant has. Fixed settings are left out.
func searchSpace(v model.Variant, attributes int, fixed []string) space {
	var s space
	for _, setting := range protocol.All() {
		if values := setting.SearchValues(v, attributes); values != nil && !slices.Contains(fixed, setting.Key) {
			s = append(s, dimension{setting, values})
		}
	}
	return s
}

// draw returns n configurations spread evenly over the space, by a scrambled Halton
// sequence. The first of them are the same for any n.
func (s space) draw(base protocol.Config, n int, src rand.Source) []protocol.Config {
	if len(s) == 0 {
		return []protocol.Config{base}
	}
	points := mat.NewDense(n, len(s), nil)
	samplemv.Halton{Kind: samplemv.Owen, Q: distmv.NewUnitUniform(len(s), nil), Src: src}.Sample(points)
	configs := make([]protocol.Config, n)
	for i := range configs {
		configs[i] = base
		for j, d := range s {
			d.SetValue(&configs[i], d.values[min(int(points.At(i, j)*float64(len(d.values))), len(d.values)-1)])
		}
	}
	return configs
}

// neighbours returns those of c in every dimension, in a random order in which each
// dimension has its first before any has its second.
func (s space) neighbours(c protocol.Config, rng *rand.Rand) []protocol.Config {
	var mixed []protocol.Config
	lists := make([][]protocol.Config, len(s))
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

func (s space) edges(c protocol.Config) []Edge {
	edges := []Edge{}
	for _, d := range s {
		if end := d.edge(c); end != "" && d.AppliesTo(c) {
			edges = append(edges, Edge{d.Key, d.Value(c), end})
		}
	}
	return edges
}

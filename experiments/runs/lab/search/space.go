package search

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/samplemv"

	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/train/methods"
)

// dimension is one setting that a search varies, with the values that it tries: numbers
// in ascending order, or words without an order.
type dimension struct {
	key    string
	values []any
	whole  bool // the numbers are integers
}

type space []dimension

// newSpace returns what a search of the method varies: for LAGO the paper's space
// (supplement A) with preprocessing, alpha and prior; for a baseline its settings, with the
// same preprocessing. Fixed settings are left out, and the correction, see searcher.corrected.
func newSpace(c config.Config, attributes int, fixed []string) space {
	var s space
	for _, setting := range c.Settings() {
		values := setting.Search
		if setting.UpToAttributes {
			values = slices.DeleteFunc(slices.Clone(values), func(v any) bool {
				return v.(float64) > float64(attributes)
			})
		}
		if len(values) == 0 || slices.Contains(fixed, setting.Key) ||
			slices.Contains(methods.CorrectionKeys, setting.Key) {
			continue
		}
		_, whole := setting.Value().(int)
		s = append(s, dimension{setting.Key, values, whole})
	}
	return s
}

func (d dimension) number(c config.Config) (float64, bool) {
	switch v := c.Value(d.key).(type) {
	case float64:
		return v, true
	case int:
		return float64(v), true
	}
	return 0, false
}

// neighbours returns settings that differ from c in this one alone: by the next listed
// numbers and, on a log scale, those halfway to them, or by another word.
func (d dimension) neighbours(c config.Config) []config.Config {
	var near []config.Config
	now, isNumber := d.number(c)
	if !isNumber {
		for _, word := range d.values {
			if fmt.Sprint(word) != fmt.Sprint(c.Value(d.key)) {
				near = append(near, c.With(d.key, word))
			}
		}
		return near
	}
	above, listed := slices.BinarySearchFunc(d.values, now, func(v any, now float64) int {
		return cmp.Compare(v.(float64), now)
	})
	below := above - 1
	if listed {
		above++
	}
	for _, i := range []int{below, above} {
		if i < 0 || i >= len(d.values) {
			continue
		}
		next := d.values[i].(float64)
		near = append(near, c.With(d.key, next))
		if half := d.round(math.Sqrt(now * next)); half > min(now, next) && half < max(now, next) {
			near = append(near, c.With(d.key, half))
		}
	}
	return near
}

func (d dimension) round(value float64) float64 {
	if d.whole {
		return math.Round(value)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(value, 'e', 1, 64), 64) // which reads what it wrote
	return rounded
}

// end says at which end of the listed numbers the value of c lies, "lowest" or "highest", or
// that it is "outside" of them; "" if it is between them. A value of 0 is at no end: for the
// ridge it stands for one that is taken from the features, and beyond others there is none.
func (d dimension) end(c config.Config) string {
	now, isNumber := d.number(c)
	switch {
	case !isNumber || len(d.values) < 2 || now == 0:
	case now < d.values[0].(float64) || now > d.values[len(d.values)-1].(float64):
		return "outside"
	case now == d.values[0]:
		return "lowest"
	case now == d.values[len(d.values)-1]:
		return "highest"
	}
	return ""
}

// draw returns n settings spread evenly over the space, by a scrambled Halton sequence. The
// first of them are the same for any n.
func (s space) draw(base config.Config, n int, src rand.Source) []config.Config {
	if len(s) == 0 {
		return []config.Config{base}
	}
	points := mat.NewDense(n, len(s), nil)
	samplemv.Halton{Kind: samplemv.Owen, Q: distmv.NewUnitUniform(len(s), nil), Src: src}.Sample(points)
	drawn := make([]config.Config, n)
	for i := range drawn {
		drawn[i] = base
		for j, d := range s {
			drawn[i] = drawn[i].With(d.key,
				d.values[min(int(points.At(i, j)*float64(len(d.values))), len(d.values)-1)])
		}
	}
	return drawn
}

func (s space) grid(base config.Config) []config.Config {
	list := []config.Config{base}
	for _, d := range s {
		if d.key == "ridge" {
			continue
		}
		var next []config.Config
		for _, c := range list {
			for _, v := range d.values {
				next = append(next, c.With(d.key, v))
			}
		}
		list = next
	}
	return list
}

// neighbours returns those of c in every dimension, in a random order in which each
// dimension has its first before any has its second.
func (s space) neighbours(c config.Config, rng *rand.Rand) []config.Config {
	lists := make([][]config.Config, len(s))
	for i, place := range rng.Perm(len(s)) {
		lists[i] = s[place].neighbours(c)
		rng.Shuffle(len(lists[i]), reflect.Swapper(lists[i]))
	}
	var mixed []config.Config
	for turn, before := 0, -1; len(mixed) > before; turn++ {
		before = len(mixed)
		for _, near := range lists {
			if turn < len(near) {
				mixed = append(mixed, near[turn])
			}
		}
	}
	return mixed
}

func (s space) edges(c config.Config) []lab.Edge {
	edges := []lab.Edge{}
	used := c.Settings().Used()
	for _, d := range s {
		if end := d.end(c); end != "" && used.Has(d.key) {
			edges = append(edges, lab.Edge{Setting: d.key, Value: c.Value(d.key), End: end})
		}
	}
	return edges
}

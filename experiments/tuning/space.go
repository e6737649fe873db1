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
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
)

// dimension is one setting that a search varies.
type dimension interface {
	name() string // of the setting in config files
	size() int    // listed values
	pick(c *protocol.Config, i int)
	// neighbours are configs that differ from c in this setting, a step away.
	neighbours(c protocol.Config) []protocol.Config
	value(c protocol.Config) any
	// edge says at which end of the listed values the setting of c lies, "lowest",
	// "highest" or, inside of them, "".
	edge(c protocol.Config) string
}

// number is a dimension of ordered values.
type number struct {
	label  string
	values []float64 // ascending
	get    func(protocol.Config) float64
	set    func(*protocol.Config, float64)
	whole  bool
}

func (n number) name() string                   { return n.label }
func (n number) size() int                      { return len(n.values) }
func (n number) pick(c *protocol.Config, i int) { n.set(c, n.values[i]) }
func (n number) value(c protocol.Config) any    { return n.get(c) }

// neighbours are the listed values next to that of c and, on a log scale, the
// values halfway to them.
func (n number) neighbours(c protocol.Config) []protocol.Config {
	at := n.get(c)
	above, _ := slices.BinarySearch(n.values, at)
	below := above - 1
	if above < len(n.values) && n.values[above] == at {
		above++
	}
	var near []protocol.Config
	for _, i := range []int{below, above} {
		if i < 0 || i >= len(n.values) {
			continue
		}
		next := n.values[i]
		near = append(near, n.with(c, next))
		if half := n.round(math.Sqrt(at * next)); half > min(at, next) && half < max(at, next) {
			near = append(near, n.with(c, half))
		}
	}
	return near
}

func (n number) with(c protocol.Config, value float64) protocol.Config {
	n.set(&c, value)
	return c
}

// round keeps two digits, or whole numbers whole: more is not to be told apart.
func (n number) round(value float64) float64 {
	if n.whole {
		return math.Round(value)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'e', 1, 64), 64)
	if err != nil {
		panic("experiments: a number that was written does not read: " + err.Error())
	}
	return rounded
}

// A value outside of the listed ones is on no edge of them. Only the config that a
// search starts from may have one, such as the ridge 0, which is by the features.
func (n number) edge(c protocol.Config) string {
	switch at := n.get(c); {
	case len(n.values) < 2:
	case at == n.values[0]:
		return "lowest"
	case at == n.values[len(n.values)-1]:
		return "highest"
	}
	return ""
}

// preprocessing is the dimension of the kinds of preprocessing, which have no order.
type preprocessing struct{}

var preprocessings = []preprocess.Kind{preprocess.None, preprocess.Standardize, preprocess.Whiten}

func (preprocessing) name() string                   { return "preprocess" }
func (preprocessing) size() int                      { return len(preprocessings) }
func (preprocessing) pick(c *protocol.Config, i int) { c.Preprocess = preprocessings[i] }
func (preprocessing) value(c protocol.Config) any    { return c.Preprocess }
func (preprocessing) edge(protocol.Config) string    { return "" }

func (preprocessing) neighbours(c protocol.Config) []protocol.Config {
	var near []protocol.Config
	for _, kind := range preprocessings {
		if kind != c.Preprocess {
			other := c
			other.Preprocess = kind
			near = append(near, other)
		}
	}
	return near
}

// ridges extends the paper's space, as preprocessing does.
var ridges = []float64{1e2, 1e3, 1e4, 1e5, 1e6}

// space is what a search looks through.
type space []dimension

// searchSpace is the paper's space (supplement A) with preprocessing and its ridge,
// for the settings that a variant has. Settings that are fixed stay out.
func searchSpace(v model.Variant, attributes int, fixed []string) space {
	listed := published.All().SearchSpace
	field := func(name string, values []float64, of func(*protocol.Config) *float64) number {
		return number{
			label: name, values: values,
			get: func(c protocol.Config) float64 { return *of(&c) },
			set: func(c *protocol.Config, value float64) { *of(c) = value },
		}
	}
	all := space{
		field("lr", listed.LearningRate, func(c *protocol.Config) *float64 { return &c.LR }),
		preprocessing{},
		field("ridge", ridges, func(c *protocol.Config) *float64 { return &c.Ridge }),
		field("beta", listed.Beta, func(c *protocol.Config) *float64 { return &c.Beta }),
		field("lambda", listed.Lambda, func(c *protocol.Config) *float64 { return &c.Lambda }),
	}
	if v.Learned() {
		all = append(all,
			field("lr_v", listed.LearningRateV, func(c *protocol.Config) *float64 { return &c.LRV }),
			field("zeta", listed.Zeta, func(c *protocol.Config) *float64 { return &c.Zeta }))
	}
	switch v {
	case model.KSoft:
		var ks []float64
		for _, k := range published.KsUpTo(listed.K, attributes) {
			ks = append(ks, float64(k))
		}
		all = append(all, number{
			label: "k", values: ks, whole: true,
			get: func(c protocol.Config) float64 { return float64(c.K) },
			set: func(c *protocol.Config, value float64) { c.K = int(value) },
		})
	case model.SemanticSoft:
		all = append(all, field("psi", listed.Psi, func(c *protocol.Config) *float64 { return &c.Psi }))
	}
	return slices.DeleteFunc(all, func(d dimension) bool { return slices.Contains(fixed, d.name()) })
}

// draw returns n configs, base but for settings that are drawn from the listed
// values: a Halton sequence with Owen's scrambling, which covers the space more
// evenly than independent draws. The first of them are the same for any n.
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
			d.pick(&configs[i], min(int(points.At(i, j)*float64(d.size())), d.size()-1))
		}
	}
	return configs
}

// neighbours are those of c in every dimension, in a random order in which each
// dimension has its first before any has its second.
func (s space) neighbours(c protocol.Config, rng *rand.Rand) []protocol.Config {
	var mixed []protocol.Config
	lists := make([][]protocol.Config, len(s))
	for i, place := range rng.Perm(len(s)) {
		near := s[place].neighbours(c)
		rng.Shuffle(len(near), func(a, b int) { near[a], near[b] = near[b], near[a] })
		lists[i] = near
	}
	for turn := range longest(lists) {
		for _, near := range lists {
			if turn < len(near) {
				mixed = append(mixed, near[turn])
			}
		}
	}
	return mixed
}

func longest(lists [][]protocol.Config) int {
	var n int
	for _, list := range lists {
		n = max(n, len(list))
	}
	return n
}

// uses says whether a setting makes a difference to c.
func uses(c protocol.Config, setting string) bool {
	return setting != "ridge" || c.Preprocess == preprocess.Whiten
}

// Edge is a setting for which the space of a search ends where its best lies.
type Edge struct {
	Setting string `json:"setting"`
	Value   any    `json:"value"`
	End     string `json:"end"` // lowest or highest of the values that were searched
}

func (s space) edges(c protocol.Config) []Edge {
	edges := []Edge{}
	for _, d := range s {
		if end := d.edge(c); end != "" && uses(c, d.name()) {
			edges = append(edges, Edge{d.name(), d.value(c), end})
		}
	}
	return edges
}

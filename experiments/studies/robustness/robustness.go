// Package robustness measures test accuracy when class descriptions are noisy (the paper's
// figure A.1) or partial.
package robustness

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/impute"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/engine"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
	"github.com/lago-train/lago-train/train/metrics"
)

// Config says which methods are evaluated with which descriptions.
type Config struct {
	Variants  []config.Config `json:"variants"`
	Baselines []string        `json:"baselines"`
	// has the preprocessing, seeds and epochs of the baselines
	Like config.Config `json:"like"`
	Keys []string      `json:"keys,omitempty"` // of settings that were given
	Distortion

	names []string // of Variants and Baselines
}

// Noise asks for accuracy with noisy descriptions.
type Noise struct{ Config }

// Settings lists the settings of the study.
func (c *Noise) Settings(r *config.Request) setting.List {
	return c.settings(r, []string{
		string(model.SemanticHard), string(model.Singletons), "eszsl",
	}, setting.List{
		setting.Numbers("ratios", &c.Ratios, 0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5).
			Common().Describe("`R,...` noise ratios, from 0 to 1"),
		setting.Whole("noise_seeds", &c.NoiseSeeds, 5, setting.Between(1, 1000)).Common().
			Describe("`N` random seeds of the noise"),
	})
}

// Partial asks for accuracy with a part of each class's attributes.
type Partial struct{ Config }

// Settings lists the settings of the study.
func (c *Partial) Settings(r *config.Request) setting.List {
	return c.settings(r, []string{string(model.SemanticHard), "eszsl"}, setting.List{
		setting.Numbers("shares", &c.Shares, 1, 0.75, 0.5, 0.25, 0.1).Common().
			Describe("`S,...` shares of the attributes that are given, above 0 and up to 1"),
		setting.Choice("given", &c.Given, AtRandom, AtRandom, Strongest).Common().
			Describe("attributes that are given: random ones or the strongest"),
		setting.Whole("mask_seeds", &c.MaskSeeds, 5, setting.Between(1, 1000)).Describe("`N` random masks"),
	})
}

func (c *Config) settings(r *config.Request, standard []string, distortion setting.List) setting.List {
	r.Methods = &c.names
	return slices.Concat(r.VariantSettings(), r.RotationSettings(), setting.List{
		setting.Choices("methods", &c.names, standard, methods.Labels()...).In(setting.Methods).Common().
			Describe("variants of LAGO, and baselines"),
	}, distortion.In(setting.Classes))
}

// Check implements results.Checker.
func (c *Config) Check(r *config.Request) error {
	if len(r.Presets) == 1 {
		for _, key := range r.Keys() {
			if !slices.Contains(append(config.CommonKeys(), methods.CorrectionKeys...), key) {
				return &invalid.Error{
					Field: key, Want: "a variant of LAGO among --methods", Got: "only baselines",
				}
			}
		}
	}
	if err := engine.CheckArms(c.names); err != nil {
		return err
	}
	name, degrees, _ := c.degrees()
	want := "fractions from 0 to 1"
	if c.Given != "" {
		want = "fractions above 0, up to 1"
	}
	for _, x := range degrees {
		if !(x >= 0 && x <= 1) || x == 0 && c.Given != "" {
			return &invalid.Error{Field: name, Want: want, Got: fmt.Sprint(x)}
		}
	}
	return nil
}

// The first words of the names of stored results: with noise, with random attributes, and with
// the strongest ones.
const (
	NoiseKind     = "noise"
	PartialKind   = "partial"
	StrongestKind = "partial-strongest"
)

// NoiseKinds are the kinds of results of Noise.
var NoiseKinds = []results.Kind{
	{
		Name: NoiseKind, Title: "Noisy descriptions", Command: "noise",
		Text: "Test accuracy when entries of the class descriptions are replaced by 0 or 1 at random. " +
			"Relative accuracy is that divided by the accuracy of the same model without noise. " +
			"With the most doubtful entries emptied, as many as were replaced, missing entries are imputed.",
		New: results.New[results.Accuracies],
	},
}

// PartialKinds are those of Partial.
var PartialKinds = []results.Kind{
	{
		Name: PartialKind, Title: "Partial descriptions, attributes given at random", Command: "partial",
		Text: partialText,
		New:  results.New[results.Accuracies],
	},
	{
		Name: StrongestKind, Title: "Partial descriptions, strongest attributes first",
		Command: "partial --given strongest",
		Text:    partialText,
		New:     results.New[results.Accuracies],
	},
}

const partialText = "Test accuracy when only part of each class's attributes is given. " +
	"Missing entries are imputed " +
	"from the given ones."

// Plan has the methods by the full protocol.
func (c *Config) Plan(r *config.Request, _ *lab.Lab) (engine.Plan, error) {
	c.Variants, c.Baselines, c.Keys = nil, nil, r.Keys()
	configs := r.Configs()
	for _, name := range c.names {
		i := slices.IndexFunc(configs, func(v config.Config) bool { return v.Method.Label() == name })
		if i < 0 {
			c.Baselines = append(c.Baselines, name)
		} else {
			c.Variants = append(c.Variants, configs[i])
		}
	}
	c.Like = engine.ForBaselines(c.Variants, r.Presets[0].Config)
	return engine.FullPlan(c.Variants, c.Baselines, c.Like, c.Keys)
}

// Summarise evaluates the models on the test classes with distorted descriptions, figure A.1 of the paper.
func (c *Config) Summarise(_ context.Context, l *lab.Lab, done *engine.Result) (results.Result, error) {
	a := c.newResult(l)
	a.Missing = done.Missing
	kinds := []string{""}
	if c.Given == "" {
		kinds = append(kinds, doubtfulEmptied)
	}
	for _, m := range results.Methods(done) {
		a.Notes = append(a.Notes, fmt.Sprintf("correction of %s: %s", m.Name, m.Correction()))
		a.Classes = m.Test.Classes
		for _, kind := range kinds {
			rows, err := c.rows(m, kind)
			if err != nil {
				return nil, err
			}
			a.Rows = append(a.Rows, rows...)
		}
	}
	return a, nil
}

// doubtfulEmptied follows the name of a method whose most doubtful entries were emptied, as many as were
// replaced.
const doubtfulEmptied = ", most doubtful entries emptied"

// tables returns the distorted descriptions of the test classes for each of the degrees and each draw.
func (c *Config) tables(d *dataset.Dataset, degrees []float64, kind string) [][]dataset.Matrix[float64] {
	u, known := d.Describe(d.Split.Test), d.Describe(d.Split.Seen())
	_, _, draws := c.degrees()
	list := make([][]dataset.Matrix[float64], len(degrees))
	for i, degree := range degrees {
		for draw := range draws {
			worse := c.apply(u, degree, uint64(draw))
			if kind == doubtfulEmptied {
				worse = emptyDoubtful(worse, known,
					int(math.Round(degree*float64(dataset.Described(worse.Data)))))
			}
			list[i] = append(list[i], worse)
		}
	}
	return list
}

// emptyDoubtful returns the descriptions u without their n most doubtful entries, by these and by those of
// known classes.
func emptyDoubtful(u, known dataset.Matrix[float64], n int) dataset.Matrix[float64] {
	all := dataset.Matrix[float64]{
		Rows: u.Rows + known.Rows, Cols: u.Cols, Data: slices.Concat(u.Data, known.Data),
	}
	left := dataset.Convert[float64](u)
	if n == 0 {
		return left
	}
	for _, doubt := range impute.Doubts(all) {
		if doubt.Class < u.Rows && n > 0 {
			left.Row(doubt.Class)[doubt.Attribute] = math.NaN()
			n--
		}
	}
	return left
}

// rows evaluates the models of a method, one per seed and part, on the test classes, with each degree of
// distortion.
func (c *Config) rows(method results.Method, kind string) (rows []results.Row, err error) {
	degrees, undistorted := c.sorted()
	if kind != "" { // nothing is emptied without noise
		degrees = slices.DeleteFunc(degrees, func(x float64) bool { return x == undistorted })
	}
	_, _, draws := c.degrees()
	classes, parts := 0, len(method.Outcomes)
	for _, o := range method.Outcomes {
		classes += len(o.Part.Data.Split.Test)
	}
	grid, seeds := dataset.NewMatrix[float64], len(method.Models)/parts
	byClass, clean, cleanByClass := grid(len(degrees), classes), make([]float64, seeds), make([]float64, classes)
	accuracy := make([]dataset.Matrix[float64], len(degrees)) // draws x seeds
	for i := range degrees {
		accuracy[i] = grid(draws, seeds)
	}
	first := 0 // class of the part
	for _, o := range method.Outcomes {
		d := o.Part.Data
		samples, u := train.Select(d, d.Features, d.Split.Test), d.Describe(d.Split.Test)
		tables := c.tables(d, degrees, kind)
		share := float64(u.Rows) / float64(classes)
		for j, path := range lab.ModelFiles(o.Test) {
			saved, err := train.Load(path)
			if err != nil {
				return nil, err
			}
			add := func(u dataset.Matrix[float64], to *float64, byClass []float64, weight float64) error {
				scores, err := model.Score(saved.Pipeline, samples.X, samples.Rows, u)
				if err != nil {
					return err
				}
				confusion, err := metrics.Confuse(scores, samples.Labels)
				tally := confusion.Tally(scores.Cols)
				*to += share * tally.Accuracy().PerClass
				floats.AddScaled(byClass[first:first+u.Rows], weight, tally.Recall())
				return err
			}
			if err := add(u, &clean[j], cleanByClass, 1/float64(seeds)); err != nil {
				return nil, err
			}
			for i := range degrees {
				for draw, worse := range tables[i] {
					err := add(worse, &accuracy[i].Row(draw)[j], byClass.Row(i), 1/float64(seeds*draws))
					if err != nil {
						return nil, err
					}
				}
			}
		}
		first += u.Rows
	}
	if slices.Contains(clean, 0) {
		return nil, fmt.Errorf("%s: the test accuracy with the given descriptions is 0, so that no "+
			"accuracy relative to it exists", method.Name)
	}
	for i, degree := range degrees {
		byDraw, bySeed, relative := make([]float64, draws), make([]float64, seeds), make([]float64, draws)
		for draw := range draws {
			for j, worse := range accuracy[i].Row(draw) {
				byDraw[draw] += worse / float64(seeds)
				relative[draw] += worse / clean[j] / float64(seeds)
				bySeed[j] += worse / float64(draws)
			}
		}
		draw, relativeByDraw := lab.Summarise(byDraw), lab.Summarise(relative)
		row := results.Row{
			Labels: []string{method.Name + kind, format.Percent(degree)}, Number: 100 * degree,
			Draws: draws, ByDraw: &draw, Relative: &relativeByDraw,
			Accuracy: lab.Summarise(bySeed), Interval: metrics.ClassInterval(byClass.Row(i)),
			ByClass: byClass.Row(i),
		}
		if degree != undistorted {
			d := metrics.PairedDifference(row.ByClass, cleanByClass)
			row.Difference = &d
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// Distortion makes descriptions worse, by degrees: by noise or, if Given is set, by leaving out attributes.
// It is the same for every model, and what is distorted at one degree is so at all worse ones.
type Distortion struct {
	Ratios     []float64 `json:"ratios,omitempty"`      // noise: shares of entries that are replaced
	NoiseSeeds int       `json:"noise_seeds,omitempty"` // noise: number of seeds of the noise
	// partial: shares of each class's attributes that are given
	Shares    []float64 `json:"shares,omitempty"`
	Given     Order     `json:"given,omitempty"`      // partial: random or strongest
	MaskSeeds int       `json:"mask_seeds,omitempty"` // partial: number of masks
}

// Order is the order in which the attributes of a class are given.
type Order string

// The orders.
const (
	AtRandom  Order = "random"
	Strongest Order = "strongest" // the highest p(a|z) first
)

func (c *Config) newResult(l *lab.Lab) *results.Accuracies {
	a := results.NewAccuracies(l, NoiseKind, "with noisy descriptions", c.Like, "test")
	a.Columns, a.X, a.Minus, a.Method = []string{
		"method", "noise",
	}, "share of entries replaced by 0 or 1 (%)", "minus that without noise", ""
	switch c.Given {
	case AtRandom:
		a.Kind, a.Title = PartialKind, "with partial descriptions, attributes given at random"
	case Strongest:
		a.Kind, a.Title = StrongestKind, "with partial descriptions, strongest attributes first"
	}
	if c.Given != "" {
		a.Columns[1], a.X, a.Minus = "given", "share of attributes given (%)", "minus that of all"
	}
	_, _, draws := c.degrees()
	a.Notes = []string{
		fmt.Sprintf("relative: accuracy divided by that of the same model with the given "+
			"descriptions, mean ± s.e.m. over %s", format.Count(draws, "draw")),
	}
	return a
}

// sorted returns the degrees in ascending order, with that of no distortion.
func (d Distortion) sorted() (degrees []float64, undistorted float64) {
	if d.Given != "" {
		undistorted = 1
	}
	_, list, _ := d.degrees()
	return slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(list), undistorted)))), undistorted
}

// degrees returns the degrees, what they are called, and the number of random seeds.
func (d Distortion) degrees() (name string, list []float64, seeds int) {
	if d.Given == "" {
		return "ratios", d.Ratios, d.NoiseSeeds
	}
	return "shares", d.Shares, d.MaskSeeds
}

func (d Distortion) apply(u dataset.Matrix[float64], degree float64, seed uint64) dataset.Matrix[float64] {
	if d.Given == "" {
		return saltAndPepper(u, degree, seed)
	}
	return d.Given.only(u, degree, seed)
}

// saltAndPepper returns descriptions of which each entry is replaced by 0 or 1, with equal
// probability, with the probability of the ratio. The draws are the same at every ratio.
func saltAndPepper(u dataset.Matrix[float64], ratio float64, seed uint64) dataset.Matrix[float64] {
	rng := rand.New(rand.NewPCG(seed, 0x5a17))
	noisy := dataset.NewMatrix[float64](u.Rows, u.Cols)
	for i, p := range u.Data {
		chance, salt := rng.Float64(), rng.IntN(2)
		if chance < ratio {
			p = float64(salt)
		}
		noisy.Data[i] = p
	}
	return noisy
}

// only returns descriptions with a share of the described attributes of each class, at least one, and NaN for
// the others. The order of the attributes is the same for every share.
func (o Order) only(u dataset.Matrix[float64], share float64, seed uint64) dataset.Matrix[float64] {
	rng := rand.New(rand.NewPCG(seed, 0x9a97))
	part := dataset.NewMatrix[float64](u.Rows, u.Cols)
	for i := range part.Data {
		part.Data[i] = math.NaN()
	}
	for z := range u.Rows {
		order := slices.DeleteFunc(rng.Perm(u.Cols), func(m int) bool { return math.IsNaN(u.Row(z)[m]) })
		if o == Strongest {
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(u.Row(z)[b], u.Row(z)[a]) })
		}
		n := min(max(int(math.Round(share*float64(len(order)))), 1), len(order))
		for _, m := range order[:n] {
			part.Row(z)[m] = u.Row(z)[m]
		}
	}
	return part
}

// Package robustness measures test accuracy when class descriptions are noisy (the paper's
// figure A.1) or partial.
package robustness

import (
	"context"
	"fmt"
	"math"
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
		setting.Choice("given", &c.Given, AtRandom, AtRandom, Strongest, Groups, Questions).Common().
			Describe("what is given: random attributes, the strongest, random groups, or groups in the " +
				"order of dataset describe --order"),
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

// The first words of the names of stored results: with noise, with random attributes, with
// the strongest ones, and with whole groups.
const (
	NoiseKind     = "noise"
	PartialKind   = "partial"
	StrongestKind = "partial-strongest"
	GroupsKind    = "partial-groups"
	QuestionsKind = "partial-questions"
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
	partialKind(PartialKind, "attributes given at random", ""),
	partialKind(StrongestKind, "strongest attributes first", " --given strongest"),
	partialKind(GroupsKind, "groups given at random", " --given groups"),
	partialKind(QuestionsKind, "groups that tell most first", " --given questions"),
}

func partialKind(name, given, flags string) results.Kind {
	return results.Kind{
		Name: name, Title: "Partial descriptions, " + given, Command: "partial" + flags,
		Text: "Test accuracy when only part of each class's attributes is given. " +
			"Missing entries are imputed from the given ones.",
		New: results.New[results.Accuracies],
	}
}

// Plan has the methods by the full protocol.
func (c *Config) Plan(r *config.Request, l *lab.Lab) (engine.Plan, error) {
	if (c.Given == Groups || c.Given == Questions) && len(l.Data.Groups) < 2 {
		return engine.Plan{}, &invalid.Error{
			Field: "given", Want: fmt.Sprintf("%s or %s without two groups of attributes", AtRandom, Strongest),
			Got: string(c.Given),
		}
	}
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
	tables := c.tables(l)
	for _, m := range results.Methods(done) {
		a.Notes = append(a.Notes, fmt.Sprintf("correction of %s: %s", m.Name, m.Correction()))
		a.Classes = m.Test.Classes
		for _, t := range tables {
			rows, err := c.rows(m, t)
			if err != nil {
				return nil, err
			}
			a.Rows = append(a.Rows, rows...)
		}
	}
	return a, nil
}

// distorted are descriptions of the test classes, for every method.
type distorted struct {
	suffix  string // of the name of a method
	degrees []float64
	parts   [][][]dataset.Matrix[float64] // by part, degree and draw
}

// doubtfulEmptied follows the name of a method whose most doubtful entries were emptied, as many as were
// replaced.
const doubtfulEmptied = ", most doubtful entries emptied"

// tables returns the distorted descriptions and, with noise, those whose most doubtful entries are emptied.
// Nothing is emptied without noise.
func (c *Config) tables(l *lab.Lab) []distorted {
	degrees, undistorted := c.sorted()
	_, _, draws := c.degrees()
	plain, emptied := distorted{degrees: degrees}, distorted{suffix: doubtfulEmptied}
	emptied.degrees = slices.DeleteFunc(slices.Clone(degrees), func(x float64) bool { return x == undistorted })
	for _, part := range l.Parts {
		known, apply := part.Data.Describe(part.Data.Split.Seen()), c.distort(part.Data)
		var worse, fewer [][]dataset.Matrix[float64]
		for _, degree := range degrees {
			var noisy, left []dataset.Matrix[float64]
			for draw := range draws {
				u := apply(degree, uint64(draw))
				if noisy = append(noisy, u); c.Given == "" && degree != undistorted {
					n := int(math.Round(degree * float64(dataset.Described(u.Data))))
					left = append(left, emptyDoubtful(u, known, n))
				}
			}
			if worse = append(worse, noisy); left != nil {
				fewer = append(fewer, left)
			}
		}
		plain.parts, emptied.parts = append(plain.parts, worse), append(emptied.parts, fewer)
	}
	if c.Given != "" {
		return []distorted{plain}
	}
	return []distorted{plain, emptied}
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
func (c *Config) rows(method results.Method, worse distorted) (rows []results.Row, err error) {
	degrees := worse.degrees
	_, undistorted := c.sorted()
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
	for k, o := range method.Outcomes {
		d := o.Part.Data
		samples, u := train.Select(d, d.Features, d.Split.Test), d.Describe(d.Split.Test)
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
				for draw, u := range worse.parts[k][i] {
					err := add(u, &accuracy[i].Row(draw)[j], byClass.Row(i), 1/float64(seeds*draws))
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
			Labels: []string{method.Name + worse.suffix, format.Percent(degree)}, Number: 100 * degree,
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

func (c *Config) newResult(l *lab.Lab) *results.Accuracies {
	a := results.NewAccuracies(l, NoiseKind, "with noisy descriptions", c.Like, "test")
	a.Columns, a.X, a.Minus, a.Method = []string{
		"method", "noise",
	}, "share of entries replaced by 0 or 1 (%)", "minus that without noise", ""
	what := "attributes"
	switch c.Given {
	case AtRandom:
		a.Kind, a.Title = PartialKind, "with partial descriptions, attributes given at random"
	case Strongest:
		a.Kind, a.Title = StrongestKind, "with partial descriptions, strongest attributes first"
	case Groups:
		what, a.Kind, a.Title = "groups", GroupsKind, "with partial descriptions, groups given at random"
	case Questions:
		what, a.Kind, a.Title = "groups", QuestionsKind, "with partial descriptions, groups that tell most first"
	}
	if c.Given != "" {
		a.Columns[1], a.X, a.Minus = "given", "share of "+what+" given (%)", "minus that of all"
	}
	_, _, draws := c.degrees()
	a.Notes = []string{
		fmt.Sprintf("relative: accuracy divided by that of the same model with the given "+
			"descriptions, mean ± s.e.m. over %s", format.Count(draws, "draw")),
	}
	return a
}

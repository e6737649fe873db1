// Package sweep measures accuracy against a number: the number of groups of k-soft (section 4.3 of
// the paper), or of seen classes, samples, groups or described entries.
package sweep

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/engine"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/methods"
)

// GroupNumbers asks for validation accuracy against the number of groups.
type GroupNumbers struct {
	Base config.Config `json:"base"` // of k-soft, set by Plan
	// numbers of groups; empty for those of the paper that the attributes can form
	Ks []int `json:"ks"`
}

// Settings lists the settings of the study.
func (c *GroupNumbers) Settings(r *config.Request) setting.List {
	r.Variants = []model.Variant{model.KSoft}
	return slices.Concat(r.DevSettings("method"), r.RotationSettings(), setting.List{
		setting.Several("ks", &c.Ks, nil, "whole numbers, separated by commas", strconv.Atoi).
			Noted("1,10,20,30,40,60, as far as there are attributes").Common().
			Describe("`K,...` numbers of groups"),
	})
}

// KKind is the first word of the names of its stored results.
const KKind = "sweep-k"

// KKinds are the kinds of results of GroupNumbers.
var KKinds = []results.Kind{
	{
		Name: KKind, Title: "Number of groups", Command: "sweep-k",
		Text: "Validation accuracy of k-soft against its number of groups K, and of singletons and " +
			"semantic-hard with the same features and training.",
		New: results.New[results.Accuracies],
	},
}

// SubsetsKinds are those of Subsets, one for each axis.
func SubsetsKinds() (list []results.Kind) {
	for _, of := range Axes {
		list = append(list, results.Kind{
			Name: SubsetsKind(of), Title: "Fewer " + Words[of], Command: "subsets --of " + string(of),
			Text: "Test accuracy when the variant is trained on random subsets, each " +
				"contained in the larger ones, " +
				"and evaluated on the same classes.",
			New: results.New[results.Accuracies],
		})
	}
	return list
}

// Plan has k-soft on the dev stage with each number of groups and, for comparison, singletons and, if the
// data set has groups, semantic-hard, with their own presets and the data, seeds and training of k-soft.
func (c *GroupNumbers) Plan(r *config.Request, l *lab.Lab) (engine.Plan, error) {
	plan := engine.Plan{Stage: config.OnlyDev}
	// the same preprocessing for the variants that k-soft is compared with
	c.Base = r.Presets[0].Config.On(l.Data)
	ks, err := sweptKs(c.Ks, len(l.Data.Attributes))
	if err != nil {
		return plan, err
	}
	add := func(c config.Config, k int) {
		plan.Arms = append(plan.Arms, engine.Arm{Name: strconv.Itoa(k), Starts: []config.Config{c}})
	}
	for _, k := range ks {
		add(c.Base.With("k", k), k)
	}
	add(comparable(c.Base, model.Singletons), len(l.Data.Attributes))
	if l.Data.Groups != nil {
		add(comparable(c.Base, model.SemanticHard), len(l.Data.Groups))
	}
	return plan, nil
}

// Summarise has a row for each number of groups and each variant to compare with.
func (c *GroupNumbers) Summarise(_ context.Context, l *lab.Lab, done *engine.Result) (results.Result, error) {
	a := results.NewAccuracies(l, KKind, "by number of groups", c.Base, "validation")
	a.Columns, a.X, a.Missing = []string{"variant", "K"}, "number of groups K", done.Missing
	a.Notes = []string{"The other variants have the same features and training."}
	for i, arm := range done.Plan.Arms {
		v := arm.Starts[0].Method.Variant()
		k, err := strconv.Atoi(arm.Name)
		if err != nil {
			return nil, err
		}
		row := results.Row{
			Labels: []string{string(v), arm.Name}, Number: float64(k), Reference: v != model.KSoft,
		}
		a.Add(row, results.Validation(done, i))
	}
	return a, nil
}

// sweptKs returns the numbers of groups to try, ascending.
func sweptKs(ks []int, attributes int) ([]int, error) {
	if len(ks) == 0 {
		return slices.DeleteFunc(slices.Clone(config.Published.SearchSpace.K), func(k int) bool {
			return k > attributes
		}), nil
	}
	ks = slices.Compact(slices.Sorted(slices.Values(ks)))
	wrong := slices.DeleteFunc(slices.Clone(ks), func(k int) bool { return 1 <= k && k <= attributes })
	if len(wrong) > 0 {
		return nil, &invalid.Error{
			Field: "ks", Want: fmt.Sprintf("numbers from 1 to the number of attributes, %d", attributes),
			Got: format.Join(wrong),
		}
	}
	return ks, nil
}

// comparable returns the settings of another variant for comparison with c: its preset, with what
// c has for all variants.
func comparable(c config.Config, v model.Variant) config.Config {
	other := c.Start(methods.Variant(v)).Config
	shared := append(config.CommonKeys(), "batch", "prior", "complement")
	c.Settings().CopyTo(slices.DeleteFunc(other.Settings(), func(s setting.Setting) bool {
		return !slices.Contains(shared, s.Key)
	}))
	return other
}

// Axis is what a data set has less of.
type Axis string

// The axes. Of classes there are train and validation classes in proportion, and entries are
// others for each class.
const (
	Classes, Samples, Groups, Entries Axis = "classes", "samples", "groups", "entries"
)

// Axes are all of them.
var Axes = []Axis{Classes, Samples, Groups, Entries}

// Words are the names of the axes in titles.
var Words = map[Axis]string{
	Classes: "seen classes", Samples: "samples of each seen class", Groups: "groups",
	Entries: "described attributes of each class",
}

// Subsets asks for accuracy on the test classes when a data set has less.
type Subsets struct {
	Base  config.Config `json:"base"` // set by Plan
	Of    Axis          `json:"of"`
	Sizes []int         `json:"sizes"` // empty for 10, 20, 40, 60 and 100 % of all
	Draws int           `json:"draws"`
	// samples of each seen class, beside fewer of another kind; 0 for all
	Samples int `json:"samples,omitempty"`
}

// Settings lists the settings of the study.
func (c *Subsets) Settings(r *config.Request) setting.List {
	return slices.Concat(r.DevSettings(), r.RotationSettings(), setting.List{
		setting.Choice("of", &c.Of, Classes, Axes...).
			Describe("what there is less of: seen classes, samples of each seen class, groups of " +
				"attributes, or described entries of each class"),
		setting.Several("sizes", &c.Sizes, nil, "whole numbers, separated by commas", strconv.Atoi).
			Noted("10, 20, 40 and 60 % of all").Describe("`N,...` sizes to try, and in addition all"),
		setting.Whole("draws", &c.Draws, 3, setting.Between(1, 1000)).
			Describe("`N` random subsets of each size, for each part of --rotate"),
	}.In(setting.Classes).Common(), setting.List{
		setting.Whole("samples", &c.Samples, 0, setting.Between(0, math.MaxInt32)).Noted("all").
			In(setting.Classes).Describe("`N` samples of each seen class, for all sizes"),
	})
}

// SubsetsKind is the first word of the names of stored results.
func SubsetsKind(of Axis) string { return "subsets-" + string(of) }

// Plan has a method by the full protocol on subsets, which are drawn Draws times for each size and each part
// of the classes. With fewer seen classes, too few of them are validation classes to choose the epochs: these
// are then the mean of those with all.
func (c *Subsets) Plan(r *config.Request, l *lab.Lab) (engine.Plan, error) {
	plan := engine.Plan{Stage: config.DevThenTest}
	c.Base = r.Presets[0].Config.On(l.Data)
	sizes, err := c.sizes(l)
	if err != nil {
		return plan, err
	}
	all := sizes[len(sizes)-1]
	for _, n := range sizes {
		arm := engine.Arm{Name: strconv.Itoa(n), Starts: []config.Config{c.Base}}
		if n < all && c.Of == Classes {
			arm.EpochsOf = strconv.Itoa(all)
		}
		if n < all || c.Samples > 0 {
			// those left out are held out
			arm.Starts[0].HoldOut = c.Base.HoldOut || c.Of == Samples || c.Samples > 0
			for i := range c.Draws * len(l.Parts) {
				part := l.Parts[i%len(l.Parts)].Data
				if c.Samples > 0 {
					part = Samples.subset(part, c.Samples, uint64(i))
				}
				if n < all {
					part = c.Of.subset(part, n, uint64(i))
				}
				arm.Parts = append(arm.Parts, l.ViewOf(part))
			}
		}
		plan.Arms = append(plan.Arms, arm)
	}
	return plan, nil
}

// Summarise has a row for each size.
func (c *Subsets) Summarise(_ context.Context, l *lab.Lab, done *engine.Result) (results.Result, error) {
	a := results.NewAccuracies(l, SubsetsKind(c.Of), "by number of "+Words[c.Of], c.Base, "test")
	a.Columns, a.X, a.Minus = []string{string(c.Of)}, "number of "+Words[c.Of], "minus that of all"
	a.Missing = done.Missing
	for _, m := range results.Methods(done) { // of others Missing says why
		n, err := strconv.Atoi(m.Name)
		if err != nil {
			return nil, err
		}
		a.Add(results.Row{
			Labels: []string{m.Name}, Number: float64(n), Draws: len(m.Parts) / len(l.Parts),
		}, &m.Test)
	}
	a.Compare(done.Plan.Arms[len(done.Plan.Arms)-1].Name, false)
	if c.Samples > 0 {
		a.Title += fmt.Sprintf(", %s of each seen class", format.Count(c.Samples, "sample"))
	}
	chance := results.Chance(a.Parts, a.Classes) / 100
	a.Notes = []string{
		fmt.Sprintf("Random subsets, each contained in the larger ones of its draw; chance %s.",
			format.Percent(chance)),
	}
	return a, nil
}

// sizes returns the sizes to try, ascending, and that of all as the last.
func (c Subsets) sizes(l *lab.Lab) ([]int, error) {
	if c.Samples > 0 && c.Of == Samples {
		return nil, &invalid.Error{
			Field: "samples", Want: "--sizes with --of samples", Got: fmt.Sprint(c.Samples),
		}
	}
	least, most, sizes := c.Of.least(), math.MaxInt, slices.Clone(c.Sizes)
	for _, p := range l.Parts {
		most = min(most, c.Of.size(p.Data))
	}
	if most < least {
		return nil, &invalid.Error{
			Field: "of", Want: fmt.Sprintf("a data set with %d or more %s", least, Words[c.Of]),
			Got: fmt.Sprint(most),
		}
	}
	if sizes == nil {
		for _, percent := range []float64{10, 20, 40, 60} {
			sizes = append(sizes, max(least, int(math.Round(percent*float64(most)/100))))
		}
	}
	sizes = slices.Compact(slices.Sorted(slices.Values(append(sizes, most))))
	if sizes[0] < least || sizes[len(sizes)-1] > most {
		want := fmt.Sprintf("numbers of %s from %d to %d", Words[c.Of], least, most)
		return nil, &invalid.Error{Field: "sizes", Want: want, Got: format.Join(c.Sizes)}
	}
	return sizes, nil
}

// least is the smallest size: of seen classes two train and two validation classes.
func (a Axis) least() int {
	if a == Classes {
		return 4
	}
	return 1
}

// size is that of the whole data set.
func (a Axis) size(d *dataset.Dataset) (most int) {
	switch a {
	case Classes:
		return len(d.Split.Seen())
	case Groups:
		return len(d.Groups)
	}
	for _, z := range d.Split.Seen() {
		n := dataset.Described(d.Descriptions.Row(z))
		if a == Samples {
			n = d.SamplesPerClass()[z]
		}
		most = max(most, n)
	}
	return most
}

// subset returns a data set with n of them. Those of a seed contain those of smaller n.
func (a Axis) subset(d *dataset.Dataset, n int, seed uint64) *dataset.Dataset {
	rng := rand.New(rand.NewPCG(seed, 0x5b5e7))
	part := *d
	seen := d.Split.Seen()
	switch a {
	case Classes:
		vals := int(math.Round(float64(n*len(d.Split.Val)) / float64(len(seen))))
		vals = min(max(vals, 2), len(d.Split.Val))
		part.Split.Train, part.Split.Val, part.DevSplits = draw(rng, d.Split.Train, n-vals), draw(rng,
			d.Split.Val, vals), nil
		seen = part.Split.Seen()
		part.TestSeen = slices.DeleteFunc(slices.Clone(d.TestSeen), func(i int) bool {
			return !slices.Contains(seen, d.Labels[i])
		})
	case Samples:
		part.TestSeen = nil // held out, they are in no stage
		given := make([]int, len(d.Classes))
		for _, i := range rng.Perm(len(d.Labels)) {
			z := d.Labels[i]
			if given[z]++; given[z] > n && slices.Contains(seen, z) {
				part.TestSeen = append(part.TestSeen, i)
			}
		}
		slices.Sort(part.TestSeen)
	case Entries:
		part.Descriptions.Data = slices.Clone(d.Descriptions.Data)
		for z := range d.Classes {
			given, row := 0, part.Descriptions.Row(z)
			for _, m := range rng.Perm(len(row)) {
				if !math.IsNaN(row[m]) {
					given++
				}
				if given > n {
					row[m] = math.NaN()
				}
			}
		}
	case Groups:
		chosen := rng.Perm(len(d.Groups))[:n]
		part.Attributes, part.Groups = nil, nil
		var columns []int
		for m, attribute := range d.Attributes {
			if !slices.Contains(chosen, attribute.Group) {
				continue
			}
			name := d.Groups[attribute.Group]
			if !slices.Contains(part.Groups, name) {
				part.Groups = append(part.Groups, name)
			}
			attribute.Group = slices.Index(part.Groups, name)
			part.Attributes, columns = append(part.Attributes, attribute), append(columns, m)
		}
		part.Descriptions = dataset.NewMatrix[float64](len(d.Classes), len(columns))
		for i := range part.Descriptions.Data {
			part.Descriptions.Data[i] = d.Descriptions.Row(i / len(columns))[columns[i%len(columns)]]
		}
	}
	return &part
}

// draw returns n of a list, ascending.
func draw(rng *rand.Rand, list []int, n int) []int {
	drawn := make([]int, n)
	for i, at := range rng.Perm(len(list))[:n] {
		drawn[i] = list[at]
	}
	slices.Sort(drawn)
	return drawn
}

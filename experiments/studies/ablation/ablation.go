// Package ablation takes the model's design decisions apart, the paper's table A.2.
package ablation

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/engine"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/published"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/methods"
)

// The attribute supervision of the paper's ablation: a term of the loss for the attributes (section 4.2
// of the paper), with explicit supervision.
const (
	implicit = "implicit" // alpha = 0: attributes are learned through the classes alone
	explicit = "explicit" // alpha > 0
)

// defaultAlpha weighs explicit supervision as much as classification. The paper does not
// state the weight of its ablation.
const defaultAlpha = 1

// design is one combination of the design decisions of the paper's ablation.
type design struct {
	prior       model.Prior
	complement  model.Complement
	supervision string
}

// lago is the design of LAGO; perGroup, which the paper does not have, differs in the prior.
var (
	lago     = design{model.Uniform, model.Const, implicit}
	perGroup = design{model.PerGroup, model.Const, implicit}
)

// designs lists the eight combinations of the paper.
func designs() []design {
	var all []design
	for _, p := range []model.Prior{model.Uniform, model.PerAttribute} {
		for _, c := range []model.Complement{model.Const, model.DeMorgan} {
			for _, s := range []string{implicit, explicit} {
				all = append(all, design{p, c, s})
			}
		}
	}
	return all
}

// Config says what is taken apart.
type Config struct {
	Base     config.Config `json:"base"`      // the settings of all designs
	PerGroup bool          `json:"per_group"` // also a row of LAGO's design with the prior per group
	Groups   bool          `json:"-"`         // in place of the designs, groups
}

// Settings lists the settings of the study.
func (c *Config) Settings(r *config.Request) setting.List {
	return slices.Concat(r.DevSettings("prior", "complement"), r.RotationSettings(), setting.List{
		setting.Switch("groups", &c.Groups, false).Common().Excludes("per_group").
			Describe("in place of the designs, compare semantic groups with singletons and with random groups of the same sizes"),
		setting.Switch("per_group", &c.PerGroup, false).Common().Describe("also train the default design with the attribute prior per group"),
	})
}

// Resolve completes the configuration, and returns its preset.
func (c *Config) Resolve(ctx context.Context, r *config.Request) ([]config.Preset, error) {
	p, err := r.Preset(ctx, model.Variants...)
	if err != nil {
		return nil, err
	}
	if v := p.Method.Variant(); c.Groups && !v.Semantic() {
		return nil, &invalid.Error{Field: "groups", Want: "a variant with semantic groups beside it", Got: string(v)}
	}
	c.Base = p.Config
	return []config.Preset{p}, nil
}

// Kind is the first word of the names of stored results.
const Kind = "ablation"

// Kinds are the kinds of results.
var Kinds = []results.Kind{
	{
		Name: Kind, Title: "Design decisions", Command: "ablate",
		Text: "Validation accuracy by the prior p(a), the none-of-group term and the supervision of " +
			"attributes in the loss, best first. All other settings are the same within a figure.",
		New: results.New[results.Accuracies],
	},
	{
		Name: GroupsKind, Title: "Do groups matter?", Command: "ablate --groups",
		Text: "Accuracy on unseen classes with the groups of the data set, without groups, and with " +
			"random groups of the same sizes.",
		New: results.New[results.Accuracies],
	},
}

// Ask trains the eight designs on the dev stage, for every seed, and stores the paper's table A.2:
// validation accuracy by design, best first.
func (c *Config) Ask(ctx context.Context, l *lab.Lab) (results.Result, error) {
	if c.Groups {
		return c.askGroups(ctx, l)
	}
	all, base := designs(), c.Base
	if c.PerGroup {
		all = append(all, perGroup)
	}
	weight := cmp.Or(base.Value("alpha").(float64), defaultAlpha) // every variant has it
	plan := engine.Plan{Stage: config.OnlyDev}
	for _, d := range all {
		start := base.With("prior", d.prior).With("complement", d.complement).With("alpha", 0)
		if d.supervision == explicit {
			start = start.With("alpha", weight)
		}
		plan.Arms = append(plan.Arms, engine.Arm{Name: fmt.Sprint(d), Starts: []config.Config{start}})
	}
	done, err := engine.Run(ctx, l, plan)
	if err != nil {
		return nil, err
	}
	a := results.NewAccuracies(l, Kind, "by design", base, "validation")
	a.Columns, a.Minus, a.Missing = []string{"p(a_m)", "p(ac|x)", "supervision"}, "points", done.Missing
	for i, d := range all {
		row := results.Row{Labels: []string{string(d.prior), string(d.complement), d.supervision}, Reference: d == lago}
		if len(l.Parts) == 1 && published.Covers(l.Data) {
			row.Published = d.published(base.DataName())
		}
		a.Add(row, results.Validation(done, i))
	}
	slices.SortStableFunc(a.Rows, func(x, y results.Row) int { return lab.ByMean(x.Accuracy, y.Accuracy) })
	results.CorrectP(a.Compare("uniform, const, implicit", false))
	a.Notes = []string{
		"points: difference from uniform, const, implicit, with 95 % interval over classes; p: by permutation, Holm", fmt.Sprintf("explicit: alpha %v", weight),
	}
	return a, l.Store(Kind, c, a)
}

// published returns the accuracy of a design in the paper, a fraction.
func (d design) published(dataset string) *float64 {
	for _, row := range published.Tables.Ablation {
		if (design{row.Prior, row.Complement, row.Supervision}) != d {
			continue
		}
		if percent, ok := row.On(dataset); ok {
			fraction := percent / 100
			return &fraction
		}
	}
	return nil
}

// GroupsKind is the first word of the names of stored results of groups.
const GroupsKind = "semantic-groups"

// randomDraws is the number of random groupings.
const randomDraws = 5

// askGroups trains a variant with semantic groups by the full protocol with these, with singletons (their
// own defaults, and the settings of the variant), and with random groups of the same sizes, and
// stores the result: the paper's claim that semantic groups help.
func (c *Config) askGroups(ctx context.Context, l *lab.Lab) (results.Result, error) {
	base := c.Base.On(l.Data)
	singletons := base.WithMethodOf(config.Defaults(methods.Variant(model.Singletons)))
	singletons.Preprocess = config.AutoPreprocess
	var random []lab.View
	for seed := range randomDraws {
		for _, part := range l.Parts {
			random = append(random, l.ViewOf(shuffled(part, uint64(seed))))
		}
	}
	const semantic = "semantic"
	a := results.NewAccuracies(l, GroupsKind, "by groups of attributes", base, "test")
	a.Columns, a.Minus = []string{"groups"}, "semantic minus these"
	a.Notes = []string{fmt.Sprintf("random: mean over %d draws, with the sizes of the semantic groups; p: by permutation, Holm", randomDraws)}
	for _, kind := range []struct {
		name  string
		start config.Config
		parts []lab.View
	}{
		{semantic, base, l.Parts},
		{"singletons", singletons, l.Parts},
		{"singletons, same settings", base.WithVariant(model.Singletons), l.Parts},
		{"random, same sizes", base, random},
	} {
		l.Step("groups: %s", kind.name)
		plan := engine.Plan{Arms: []engine.Arm{{Name: kind.name, Starts: []config.Config{kind.start}}}, Stage: config.DevThenTest}
		done, err := engine.Run(ctx, l.On(kind.parts...), plan)
		if err != nil {
			return nil, err
		}
		a.Missing = append(a.Missing, done.Missing...)
		for _, m := range results.Methods(done) { // otherwise Missing says why
			a.Add(results.Row{Labels: []string{kind.name}, Reference: kind.name == semantic, Draws: len(kind.parts) / len(l.Parts)}, &m.Test)
		}
	}
	results.CorrectP(a.Compare(semantic, true))
	return a, l.Store(GroupsKind, base, a)
}

// shuffled returns the data of a part with the groups of the attributes in random order.
func shuffled(part lab.View, seed uint64) *dataset.Dataset {
	d := *part.Data
	d.Attributes = slices.Clone(d.Attributes)
	for i, from := range rand.New(rand.NewPCG(seed, 0)).Perm(len(d.Attributes)) {
		d.Attributes[i].Group = part.Data.Attributes[from].Group
	}
	return &d
}

// Package ablation takes the model's design decisions apart, the paper's table A.2.
package ablation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/experiments/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/metrics"
)

// Supervision says whether the loss has a term for the attributes (section 4.2 of
// the paper).
type Supervision string

// The two kinds of attribute supervision of the paper's ablation.
const (
	Implicit Supervision = "implicit" // alpha = 0: attributes are learned through the classes alone
	Explicit Supervision = "explicit" // alpha > 0
)

// defaultAlpha weighs explicit supervision as much as classification. The paper does not
// state the weight of its ablation.
const defaultAlpha = 1

// Design is one combination of the design decisions of the paper's ablation.
type Design struct {
	Prior       model.Prior      `json:"prior"`                 // kind of attribute prior
	Complement  model.Complement `json:"complement"`            // kind of none-of-group term
	Supervision Supervision      `json:"attribute_supervision"` // implicit or explicit
}

// lago is the design of LAGO; perGroup, which the paper does not have, differs in the prior.
var (
	lago     = Design{model.Uniform, model.Const, Implicit}
	perGroup = Design{model.PerGroup, model.Const, Implicit}
)

// designs lists the eight combinations of the paper.
func designs() []Design {
	var all []Design
	for _, p := range []model.Prior{model.Uniform, model.PerAttribute} {
		for _, c := range []model.Complement{model.Const, model.DeMorgan} {
			for _, s := range []Supervision{Implicit, Explicit} {
				all = append(all, Design{p, c, s})
			}
		}
	}
	return all
}

// Config says what is taken apart.
type Config struct {
	Base     config.Config `json:"base"`      // the settings of all designs
	PerGroup bool          `json:"per_group"` // also a row of LAGO's design with the prior per group
	Groups   bool          `json:"-"`         // in place of the designs, groups: see Groups
	Alphas   []float64     `json:"alphas"`    // of which explicit supervision has the best; nil for that of Base
}

// Settings lists the settings of the study.
func (c *Config) Settings(r *config.Request) setting.List {
	return slices.Concat(r.DevSettings("prior", "complement"), r.RotationSettings(), setting.List{
		setting.Switch("groups", &c.Groups, false).Common().Excludes("alphas", "per_group").
			Describe("in place of the designs, compare semantic groups with singletons and with random groups of the same sizes"),
		setting.Switch("per_group", &c.PerGroup, false).Common().Describe("also train the default design with the attribute prior per group"),
		setting.Numbers("alphas", &c.Alphas).Common().Noted("--alpha").Excludes("alpha").
			Describe("`VALUE,...` weights of explicit supervision to try; the one with the best validation accuracy is reported"),
	})
}

// Resolve completes the configuration, and returns its preset.
func (c *Config) Resolve(ctx context.Context, r *config.Request) ([]config.Preset, error) {
	p, err := r.Preset(ctx)
	if err != nil {
		return nil, err
	}
	if v := p.Method.Variant(); c.Groups && !v.Semantic() {
		return nil, &invalid.Error{Field: "groups", Want: "a variant with semantic groups beside it", Got: string(v)}
	}
	c.Base = p.Config
	return []config.Preset{p}, c.Check()
}

// Check returns an *invalid.Error unless the alphas are positive and differ.
func (c Config) Check() error {
	for i, alpha := range c.Alphas {
		if !(alpha > 0 && alpha <= math.MaxFloat64) || slices.Contains(c.Alphas[:i], alpha) {
			return &invalid.Error{Field: "alphas", Want: "different positive numbers", Got: format.Join(c.Alphas)}
		}
	}
	return nil
}

// Kind is the first word of the names of stored results.
const Kind = "ablation"

// Result is the paper's table A.2 for one data set: validation accuracy by design, best first.
type Result struct {
	results.Accuracies
	Alphas   []float64 `json:"alphas"`   // tried for explicit supervision, of which a row has the best
	Epochs   int       `json:"epochs"`   // at most
	Findings []Finding `json:"findings"` // statements of the paper; none if a row has no accuracy
}

// trained is the row of a design.
type trained struct {
	Design
	results.Row
}

// Ask trains the eight designs on the dev stage, for every seed, and stores the table of their
// results. The configuration passes Check.
func (c *Config) Ask(ctx context.Context, l *lab.Lab) (results.Result, error) {
	if c.Groups {
		return Groups{c.Base}.Ask(ctx, l)
	}
	all, alphas, base := designs(), c.Alphas, c.Base
	if c.PerGroup {
		all = append(all, perGroup)
	}
	if alphas == nil {
		alpha, _ := base.Method.Settings().Find("alpha") // every variant has it
		alphas = []float64{cmp.Or(alpha.Value().(float64), defaultAlpha)}
	}
	plan := engine.Plan{Stage: config.OnlyDev}
	var rows []trained // of each arm
	for _, d := range all {
		tried := alphas
		if d.Supervision == Implicit {
			tried = []float64{0}
		}
		for _, alpha := range tried {
			start := base.With("prior", d.Prior).With("complement", d.Complement).With("alpha", alpha)
			row := results.Row{Labels: []string{string(d.Prior), string(d.Complement), string(d.Supervision)}, Reference: d == lago}
			if len(tried) > 1 {
				row.Labels[2] += fmt.Sprintf(", alpha %v", alpha)
			}
			if len(l.Parts) == 1 {
				row.Published = d.published(base.DataName())
			}
			plan.Arms = append(plan.Arms, engine.Arm{Name: fmt.Sprint(d, alpha), Starts: []config.Config{start}})
			rows = append(rows, trained{d, row})
		}
	}
	done, err := engine.Run(ctx, l, plan)
	if err != nil {
		return nil, err
	}
	r := &Result{Accuracies: *results.NewAccuracies(l, Kind, "by design", base, "validation"), Alphas: alphas, Epochs: base.DevEpochs()}
	r.Columns, r.Minus, r.Missing = []string{"p(a_m)", "p(ac|x)", "supervision"}, "points", done.Missing
	for i := range rows {
		r.Add(rows[i].Row, results.Validation(done, i))
		rows[i].Row = r.Rows[i]
	}
	rows = bestOfEach(rows)
	r.Rows = nil
	for _, row := range rows {
		r.Rows = append(r.Rows, row.Row)
	}
	results.CorrectP(r.Compare(strings.Join([]string{string(lago.Prior), string(lago.Complement), string(lago.Supervision)}, ", "), false))
	r.Notes = []string{"points: difference from uniform, const, implicit, with 95 % interval over classes; p: by permutation, Holm", "explicit: alpha " + format.Join(alphas)}
	if len(alphas) > 1 {
		r.Notes[1] = "explicit: the best alpha of " + format.Join(alphas) + " by the same accuracy"
	}
	r.Findings = findings(rows)
	return r, l.Store(Kind, c, r)
}

// bestOfEach sorts rows, the best first, and keeps the first of each design.
func bestOfEach(rows []trained) (best []trained) {
	slices.SortStableFunc(rows, func(x, y trained) int { return lab.ByMean(x.Accuracy, y.Accuracy) })
	for _, r := range rows {
		if !slices.ContainsFunc(best, func(better trained) bool { return better.Design == r.Design }) {
			best = append(best, r)
		}
	}
	return best
}

// published returns the accuracy of a design in the paper, a fraction.
func (d Design) published(dataset string) *float64 {
	for _, row := range published.All().Ablation {
		if (Design{row.Prior, row.Complement, Supervision(row.Supervision)}) != d {
			continue
		}
		if percent, ok := row.On(dataset); ok {
			fraction := percent / 100
			return &fraction
		}
	}
	return nil
}

// Finding is a statement of the paper on its table A.2 (section 4.4).
type Finding struct {
	Text  string `json:"finding"` // the statement
	Holds bool   `json:"holds"`   // by the means, whether or not the difference is clear
	// what the statement says is above 0, with p corrected by Holm; p is too small where means that
	// decide on its sides are close
	Difference metrics.Difference `json:"difference"`
}

// level is the accuracy of a design, the mean of several, or a difference.
type level struct {
	mean    float64
	classes []float64
}

func levelOf(rows ...trained) level {
	l := level{classes: make([]float64, len(rows[0].ByClass))}
	for _, r := range rows {
		l.mean += r.Accuracy.Mean / float64(len(rows))
		floats.AddScaled(l.classes, 1/float64(len(rows)), r.ByClass)
	}
	return l
}

// distance is the best of some rows, in this order, minus the worst.
func distance(rows []trained) level {
	best, worst := levelOf(rows[0]), levelOf(rows[len(rows)-1])
	floats.Sub(best.classes, worst.classes)
	return level{best.mean - worst.mean, best.classes}
}

// above is the finding that one level is above another.
func (l level) above(other level, text string) Finding {
	return Finding{text, l.mean > other.mean, metrics.PairedDifference(l.classes, other.classes)}
}

// findings returns none if a row, of rows with the best first, has no accuracy.
func findings(rows []trained) []Finding {
	byDesign := map[Design]trained{}
	for _, r := range rows {
		if len(r.Accuracy.Values) == 0 && r.Design != perGroup {
			return []Finding{}
		}
		byDesign[r.Design] = r
	}
	// with returns the rows of the paper's designs that have a property, best first as in rows.
	with := func(property func(Design) bool) []trained {
		return slices.DeleteFunc(slices.Clone(rows), func(r trained) bool { return r.Design == perGroup || !property(r.Design) })
	}
	others := with(func(d Design) bool { return d != lago })
	uniform := with(func(d Design) bool { return d.Prior == model.Uniform })
	perAttribute := with(func(d Design) bool { return d.Prior == model.PerAttribute })
	constant := with(func(d Design) bool { return d.Prior == model.Uniform && d.Complement == model.Const })
	deMorgan := with(func(d Design) bool { return d.Prior == model.Uniform && d.Complement == model.DeMorgan })
	list := []Finding{
		levelOf(byDesign[lago]).above(levelOf(others[0]), "uniform, const and implicit, the design of LAGO, is the best of all"),
		levelOf(uniform...).above(levelOf(perAttribute...), "each design is better with a uniform prior than with a per-attribute one"),
		distance(perAttribute).above(distance(uniform), "best and worst are closer together with a uniform prior than with a per-attribute one"),
		levelOf(constant...).above(levelOf(deMorgan...), "with a uniform prior, const is above De-Morgan"),
		distance(deMorgan).above(distance(constant), "with a uniform prior, supervision changes less with const than with De-Morgan"),
	}
	for _, u := range uniform {
		other := byDesign[Design{model.PerAttribute, u.Complement, u.Supervision}]
		list[1].Holds = list[1].Holds && u.Accuracy.Mean > other.Accuracy.Mean
	}
	list[3].Holds = constant[1].Accuracy.Mean > deMorgan[0].Accuracy.Mean
	differences := make([]*metrics.Difference, len(list))
	for i := range list {
		differences[i] = &list[i].Difference
	}
	results.CorrectP(differences)
	return list
}

// Tables are the table in the form of the paper's, its findings, and the missing runs.
func (r *Result) Tables() []*table.Table {
	if len(r.Findings) == 0 {
		return r.Accuracies.Tables()
	}
	t := table.New("findings of the paper (table A.2), each with the difference that it states to be above 0:")
	for _, f := range r.Findings {
		verdict := "holds"
		if !f.Holds {
			verdict = "differs"
		}
		if f.Difference.P >= metrics.Significance {
			verdict = "unclear"
		}
		t.Note("%s: %s: %s, p %.2g", verdict, f.Text, results.DifferenceText(f.Difference), f.Difference.P)
	}
	return slices.Insert(r.Accuracies.Tables(), 1, t)
}

// Package ablation takes the model's design decisions apart, the paper's table A.2.
package ablation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/experiments/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
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
	Alphas   []float64     `json:"alphas"`    // of which explicit supervision has the best; nil for that of Base
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

// Result is the paper's table A.2 for one data set: validation accuracy by design.
type Result struct {
	Dataset  string        `json:"dataset"`
	Variant  model.Variant `json:"variant"`
	Alphas   []float64     `json:"alphas"` // tried for explicit supervision
	Epochs   int           `json:"epochs"` // at most
	Seeds    []uint64      `json:"seeds"`
	Rows     []Row         `json:"rows"`     // best first
	Findings []Finding     `json:"findings"` // statements of the paper; none if a row has no accuracy
	Parts    int           `json:"parts"`    // 1, or the parts of a rotation over classes
	Classes  int           `json:"classes"`  // validation classes
	Missing  []lab.Missing `json:"missing"`
}

// Row is the accuracy of one design.
type Row struct {
	Design
	// the one of alphas with the best accuracy; 0 for implicit supervision
	Alpha    float64          `json:"alpha"`
	Accuracy lab.Summary      `json:"val_accuracy"` // of the best epoch of each run, per class
	Interval metrics.Interval `json:"interval"`     // of val_accuracy, over classes
	// from the design uniform, const, implicit, with p corrected by Holm; null for that design
	Difference *metrics.Difference `json:"difference"`
	// null if the paper does not have this data set, and in a rotation
	Published *float64 `json:"published_accuracy"`

	classes []float64 // the accuracy of each class, mean over seeds
}

// Run trains c, which passes Check, in the eight designs on the dev stage, for every seed, and stores the table of
// their results. Trials without a model are listed as missing.
func Run(ctx context.Context, l *lab.Lab, c Config) (*Result, error) {
	all, alphas, base := designs(), c.Alphas, c.Base
	if c.PerGroup {
		all = append(all, perGroup)
	}
	if alphas == nil {
		alpha, _ := base.Method.List().Find("alpha") // every variant has it
		alphas = []float64{cmp.Or(alpha.Value().(float64), defaultAlpha)}
	}
	plan := engine.Plan{Stage: config.OnlyDev}
	var tried []Row // of each arm
	for _, d := range all {
		for _, alpha := range alphas {
			if d.Supervision == Implicit {
				alpha = 0
			}
			start := base.With("prior", d.Prior).With("complement", d.Complement).With("alpha", alpha)
			plan.Arms = append(plan.Arms, engine.Arm{Name: fmt.Sprint(d, alpha), Starts: []config.Config{start}})
			tried = append(tried, Row{Design: d, Alpha: alpha})
			if d.Supervision == Implicit {
				break
			}
		}
	}
	done, err := engine.Run(ctx, l, plan)
	if err != nil {
		return nil, err
	}
	a := &Result{
		Dataset: base.DataName(), Variant: base.Method.Variant(), Alphas: alphas, Epochs: base.DevEpochs(), Parts: len(l.Parts), Missing: done.Missing,
	}
	for i := range base.Seeds {
		a.Seeds = append(a.Seeds, base.Seed+uint64(i))
	}
	for i := range tried {
		m, r := results.Validation(done, i), &tried[i]
		r.Accuracy, r.Interval, r.classes = m.PerClass, m.Interval, m.ByClass
		a.Classes = max(a.Classes, m.Classes)
		if a.Parts == 1 {
			r.Published = r.Design.published(a.Dataset)
		}
	}
	slices.SortStableFunc(tried, func(x, y Row) int { return lab.ByMean(x.Accuracy, y.Accuracy) })
	for _, r := range tried {
		if !slices.ContainsFunc(a.Rows, func(better Row) bool { return better.Design == r.Design }) {
			a.Rows = append(a.Rows, r)
		}
	}
	compareRows(a.Rows)
	a.Findings = findings(a.Rows)
	return a, l.Store(Kind, c, a)
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

// compareRows sets the differences of the rows.
func compareRows(rows []Row) {
	reference := slices.IndexFunc(rows, func(r Row) bool { return r.Design == lago })
	var differences []*metrics.Difference
	for i := range rows {
		if i == reference || len(rows[i].classes) == 0 || len(rows[reference].classes) == 0 {
			continue
		}
		d := metrics.PairedDifference(rows[i].classes, rows[reference].classes)
		rows[i].Difference = &d
		differences = append(differences, &d)
	}
	correct(differences)
}

// correct replaces the p values of differences by those of Holm.
func correct(differences []*metrics.Difference) {
	p := make([]float64, len(differences))
	for i, d := range differences {
		p[i] = d.P
	}
	for i, adjusted := range metrics.Holm(p) {
		differences[i].P = adjusted
	}
}

// level is the accuracy of a design, the mean of several, or a difference.
type level struct {
	mean    float64
	classes []float64
}

func levelOf(rows ...Row) level {
	l := level{classes: make([]float64, len(rows[0].classes))}
	for _, r := range rows {
		l.mean += r.Accuracy.Mean / float64(len(rows))
		floats.AddScaled(l.classes, 1/float64(len(rows)), r.classes)
	}
	return l
}

// distance is the best of some rows, in this order, minus the worst.
func distance(rows []Row) level {
	best, worst := levelOf(rows[0]), levelOf(rows[len(rows)-1])
	floats.Sub(best.classes, worst.classes)
	return level{best.mean - worst.mean, best.classes}
}

// above is the finding that one level is above another.
func (l level) above(other level, text string) Finding {
	return Finding{text, l.mean > other.mean, metrics.PairedDifference(l.classes, other.classes)}
}

// findings returns none if a row, of rows with the best first, has no accuracy.
func findings(rows []Row) []Finding {
	row := map[Design]Row{}
	for _, r := range rows {
		if len(r.Accuracy.Values) == 0 && r.Design != perGroup {
			return []Finding{}
		}
		row[r.Design] = r
	}
	// of returns the rows of the paper's designs that have a property, best first as in rows.
	of := func(in func(Design) bool) []Row {
		return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return r.Design == perGroup || !in(r.Design) })
	}
	others := of(func(d Design) bool { return d != lago })
	uniform := of(func(d Design) bool { return d.Prior == model.Uniform })
	perAttribute := of(func(d Design) bool { return d.Prior == model.PerAttribute })
	constant := of(func(d Design) bool { return d.Prior == model.Uniform && d.Complement == model.Const })
	deMorgan := of(func(d Design) bool { return d.Prior == model.Uniform && d.Complement == model.DeMorgan })
	list := []Finding{
		levelOf(row[lago]).above(levelOf(others[0]), "uniform, const and implicit, the design of LAGO, is the best of all"),
		levelOf(uniform...).above(levelOf(perAttribute...), "each design is better with a uniform prior than with a per-attribute one"),
		distance(perAttribute).above(distance(uniform), "best and worst are closer together with a uniform prior than with a per-attribute one"),
		levelOf(constant...).above(levelOf(deMorgan...), "with a uniform prior, const is above De-Morgan"),
		distance(deMorgan).above(distance(constant), "with a uniform prior, supervision changes less with const than with De-Morgan"),
	}
	for _, u := range uniform {
		other := row[Design{model.PerAttribute, u.Complement, u.Supervision}]
		list[1].Holds = list[1].Holds && u.Accuracy.Mean > other.Accuracy.Mean
	}
	list[3].Holds = constant[1].Accuracy.Mean > deMorgan[0].Accuracy.Mean
	differences := make([]*metrics.Difference, len(list))
	for i := range list {
		differences[i] = &list[i].Difference
	}
	correct(differences)
	return list
}

// Check returns an *invalid.Error if a result, as read from a file, is incomplete.
func (a *Result) Check() error { return lab.NotEmpty("rows", len(a.Rows)) }

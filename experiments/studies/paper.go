package studies

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/methods"
)

var reproductionEntry = Entry{"reproduce", func() results.Study { return new(Reproduction) }, []results.Kind{{
	Name: "reproduction", Title: "The paper's tables", Command: "reproduce",
	Text: "Every variant by the paper's protocol. The variant with the best validation accuracy is " +
		"the result; test accuracies of the others are for reference.",
	New: func() results.Result { return new(PaperTables) },
}}}

const eszsl = "eszsl"

// Reproduction asks for the paper's tables: each of its variants, and ESZSL, by its protocol.
type Reproduction struct {
	Configs []config.Config `json:"configs"` // set by Plan, as Apart
	// ESZSL alone is trained without the held-out samples of seen classes
	Apart bool `json:"apart"`

	names []string // of the variants
}

func (q *Reproduction) Settings(r *config.Request) setting.List {
	q.names = format.Strings(model.VariantsWith(func(v model.VariantInfo) bool { return v.Paper }))
	r.Methods = &q.names
	return slices.Concat(r.VariantSettings(), r.RotationSettings())
}

// PaperTables is the paper's protocol from start to end on one data set: table A.1 is the methods, for
// reference.
type PaperTables struct {
	results.MethodTable
	// table 1: the variant with the best validation accuracy; null if no variant succeeded
	Result *results.Method `json:"result"`
	// whether the baselines alone were trained without the held-out samples of seen classes, as their
	// published numbers were
	BaselinesHeldOut bool `json:"baselines_held_out"`
}

// Plan has every variant and ESZSL by the full protocol.
func (q *Reproduction) Plan(r *config.Request, l *lab.Lab) (lab.Plan, error) {
	q.Configs = r.Configs()
	like := config.ForBaselines(q.Configs, config.Config{})
	compared := config.PublishedAccuracy(l.Data, config.PublishedResult) != "" && len(l.Parts) == 1
	q.Apart = compared && l.Data.TestSeen != nil && !like.HoldOut
	like.HoldOut = like.HoldOut || q.Apart
	return lab.FullPlan(q.Configs, []string{eszsl}, like, r.Keys())
}

// Summarise chooses one variant, by validation accuracy alone.
func (q *Reproduction) Summarise(_ context.Context, l *lab.Lab, done *lab.Outcomes) (results.Result, error) {
	r := &PaperTables{
		MethodTable: results.NewMethodTable(l, "reproduction", "Table A.1", done), BaselinesHeldOut: q.Apart,
	}
	r.Ordered = true
	slices.SortStableFunc(r.Methods, func(a, b results.Method) int { // baselines first
		return min(len(a.Variant), 1) - min(len(b.Variant), 1)
	})
	if r.Result = chosen(r.Methods); r.Result != nil && len(l.Parts) == 1 {
		// of the variant that the paper chose
		r.Result.Published = config.PublishedAccuracy(l.Data, config.PublishedResult)
	}
	return r, nil
}

func chosen(table []results.Method) *results.Method {
	var best *results.Method
	for _, row := range table {
		if row.Variant != "" && (best == nil || row.Val.PerClass.Mean > best.Val.PerClass.Mean) {
			best = &row
		}
	}
	return best
}

// Tables are table A.1, what is missing from it, and table 1.
func (r *PaperTables) Tables() []*table.Table {
	list := r.MethodTable.Tables()
	if r.BaselinesHeldOut {
		list[0].Note("ESZSL is trained without the held-out samples of seen classes, LAGO with all " +
			"samples of seen classes,\n" +
			"each as its published number was.")
	}
	first := table.New(fmt.Sprintf("Table 1 on %s: test accuracy%s", r.Dataset,
		results.InParts("unseen", r.Parts)))
	if r.Result == nil {
		return append(list, first.Note("no result, since every variant is missing"))
	}
	first.Header = []string{"method", "test", "s.e.m.", "95 % over classes", "published"}
	test := r.Result.Test
	first.Right(2, 3, 4, 5).
		Row(lagoTitle(r.Result.Variant), test.PerClass.MeanText(), test.PerClass.SEMText(),
			test.Interval, cmp.Or(r.Result.Published, format.Missing)).
		Note("%s was chosen by its validation accuracy. Only this line is the result: choosing by the\n"+
			"test accuracies above would be choosing on the test classes.", r.Result.Variant)
	return append(list, first)
}

// Figures are the accuracy of the methods, beside the published ones. The result is shaded.
func (r *PaperTables) Figures(string) ([]plot.Figure, error) {
	return r.Draw(func(m results.Method) bool {
		return r.Result != nil && m.Variant == r.Result.Variant && m.Variant != ""
	}), nil
}

// The attribute supervision of the paper's ablation: a term of the loss for the attributes (section 4.2
// of the paper), with explicit supervision.
const (
	implicit = "implicit" // alpha = 0: attributes are learned through the classes alone
	explicit = "explicit" // alpha > 0
)

// defaultAlpha weighs explicit supervision as much as classification. The paper does not
// state the weight of its ablation.
const defaultAlpha = 1

type design struct {
	prior       model.Prior
	complement  model.Complement
	supervision string
}

var lagoDesign = design{model.Uniform, model.Const, implicit}

func designs(perGroup bool) (all []design) {
	for _, p := range []model.Prior{model.Uniform, model.PerAttribute} {
		for _, c := range []model.Complement{model.Const, model.DeMorgan} {
			for _, s := range []string{implicit, explicit} {
				all = append(all, design{p, c, s})
			}
		}
	}
	if perGroup {
		all = append(all, design{model.PerGroup, model.Const, implicit})
	}
	return all
}

// Ablation says what is taken apart.
type Ablation struct {
	Base     config.Config `json:"base"`      // the settings of all designs, set by Plan
	PerGroup bool          `json:"per_group"` // also a row of LAGO's design with the prior per group
}

func (c *Ablation) Settings(r *config.Request) setting.List {
	r.Variants = model.Variants
	return slices.Concat(r.DevSettings(), r.RotationSettings(), setting.List{
		setting.Switch("per_group", &c.PerGroup, false).Common(),
	})
}

var ablationEntry = Entry{"ablate", func() results.Study { return new(Ablation) }, []results.Kind{{
	Name: "ablation", Title: "Design decisions", Command: "ablate",
	Text: "Validation accuracy by the prior p(a), the none-of-group term and the supervision of " +
		"attributes in the loss, best first. All other settings are the same within a figure.",
	New: func() results.Result { return new(results.Accuracies) },
}}}

// Plan has an arm for each design on the dev stage.
func (c *Ablation) Plan(r *config.Request, _ *lab.Lab) (lab.Plan, error) {
	c.Base = r.Presets[0].Config
	plan := lab.Plan{Stage: config.OnlyDev}
	for _, d := range designs(c.PerGroup) {
		start := c.Base.With("prior", d.prior).With("complement", d.complement).With("alpha", 0)
		if d.supervision == explicit {
			start = start.With("alpha", c.weight())
		}
		plan.Arms = append(plan.Arms, lab.Arm{Name: fmt.Sprint(d), Starts: []config.Config{start}})
	}
	return plan, nil
}

func (c *Ablation) weight() float64 { return cmp.Or(c.Base.Value("alpha").(float64), defaultAlpha) }

// Summarise makes the paper's table A.2: validation accuracy by design, best first.
func (c *Ablation) Summarise(_ context.Context, l *lab.Lab, done *lab.Outcomes) (results.Result, error) {
	a := results.NewAccuracies(l, "ablation", "by design", c.Base, "validation")
	a.Columns = []string{"prior p(a)", "none-of-group term", "supervision"}
	a.Minus, a.Missing = "minus LAGO's design, points (95 %)", done.Missing
	for i, d := range designs(c.PerGroup) {
		row := results.Row{
			Labels:    []string{string(d.prior), string(d.complement), d.supervision},
			Reference: d == lagoDesign,
		}
		if len(l.Parts) == 1 && config.IsPublished(l.Data) {
			row.Published = d.published(c.Base.DataName())
		}
		a.Add(row, results.Validation(done, i))
	}
	slices.SortStableFunc(a.Rows, func(x, y results.Row) int { return lab.ByMean(x.Accuracy, y.Accuracy) })
	a.Compare("uniform, const, implicit")
	a.Notes = []string{
		fmt.Sprintf("LAGO's design: uniform, const, implicit; explicit supervision: alpha %v", c.weight()),
	}
	return a, nil
}

func (d design) published(dataset string) *float64 {
	for _, row := range config.Published.Ablation {
		percent, ok := row.Accuracy[strings.ToUpper(dataset)]
		if ok && d == (design{row.Prior, row.Complement, row.Supervision}) {
			fraction := percent / 100
			return &fraction
		}
	}
	return nil
}

// Sweep asks for validation accuracy against the number of groups.
type Sweep struct {
	Base config.Config `json:"base"` // of k-soft, set by Plan
	// numbers of groups; empty for those of the paper that the attributes can form
	Ks []int `json:"ks"`

	groups []int // number of each arm
}

func (c *Sweep) Settings(r *config.Request) setting.List {
	r.Variants = []model.Variant{model.KSoft}
	return slices.Concat(r.DevSettings("method"), r.RotationSettings(), setting.List{
		setting.Several("ks", &c.Ks, nil, "whole numbers, separated by commas", strconv.Atoi).
			Noted("1,10,20,30,40,60, as far as there are attributes").Common(),
	})
}

var sweepEntry = Entry{"sweep-k", func() results.Study { return new(Sweep) }, []results.Kind{{
	Name: "sweep-k", Title: "Number of groups", Command: "sweep-k",
	Text: "Validation accuracy of k-soft against its number of groups K, and of singletons and " +
		"semantic-hard with the same features and training.",
	New: func() results.Result { return new(results.Accuracies) },
}}}

// Plan has k-soft on the dev stage with each number of groups and, for comparison, singletons and, if the
// data set has groups, semantic-hard, with their own presets and the data, seeds and training of k-soft.
func (c *Sweep) Plan(r *config.Request, l *lab.Lab) (lab.Plan, error) {
	plan := lab.Plan{Stage: config.OnlyDev}
	// the same preprocessing for the variants that k-soft is compared with
	c.Base = r.Presets[0].Config.On(l.Data)
	ks, err := sweptKs(c.Ks, len(l.Data.Attributes))
	if err != nil {
		return plan, err
	}
	c.groups = nil
	add := func(start config.Config, k int) {
		plan.Arms, c.groups = append(plan.Arms, lab.NewArm(start)), append(c.groups, k)
	}
	for _, k := range ks {
		add(c.Base.With("k", k), k)
	}
	add(trainedAlike(c.Base, model.Singletons), len(l.Data.Attributes))
	if l.Data.Groups != nil {
		add(trainedAlike(c.Base, model.SemanticHard), len(l.Data.Groups))
	}
	return plan, nil
}

// Summarise has a row for each number of groups and each variant to compare with.
func (c *Sweep) Summarise(_ context.Context, l *lab.Lab, done *lab.Outcomes) (results.Result, error) {
	a := results.NewAccuracies(l, "sweep-k", "by number of groups", c.Base, "validation")
	a.Columns, a.X, a.Missing = []string{"variant", "K"}, "number of groups K", done.Missing
	a.Notes = []string{"The other variants have the same features and training."}
	for i, arm := range done.Plan.Arms {
		v := arm.Starts[0].Method.Variant()
		row := results.Row{
			Labels: []string{string(v), strconv.Itoa(c.groups[i])}, Number: float64(c.groups[i]),
			Reference: v != model.KSoft,
		}
		a.Add(row, results.Validation(done, i))
	}
	return a, nil
}

func sweptKs(ks []int, attributes int) ([]int, error) {
	tooMany := func(k int) bool { return k > attributes }
	if len(ks) == 0 {
		return slices.DeleteFunc(slices.Clone(config.Published.Ks), tooMany), nil
	}
	ks = slices.Compact(slices.Sorted(slices.Values(ks)))
	if ks[0] < 1 || slices.ContainsFunc(ks, tooMany) {
		return nil, invalid.Expected("ks", format.Join(ks), "numbers from 1 to the number of attributes, %d",
			attributes)
	}
	return ks, nil
}

// trainedAlike returns the settings of another variant for comparison with c: its preset, with what
// c has for all variants.
func trainedAlike(c config.Config, v model.Variant) config.Config {
	other := c.Start(methods.Variant(v)).Config
	shared := append(config.CommonKeys(), "batch", "prior", "complement")
	c.Settings().CopyTo(slices.DeleteFunc(other.Settings(), func(s setting.Setting) bool {
		return !slices.Contains(shared, s.Key)
	}))
	return other
}

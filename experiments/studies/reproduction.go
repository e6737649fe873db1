package studies

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
)

var reproductionEntry = Entry{"reproduce", func() results.Study { return new(Reproduction) }, []results.Kind{{
	Name: "reproduction", Title: "The paper's tables", Command: "reproduce",
	Text: "Every variant by the paper's protocol. The variant with the best validation accuracy is " +
		"the result; test accuracies of the others are for reference.",
	New: func() results.Result { return new(PaperTables) },
}}}

// eszsl is the baseline of the paper's table A.1 beside LAGO.
const eszsl = "eszsl"

// Reproduction asks for the paper's tables: each of its variants, and ESZSL, by its protocol.
type Reproduction struct {
	Configs []config.Config `json:"configs"` // set by Plan, as Apart
	// ESZSL alone is trained without the held-out samples of seen classes
	Apart bool `json:"apart"`

	names []string // of the variants
}

// Settings lists the settings of the study.
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

// chosen returns a copy of the row of the variant with the best validation accuracy.
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
		Row(fmt.Sprintf("LAGO (%s)", r.Result.Variant), test.PerClass.MeanText(), test.PerClass.SEMText(),
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

package protocol

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/experiments/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
)

// eszsl is the baseline of the paper's table A.1 beside LAGO.
const eszsl = "eszsl"

// Variants asks for the paper's tables: every variant, and ESZSL, by its protocol.
type Variants struct{ configs []config.Config }

// Settings lists the settings of the study.
func (q *Variants) Settings(r *config.Request) setting.List {
	return slices.Concat(r.VariantSettings(), r.RotationSettings())
}

// Resolve completes the configuration, and returns its presets.
func (q *Variants) Resolve(ctx context.Context, r *config.Request) (presets []config.Preset, err error) {
	presets, q.configs, err = r.Presets(ctx, model.Variants)
	return presets, err
}

// ReproductionKind is the first word of the names of stored results.
const ReproductionKind = "reproduction"

// Reproduction is the paper's protocol from start to end on one data set: table A.1 is the methods, for
// reference.
type Reproduction struct {
	results.Comparison
	// table 1: the variant with the best validation accuracy; null if no variant succeeded
	Result *results.Method `json:"result"`
	// whether the baselines alone were trained without the held-out samples of seen classes, as their
	// published numbers were
	BaselinesHeldOut bool `json:"baselines_held_out"`
}

// Ask trains every variant on the dev stage, retrains it on train and validation classes,
// evaluates it on the test classes, chooses one by validation accuracy alone, and stores the
// result.
func (q *Variants) Ask(ctx context.Context, l *lab.Lab) (results.Result, error) {
	like := engine.ForBaselines(q.configs, config.Config{})
	apart := published.TestAccuracy(l.Data, published.ResultRow) != "" && len(l.Parts) == 1 && l.Data.TestSeen != nil && !like.HoldOut
	like.HoldOut = like.HoldOut || apart
	done, err := engine.RunFull(ctx, l, q.configs, []string{eszsl}, like)
	if err != nil {
		return nil, err
	}
	r := &Reproduction{Comparison: results.NewComparison(l, ReproductionKind, "Table A.1", done), BaselinesHeldOut: apart}
	r.Ordered = true
	slices.SortStableFunc(r.Methods, func(a, b results.Method) int { return min(len(a.Variant), 1) - min(len(b.Variant), 1) }) // baselines first
	if r.Result = chosen(r.Methods); r.Result != nil && len(l.Parts) == 1 {
		r.Result.Published = published.TestAccuracy(l.Data, published.ResultRow) // of the variant that the paper chose
	}
	return r, l.Store(ReproductionKind, q.configs, r)
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
func (r *Reproduction) Tables() []*table.Table {
	list := r.Comparison.Tables()
	if r.BaselinesHeldOut {
		list[0].Note("ESZSL is trained without the held-out samples of seen classes, LAGO with all samples of seen classes,\n" +
			"each as its published number was.")
	}
	first := table.New(fmt.Sprintf("Table 1 on %s: test accuracy%s", r.Dataset, results.InParts("unseen", r.Parts)))
	if r.Result == nil {
		return append(list, first.Note("no result, since every variant is missing"))
	}
	first.Header = []string{"method", "test", "s.e.m.", "95 % over classes", "published"}
	test := r.Result.Test
	first.Right(2, 3, 4, 5).
		Row(fmt.Sprintf("LAGO (%s)", r.Result.Variant), test.PerClass.MeanText(), test.PerClass.SEMText(), test.Interval, cmp.Or(r.Result.Published, format.Missing)).
		OmitEmpty().
		Note("%s was chosen by its validation accuracy. Only this line is the result: choosing by the\n"+
			"test accuracies above would be choosing on the test classes.", r.Result.Variant)
	return append(list, first)
}

// Figures are the accuracy of the methods, beside the published ones. The result is shaded.
func (r *Reproduction) Figures(string) ([]plot.Figure, error) {
	return r.Draw(func(m results.Method) bool {
		return r.Result != nil && m.Variant == r.Result.Variant && m.Variant != ""
	}), nil
}

package protocol

import (
	"context"
	"fmt"
	"slices"
	"strconv"

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

// Reproduction is the paper's protocol from start to end on one data set.
type Reproduction struct {
	results.Study
	// table 1: the variant with the best validation accuracy; null if no variant succeeded
	Result *Row  `json:"result"`
	Table  []Row `json:"table"` // table A.1: the test accuracy of every method, for reference
	// whether the baselines alone were trained without the held-out samples of seen classes, as their
	// published numbers were
	BaselinesHeldOut bool `json:"baselines_held_out"`
}

// Row is a row of the tables. Published is null if the paper does not have this data set.
type Row struct {
	results.Method
	Published *float64 `json:"published_accuracy"` // null if the paper does not have this data set, and in a rotation
}

// Ask trains every variant on the dev stage, retrains it on train and validation classes,
// evaluates it on the test classes, chooses one by validation accuracy alone, and stores the
// result.
func (q *Variants) Ask(ctx context.Context, l *lab.Lab) (results.Result, error) {
	variants := q.configs
	r := &Reproduction{Study: results.Study{Dataset: l.Data.Name, Parts: len(l.Parts)}, Table: []Row{}}
	like := engine.ForBaselines(variants, config.Config{})
	if r.published("ESZSL") != nil && l.Data.TestSeen != nil && !like.HoldOut {
		like.HoldOut, r.BaselinesHeldOut = true, true
	}
	done, err := engine.RunFull(ctx, l, variants, []string{eszsl}, like)
	if err != nil {
		return nil, err
	}
	r.Missing = done.Missing
	rows := results.Methods(done)
	slices.SortStableFunc(rows, func(a, b results.Method) int { return min(len(a.Variant), 1) - min(len(b.Variant), 1) }) // baselines first
	for _, row := range rows {
		r.Table = append(r.Table, Row{row, r.published(row.Title)})
	}
	if r.Result = chosen(r.Table); r.Result != nil {
		r.Result.Published = r.published(published.ResultRow) // of the variant that the paper chose
	}
	return r, l.Store(ReproductionKind, variants, r)
}

// chosen returns a copy of the row of the variant with the best validation accuracy.
func chosen(table []Row) *Row {
	var best *Row
	for _, row := range table {
		if row.Variant != "" && (best == nil || row.Val.PerClass.Mean > best.Val.PerClass.Mean) {
			best = &row
		}
	}
	return best
}

// published returns a cell of table A.1 as a fraction, nil if there is none, and in a rotation,
// which evaluates other classes.
func (r *Reproduction) published(method string) *float64 {
	cell, ok := published.TestAccuracy(r.Dataset, method)
	if !ok || r.Parts > 1 {
		return nil
	}
	percent, err := strconv.ParseFloat(cell, 64)
	if err != nil { // a range
		return nil
	}
	fraction := percent / 100
	return &fraction
}

// Tables are table A.1, what is missing from it, and table 1.
func (r *Reproduction) Tables() []*table.Table {
	rotated := results.InParts("unseen", r.Parts)
	all := table.New(fmt.Sprintf("Table A.1 on %s: per-class accuracy, for reference; s.e.m. over seeds%s", r.Dataset, rotated),
		"method", "validation", "s.e.m.", "test", "s.e.m.", "95 % over classes", "seeds", "published").Right(2, 3, 4, 5, 6, 8)
	for _, row := range r.Table {
		val, test := row.Val.PerClass, row.Test.PerClass
		all.Row(row.Title, val.MeanText(), val.SEMText(), test.MeanText(), test.SEMText(), row.Test.Interval, len(test.Values), publishedCell(row.Published))
	}
	all.OmitEmpty()
	if r.BaselinesHeldOut {
		all.Note("ESZSL is trained without the held-out samples of seen classes, LAGO with all samples of seen classes,\n" +
			"each as its published number was.")
	}
	first := table.New(fmt.Sprintf("Table 1 on %s: test accuracy%s", r.Dataset, rotated))
	if r.Result == nil {
		first.Note("no result, since every variant is missing")
	} else {
		first.Header = []string{"method", "test", "s.e.m.", "95 % over classes", "published"}
		test := r.Result.Test
		first.Right(2, 3, 4, 5).
			Row(fmt.Sprintf("LAGO (%s)", r.Result.Variant), test.PerClass.MeanText(), test.PerClass.SEMText(), test.Interval, publishedCell(r.Result.Published)).
			OmitEmpty().
			Note("%s was chosen by its validation accuracy. Only this line is the result: choosing by the\n"+
				"test accuracies above would be choosing on the test classes.", r.Result.Variant)
	}
	return []*table.Table{all, results.MissingTable(r.Missing), first}
}

func publishedCell(accuracy *float64) string {
	if accuracy == nil {
		return format.Missing
	}
	return format.Percent(*accuracy)
}

// Figures are the accuracy of the methods, beside the published ones.
func (r *Reproduction) Figures(string) ([]plot.Figure, error) {
	p, paper := &plot.Dots{X: results.AccuracyAxis, Percent: true}, plot.DotSeries{Name: "published", Condition: plot.Dotted}
	var val, test []results.Measured
	var seeds []int
	for i, row := range r.Table {
		p.Rows = append(p.Rows, plot.Row{Name: row.Title, Focus: r.Result != nil && row.Variant == r.Result.Variant && row.Variant != ""})
		val, test, seeds = append(val, row.Val), append(test, row.Test), append(seeds, len(row.Test.PerClass.Values))
		if row.Published != nil {
			paper.Dots = append(paper.Dots, plot.PercentDot(i, *row.Published, *row.Published, *row.Published))
		}
	}
	p.Panels = []plot.Panel{results.Panel("validation", val), results.Panel("test", test)}
	p.Panels[1].Series = append(p.Panels[1].Series, paper)
	return []plot.Figure{{
		Name: "variants", Title: "Accuracy of the variants", Picture: p,
		Caption: fmt.Sprintf("Mean over %s; %s. The result is shaded.", results.SeedsText(seeds), results.IntervalText),
	}}, nil
}

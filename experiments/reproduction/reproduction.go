package reproduction

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/metrics"
)

// Result is the paper's protocol from start to end on one data set.
type Result struct {
	Dataset string `json:"dataset"`
	Parts   int    `json:"parts"` // 1, or the parts of a rotation over classes
	// Result is table 1: the variant with the best validation accuracy, and its test
	// accuracy. It is null while another shard still has trials, and if no variant
	// succeeded.
	Result *Row `json:"result"`
	// Table is table A.1, the test accuracy of every method, for reference.
	Table []Row `json:"table"`
	// BaselinesHeldOut says that the baselines alone were trained without the held-out samples
	// of seen classes, as their published numbers were.
	BaselinesHeldOut bool `json:"baselines_held_out"`

	Missing []lab.Missing      `json:"missing"`
	LeftOut []protocol.LeftOut `json:"left_out"`
}

// Row is a row of the tables.
type Row struct {
	Method    string            `json:"method"`            // as table A.1 names it
	Variant   model.Variant     `json:"variant,omitempty"` // none for a baseline
	Val       lab.Summary       `json:"val_accuracy"`
	Test      lab.Summary       `json:"test_accuracy"`
	Interval  metrics.Interval  `json:"test_interval"`      // of Test, over classes
	Published *float64          `json:"published_accuracy"` // on the test classes; null if the paper does not have this data set
	Outcome   *protocol.Outcome `json:"run,omitempty"`
	Baseline  *tuning.Method    `json:"baseline,omitempty"`
}

// Run trains every variant on the dev stage, retrains it on train and validation classes,
// evaluates it on the test classes, and chooses one by validation accuracy alone.
func Run(ctx context.Context, l *lab.Lab, configs []protocol.Config) (*Result, error) {
	r := &Result{Dataset: l.Data.Name, Parts: len(l.Parts), Table: []Row{}, LeftOut: []protocol.LeftOut{}}
	var feasible []protocol.Config
	for _, c := range configs {
		if out := protocol.Allows(l, c.Variant); out != nil {
			r.LeftOut = append(r.LeftOut, *out)
			continue
		}
		feasible = append(feasible, c)
	}
	if len(feasible) == 0 {
		return nil, &invalid.Error{Field: "variants", Want: "one that the data set allows", Got: "none"}
	}
	outcomes, without, err := protocol.RunAll(ctx, l, feasible)
	if err != nil {
		return nil, err
	}
	r.Missing = lab.MissingOf(without)
	like := protocol.ForBaselines(configs)
	if r.published("ESZSL") != nil && l.Data.TestSeen != nil && !like.HoldOut {
		like.HoldOut, r.BaselinesHeldOut = true, true
	}
	baselines, err := tuning.Baselines(ctx, l, []string{tuning.ESZSLMethod}, like)
	if err != nil {
		return nil, err
	}
	r.Missing = append(r.Missing, baselines.Missing...)
	for _, p := range baselines.Rows {
		r.Table = append(r.Table, Row{
			Method: p.Title, Val: p.Val.PerClass, Test: p.Test.PerClass, Interval: p.Test.Interval,
			Published: r.published(p.Title), Baseline: &p,
		})
	}
	for _, o := range outcomes {
		if o != nil {
			r.Table = append(r.Table, Row{
				Method: published.Method(o.Config.Variant), Variant: o.Config.Variant,
				Val: o.Val.PerClass, Test: o.Test.PerClass, Interval: o.Test.Interval,
				Published: r.published(published.Method(o.Config.Variant)), Outcome: o,
			})
		}
	}
	if !slices.ContainsFunc(without, func(t lab.Run) bool { return errors.Is(t.Err, lab.ErrElsewhere) }) {
		r.Result = chosen(r.Table)
	}
	if r.Result != nil {
		r.Result.Published = r.published(published.ResultRow) // of the variant that the paper chose
	}
	return r, nil
}

// chosen returns a copy of the row of the variant with the best validation accuracy.
func chosen(table []Row) *Row {
	var best *Row
	for _, row := range table {
		if row.Variant != "" && (best == nil || row.Val.Mean > best.Val.Mean) {
			best = &row
		}
	}
	return best
}

// published returns a cell of table A.1 as a fraction, nil if there is none, and in a rotation,
// which evaluates other classes.
func (r *Result) published(method string) *float64 {
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

// WriteText writes table A.1, table 1, and what is missing from them.
func (r *Result) WriteText(w io.Writer) error {
	var b strings.Builder
	rotated := protocol.InParts("unseen", r.Parts)
	fmt.Fprintf(&b, "Table A.1 on %s: per-class accuracy, for reference; s.e.m. over seeds%s\n", r.Dataset, rotated)
	all := format.NewTable("method", "validation", "s.e.m.", "test", "s.e.m.", "95 % over classes", "published", "seeds")
	all.Right(2, 3, 4, 5, 6, 7)
	for _, row := range r.Table {
		all.Row(row.Method, row.Val.MeanText(), row.Val.SEMText(), row.Test.MeanText(), row.Test.SEMText(), row.Interval, publishedCell(row.Published), len(row.Test.Values))
	}
	b.WriteString(all.String())
	if r.BaselinesHeldOut {
		fmt.Fprintln(&b, "ESZSL is trained without the held-out samples of seen classes, LAGO with all samples of seen classes,\n"+
			"each as its published number was.")
	}
	for _, o := range r.LeftOut {
		fmt.Fprintf(&b, "%s is left out: %s\n", o.Variant, o.Why)
	}
	b.WriteString(lab.MissingText(r.Missing))
	fmt.Fprintf(&b, "\nTable 1 on %s: test accuracy%s\n", r.Dataset, rotated)
	if r.Result == nil {
		fmt.Fprintln(&b, "no result while runs are missing")
	} else {
		result := format.NewTable("method", "test", "s.e.m.", "95 % over classes", "published")
		result.Right(2, 3, 4, 5)
		result.Row(fmt.Sprintf("LAGO (%s)", r.Result.Variant), r.Result.Test.MeanText(), r.Result.Test.SEMText(), r.Result.Interval, publishedCell(r.Result.Published))
		b.WriteString(result.String())
		fmt.Fprintf(&b, "%s was chosen by its validation accuracy. Only this line is the result: choosing by the\n"+
			"test accuracies above would be choosing on the test classes.\n", r.Result.Variant)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func publishedCell(accuracy *float64) string {
	if accuracy == nil {
		return "-"
	}
	return format.Percent(*accuracy)
}

package reproduction

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/model"
)

// Reproduction is the paper's protocol from start to end on one data set.
type Result struct {
	Dataset string `json:"dataset"`
	// Result is table 1: the variant that did best on the val classes, and what it
	// scored on the test classes. Only this is a result. It is null while another
	// shard still has trials, and where no variant could be carried out.
	Result *Row `json:"result"`
	// Table is table A.1, every method on the test classes, for reference.
	Table   []Row              `json:"table"`
	Missing []lab.Missing      `json:"missing"`
	LeftOut []protocol.LeftOut `json:"left_out"`
}

// Reproduced is a row of the tables.
type Row struct {
	Method    string            `json:"method"`            // as table A.1 names it
	Variant   model.Variant     `json:"variant,omitempty"` // none for a baseline
	Val       lab.Summary       `json:"val_accuracy"`
	Test      lab.Summary       `json:"test_accuracy"`
	Published *float64          `json:"published_accuracy"` // on the test classes; null where the paper has not this data set
	Outcome   *protocol.Outcome `json:"run,omitempty"`
	Baseline  *tuning.Method    `json:"baseline,omitempty"`
}

// Reproduce carries out every variant on the dev stage, retrains it on train and
// val classes and judges it on the test classes, and chooses one by its val
// accuracy alone.
func Run(ctx context.Context, l *lab.Lab, configs []protocol.Config) (*Result, error) {
	r := &Result{Dataset: l.Data.Name, Table: []Row{}, LeftOut: []protocol.LeftOut{}}
	var feasible []protocol.Config
	for _, c := range configs {
		if c.Variant.Semantic() && l.Data.Groups == nil {
			r.LeftOut = append(r.LeftOut, protocol.LeftOut{Variant: c.Variant, Why: "the data set names no groups of attributes"})
			continue
		}
		feasible = append(feasible, c)
	}
	if len(feasible) == 0 {
		return nil, errors.New("variants: expected one that the data set allows, found none")
	}
	outcomes, without, err := protocol.RunAll(ctx, l, feasible)
	if err != nil {
		return nil, err
	}
	r.Missing = lab.MissingOf(without)
	baselines, waiting, err := tuning.Baselines(ctx, l, []string{tuning.ESZSLMethod}, feasible)
	if err != nil {
		return nil, err
	}
	r.Missing = append(r.Missing, waiting...)
	for _, p := range baselines {
		r.Table = append(r.Table, Row{
			Method: p.Title, Val: p.Val.PerClass, Test: p.Test.PerClass,
			Published: publishedOn(r.Dataset, p.Title), Baseline: &p,
		})
	}
	for _, o := range outcomes {
		if o != nil {
			r.Table = append(r.Table, Row{
				Method: published.Method(o.Config.Variant), Variant: o.Config.Variant,
				Val: o.Val.PerClass, Test: o.Test.PerClass,
				Published: publishedOn(r.Dataset, published.Method(o.Config.Variant)), Outcome: o,
			})
		}
	}
	if !slices.ContainsFunc(without, func(t lab.Run) bool { return errors.Is(t.Err, lab.ErrElsewhere) }) {
		r.Result = chosen(r.Table)
	}
	if r.Result != nil {
		r.Result.Published = publishedOn(r.Dataset, published.ResultRow) // of the variant that the paper chose
	}
	return r, nil
}

// chosen returns a copy of the row of the variant with the best val accuracy.
func chosen(table []Row) *Row {
	var best *Row
	for _, row := range table {
		if row.Variant != "" && (best == nil || row.Val.Mean > best.Val.Mean) {
			best = &row
		}
	}
	return best
}

// publishedOn is a cell of table A.1 as a fraction, nil where there is none.
func publishedOn(dataset, method string) *float64 {
	cell, ok := published.TestAccuracy(dataset, method)
	if !ok {
		return nil
	}
	percent, err := strconv.ParseFloat(cell, 64)
	if err != nil { // a range
		return nil
	}
	fraction := percent / 100
	return &fraction
}

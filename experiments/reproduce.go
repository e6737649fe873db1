package experiments

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/model"
)

// Reproduction is the paper's protocol from start to end on one data set.
type Reproduction struct {
	Dataset string `json:"dataset"`
	// Result is table 1: the variant that did best on the val classes, and what it
	// scored on the test classes. Only this is a result. It is null while another
	// shard still has trials, and where no variant could be carried out.
	Result *Reproduced `json:"result"`
	// Table is table A.1, every method on the test classes, for reference.
	Table   []Reproduced `json:"table"`
	Missing []Missing    `json:"missing"`
	LeftOut []LeftOut    `json:"left_out"`
}

// Reproduced is a row of the tables.
type Reproduced struct {
	Method    string        `json:"method"`            // as table A.1 names it
	Variant   model.Variant `json:"variant,omitempty"` // none for a baseline
	Val       Summary       `json:"val_accuracy"`
	Test      Summary       `json:"test_accuracy"`
	Published *float64      `json:"published_accuracy"` // on the test classes; null where the paper has not this data set
	Outcome   *Outcome      `json:"run,omitempty"`
	Baseline  *Compared     `json:"baseline,omitempty"`
}

// LeftOut is a variant that the data set can't have.
type LeftOut struct {
	Variant model.Variant `json:"variant"`
	Why     string        `json:"why"`
}

// resultRow is the row of the published table that is no single variant.
const resultRow = "LAGO (variant chosen on validation)"

// Reproduce carries out every variant on the dev stage, retrains it on train and
// val classes and judges it on the test classes, and chooses one by its val
// accuracy alone.
func Reproduce(ctx context.Context, l *lab.Lab, configs []Config) (*Reproduction, error) {
	r := &Reproduction{Dataset: l.Data.Name, Table: []Reproduced{}, LeftOut: []LeftOut{}}
	var feasible []Config
	for _, c := range configs {
		if c.Variant.Semantic() && l.Data.Groups == nil {
			r.LeftOut = append(r.LeftOut, LeftOut{c.Variant, "the data set names no groups of attributes"})
			continue
		}
		feasible = append(feasible, c)
	}
	if len(feasible) == 0 {
		return nil, errors.New("variants: expected one that the data set allows, found none")
	}
	outcomes, without, err := RunAll(ctx, l, feasible)
	if err != nil {
		return nil, err
	}
	r.Missing = missing(without)
	baselines, waiting, err := carryOutBaselines(ctx, l, []string{ESZSLMethod}, feasible)
	if err != nil {
		return nil, err
	}
	r.Missing = append(r.Missing, waiting...)
	for _, p := range baselines {
		r.Table = append(r.Table, Reproduced{
			Method: p.Title, Val: p.Val.PerClass, Test: p.Test.PerClass,
			Published: publishedOn(r.Dataset, p.Title), Baseline: &p,
		})
	}
	for _, o := range outcomes {
		if o != nil {
			r.Table = append(r.Table, Reproduced{
				Method: published.Method(o.Config.Variant), Variant: o.Config.Variant,
				Val: o.Val.PerClass, Test: o.Test.PerClass,
				Published: publishedOn(r.Dataset, published.Method(o.Config.Variant)), Outcome: o,
			})
		}
	}
	if !slices.ContainsFunc(without, func(t lab.Trial) bool { return errors.Is(t.Err, lab.ErrElsewhere) }) {
		r.Result = chosen(r.Table)
	}
	if r.Result != nil {
		r.Result.Published = publishedOn(r.Dataset, resultRow) // of the variant that the paper chose
	}
	return r, nil
}

// chosen returns a copy of the row of the variant with the best val accuracy.
func chosen(table []Reproduced) *Reproduced {
	var best *Reproduced
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

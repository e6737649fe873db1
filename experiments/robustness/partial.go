package robustness

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model/impute"
)

// Order is the order in which the attributes of a class are given.
type Order string

// The orders.
const (
	AtRandom  Order = "random"
	Strongest Order = "strongest" // the highest p(a|z) first
)

// PartialConfig says which models are evaluated with how much of the descriptions.
type PartialConfig struct {
	Models
	Shares []float64     `json:"shares"` // of each class's attributes that are given
	Given  Order         `json:"given"`
	Seeds  int           `json:"mask_seeds"`
	Impute []impute.Kind `json:"impute"` // each method is evaluated with each
}

// Check returns an *invalid.Error for the first field that is wrong.
func (c PartialConfig) Check() error {
	if err := c.check(); err != nil {
		return err
	}
	if err := checkShares("shares", c.Shares, func(s float64) bool { return s > 0 && s <= 1 }, "fractions above 0, up to 1"); err != nil {
		return err
	}
	if c.Seeds < 1 {
		return &invalid.Error{Field: "mask_seeds", Want: "at least 1", Got: strconv.Itoa(c.Seeds)}
	}
	if len(c.Impute) == 0 {
		return &invalid.Error{Field: "impute", Want: "at least one kind", Got: "none"}
	}
	return nil
}

// PartialKind is the first word of the names of stored results with random attributes, and
// StrongestKind with the strongest ones.
const (
	PartialKind   = "partial"
	StrongestKind = "partial-strongest"
)

// PartialResult is accuracy on the test classes when only a part of each class's
// attributes is given.
type PartialResult struct {
	Dataset   string        `json:"dataset"`
	Classes   int           `json:"classes"` // test classes
	Shares    []float64     `json:"shares"`
	Given     Order         `json:"given"`
	MaskSeeds int           `json:"mask_seeds"`
	Methods   []Method      `json:"methods"` // for each imputation; "x, inferred" is x with impute.Inferred
	Missing   []lab.Missing `json:"missing"`
}

// RunPartial trains the methods by the full protocol, evaluates them on the test classes with
// a part of their attributes, and stores the result. The part is the same for every model, and
// contains that of every smaller share.
func RunPartial(ctx context.Context, l *lab.Lab, c PartialConfig) (*PartialResult, error) {
	subjects, missing, err := c.subjects(ctx, l)
	if err != nil {
		return nil, err
	}
	var kinds []subject
	for _, s := range subjects {
		for _, kind := range c.Impute {
			by := subject{method: s.method, paths: s.paths}
			if kind != impute.Neutral {
				by.method += ", " + string(kind)
			}
			for _, m := range s.models {
				by.models = append(by.models, m.WithImputation(kind))
			}
			kinds = append(kinds, by)
		}
	}
	r := &PartialResult{Dataset: l.Data.Name, Classes: len(l.Data.Split.Test), Shares: c.Shares, Given: c.Given, MaskSeeds: c.Seeds, Missing: missing}
	r.Methods, err = distortion{"masks", c.Shares, c.Seeds, c.Given.only}.measure(kinds, l.Data)
	if err != nil {
		return nil, err
	}
	if c.Given == Strongest {
		return r, l.Store(StrongestKind, c, r)
	}
	return r, l.Store(PartialKind, c, r)
}

// only returns descriptions with a share of the described attributes of each class, at
// least one, and NaN for the others. The order of the attributes is the same for every
// share.
func (o Order) only(u dataset.Matrix[float64], share float64, seed uint64) dataset.Matrix[float64] {
	rng := rand.New(rand.NewPCG(seed, 0x9a97))
	part := dataset.NewMatrix[float64](u.Rows, u.Cols)
	for i := range part.Data {
		part.Data[i] = math.NaN()
	}
	for z := range u.Rows {
		var order []int
		for _, m := range rng.Perm(u.Cols) {
			if !math.IsNaN(u.Row(z)[m]) {
				order = append(order, m)
			}
		}
		if o == Strongest {
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(u.Row(z)[b], u.Row(z)[a]) })
		}
		n := min(max(int(math.Round(share*float64(len(order)))), 1), len(order))
		for _, m := range order[:n] {
			part.Row(z)[m] = u.Row(z)[m]
		}
	}
	return part
}

// Check returns an *invalid.Error if a result, as read from a file, is incomplete.
func (r *PartialResult) Check() error { return checkMethods("shares", r.Shares, r.Methods) }

// Tables have one row per share.
func (r *PartialResult) Tables() []*table.Table {
	which := "random ones"
	if r.Given == Strongest {
		which = "the strongest ones"
	}
	title := fmt.Sprintf("%s: test accuracy with a part of each class's attributes, %s\nmean ± s.e.m. over %s / over training seeds",
		r.Dataset, which, format.Count(r.MaskSeeds, "mask"))
	return []*table.Table{accuracyTable(title, "given", r.Shares, r.Methods, "all"), lab.MissingTable(r.Missing)}
}

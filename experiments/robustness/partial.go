package robustness

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/impute"
)

// Order is the order in which the attributes of a class are given.
type Order string

// The orders.
const (
	AtRandom  Order = "random"
	Strongest Order = "strongest" // the highest p(a|z) first
)

// UnmarshalText reads "random" or "strongest".
func (o *Order) UnmarshalText(text []byte) error {
	return invalid.SetOneOf(o, text, AtRandom, Strongest)
}

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

// PartialKind is the first word of the names of stored results.
const PartialKind = "partial"

// Kind returns the start of the names of stored results of this order.
func (o Order) Kind() string {
	if o == Strongest {
		return PartialKind + "-strongest"
	}
	return PartialKind
}

// PartialResult is accuracy on the test classes when only a part of each class's
// attributes is given.
type PartialResult struct {
	Dataset   string        `json:"dataset"`
	Shares    []float64     `json:"shares"`
	Given     Order         `json:"given"`
	MaskSeeds int           `json:"mask_seeds"`
	Methods   []Method      `json:"methods"` // for each imputation; "x, inferred" is x with impute.Inferred
	Missing   []lab.Missing `json:"missing"`
}

// RunPartial trains the methods by the full protocol and evaluates them on the test
// classes with a part of their attributes. The part is the same for every model, and
// contains that of every smaller share.
func RunPartial(ctx context.Context, l *lab.Lab, c PartialConfig) (*PartialResult, error) {
	subjects, without, err := c.subjects(ctx, l)
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
				by.models = append(by.models, model.WithImputation(m, kind))
			}
			kinds = append(kinds, by)
		}
	}
	r := &PartialResult{Dataset: l.Data.Name, Shares: c.Shares, Given: c.Given, MaskSeeds: c.Seeds, Missing: without}
	r.Methods, err = distortion{"masks", c.Shares, c.Seeds, c.Given.only}.measure(kinds, l.Data)
	if err != nil {
		return nil, err
	}
	return r, l.Store(c.Given.Kind(), c, r)
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

// WriteText writes a table of accuracy with one row per share.
func (r *PartialResult) WriteText(w io.Writer) error {
	var b strings.Builder
	which := "random ones"
	if r.Given == Strongest {
		which = "the strongest ones"
	}
	fmt.Fprintf(&b, "%s: test accuracy with a part of each class's attributes, %s\nmean ± s.e.m. over %s / over training seeds\n",
		r.Dataset, which, format.Count(r.MaskSeeds, "mask"))
	t := table("given", r.Shares, r.Methods, accuracyCell)
	t.Line()
	t.Row(startRow("all", r.Methods)...)
	b.WriteString(t.String())
	b.WriteString(lab.MissingText(r.Missing))
	_, err := io.WriteString(w, b.String())
	return err
}

package robustness

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/impute"
)

// Given says which attributes of a class are given when not all are.
type Given string

// The orders in which attributes are given.
const (
	AtRandom  Given = "random"    // any
	Strongest Given = "strongest" // those with the highest p(a|z) first, as people tell what is there
)

// UnmarshalText reads "random" or "strongest".
func (g *Given) UnmarshalText(text []byte) error {
	switch Given(text) {
	case AtRandom, Strongest:
		*g = Given(text)
		return nil
	}
	return fmt.Errorf("expected random or strongest, found %q", text)
}

// PartialConfig says which models are judged by how much of the descriptions.
type PartialConfig struct {
	Variants  []protocol.Config
	Baselines []string      // beside them
	Shares    []float64     // of each class's attributes that are given
	Given     Given         // which they are
	Seeds     int           // of what is left out
	Impute    []impute.Kind // how each method fills it
}

// Check returns an error for the first field that nothing can be measured with.
func (p PartialConfig) Check() error {
	if len(p.Variants)+len(p.Baselines) == 0 {
		return fmt.Errorf("variants: expected at least one")
	}
	if len(p.Shares) == 0 {
		return fmt.Errorf("shares: expected at least one")
	}
	for _, s := range p.Shares {
		if !(s > 0 && s <= 1) {
			return fmt.Errorf("shares: expected percentages above 0 and up to 100, found %g", 100*s)
		}
	}
	if p.Seeds < 1 {
		return fmt.Errorf("mask_seeds: expected at least 1, found %d", p.Seeds)
	}
	if len(p.Impute) == 0 {
		return fmt.Errorf("impute: expected at least one kind")
	}
	return nil
}

// Partial is how accuracy on the test classes falls when a part of each class's
// attributes is given, and the rest left out.
type PartialResult struct {
	Dataset   string        `json:"dataset"`
	Shares    []float64     `json:"shares"`
	Given     Given         `json:"given"`
	MaskSeeds int           `json:"mask_seeds"`
	Methods   []Method      `json:"methods"` // by each kind of filling gaps; "x, inferred" is x with impute.Inferred
	Missing   []lab.Missing `json:"missing"`
}

// MeasurePartial trains what isn't yet by the full protocol, and judges the test
// classes by a part of their attributes. Every model is given the same, and what is
// given of a share is given of all above.
func RunPartial(ctx context.Context, l *lab.Lab, p PartialConfig) (*PartialResult, error) {
	subjects, without, err := subjectsOf(ctx, l, p.Variants, p.Baselines)
	if err != nil {
		return nil, err
	}
	var kinds []subject
	for _, s := range subjects {
		for _, kind := range p.Impute {
			by := subject{method: s.method, paths: s.paths}
			if kind != impute.Neutral {
				by.method += ", " + string(kind)
			}
			for _, c := range s.models {
				by.models = append(by.models, model.WithImputation(c, kind))
			}
			kinds = append(kinds, by)
		}
	}
	r := &PartialResult{Dataset: l.Data.Name, Shares: p.Shares, Given: p.Given, MaskSeeds: p.Seeds, Missing: without}
	r.Methods, err = distortion{"partial", p.Shares, p.Seeds, p.Given.only}.measure(kinds, l.Data)
	return r, err
}

// only returns descriptions of which each class gives a share of the attributes that
// it describes, at least one, and leaves out the others. The order in which a class
// gives them is the same for every share.
func (g Given) only(u dataset.Matrix[float64], share float64, seed uint64) dataset.Matrix[float64] {
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
		if g == Strongest {
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(u.Row(z)[b], u.Row(z)[a]) })
		}
		n := min(max(int(math.Round(share*float64(len(order)))), 1), len(order))
		for _, m := range order[:n] {
			part.Row(z)[m] = u.Row(z)[m]
		}
	}
	return part
}

package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/impute"
)

// Description describes the candidate classes, which are the train classes during
// training, and the validation or test classes during evaluation.
type Description struct {
	U       dataset.Matrix[float64] // Z x M, p(a_m|z), without missing entries, as soft OR needs it
	Targets dataset.Matrix[float64] // Z x M, U before it is scaled for soft OR: the targets of BXE(a)
	P       []float64               // M, the prior p(a_m); of PerGroup the per-attribute prior, from which groupedPrior computes p
	Groups  []int                   // M, the group of each attribute by the data set, nil if it has none

	// Undescribed marks the attributes that no candidate class describes. U and P are 0
	// there, and they do not count. It is nil for none.
	Undescribed []bool // M
}

// Describe makes the description of candidate classes from their rows of the data set,
// Z x M in [0, 1], with NaN for missing entries. groups is the group of each attribute,
// which the two semantic variants need: they scale the entries of each group of a class
// to a sum of at most 1 (supplement A), since soft OR takes the attributes of a group to
// exclude each other.
//
// Missing entries are imputed from the candidate classes (package impute). LAGO.Describe
// imputes them from the train classes first.
func (c Config) Describe(u dataset.Matrix[float64], groups []int) (*Description, error) {
	if u.Rows < 1 || u.Cols < 1 {
		return nil, &invalid.Error{
			Field: "descriptions", Want: "at least one class and one attribute",
			Got: fmt.Sprintf("%d classes and %d attributes", u.Rows, u.Cols),
		}
	}
	for i, p := range u.Data {
		if p < 0 || p > 1 {
			return nil, &invalid.Error{
				Field: "descriptions", Want: "probabilities from 0 to 1, or NaN for a missing entry",
				Got: fmt.Sprintf("%g at row %d, column %d", p, i/u.Cols, i%u.Cols),
			}
		}
	}
	var k int
	if c.Variant.Semantic() {
		var err error
		if k, _, err = c.groups(u.Cols, groups); err != nil {
			return nil, err
		}
	} else if len(groups) != u.Cols {
		groups = nil
	}
	imputer, err := impute.New(u, groups)
	if err != nil {
		return nil, err
	}
	full, err := imputer.Impute(u)
	if err != nil {
		return nil, err
	}
	d := &Description{U: dataset.NewMatrix[float64](u.Rows, u.Cols), Groups: groups}
	copy(d.U.Data, full.Data)
	d.markUndescribed()
	d.Targets = d.U
	if c.Variant.Semantic() {
		d.Targets.Data = slices.Clone(d.U.Data)
		scaleGroups(d.U, k, groups)
	}
	d.P = c.prior(d)
	return d, nil
}

// markUndescribed replaces what is still missing, which is missing for all classes.
func (d *Description) markUndescribed() {
	for i, p := range d.U.Data {
		if !math.IsNaN(p) {
			continue
		}
		if d.Undescribed == nil {
			d.Undescribed = make([]bool, d.U.Cols)
		}
		d.Undescribed[i%d.U.Cols] = true
		d.U.Data[i] = 0
	}
}

// scaleGroups scales the entries of a class within a group to sum to 1 where they
// sum to more.
func scaleGroups(u dataset.Matrix[float64], k int, of []int) {
	sums := make([]float64, k)
	for z := range u.Rows {
		clear(sums)
		row := u.Row(z)
		for m, p := range row {
			sums[of[m]] += p
		}
		for m := range row {
			if s := sums[of[m]]; s > 1 {
				row[m] /= s
			}
		}
	}
}

// prior returns p(a_m), the mean of U over the classes. The uniform prior is its mean
// over the described attributes.
func (c Config) prior(d *Description) []float64 {
	p := make([]float64, d.U.Cols)
	var mean float64
	var described int
	for m := range p {
		if d.undescribed(m) {
			continue
		}
		for z := range d.U.Rows {
			p[m] += d.U.Data[z*d.U.Cols+m]
		}
		p[m] /= float64(d.U.Rows)
		mean += p[m]
		described++
	}
	if c.Prior != Uniform || described == 0 {
		return p
	}
	mean /= float64(described)
	for m := range p {
		if !d.undescribed(m) {
			p[m] = mean
		}
	}
	return p
}

func (d *Description) undescribed(m int) bool { return d.Undescribed != nil && d.Undescribed[m] }

// ratio returns p(a_m|z) / p(a_m) with the prior p, M x Z. It is 0 for an attribute with
// p(a_m) = 0, which no candidate class has.
func (d *Description) ratio(p []float64) dataset.Matrix[float64] {
	r := dataset.NewMatrix[float64](d.U.Cols, d.U.Rows)
	for z := range d.U.Rows {
		for m, u := range d.U.Row(z) {
			if p[m] > 0 {
				r.Data[m*r.Cols+z] = u / p[m]
			}
		}
	}
	return r
}

// withPrior returns U with the prior p as its last row, (Z+1) x M, from which Uc and pc
// are computed together.
func (d *Description) withPrior(p []float64) dataset.Matrix[float64] {
	r := dataset.NewMatrix[float64](d.U.Rows+1, d.U.Cols)
	copy(r.Data, d.U.Data)
	copy(r.Row(d.U.Rows), p)
	return r
}

package model

import (
	"fmt"
	"math"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/impute"
)

// Description is what the model is told of the classes at hand: those that it
// chooses between, which are the train classes while it trains.
type Description struct {
	U dataset.Matrix[float64] // Z x M, p(a_m | z), without gaps
	P []float64               // M, the prior p(a_m)

	// Silent are the attributes that are left out of the choice, since nothing is
	// known of them for any class: U and P are zero there. It is nil for none.
	Silent []bool // M
}

// Describe makes the description of the classes at hand from their rows of the
// data set, Z x M in [0, 1], NaN where a class leaves an attribute undescribed.
// semantic is the group of each attribute, which the two semantic variants need:
// they scale each group of a class to a sum of at most 1 (supplement A), since
// soft OR takes the attributes of a group to exclude each other.
//
// Impute are filled as in package impute, with the classes at hand for the reference:
// train classes while training. A LAGO that knows what it learned from fills gaps by
// that, before; a gap that is left in every class makes its attribute silent.
func (c Config) Describe(u dataset.Matrix[float64], semantic []int) (*Description, error) {
	if u.Rows < 1 || u.Cols < 1 {
		return nil, &invalid.Error{Field: "descriptions", Want: "at least one class and one attribute", Got: fmt.Sprint([2]int{u.Rows, u.Cols})}
	}
	for i, p := range u.Data {
		if p < 0 || p > 1 {
			return nil, &invalid.Error{Field: "descriptions", Want: "probabilities, or NaN for an undescribed attribute", Got: fmt.Sprint(at(p, i, u.Cols))}
		}
	}
	full, err := fill(u, semantic)
	if err != nil {
		return nil, err
	}
	d := &Description{U: dataset.NewMatrix[float64](u.Rows, u.Cols)}
	copy(d.U.Data, full.Data)
	d.silence()
	if c.Variant.Semantic() {
		k, of, err := c.groups(u.Cols, semantic)
		if err != nil {
			return nil, err
		}
		scaleGroups(d.U, k, of)
	}
	d.P = c.prior(d)
	return d, nil
}

// fill fills gaps by the classes at hand.
func fill(u dataset.Matrix[float64], semantic []int) (dataset.Matrix[float64], error) {
	if len(semantic) != u.Cols {
		semantic = nil // of no use; variants that need groups say so
	}
	rule, err := impute.New(u, semantic)
	if err != nil {
		return u, err
	}
	return rule.Impute(u)
}

// silence finds the attributes that are a gap in every class still.
func (d *Description) silence() {
	for i, p := range d.U.Data {
		if !math.IsNaN(p) {
			continue
		}
		if d.Silent == nil {
			d.Silent = make([]bool, d.U.Cols)
		}
		d.Silent[i%d.U.Cols] = true
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

// prior returns p(a_m), the mean of U over the classes; the uniform one is the mean
// of that over the attributes. Silent ones have none, and no part in it.
func (c Config) prior(d *Description) []float64 {
	p := make([]float64, d.U.Cols)
	var mean float64
	var heard int
	for m := range p {
		if d.silent(m) {
			continue
		}
		for z := range d.U.Rows {
			p[m] += d.U.Data[z*d.U.Cols+m]
		}
		p[m] /= float64(d.U.Rows)
		mean += p[m]
		heard++
	}
	if c.Prior != Uniform || heard == 0 {
		return p
	}
	mean /= float64(heard)
	for m := range p {
		if !d.silent(m) {
			p[m] = mean
		}
	}
	return p
}

// silent reports whether attribute m is left out of the choice.
func (d *Description) silent(m int) bool { return d.Silent != nil && d.Silent[m] }

// ratio returns p(a_m | z) / p(a_m), M x Z. An attribute with p(a_m) = 0, which no
// class at hand has, speaks for none of them.
func (d *Description) ratio() dataset.Matrix[float64] {
	r := dataset.NewMatrix[float64](d.U.Cols, d.U.Rows)
	for z := range d.U.Rows {
		for m, u := range d.U.Row(z) {
			if d.P[m] > 0 {
				r.Data[m*r.Cols+z] = u / d.P[m]
			}
		}
	}
	return r
}

// withPrior returns U with p as one more row, (Z+1) x M: the complements of the
// classes and of the prior are then one product.
func (d *Description) withPrior() dataset.Matrix[float64] {
	r := dataset.NewMatrix[float64](d.U.Rows+1, d.U.Cols)
	copy(r.Data, d.U.Data)
	copy(r.Row(d.U.Rows), d.P)
	return r
}

// cast copies a matrix into the precision that a machine runs in.
func cast[T Float](m dataset.Matrix[float64]) dataset.Matrix[T] {
	c := dataset.NewMatrix[T](m.Rows, m.Cols)
	for i, v := range m.Data {
		c.Data[i] = T(v)
	}
	return c
}

// at names an entry of a matrix with cols columns in an error.
func at(value float64, index, cols int) string {
	return fmt.Sprintf("%g at row %d, column %d", value, index/cols, index%cols)
}

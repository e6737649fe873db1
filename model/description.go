package model

import (
	"fmt"
	"math"

	"github.com/lago-train/lago-train/dataset"
)

// Description is what the model is told of the classes at hand: those that it
// chooses between, which are the train classes while it trains.
type Description struct {
	U dataset.Matrix[float64] // Z x M, p(a_m | z), without gaps
	P []float64               // M, the prior p(a_m)
}

// Describe makes the description of the classes at hand from their rows of the
// data set, Z x M in [0, 1], NaN where a class leaves an attribute undescribed.
// semantic is the group of each attribute, which the two semantic variants need:
// they scale each group of a class to a sum of at most 1 (supplement A), since
// soft OR takes the attributes of a group to exclude each other.
//
// An undescribed attribute counts as its prior, so that U/p = 1 and it is
// evidence neither for the class nor against it. The prior itself is the mean
// over the classes that describe the attribute.
func (c Config) Describe(u dataset.Matrix[float64], semantic []int) (*Description, error) {
	if u.Rows < 1 || u.Cols < 1 {
		return nil, &Error{"descriptions", "at least one class and one attribute", [2]int{u.Rows, u.Cols}}
	}
	for i, p := range u.Data {
		if p < 0 || p > 1 {
			return nil, &Error{"descriptions", "probabilities, or NaN for an undescribed attribute", at(p, i, u.Cols)}
		}
	}
	d := &Description{U: dataset.NewMatrix[float64](u.Rows, u.Cols)}
	copy(d.U.Data, u.Data)
	if c.Variant.Semantic() {
		k, of, err := c.groups(u.Cols, semantic)
		if err != nil {
			return nil, err
		}
		scaleGroups(d.U, k, of)
	}
	d.P = c.prior(d.U)
	for i, p := range d.U.Data {
		if math.IsNaN(p) {
			d.U.Data[i] = d.P[i%d.U.Cols]
		}
	}
	return d, nil
}

// scaleGroups scales the entries of a class within a group to sum to 1 where they
// sum to more.
func scaleGroups(u dataset.Matrix[float64], k int, of []int) {
	sums := make([]float64, k)
	for z := range u.Rows {
		clear(sums)
		row := u.Row(z)
		for m, p := range row {
			if !math.IsNaN(p) {
				sums[of[m]] += p
			}
		}
		for m := range row {
			if s := sums[of[m]]; s > 1 {
				row[m] /= s // NaN stays NaN
			}
		}
	}
}

// prior returns p(a_m), the mean of U over the classes that describe it. Where no
// class at hand does, it is the mean of the others.
func (c Config) prior(u dataset.Matrix[float64]) []float64 {
	p := make([]float64, u.Cols)
	known := make([]bool, u.Cols)
	var mean float64
	var described int
	for m := range p {
		var n int
		for z := range u.Rows {
			if v := u.Data[z*u.Cols+m]; !math.IsNaN(v) {
				p[m] += v
				n++
			}
		}
		if n > 0 {
			p[m] /= float64(n)
			mean += p[m]
			known[m] = true
			described++
		}
	}
	if described == 0 {
		mean = 0.5
	} else {
		mean /= float64(described)
	}
	for m := range p {
		if c.Prior == Uniform || !known[m] {
			p[m] = mean
		}
	}
	return p
}

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

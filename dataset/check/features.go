package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/lago-train/lago-train/internal/numeric"
)

// features reports the first value of each sample that is NaN or infinite and, if there is none,
// columns that are no features.
func (c *checker) features() {
	if c.Features.Cols == 0 {
		c.report("dimensions", "features", "at least one dimension", "none")
	}
	before := c.problems.Len()
	for i := range c.Features.Rows {
		row := c.Features.Row(i)
		if j := numeric.NotFinite(row); j >= 0 {
			c.report("finite", fmt.Sprintf("feature %d of sample %d", j, i), "a finite number", row[j])
		}
	}
	if c.problems.Len() == before {
		c.columns()
	}
}

// columns reports columns of the features that number the samples or say their classes. They
// hold whole numbers.
func (c *checker) columns() {
	x := c.Features
	if x.Cols < 2 || x.Rows < 3 {
		return
	}
	fraction, largest := make([]bool, x.Cols), make([]float32, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			fraction[j] = fraction[j] || v != float32(math.Trunc(float64(v)))
			largest[j] = max(largest[j], v, -v)
		}
	}
	ascending := slices.Sorted(slices.Values(largest))
	typical := ascending[(x.Cols-1)/2]
	for j := range x.Cols {
		if fraction[j] {
			continue
		}
		got := ""
		switch {
		case largest[j] < exact && c.countsUp(j):
			got = fmt.Sprintf("whole numbers that count up, from %.9g to %.9g", x.Data[j], x.Row(x.Rows - 1)[j])
		case c.numbersSamples(j, typical):
			got = fmt.Sprintf("different whole numbers, up to %.6g, where the largest value of other columns is about %.3g", largest[j], typical)
		case c.numbersClasses(j):
			got = "one whole number for each class"
		default:
			continue
		}
		c.report("column", fmt.Sprintf("features, column %d", j+1), "a feature", got,
			"Ids, times or labels of the samples? Take the column out of the features: labels.csv has classes and ids.")
	}
}

func (c *checker) countsUp(column int) bool {
	for i := range c.Features.Rows {
		if c.Features.Row(i)[column] != c.Features.Data[column]+float32(i) {
			return false
		}
	}
	return true
}

// exact is the number up to which float32 has all whole numbers.
const exact = 1 << 24

// numbersSamples reports whether the whole numbers of a column differ, as far as float32 shows it,
// and are far above a typical value.
func (c *checker) numbersSamples(column int, typical float32) bool {
	const far = 10
	known, above := make(map[float32]bool, 64), 0
	for i := range c.Features.Rows {
		v := c.Features.Row(i)[column]
		if known[v] && max(v, -v) < exact {
			return false
		}
		known[v] = true
		if max(v, -v) > far*typical {
			above++
		}
	}
	return len(known) > 1 && 2*above > c.Features.Rows
}

// numbersClasses reports whether all samples of a class have the same value in a column, which
// no other class has.
func (c *checker) numbersClasses(column int) bool {
	valueOf, classOf := make(map[int]float32, 64), make(map[float32]int, 64)
	for i, z := range c.Labels {
		v := c.Features.Row(i)[column]
		value, known := valueOf[z]
		class, taken := classOf[v]
		if known && value != v || taken && class != z {
			return false
		}
		valueOf[z], classOf[v] = v, z
	}
	return len(valueOf) > 2 && 2*len(valueOf) <= len(c.Labels)
}

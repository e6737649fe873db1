package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
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
		column := make([]float32, x.Rows)
		for i := range column {
			column[i] = x.Row(i)[j]
		}
		got := ""
		switch {
		case countsUp(column):
			got = fmt.Sprintf("whole numbers that count up, from %v to %v", column[0], column[x.Rows-1])
		case numberSamples(column, typical):
			got = fmt.Sprintf("different whole numbers, up to %.6g, where the largest value of other columns is about %.3g", largest[j], typical)
		case c.numberClasses(column):
			got = "one whole number for each class"
		default:
			continue
		}
		c.report("column", fmt.Sprintf("features, column %d", j+1), "a feature", got,
			"Ids, times or labels of the samples? Take the column out of the features: labels.csv has classes and ids.")
	}
}

// exact is the number up to which float32 has all whole numbers.
const exact = 1 << 24

func countsUp(column []float32) bool {
	for i, v := range column {
		if v != column[0]+float32(i) || v >= exact {
			return false
		}
	}
	return true
}

// numberSamples reports whether whole numbers differ, as far as float32 shows it, and most are far
// above a typical value.
func numberSamples(column []float32, typical float32) bool {
	const far = 10
	known, above := make(map[float32]bool), 0
	for _, v := range column {
		if known[v] && max(v, -v) < exact {
			return false
		}
		known[v] = true
		if max(v, -v) > far*typical {
			above++
		}
	}
	return len(known) > 1 && 2*above > len(column)
}

// numberClasses reports whether all samples of a class have the same value, which no other class has.
func (c *checker) numberClasses(column []float32) bool {
	valueOf, classOf := make(map[int]float32), make(map[float32]int)
	for i, z := range c.Labels {
		value, known := valueOf[z]
		class, taken := classOf[column[i]]
		if known && value != column[i] || taken && class != z {
			return false
		}
		valueOf[z], classOf[column[i]] = column[i], z
	}
	return len(valueOf) > 2 && 2*len(valueOf) <= len(c.Labels)
}

// scales reports features from which methods learn little as they are: of very different scales, with
// one column that outweighs all others, or far from zero. With random scales and offsets of docs/example,
// standardised features were recognised better from about these figures on, and worse below them.
func (c *checker) scales() {
	const leastColumns, mostRatio, mostShare, mostOffset = 10, 300, 0.9, 5
	x := c.Features
	mean, square := make([]float64, x.Cols), make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			mean[j] += float64(v) / float64(x.Rows)
		}
	}
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			d := float64(v) - mean[j]
			square[j] += d * d / float64(x.Rows)
		}
	}
	var sd, offset []float64 // of the columns that vary
	weight, sum, heaviest := make([]float64, x.Cols), 0., 0
	for j, s := range square {
		weight[j] = mean[j]*mean[j] + s
		if sum += weight[j]; weight[j] > weight[heaviest] {
			heaviest = j
		}
		if s > 1e-12*weight[j] { // above rounding
			sd, offset = append(sd, math.Sqrt(s)), append(offset, math.Abs(mean[j])/math.Sqrt(s))
		}
	}
	if len(sd) < 2 {
		return
	}
	slices.Sort(sd)
	slices.Sort(offset)
	const hint = "To bring them to mean 0 and standard deviation 1: --preprocess standardize,l2,whiten"
	if small, large := sd[len(sd)/10], sd[len(sd)-1]; large > mostRatio*small {
		c.report("scale", "features", "similar scales", fmt.Sprintf("standard deviations from %.3g (the lowest tenth) to %.3g", small, large), hint)
	} else if share := weight[heaviest] / sum; share > mostShare && len(sd) >= leastColumns {
		got := fmt.Sprintf("%s of the squares of all in this one, with a mean of %.3g", format.Percent(share), mean[heaviest])
		c.report("share", fmt.Sprintf("features, column %d", heaviest+1), "columns of similar size", got, hint)
	}
	if median := offset[len(offset)/2]; median > mostOffset {
		c.report("offset", "features", "values around zero", fmt.Sprintf("means that are %.3g standard deviations from it (median), up to %.3g", median, offset[len(offset)-1]), hint)
	}
}

// samples reports samples that nothing distinguishes: of zeros alone, or the same as another of their
// class. For those in two subsets see leaks.
func (c *checker) samples() {
	class := func(i int) string {
		return fmt.Sprintf("sample %d, of class %s", i, invalid.Quote(c.Classes[c.Labels[i]]))
	}
	zeros, repeats := []int{}, [][2]int{}
	for _, set := range c.byFeatures() {
		if !slices.ContainsFunc(c.Features.Row(set[0]), func(v float32) bool { return v != 0 }) {
			zeros = set
			continue
		}
		first := make(map[int]int) // of each class
		for _, i := range set {
			if other, known := first[c.Labels[i]]; known {
				repeats = append(repeats, [2]int{other, i})
			} else {
				first[c.Labels[i]] = i
			}
		}
	}
	if len(zeros) > 0 {
		c.report("zeros", "features", "values other than 0", fmt.Sprintf("%s of zeros alone, the first %s", format.Count(len(zeros), "sample"), class(zeros[0])))
	}
	if len(repeats) > 0 {
		c.report("repeated", "features", "different samples", fmt.Sprintf("%s with the features of another one of the class, the first %s, as sample %d",
			format.Count(len(repeats), "sample"), class(repeats[0][1]), repeats[0][0]), "Is a photograph twice in the folder?")
	}
}

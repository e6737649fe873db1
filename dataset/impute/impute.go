// Package impute is the one model of class descriptions: a Gaussian of standardised descriptions, whose mean
// and covariance are estimated from all classes together, complete or not. It fills missing entries, finds
// doubtful ones, and says which attribute or group tells most about a class that is not described yet.
//
// It does not know which classes a model is trained on: callers pass their descriptions as the reference.
package impute

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// LeastGiven is the share of the reference's entries from which the reference alone is fitted. Below it,
// incomplete candidates complete each other. On cub127 with random entries, semantic-hard gains 7.8 points by
// that where 20 % of all entries are given, 2.6 with 40 % and 1.1 with 60 %.
const LeastGiven = 0.6

// Imputer fills missing entries of descriptions by the Gaussian of a reference.
type Imputer struct {
	// Reference has the descriptions of the classes that a model was trained on, Z x M, NaN where an
	// attribute is not described.
	Reference dataset.Matrix[float64]

	last      sync.Mutex // of what was filled last: models are asked for the same candidates again
	u, filled dataset.Matrix[float64]
	fitted    Parts // of the reference and, if it is sparse, of what was filled last; nil before
}

// Impute returns descriptions, Z x M in [0, 1], with missing entries (NaN) filled. It does not change u.
// Entries stay NaN of attributes that neither the reference nor any class of u describes: they cannot
// distinguish the classes. The error is an *invalid.Error.
func (r *Imputer) Impute(u dataset.Matrix[float64]) (dataset.Matrix[float64], error) {
	if u.Cols != r.Reference.Cols {
		return u, invalid.Expected("descriptions", u.Cols, "%d attributes, as in training", r.Reference.Cols)
	}
	r.last.Lock()
	defer r.last.Unlock()
	same := func(p, q float64) bool { return p == q || math.IsNaN(p) && math.IsNaN(q) }
	if r.u.Rows != u.Rows || !slices.EqualFunc(r.u.Data, u.Data, same) {
		r.u, r.filled = dataset.Convert[float64](u), r.fill(u)
	}
	return r.filled, nil
}

func (r *Imputer) fill(u dataset.Matrix[float64]) dataset.Matrix[float64] {
	entries := slices.DeleteFunc(slices.Clone(r.Reference.Data), math.IsNaN)
	slices.Sort(entries)
	limits, fitted := make([]float64, u.Rows), dataset.Matrix[float64]{Cols: u.Cols}
	for z := range u.Rows {
		least, alone := strongest(u.Row(z), entries)
		if limits[z] = least; alone { // they are no sample of the class
			continue
		}
		limits[z] = 1
		fitted.Data, fitted.Rows = append(fitted.Data, u.Row(z)...), fitted.Rows+1
	}
	all := r.Reference
	if float64(len(entries)) < LeastGiven*float64(len(all.Data)) {
		all, r.fitted = together(all, fitted), nil
	}
	if r.fitted == nil {
		r.fitted = FitParts(all)
	}
	full, described := r.fitted.Fill(u), dataset.Means(all, math.NaN())
	for a, mean := range dataset.Means(u, math.NaN()) {
		for z := range u.Rows {
			if !math.IsNaN(u.Row(z)[a]) {
				continue
			}
			if math.IsNaN(described[a]) {
				full.Row(z)[a] = mean
			}
			full.Row(z)[a] = min(full.Row(z)[a], limits[z])
		}
	}
	return full
}

// together returns the rows of the reference and those of u that are not among them.
func together(reference, u dataset.Matrix[float64]) dataset.Matrix[float64] {
	known, all := map[string]bool{}, dataset.Matrix[float64]{Cols: u.Cols}
	add := func(row []float64) { all.Data, all.Rows = append(all.Data, row...), all.Rows+1 }
	for z := range reference.Rows {
		known[fmt.Sprint(reference.Row(z))] = true
		add(reference.Row(z))
	}
	for z := range u.Rows {
		if !known[fmt.Sprint(u.Row(z))] {
			add(u.Row(z))
		}
	}
	return all
}

// leastChance is the probability from which the given entries of a class are taken for a random sample.
const leastChance = 1e-4

// strongest reports whether a class gives its strongest attributes alone, so that what is filled in of it is
// no higher than its least given entry, which it returns: whether as many of the entries of the reference,
// ascending, would hardly ever all be that high.
func strongest(u, entries []float64) (least float64, yes bool) {
	n := 0.0
	least = 1
	for _, p := range u {
		if !math.IsNaN(p) {
			least, n = min(least, p), n+1
		}
	}
	below, _ := slices.BinarySearch(entries, least)
	return least, n > 0 && math.Pow(1-float64(below)/float64(len(entries)), n) <= leastChance
}

// Doubt is a given entry, and what is expected of it, see Gaussian.Expected.
type Doubt struct {
	Class, Attribute          int
	Value, Expected, Deviance float64 // Deviance is the difference in standard deviations
}

// Doubts lists the given entries of descriptions, the most doubtful first, by the Gaussian of all classes.
func Doubts(u dataset.Matrix[float64]) (list []Doubt) {
	expected, sd := FitParts(u).Expected(u)
	for z := range u.Rows {
		for a, p := range u.Row(z) {
			if e := expected.Row(z)[a]; !math.IsNaN(p) {
				list = append(list, Doubt{z, a, p, e, math.Abs(p-e) / sd.Row(z)[a]})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Doubt) int { return cmp.Compare(b.Deviance, a.Deviance) })
	return list
}

// Question is a set of attributes that are asked for together, by its index, and the share of the variance of
// all attributes, scaled as in Order, that is explained when it and those before it are answered.
type Question struct {
	Index     int
	Explained float64
}

// spread is part of the standard deviation by which Order scales each attribute: of attributes that hardly
// vary, which say little, little is to be explained.
const spread = 0.05

// Order orders sets of attributes, so that each in turn explains most, for each of its attributes, of what is
// left of the scaled variance of a class that is not described yet. docs/results.md compares it
// with random orders.
func (g *Gaussian) Order(sets [][]int) []Question {
	m := len(g.mean)
	scale := make([]float64, m)
	for a, sd := range g.sd {
		scale[a] = sd / math.Hypot(sd*math.Sqrt(g.covariance.At(a, a)), spread)
	}
	left := mat.NewDense(m, m, nil) // the covariance given the answers
	for a := range m {
		for b := range m {
			left.Set(a, b, g.covariance.At(a, b)*scale[a]*scale[b])
		}
	}
	all, order, asked := mat.Trace(left), make([]Question, 0, len(sets)), make([]bool, len(sets))
	for range sets {
		best, most := -1, math.Inf(-1)
		for k, set := range sets {
			if asked[k] {
				continue
			}
			if gain := gain(left, set) / float64(max(len(set), 1)); gain > most {
				best, most = k, gain
			}
		}
		asked[best] = true
		for _, a := range sets[best] {
			answer(left, a)
		}
		order = append(order, Question{best, 1 - mat.Trace(left)/all})
	}
	return order
}

func gain(left *mat.Dense, set []int) (sum float64) {
	rows, m := mat.NewDense(max(len(set), 1), left.RawMatrix().Cols, nil), left.RawMatrix().Cols
	for i, a := range set {
		rows.SetRow(i, left.RawRowView(a))
	}
	for i, a := range set { // of the attributes one after the other, as answer takes them away
		row := rows.RawRowView(i)
		variance := row[a]
		if variance < leastVariance {
			continue
		}
		for b := range m {
			sum += row[b] * row[b] / variance
		}
		for j := i + 1; j < len(set); j++ {
			other := rows.RawRowView(j)
			share := other[a] / variance
			for b := range m {
				other[b] -= share * row[b]
			}
		}
	}
	return sum
}

// leastVariance is that from which an answer tells more than rounding.
const leastVariance = 1e-12

// answer makes left the covariance given an attribute, too.
func answer(left *mat.Dense, a int) {
	row := slices.Clone(left.RawRowView(a))
	if variance := row[a]; variance >= leastVariance {
		v := mat.NewVecDense(len(row), row)
		left.RankOne(left, -1/variance, v, v)
	}
}

// Parts are the Gaussians of a table: one of all attributes, or several of consecutive ones where one would
// take too long.
type Parts []part

type part struct {
	from, to int // attributes
	*Gaussian
}

// A fit of mostWork multiplications takes some ten seconds on two cores without a BLAS library. Parts are as
// large as they may be: parts of 100 of the 312 attributes of cub127 cost semantic-hard 8.1 points where 20 %
// of the entries are given, 4.6 with 40 %, and none with 60 %.
const (
	mostWork     = 2e10
	partOfTooBig = 100 // attributes, the least
)

func work(u dataset.Matrix[float64]) (sum float64) {
	m := float64(u.Cols)
	sum = m * m * (m + float64(u.Rows))
	for _, p := range patternsOf(u) {
		given, missing := float64(len(p.given)), float64(len(p.missing))
		sum += min(missing*missing*missing, given*given*given/3+given*given*missing+given*missing*missing/2)
	}
	return iterations * sum
}

// FitParts fits the descriptions u as one Gaussian or, if they are too large for that, as several.
func FitParts(u dataset.Matrix[float64]) (list Parts) {
	size, parts := u.Cols, 1.0
	for ; size > partOfTooBig && parts*work(columns(u, 0, size)) > mostWork; parts *= 2 {
		size = max((size+1)/2, partOfTooBig)
	}
	for from := 0; from < u.Cols; from += size {
		to := min(from+size, u.Cols)
		list = append(list, part{from, to, Fit(columns(u, from, to))})
	}
	return list
}

func columns(u dataset.Matrix[float64], from, to int) dataset.Matrix[float64] {
	if from == 0 && to == u.Cols {
		return u
	}
	v := dataset.NewMatrix[float64](u.Rows, to-from)
	for z := range u.Rows {
		copy(v.Row(z), u.Row(z)[from:to])
	}
	return v
}

// Fill returns the descriptions u with missing entries at their conditional means, within 0 and 1.
func (p Parts) Fill(u dataset.Matrix[float64]) dataset.Matrix[float64] {
	full := dataset.NewMatrix[float64](u.Rows, u.Cols)
	for _, part := range p {
		copyColumns(full, part.from, part.Gaussian.Fill(columns(u, part.from, part.to)))
	}
	return full
}

// Expected returns what each given entry of u is expected to be, and the standard deviation, see
// Gaussian.Expected.
func (p Parts) Expected(u dataset.Matrix[float64]) (mean, sd dataset.Matrix[float64]) {
	mean, sd = dataset.NewMatrix[float64](u.Rows, u.Cols), dataset.NewMatrix[float64](u.Rows, u.Cols)
	for _, part := range p {
		m, s := part.Gaussian.Expected(columns(u, part.from, part.to))
		copyColumns(mean, part.from, m)
		copyColumns(sd, part.from, s)
	}
	return mean, sd
}

func copyColumns(to dataset.Matrix[float64], from int, m dataset.Matrix[float64]) {
	for z := range m.Rows {
		copy(to.Row(z)[from:], m.Row(z))
	}
}

// Together reports whether the descriptions u are fitted as one Gaussian.
func Together(u dataset.Matrix[float64]) bool { return work(u) <= mostWork }

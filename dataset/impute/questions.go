package impute

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
)

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
// left of the scaled variance of a class that is not described yet. docs/describing-classes.md compares it
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

// gain returns how much of the variance the answers for a set take away.
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

package dataset

import (
	"cmp"
	"math"
	"slices"

	"github.com/lago-train/lago-train/internal/parallel"
)

// Pair is two classes that their descriptions hardly distinguish.
type Pair struct {
	A, B int
	// Confusion is the expected share of their samples, half of each, that are taken for the other
	// class if every attribute is detected without error: at most sum_a sqrt(p(a|A) p(a|B)) / 2 over
	// all combinations of independent attributes, the Bhattacharyya bound. Real detectors confuse more.
	Confusion float64
	Missing   []int // attributes that one or both lack
}

// LeastConfusion is the expected confusion from which Confusable lists a pair.
const LeastConfusion = 0.05

const mostPairs = 1000 // in the list of Confusable, and of one class

// Confusable returns the pairs of the descriptions u, Z x M, with an expected confusion of at least
// LeastConfusion, the 1,000 most confused ones first, and their number. Attributes that one of two
// classes lacks do not distinguish them. Classes without any value are in no pair.
func Confusable(u Matrix[float64]) (pairs []Pair, number int) {
	yes, no := NewMatrix[float64](u.Rows, u.Cols), NewMatrix[float64](u.Rows, u.Cols)
	for i, p := range u.Data {
		yes.Data[i], no.Data[i] = math.Sqrt(p), math.Sqrt(1-p)
	}
	of, count := make([][]Pair, u.Rows), make([]int, u.Rows)
	parallel.For(u.Rows, 1, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			if Described(u.Row(a)) == 0 {
				continue
			}
			for b := a + 1; b < u.Rows; b++ {
				overlap := 1.0
				for m, v := range yes.Row(a) {
					factor := v*yes.Row(b)[m] + no.Row(a)[m]*no.Row(b)[m]
					if factor == factor { // no NaN
						overlap *= factor
					}
					if overlap < 2*LeastConfusion {
						break
					}
				}
				if overlap < 2*LeastConfusion || Described(u.Row(b)) == 0 {
					continue
				}
				if count[a]++; count[a] <= mostPairs {
					of[a] = append(of[a], Pair{A: a, B: b, Confusion: min(overlap, 1) / 2})
				}
			}
		}
	})
	for _, n := range count {
		number += n
	}
	pairs = slices.Concat(of...)
	slices.SortStableFunc(pairs, func(p, q Pair) int { return cmp.Compare(q.Confusion, p.Confusion) })
	pairs = pairs[:min(len(pairs), mostPairs)]
	for i, p := range pairs {
		for m := range u.Cols {
			if math.IsNaN(u.Row(p.A)[m] + u.Row(p.B)[m]) {
				pairs[i].Missing = append(pairs[i].Missing, m)
			}
		}
	}
	return pairs, number
}

// Separating returns the attribute that most of the pairs lack, and how many: -1 and 0 if no pair
// lacks one.
func Separating(pairs []Pair, attributes int) (attribute, of int) {
	lack := make([]int, attributes)
	attribute = -1
	for _, p := range pairs {
		for _, m := range p.Missing {
			lack[m]++
			if lack[m] > of {
				attribute, of = m, lack[m]
			}
		}
	}
	return attribute, of
}

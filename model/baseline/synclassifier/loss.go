package synclassifier

import (
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
)

// Loss names the loss of the classifiers of the training classes.
type Loss string

// The losses of the authors.
const (
	// OneVersusOther is the squared hinge of each class against all others, averaged
	// over the classes:
	//
	//	1/C sum over c of max(0, 1 - y_c w_c'x)^2,    y_c = 1 for the class, else -1.
	OneVersusOther Loss = "one-versus-other"
	// CrammerSinger is the multi-class hinge of Crammer and Singer with margins of 1,
	//
	//	max(0, max over c != y of margin_cy + w_c'x - w_y'x).
	CrammerSinger Loss = "crammer-singer"
	// Structured is CrammerSinger with the distance of the descriptions as the margin.
	Structured Loss = "structured"
)

// lossOf returns the loss of the scores of all classes for a sample of class y, which
// replaces the scores by its gradient.
func (c Config) lossOf(classes dataset.Matrix[float64]) func(scores []float64, y int) float64 {
	if c.Loss == OneVersusOther {
		return oneVersusOther
	}
	margins := c.margins(classes)
	return func(scores []float64, y int) float64 { return hinge(scores, margins.Row(y), y) }
}

// squaredHinge is the loss of one class against all others, with its derivative.
func squaredHinge(score float64, is bool, classes int) (loss, slope float64) {
	y := -1.0
	if is {
		y = 1
	}
	violation := max(0, 1-y*score)
	return violation * violation / float64(classes), -2 * y * violation / float64(classes)
}

// oneVersusOther sums the squared hinges of all classes and replaces the scores by the
// gradient.
func oneVersusOther(scores []float64, y int) (loss float64) {
	for c, s := range scores {
		var l float64
		l, scores[c] = squaredHinge(s, c == y, len(scores))
		loss += l
	}
	return loss
}

// smoothing is gamma in hinge.
const smoothing = 0.1

// hinge is the multi-class hinge of a sample of class y with the margins of that class. It
// replaces the scores by the gradient. The authors give L-BFGS a subgradient. Here the
// hinge is smoothed (Nesterov 2005, "Smooth minimization of non-smooth functions"), so
// that the gradient of L-BFGS vanishes at the optimum:
//
//	max over p >= 0 with sum 1 of  sum over c of p_c (margin_c + s_c - s_y)  +  gamma/2 (1 - |p|^2)
//
// which is the hinge for gamma = 0, exceeds it by less than gamma/2, and is zero where
// the class leads by its margins and gamma.
func hinge(scores, margins []float64, y int) (loss float64) {
	own := scores[y]
	for c, m := range margins {
		scores[c] += m - own
	}
	p := toSimplex(scores)
	loss = smoothing / 2
	for c, v := range scores {
		loss += p[c]*v - smoothing/2*p[c]*p[c]
	}
	copy(scores, p)
	scores[y]--
	return loss
}

// toSimplex returns the p of hinge for violations v: the projection of v/smoothing on the
// simplex, max(0, v/smoothing - t) with the t that makes it sum to 1, found by the
// algorithm of Michelot (1986), which drops the negative entries until none is left.
func toSimplex(v []float64) []float64 {
	top := slices.Max(v)
	t, last := -1.0, -1
	for {
		var sum float64
		n := 0
		for _, x := range v {
			if x := (x - top) / smoothing; x > t {
				sum += x
				n++
			}
		}
		if n == last {
			break
		}
		t, last = (sum-1)/float64(n), n
	}
	p := make([]float64, len(v))
	for c, x := range v {
		p[c] = max(0, (x-top)/smoothing-t)
	}
	return p
}

// margins returns by how much each class must score below the class y of a sample, in
// row y.
func (c Config) margins(classes dataset.Matrix[float64]) dataset.Matrix[float64] {
	m := dataset.NewMatrix[float64](classes.Rows, classes.Rows)
	for y := range classes.Rows {
		for other := range classes.Rows {
			switch {
			case other == y:
			case c.Loss == Structured:
				m.Row(y)[other] = math.Sqrt(squaredDistance(classes.Row(y), classes.Row(other)))
			default:
				m.Row(y)[other] = 1
			}
		}
	}
	return m
}

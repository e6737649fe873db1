package synclassifier

import (
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
)

// Loss names what the classifiers of the classes learned from are best for.
type Loss string

// The losses of the authors.
const (
	// OneVersusOther is the squared hinge of each class against all others, as a
	// mean over the classes:
	//
	//	1/C sum over c of max(0, 1 - y_c w_c x)^2,    y_c = 1 for the class, else -1.
	OneVersusOther Loss = "one-versus-other"
	// CrammerSinger is the multi-class hinge of Crammer and Singer,
	//
	//	max(0, max over c != y of margin_cy + w_c x - w_y x),
	//
	// with margins of 1.
	CrammerSinger Loss = "crammer-singer"
	// Structured is the same with the distance of the descriptions as the margin.
	Structured Loss = "structured"
)

// squaredHinge is the loss of one class against all others, and its slope.
func squaredHinge(score float64, is bool, classes int) (loss, slope float64) {
	y := -1.0
	if is {
		y = 1
	}
	violation := max(0, 1-y*score)
	return violation * violation / float64(classes), -2 * y * violation / float64(classes)
}

// oneVersusOther is the sum of the squared hinges of all classes; it writes the gradient
// over the scores.
func oneVersusOther(scores []float64, y int) (loss float64) {
	for c, s := range scores {
		var l float64
		l, scores[c] = squaredHinge(s, c == y, len(scores))
		loss += l
	}
	return loss
}

// smoothing is how far from the hinge the smooth one is at most, twice.
const smoothing = 0.1

// hinge is the multi-class hinge for a sample of class y with the margins of that class;
// it writes the gradient over the scores. The authors give L-BFGS a sub-gradient of it.
// It is smoothed here (Nesterov 2005, "Smooth minimization of non-smooth functions"), so
// that there is a gradient for L-BFGS to vanish:
//
//	max over p >= 0 with sum 1 of  sum over c of p_c (margin_c + s_c - s_y)  +  gamma/2 (1 - |p|^2)
//
// which is the hinge for gamma = 0, above it by less than gamma/2, and zero where the
// class is ahead by its margins and gamma.
func hinge(scores, margins []float64, y int) (loss float64) {
	ahead := scores[y]
	for c, m := range margins {
		scores[c] += m - ahead
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

// toSimplex returns the p of hinge for violations v: the point of the simplex that is
// closest to v/smoothing, which is max(0, v/smoothing - t) for the t that makes it sum
// to 1.
func toSimplex(v []float64) []float64 {
	top := slices.Max(v)
	// t is found from the candidates, those that are not too low whatever t is (Michelot
	// 1986): each turn leaves out what would be negative.
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

// margins are by how much a class is to score below that of a sample: those of the class
// y are in row y.
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

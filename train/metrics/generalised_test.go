package metrics

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
)

// Classes 0 and 1 are seen, 2 is unseen. The score of the best seen class minus that of class 2:
//
//	sample 0, class 0:  3, the best seen class is right
//	sample 1, class 0:  1, the best seen class (1) is wrong
//	sample 2, class 1:  0, right, and predicted since it comes before class 2
//	sample 3, class 2:  2
//	sample 4, class 2: -1
//
// At gamma 0 the accuracy is (1/2 + 1/1)/2 on seen classes and 1/2 on the unseen class. The prediction
// changes to class 2 as gamma exceeds -1 (sample 4), 0 (2), 1 (1, wrong in both cases), 2 (3) and 3 (0).
func worked() (problem, Sides) {
	return problem{rows(
		[]float32{5, 1, 2},
		[]float32{0, 3, 2},
		[]float32{1, 4, 4},
		[]float32{7, 2, 5},
		[]float32{1, 2, 3},
	), []int{0, 0, 1, 2, 2}}, Sides{false, false, true}
}

func TestStackingByHand(t *testing.T) {
	p, sides := worked()
	s := NewStacking(p.scores, p.labels, sides)
	curve := []Point{{math.Inf(-1), 0.75, 0}, {-1, 0.75, 0.5}, {0, 0.25, 0.5}, {2, 0.25, 1}, {3, 0, 1}}
	testkit.Equal(t, "curve", s.Curve(), curve)
	// 0.5 * 0.75 up to unseen 0.5, then 0.5 * 0.25.
	testkit.Near(t, "AUSUC", AUSUC(curve), 0.5, 1e-15)
	for gamma, want := range map[float64][2]float64{
		math.Inf(-1): {0.75, 0}, -1.5: {0.75, 0}, -1: {0.75, 0}, -0.5: {0.75, 0.5}, 0: {0.75, 0.5},
		0.5: {0.25, 0.5}, 2.5: {0.25, 1}, 3: {0.25, 1}, 4: {0, 1}, math.Inf(1): {0, 1},
	} {
		testkit.Equal(t, fmt.Sprintf("gamma %g", gamma), s.At(gamma), generalised(want[0], want[1]))
	}
	// 2 * 0.75 * 0.5 / 1.25 = 0.6 between -1 and 0 is more than 0.4 between 2 and 3.
	testkit.Equal(t, "gamma, the middle between -1 and 0", s.Best(), -0.5)
}

// If two predictions change at the same gamma, the curve is a slope.
func TestAUSUCOfASlope(t *testing.T) {
	s := NewStacking(rows([]float32{1, 1}, []float32{1, 1}), []int{0, 1}, Sides{false, true})
	testkit.Equal(t, "curve", s.Curve(), []Point{{math.Inf(-1), 1, 0}, {0, 0, 1}})
	testkit.Near(t, "AUSUC", AUSUC(s.Curve()), 0.5, 1e-15)
}

// subtract is calibrated stacking by its definition.
func subtract(p problem, sides Sides, gamma float32) Generalised {
	scores := dataset.Matrix[float32]{Rows: p.scores.Rows, Cols: p.scores.Cols, Data: slices.Clone(p.scores.Data)}
	for i := range scores.Data {
		if !sides[i%scores.Cols] {
			scores.Data[i] -= gamma
		}
	}
	var perSide [2][]float64
	for z, right := range Count(scores, p.labels).Recall() {
		switch {
		case math.IsNaN(right):
		case sides[z]:
			perSide[1] = append(perSide[1], right)
		default:
			perSide[0] = append(perSide[0], right)
		}
	}
	return generalised(stat.Mean(perSide[0], nil), stat.Mean(perSide[1], nil))
}

func TestAtIsSubtraction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, sides := drawGeneralised(t)
		s := NewStacking(p.scores, p.labels, sides)
		for gamma := float32(-9); gamma <= 9; gamma += 0.5 {
			testkit.Equal(t, fmt.Sprintf("gamma %g", gamma), s.At(float64(gamma)), subtract(p, sides, gamma), cmpopts.EquateApprox(0, 1e-12))
		}
	})
}

func TestCurve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, sides := drawGeneralised(t)
		s := NewStacking(p.scores, p.labels, sides)
		curve := s.Curve()
		for i, q := range curve {
			if i > 0 && (q.Gamma <= curve[i-1].Gamma || q.Seen > curve[i-1].Seen || q.Unseen < curve[i-1].Unseen) {
				t.Fatalf("the curve is not monotonic at %d: %v", i, curve)
			}
			next := math.Inf(1)
			if i+1 < len(curve) {
				next = curve[i+1].Gamma
			}
			for _, gamma := range between(q.Gamma, next) {
				at := s.At(gamma)
				testkit.Near(t, "seen", q.Seen, at.Seen, 1e-12)
				testkit.Near(t, "unseen", q.Unseen, at.Unseen, 1e-12)
			}
		}
		first, last := curve[0], curve[len(curve)-1]
		if first.Unseen != 0 || last.Seen != 0 || !math.IsInf(first.Gamma, -1) {
			t.Errorf("the ends are %v and %v", first, last)
		}
		area := AUSUC(curve)
		if area < 0 || area > first.Seen*last.Unseen+1e-12 {
			t.Errorf("AUSUC %v of a curve from %v to %v", area, first, last)
		}
	})
}

// between returns numbers strictly between two, which may be infinite.
func between(low, high float64) []float64 {
	low, high = max(low, -20), min(high, 20)
	return []float64{low + (high-low)*0.01, (low + high) / 2, low + (high-low)*0.99}
}

func TestBestIsNoWorseThanAnyGamma(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, sides := drawGeneralised(t)
		s := NewStacking(p.scores, p.labels, sides)
		best := s.Best()
		at := s.At(best).Mean
		for gamma := -9.0; gamma <= 9; gamma += 0.25 {
			// At a whole gamma, scores may be equal.
			if gamma != math.Trunc(gamma) && s.At(gamma).Mean > at+1e-9 {
				t.Errorf("gamma %g gives %g, but the best, %g, gives %g", gamma, s.At(gamma).Mean, best, at)
			}
		}
		if at == 0 && best != 0 {
			t.Errorf("gamma %g with a harmonic mean of 0, expected 0", best)
		}
	})
}

// With two divisions of three classes, classes 1 and 2 are on both sides; each sample is predicted as with the
// gamma of its division.
func TestPool(t *testing.T) {
	p, sides := worked()
	first := NewStacking(p.scores, p.labels, sides) // class 0: 1/2, class 1: 1; unseen class 2: 1/2
	q := problem{rows([]float32{5, 0, 4}, []float32{1, 3, 1}, []float32{2, 0, 1}), []int{0, 1, 2}}
	second := NewStacking(q.scores, q.labels, Sides{false, false, true})
	// Columns of the second are classes 0, 2 and 1: with gamma 1.5 class 0 is predicted as 1, class 2 as
	// itself and class 1 as itself.
	pooled, gamma := Pool([]*Stacking{first, second}, []float64{0, 1.5}, [][]int{{0, 1, 2}, {0, 2, 1}}, 3)
	testkit.Equal(t, "gamma", gamma, 0.75)
	// Seen: class 0 has 1 of 3 samples, 1 and 2 all; unseen: class 1 all, class 2 half.
	testkit.Equal(t, "accuracies", pooled.At(gamma), generalised((1.0/3+1+1)/3, 0.75), cmpopts.EquateApprox(0, 1e-15))
	testkit.Equal(t, "difference from itself", pooled.Difference(gamma, pooled, gamma), Difference{P: 1})
	one := resampleTogether(func(means []float64) float64 { return means[0] - means[1] }, []float64{1, 2, 3}, []float64{1, 2, 3})
	testkit.Equal(t, "differences of equal sets", percentiles(one), Interval{})
}

// Both have half of class 0, which is seen; the first has all of classes 1 and 2, the second none of 1, which is seen,
// and half of 2. If 1 or 2 is swapped alone, the harmonic means are 0.6 and 0.4, with both or none 6/7 and 1/3: these are
// half of the assignments.
func TestDifferenceByHand(t *testing.T) {
	seen, other, unseen := []float32{1, 0, 0}, []float32{0, 1, 0}, []float32{0, 0, 1}
	labels, sides := []int{0, 0, 1, 2, 2}, Sides{false, false, true}
	a := NewStacking(rows(seen, other, other, unseen, unseen), labels, sides)
	b := NewStacking(rows(seen, other, seen, unseen, seen), labels, sides)
	d := a.Difference(0, b, 0)
	testkit.NearAll(t, "mean and p", []float64{d.Mean, d.P}, []float64{6.0/7 - 1.0/3, 0.5}, 1e-12)
	testkit.Equal(t, "p of the reverse", b.Difference(0, a, 0).P, d.P)
}

func TestAlone(t *testing.T) {
	p, _ := worked()
	scores, labels := Sides{true, false, true}.Alone(p.scores, p.labels)
	want := rows([]float32{5, 2}, []float32{0, 2}, []float32{7, 5}, []float32{1, 3})
	testkit.Equal(t, "scores", scores, want)
	testkit.Equal(t, "labels", labels, []int{0, 0, 1, 1})
}

func TestSides(t *testing.T) {
	sides := Sides{true, false, true}
	testkit.NoError(t, sides.Check([]int{0, 1}))
	testkit.WantError(t, sides.Check([]int{1, 1}), "labels: expected samples of seen and of unseen classes, found 2 and 0")
	testkit.WantError(t, sides.Check([]int{0}), "found 0 and 1")
}

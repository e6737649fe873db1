package dataset

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The bound is exact for one attribute that is certain, and for equal descriptions.
func TestConfusable(t *testing.T) {
	nan := math.NaN()
	u := Matrix[float64]{Rows: 5, Cols: 3, Data: []float64{
		1, 0, 0.5,
		1, 0, 0.5,
		0, 0, 0.5,
		1, nan, nan,
		nan, nan, nan,
	}}
	pairs, number := Confusable(u)
	if len(pairs) != 3 || number != 3 {
		t.Fatalf("%+v", pairs)
	}
	for i, want := range [][2]int{{0, 1}, {0, 3}, {1, 3}} {
		p := pairs[i]
		if p.A != want[0] || p.B != want[1] || math.Abs(p.Confusion-0.5) > 1e-12 {
			t.Errorf("%+v, expected %v with a confusion of 0.5", p, want)
		}
	}
	if m, of := Separating(pairs, 3); m != 1 || of != 2 || !slices.Equal(pairs[1].Missing, []int{1, 2}) {
		t.Errorf("attribute %d for %d pairs, missing %v", m, of, pairs[1].Missing)
	}
	if m, of := Separating(pairs[:1], 3); m != -1 || of != 0 {
		t.Errorf("attribute %d for %d pairs, expected none", m, of)
	}
}

// No classifier of exact detections is better than the Bayes error, which the bound is not below.
func TestConfusionBoundsTheBayesError(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := NewMatrix[float64](2, rapid.IntRange(1, 5).Draw(t, "attributes"))
		for i := range u.Data {
			u.Data[i] = rapid.Float64Range(0, 1).Draw(t, "p")
		}
		var bayes float64
		for bits := range 1 << u.Cols {
			p := [2]float64{1, 1}
			for z := range p {
				for m, v := range u.Row(z) {
					p[z] *= map[bool]float64{true: v, false: 1 - v}[bits>>m&1 == 1]
				}
			}
			bayes += min(p[0], p[1]) / 2
		}
		var found float64
		pairs, _ := Confusable(u)
		for _, p := range pairs {
			found = p.Confusion
		}
		if bound := max(found, LeastConfusion); bayes > bound+1e-12 {
			t.Fatalf("Bayes error %g, bound %g", bayes, bound)
		}
	})
}

package metrics

import (
	"cmp"
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
)

// Stacking is calibrated stacking (Chao et al. 2016, equation 3): a number gamma is
// subtracted from the scores of all seen classes, and the best class named. Only the
// best of each side can be, so that a sample is told by how far they are apart.
type Stacking struct {
	choices []choice // by gap, ascending
	// How many samples each class has, and how many classes of each side have some.
	samples []int
	sides   Sides
	classes [2]int // seen, unseen
}

// choice is what gamma decides of a sample: the best seen or the best unseen class.
type choice struct {
	gap         float64 // the score of the best seen class, less that of the best unseen one
	label       int
	seenRight   bool // the best seen class is the true one
	unseenRight bool
	seenFirst   bool // in a row, so that it is named where the two are equal
}

// NewStacking reads scores. Both sides must have classes and samples, as Check of
// Sides tests.
func NewStacking(scores dataset.Matrix[float32], labels []int, sides Sides) *Stacking {
	s := &Stacking{samples: make([]int, scores.Cols), sides: sides}
	s.choices = make([]choice, len(labels))
	for i, label := range labels {
		row := scores.Row(i)
		var best [2]int
		for side := range best {
			best[side] = sides.best(row, side == 1)
		}
		seen, unseen := best[0], best[1]
		s.choices[i] = choice{
			gap:   float64(row[seen]) - float64(row[unseen]),
			label: label, seenRight: seen == label, unseenRight: unseen == label, seenFirst: seen < unseen,
		}
		s.samples[label]++
	}
	for z, n := range s.samples {
		if n > 0 {
			s.classes[s.side(z)]++
		}
	}
	slices.SortStableFunc(s.choices, func(a, b choice) int { return cmp.Compare(a.gap, b.gap) })
	return s
}

// best returns the class of a side that has the highest score, the first of equals.
func (s Sides) best(row []float32, unseen bool) int {
	best := -1
	for z, v := range row {
		if s[z] == unseen && (best < 0 || v > row[best]) {
			best = z
		}
	}
	return best
}

func (s *Stacking) side(class int) int {
	if s.sides[class] {
		return 1
	}
	return 0
}

// At returns the accuracies with a gamma, which may be infinite. With 0 they are
// those of the scores as they are.
func (s *Stacking) At(gamma float64) Generalised {
	t := newTally(len(s.samples))
	for _, c := range s.choices {
		right := c.unseenRight
		if c.gap > gamma || c.gap == gamma && c.seenFirst {
			right = c.seenRight
		}
		t.add(c.label, 1, right)
	}
	var sum [2]float64
	for z, n := range t.samples {
		if n > 0 {
			sum[s.side(z)] += float64(t.right[z]) / float64(n)
		}
	}
	return generalised(sum[0]/float64(s.classes[0]), sum[1]/float64(s.classes[1]))
}

// Point is the accuracies from one gamma to that of the next point.
type Point struct {
	Gamma        float64 // -Inf of the first
	Seen, Unseen float64
}

// Curve is the whole seen-unseen curve: a point for each gamma at which an accuracy
// changes, ascending. From one to the next Unseen never falls and Seen never rises;
// the first has no unseen class named, the last no seen one.
func (s *Stacking) Curve() []Point {
	points := []Point{{Gamma: math.Inf(-1)}}
	for _, c := range s.choices {
		seen, unseen := s.weight(c, c.seenRight), s.weight(c, c.unseenRight)
		if seen == 0 && unseen == 0 {
			continue
		}
		last := points[len(points)-1]
		if last.Gamma == c.gap {
			points = points[:len(points)-1]
		}
		// Seen holds what has been lost so far, until all of it is known.
		points = append(points, Point{c.gap, last.Seen + seen, last.Unseen + unseen})
	}
	all := points[len(points)-1].Seen
	for i := range points {
		points[i].Seen = all - points[i].Seen
	}
	return points
}

// weight is what a sample adds to the accuracy of its side where it is named right.
func (s *Stacking) weight(c choice, right bool) float64 {
	if !right {
		return 0
	}
	return 1 / float64(s.samples[c.label]*s.classes[s.side(c.label)])
}

// Best returns the gamma with the highest harmonic mean, the middle of the first
// stretch that has it. Where no gamma names a sample of both sides right it is 0.
func (s *Stacking) Best() float64 {
	curve := s.Curve()
	best, top := 0.0, rounding
	for i := 0; i+1 < len(curve); i++ {
		if h := HarmonicMean(curve[i].Seen, curve[i].Unseen); h > top {
			// An unseen class is named below gamma, and a seen one above: both are finite.
			best, top = (curve[i].Gamma+curve[i+1].Gamma)/2, h+rounding
		}
	}
	return best
}

// AUSUC is the area under the seen-unseen curve, by trapezoids (Chao et al. 2016).
func AUSUC(curve []Point) float64 {
	var area float64
	for i := 1; i < len(curve); i++ {
		area += (curve[i].Unseen - curve[i-1].Unseen) * (curve[i].Seen + curve[i-1].Seen) / 2
	}
	return area
}

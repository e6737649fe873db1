package metrics

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Generalised is per-class accuracy where samples of seen and unseen classes are
// classified among all classes (Xian et al. 2018, section 4.3).
type Generalised struct {
	Seen   float64 `json:"seen"`          // of the samples of seen classes
	Unseen float64 `json:"unseen"`        // of the samples of unseen classes
	Mean   float64 `json:"harmonic_mean"` // of the two
}

func generalised(seen, unseen float64) Generalised {
	return Generalised{seen, unseen, harmonicMean(seen, unseen)}
}

// harmonicMean is 2 s u / (s + u), 0 where both are 0.
func harmonicMean(seen, unseen float64) float64 {
	if seen+unseen == 0 {
		return 0
	}
	return 2 * seen * unseen / (seen + unseen)
}

// Sides holds for each class (column of the scores) whether it is unseen.
type Sides []bool

// Alone returns the scores of the unseen classes for the samples of these, and their labels.
func (s Sides) Alone(scores dataset.Matrix[float32], labels []int) (dataset.Matrix[float32], []int) {
	var alone dataset.Matrix[float32]
	var among []int
	columns := make([]int, len(s)) // of the unseen classes
	for z, unseen := range s {
		if columns[z] = alone.Cols; unseen {
			alone.Cols++
		}
	}
	for i, label := range labels {
		if !s[label] {
			continue
		}
		for z, v := range scores.Row(i) {
			if s[z] {
				alone.Data = append(alone.Data, v)
			}
		}
		alone.Rows, among = alone.Rows+1, append(among, columns[label])
	}
	return alone, among
}

// Check returns an *invalid.Error unless there are samples of seen and of unseen classes.
func (s Sides) Check(labels []int) error {
	var unseen int
	for _, z := range labels {
		if s[z] {
			unseen++
		}
	}
	if unseen == 0 || unseen == len(labels) {
		return invalid.Expected("labels", fmt.Sprintf("%d and %d", len(labels)-unseen, unseen),
			"samples of seen and of unseen classes")
	}
	return nil
}

// Stacking is calibrated stacking (Chao et al. 2016, equation 3): a number gamma is subtracted from the
// scores of all seen classes before the prediction. Only the best seen and the best unseen class can be
// predicted, so that a sample is reduced to the lead between them.
type Stacking struct {
	choices []choice // by lead, ascending
	// The number of samples of each class, and of seen and unseen classes with samples.
	samples []int
	sides   Sides
	classes [2]int // seen, unseen
	pooled  bool   // by Pool
}

type choice struct {
	lead         float64 // score of the best seen class minus that of the best unseen class
	label        int
	seen, unseen int // the best classes; that with the lower index is predicted if the scores are equal
}

// NewStacking prepares the scores. There must be samples of seen and of unseen classes, which
// Sides.Check checks.
func NewStacking(scores dataset.Matrix[float32], labels []int, sides Sides) *Stacking {
	s := &Stacking{samples: make([]int, scores.Cols), sides: sides}
	s.choices = make([]choice, len(labels))
	for i, label := range labels {
		row := scores.Row(i)
		seen, unseen := sides.best(row, false), sides.best(row, true)
		s.choices[i] = choice{float64(row[seen]) - float64(row[unseen]), label, seen, unseen}
		s.samples[label]++
	}
	s.sort()
	return s
}

// Pool joins what was scored with several divisions of n classes into seen and unseen ones, each with its
// gamma; of each, columns says which classes its columns are. With the mean of the gammas a sample is
// predicted as with its own. A class counts among the seen and among the unseen ones if it is seen with some
// divisions and unseen with others, and is resampled as one.
func Pool(list []*Stacking, gammas []float64, columns [][]int, n int) (s *Stacking, gamma float64) {
	gamma = stat.Mean(gammas, nil)
	s = &Stacking{samples: make([]int, 2*n), sides: make(Sides, 2*n), pooled: true}
	for z := range n {
		s.sides[n+z] = true
	}
	for i, division := range list {
		class := func(column int) int { return columns[i][column] + n*division.side(column) }
		for _, c := range division.choices {
			lead := c.lead - gammas[i] + gamma
			s.choices = append(s.choices, choice{lead, class(c.label), class(c.seen), class(c.unseen)})
			s.samples[class(c.label)]++
		}
	}
	s.sort()
	return s, gamma
}

// sort counts the classes with samples, and sorts the choices.
func (s *Stacking) sort() {
	for z, n := range s.samples {
		if n > 0 {
			s.classes[s.side(z)]++
		}
	}
	slices.SortStableFunc(s.choices, func(a, b choice) int { return cmp.Compare(a.lead, b.lead) })
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

// At returns the accuracies with a gamma, which may be infinite. 0 leaves the scores unchanged.
func (s *Stacking) At(gamma float64) Generalised {
	sides := s.recall(gamma)
	return generalised(stat.Mean(numbers(sides[0]), nil), stat.Mean(numbers(sides[1]), nil))
}

// GeneralisedInterval holds the intervals of Generalised. For the harmonic mean, seen and
// unseen classes are resampled separately, but together if they are pooled, see Pool.
type GeneralisedInterval struct {
	Seen   Interval `json:"seen"`
	Unseen Interval `json:"unseen"`
	Mean   Interval `json:"harmonic_mean"`
}

// Interval returns the intervals of At. They do not include how gamma was chosen.
func (s *Stacking) Interval(gamma float64) GeneralisedInterval {
	sides := s.recall(gamma)
	return GeneralisedInterval{
		ClassInterval(sides[0]), ClassInterval(sides[1]), percentiles(s.harmonic(gamma)),
	}
}

func (s *Stacking) harmonic(gamma float64) []float64 {
	sides, draw := s.recall(gamma), resample
	if s.pooled {
		draw = resampleTogether
	}
	return draw(func(means []float64) float64 { return harmonicMean(means[0], means[1]) }, sides[0], sides[1])
}

// Difference is the harmonic mean with a gamma minus that of other scores of the same samples with another,
// its interval over classes, which are resampled alike, and p by permutation: a class swaps the accuracies
// that it has with both, on both sides together.
func (s *Stacking) Difference(gamma float64, other *Stacking, otherGamma float64) Difference {
	resamples := s.harmonic(gamma)
	for i, h := range other.harmonic(otherGamma) {
		resamples[i] -= h
	}
	mine, others := s.recall(gamma), other.recall(otherGamma)
	difference := func(swaps func(z int) bool) float64 {
		var a, b, classes [2]float64
		for z := range mine[0] {
			swap := swaps(z)
			for side := range classes {
				x, y := mine[side][z], others[side][z]
				if math.IsNaN(x) {
					continue
				}
				if swap {
					x, y = y, x
				}
				a[side], b[side], classes[side] = a[side]+x, b[side]+y, classes[side]+1
			}
		}
		return harmonicMean(a[0]/classes[0], a[1]/classes[1]) - harmonicMean(b[0]/classes[0], b[1]/classes[1])
	}
	mean := s.At(gamma).Mean - other.At(otherGamma).Mean
	return Difference{mean, percentiles(resamples), permuted(len(mine[0]), tolerance, difference)}
}

// recall returns the accuracies of the classes as seen and as unseen ones, NaN of those that are not or have
// no samples.
func (s *Stacking) recall(gamma float64) (sides [2][]float64) {
	t, n := newTally(len(s.samples)), len(s.samples)
	if s.pooled {
		n /= 2
	}
	for k := range sides {
		sides[k] = slices.Repeat([]float64{math.NaN()}, n)
	}
	for _, c := range s.choices {
		predicted := c.unseen
		if c.lead > gamma || c.lead == gamma && c.seen < c.unseen {
			predicted = c.seen
		}
		t.add(c.label, 1, predicted == c.label)
	}
	for z, share := range t.Recall() {
		sides[s.side(z)][z%n] = share
	}
	return sides
}

// Point holds the accuracies from its gamma up to that of the next point.
type Point struct {
	Gamma        float64 // -Inf of the first
	Seen, Unseen float64
}

// Curve is the seen-unseen curve: a point for each gamma at which an accuracy changes,
// ascending. Unseen never falls and Seen never rises from one to the next. At the first
// point no unseen class is predicted, at the last no seen class.
func (s *Stacking) Curve() []Point {
	points := []Point{{Gamma: math.Inf(-1)}}
	for _, c := range s.choices {
		seen, unseen := s.weight(c, c.seen), s.weight(c, c.unseen)
		if seen == 0 && unseen == 0 {
			continue
		}
		last := points[len(points)-1]
		if last.Gamma == c.lead {
			points = points[:len(points)-1]
		}
		// Seen holds the accuracy lost so far, until the total is known.
		points = append(points, Point{c.lead, last.Seen + seen, last.Unseen + unseen})
	}
	all := points[len(points)-1].Seen
	for i := range points {
		points[i].Seen = all - points[i].Seen
	}
	return points
}

// weight is the contribution of a sample to the accuracy if a class is predicted.
func (s *Stacking) weight(c choice, predicted int) float64 {
	if predicted != c.label {
		return 0
	}
	return 1 / float64(s.samples[c.label]*s.classes[s.side(c.label)])
}

// Best returns the gamma with the highest harmonic mean, the middle of the first interval
// that has it. It is 0 if no gamma gives right predictions of both seen and unseen classes.
func (s *Stacking) Best() float64 {
	curve := s.Curve()
	best, top := 0.0, tolerance
	for i := 0; i+1 < len(curve); i++ {
		if h := harmonicMean(curve[i].Seen, curve[i].Unseen); h > top {
			// Both gammas are finite, as both accuracies are above 0.
			best, top = (curve[i].Gamma+curve[i+1].Gamma)/2, h+tolerance
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

// draws is the number of bootstrap resamples, and of random permutations.
const draws = 10_000

// random returns the generator of every interval and p: equal data give equal results.
func random() *rand.Rand { return rand.New(rand.NewPCG(95, 0)) }

// ClassInterval is the interval of the mean of perClass, one number per class. Classes with
// NaN, those without samples, are left out.
func ClassInterval(perClass []float64) Interval {
	return percentiles(resample(func(means []float64) float64 { return means[0] }, perClass))
}

// percentiles is the interval of resamples, without those that have no value.
func percentiles(resamples []float64) Interval {
	if resamples = numbers(resamples); len(resamples) == 0 {
		return Interval{Low: math.NaN(), High: math.NaN()}
	}
	slices.Sort(resamples)
	return Interval{
		Low:  stat.Quantile(0.025, stat.Empirical, resamples, nil),
		High: stat.Quantile(0.975, stat.Empirical, resamples, nil),
	}
}

// resample returns a statistic of the means of several sets of classes for each resample of each; nil if a
// set has fewer than two. Sets of the same sizes are resampled alike in all calls.
func resample(statistic func(means []float64) float64, sets ...[]float64) []float64 {
	sets = slices.Clone(sets)
	for i, values := range sets {
		if sets[i] = numbers(values); len(sets[i]) < 2 {
			return nil
		}
	}
	r, results, means := random(), make([]float64, draws), make([]float64, len(sets))
	for i := range results {
		for k, values := range sets {
			var sum float64
			for range values {
				sum += values[r.IntN(len(values))]
			}
			means[k] = sum / float64(len(values))
		}
		results[i] = statistic(means)
	}
	return results
}

// resampleTogether is resample where a position of all sets is one class, NaN in those that it is not in. A
// resample without a class of each set has no value.
func resampleTogether(statistic func(means []float64) float64, sets ...[]float64) []float64 {
	r, results, n := random(), make([]float64, draws), len(sets[0])
	sums, counts, means := make([]float64, len(sets)), make([]float64, len(sets)), make([]float64, len(sets))
	for i := range results {
		clear(sums)
		clear(counts)
		for range n {
			j := r.IntN(n)
			for k, values := range sets {
				if v := values[j]; !math.IsNaN(v) {
					sums[k] += v
					counts[k]++
				}
			}
		}
		results[i] = statistic(floats.DivTo(means, sums, counts)) // 0/0 is NaN
	}
	return results
}

func numbers(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), math.IsNaN)
}

// Difference is the mean difference of two methods over the same classes.
type Difference struct {
	Mean     float64  `json:"mean"`     // of the accuracies, a fraction
	Interval Interval `json:"interval"` // over classes
	P        float64  `json:"p"`        // two-sided, by paired permutation
}

// PairedDifference compares two methods, a - b, over the same classes: at least one, in
// the same order. Classes with NaN in either are left out. P is the share of assignments of
// signs to the differences whose mean is as far from 0 as the observed one: of all assignments
// if they are at most 10,000, otherwise (1 + count)/(1 + 10,000) of random ones.
func PairedDifference(a, b []float64) Difference {
	d := numbers(floats.SubTo(make([]float64, len(a)), a, b)) // panics if the lengths differ
	return Difference{stat.Mean(d, nil), ClassInterval(d), signFlip(d)}
}

func signFlip(d []float64) float64 {
	return permuted(len(d), 1e-12*floats.Norm(d, 1), func(flip func(z int) bool) (sum float64) {
		for z, v := range d {
			if flip(z) {
				v = -v
			}
			sum += v
		}
		return sum
	})
}

// permuted is p of a difference of two methods over n classes, of which each may swap these, see
// PairedDifference. Differences that are equal may differ by rounding, up to slack.
func permuted(n int, slack float64, difference func(swaps func(z int) bool) float64) float64 {
	limit := math.Abs(difference(func(int) bool { return false })) - slack
	asFar := func(swaps func(z int) bool) bool { return math.Abs(difference(swaps)) >= limit }
	var count int
	if n < 64 && 1<<n <= draws {
		for swaps := range 1 << n {
			if asFar(func(z int) bool { return swaps>>z&1 == 1 }) {
				count++
			}
		}
		return float64(count) / float64(int(1)<<n)
	}
	r := random()
	for range draws {
		if asFar(func(int) bool { return r.Uint64()&1 == 1 }) {
			count++
		}
	}
	return float64(1+count) / float64(1+draws)
}

// Significance is the adjusted p value from which on a difference cannot be decided.
const Significance = 0.05

// Holm returns p values adjusted for being tested together (Holm 1979), in the order given.
func Holm(p []float64) []float64 {
	order, adjusted := make([]int, len(p)), make([]float64, len(p))
	floats.Argsort(slices.Clone(p), order)
	var highest float64
	for rank, i := range order {
		highest = max(highest, min(1, float64(len(p)-rank)*p[i]))
		adjusted[i] = highest
	}
	return adjusted
}

// Adjust replaces the p values of differences that are tested together by those of Holm.
func Adjust(list []*Difference) {
	p := make([]float64, len(list))
	for i, d := range list {
		p[i] = d.P
	}
	for i, adjusted := range Holm(p) {
		list[i].P = adjusted
	}
}

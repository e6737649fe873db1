package metrics

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// draws is the number of bootstrap resamples, and of random permutations.
const draws = 10_000

// random returns the generator of every interval and p: equal data give equal results.
func random() *rand.Rand { return rand.New(rand.NewPCG(95, 0)) }

// Interval is a 95 % confidence interval by percentile bootstrap over classes. It describes how much an
// accuracy depends on which classes happen to be evaluated; with twelve classes or fewer it is somewhat too
// short. Its bounds are NaN for fewer than two classes; JSON then has null.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// String returns the bounds in percent, "55.9 to 69.0", or "-" for fewer than two classes, and for
// classes that are all alike, of which a bootstrap shows no spread.
func (i Interval) String() string {
	if math.IsNaN(i.Low) || i.Low == i.High {
		return "-"
	}
	return fmt.Sprintf("%.1f to %.1f", 100*i.Low, 100*i.High)
}

// MarshalJSON writes null for fewer than two classes.
func (i Interval) MarshalJSON() ([]byte, error) {
	if math.IsNaN(i.Low) {
		return []byte("null"), nil
	}
	type bounds Interval
	return json.Marshal(bounds(i))
}

// UnmarshalJSON reads null as NaN.
func (i *Interval) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*i = Interval{math.NaN(), math.NaN()}
		return nil
	}
	type bounds Interval
	return json.Unmarshal(data, (*bounds)(i))
}

// ClassInterval is the interval of the mean of perClass, one number per class. Classes with
// NaN, those without samples, are left out.
func ClassInterval(perClass []float64) Interval {
	return percentiles(resample(func(means []float64) float64 { return means[0] }, perClass))
}

// percentiles is the interval of resamples, without those that have no value.
func percentiles(resamples []float64) Interval {
	if resamples = numbers(resamples); len(resamples) == 0 {
		return Interval{math.NaN(), math.NaN()}
	}
	slices.Sort(resamples)
	return Interval{
		stat.Quantile(0.025, stat.Empirical, resamples, nil),
		stat.Quantile(0.975, stat.Empirical, resamples, nil),
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
	limit := math.Abs(floats.Sum(d)) - 1e-12*floats.Norm(d, 1) // equal sums may differ by rounding
	asFar := func(sign func(z int) bool) bool {
		var sum float64
		for z, v := range d {
			if sign(z) {
				v = -v
			}
			sum += v
		}
		return math.Abs(sum) >= limit
	}
	var count int
	if len(d) < 64 && 1<<len(d) <= draws {
		for signs := range 1 << len(d) {
			if asFar(func(z int) bool { return signs>>z&1 == 1 }) {
				count++
			}
		}
		return float64(count) / float64(int(1)<<len(d))
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

package metrics

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// draws is the number of bootstrap resamples, and of random permutations.
const draws = 10_000

// random returns the generator of every interval and p: equal data give equal results.
func random() *rand.Rand { return rand.New(rand.NewPCG(95, 0)) }

// Interval is a 95 % confidence interval by percentile bootstrap over classes. It describes
// how much an accuracy depends on which classes happen to be evaluated; with ten classes or
// fewer it is somewhat too short. Its bounds are NaN for fewer than two classes; JSON then
// has null.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// String returns the bounds in percent, "55.9 to 69.0", or "-" for fewer than two classes.
func (i Interval) String() string {
	if math.IsNaN(i.Low) {
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
	return bootstrap(func(means []float64) float64 { return means[0] }, perClass)
}

// bootstrap is the interval of a statistic of the means of several sets of classes.
func bootstrap(statistic func(means []float64) float64, sets ...[]float64) Interval {
	sets = slices.Clone(sets)
	for i, values := range sets {
		if sets[i] = numbers(values); len(sets[i]) < 2 {
			return Interval{math.NaN(), math.NaN()}
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
	slices.Sort(results)
	return Interval{stat.Quantile(0.025, stat.Empirical, results, nil), stat.Quantile(0.975, stat.Empirical, results, nil)}
}

func numbers(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), math.IsNaN)
}

// Difference is the mean difference of two methods over the same classes.
type Difference struct {
	Mean     float64  `json:"mean"`
	Interval Interval `json:"interval"`
	P        float64  `json:"p"` // two-sided, by paired permutation
}

// PairedDifference compares two methods, a - b, over the same classes: at least one, in
// the same order. Classes with NaN in either are left out. P is the share of assignments of
// signs to the differences whose mean is as far from 0 as the observed one: of all assignments
// if they are at most 10,000, otherwise (1 + count)/(1 + 10,000) of random ones.
func PairedDifference(a, b []float64) Difference {
	if len(a) != len(b) {
		panic("metrics: the methods have different numbers of classes")
	}
	d := make([]float64, len(a))
	for z := range d {
		d[z] = a[z] - b[z]
	}
	d = numbers(d)
	return Difference{stat.Mean(d, nil), ClassInterval(d), signFlip(d)}
}

func signFlip(d []float64) float64 {
	var observed, size float64
	for _, v := range d {
		observed += v
		size += math.Abs(v)
	}
	// Equal sums may differ by rounding.
	limit := math.Abs(observed) - 1e-12*size
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
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	adjusted := make([]float64, len(p))
	var highest float64
	for rank, i := range order {
		highest = max(highest, min(1, float64(len(p)-rank)*p[i]))
		adjusted[i] = highest
	}
	return adjusted
}

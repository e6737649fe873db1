// Package metrics evaluates scores: accuracy, generalised zero-shot accuracy over seen and
// unseen classes, calibration of probabilities, and confidence intervals over classes.
//
// Scores have one row per sample and one column per class, the higher the better; labels
// are columns. All functions are pure and independent of models, data sets and files.
// They expect input that passes CheckScores and CheckLabels.
//
// Probabilities are softmax(s/T) of scores s. Log-probabilities are scores with the
// temperature T = 1; other scores have no probabilities until a temperature is fitted.
//
// Sources: per-class accuracy and the generalised setting, Xian et al., "Zero-Shot Learning - A Comprehensive
// Evaluation of the Good, the Bad and the Ugly" (2018); calibrated stacking and the seen-unseen curve, Chao
// et al., "An Empirical Study and Analysis of Generalized Zero-Shot Learning for Object Recognition in the
// Wild" (ECCV 2016); calibration and temperature, Guo et al., "On Calibration of Modern Neural Networks"
// (ICML 2017); risk and coverage, Geifman & El-Yaniv, "Selective Classification for Deep Neural Networks"
// (NeurIPS 2017); correction of p values, Holm, "A Simple Sequentially Rejective Multiple Test Procedure"
// (1979).
package metrics

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/numeric"
)

// Accuracy is how often the best-scored class is the true one.
type Accuracy struct {
	PerClass  float64 // mean over classes of (correct in z / samples in z), supplement A.1 of the paper
	PerSample float64 // share of all samples
}

// Confusion counts samples: class, predicted class and number for each pair that has samples, in this
// order. Of many classes, most pairs have none.
type Confusion [][3]int

// Confuse counts samples by their scores: one row per label, one column per class. Of equal
// highest scores the first is the prediction. NaN is an error.
func Confuse(scores dataset.Matrix[float32], labels []int) (Confusion, error) {
	counts := map[[2]int]int{}
	for i, label := range labels {
		row := scores.Row(i)
		if slices.ContainsFunc(row, func(v float32) bool { return v != v }) {
			return nil, &invalid.Error{Field: fmt.Sprintf("scores of sample %d", i), Want: "numbers", Got: "NaN"}
		}
		counts[[2]int{label, Argmax(row)}]++
	}
	c := make(Confusion, 0, len(counts))
	for pair, n := range counts {
		c = append(c, [3]int{pair[0], pair[1], n})
	}
	slices.SortFunc(c, func(a, b [3]int) int { return slices.Compare(a[:], b[:]) })
	return c, nil
}

// Tally counts the right predictions of a number of classes.
func (c Confusion) Tally(classes int) Tally {
	t := newTally(classes)
	for _, pair := range c {
		t.add(pair[0], pair[2], pair[0] == pair[1])
	}
	return t
}

// Accuracy excludes classes without samples.
func (c Confusion) Accuracy() Accuracy {
	classes := 0
	if n := len(c); n > 0 {
		classes = c[n-1][0] + 1
	}
	return c.Tally(classes).Accuracy()
}

// Argmax returns the index of the highest value of a row, the first of equals. NaN is
// never the highest; a row of only NaN gives 0.
func Argmax(row []float32) int {
	best := 0
	top := math.Inf(-1)
	for z, v := range row {
		if float64(v) > top {
			best, top = z, float64(v)
		}
	}
	return best
}

// Tally counts the samples of each class and the right predictions.
type Tally struct{ Samples, Right []int }

func newTally(classes int) Tally { return Tally{make([]int, classes), make([]int, classes)} }

func (t Tally) add(class, samples int, right bool) {
	t.Samples[class] += samples
	if right {
		t.Right[class] += samples
	}
}

// Recall returns the share of right predictions of each class, NaN without samples.
func (t Tally) Recall() []float64 {
	shares := make([]float64, len(t.Samples))
	for z, n := range t.Samples {
		shares[z] = float64(t.Right[z]) / float64(n)
	}
	return shares
}

// Accuracy excludes classes without samples.
func (t Tally) Accuracy() Accuracy {
	var a Accuracy
	var classes, right, samples int
	for z, n := range t.Samples {
		if n > 0 {
			a.PerClass += float64(t.Right[z]) / float64(n)
			classes++
		}
		right, samples = right+t.Right[z], samples+n
	}
	return Accuracy{a.PerClass / float64(classes), float64(right) / float64(samples)}
}

// Interval is that of the accuracy per class. That of a single class, which says nothing about other classes, is
// over its samples: the exact binomial one (Clopper and Pearson 1934).
func (t Tally) Interval() Interval {
	recall := t.Recall()
	if len(numbers(recall)) != 1 {
		return ClassInterval(recall)
	}
	z := slices.IndexFunc(t.Samples, func(n int) bool { return n > 0 })
	right, wrong := float64(t.Right[z]), float64(t.Samples[z]-t.Right[z])
	i := Interval{0, 1}
	if right > 0 {
		i.Low = distuv.Beta{Alpha: right, Beta: wrong + 1}.Quantile(0.025)
	}
	if wrong > 0 {
		i.High = distuv.Beta{Alpha: right + 1, Beta: wrong}.Quantile(0.975)
	}
	return i
}

// TopK counts as right the samples whose true class is among the k highest scores. Of equal scores
// the first count as higher, so that k = 1 is accuracy.
func TopK(scores dataset.Matrix[float32], labels []int, k int) Tally {
	t := newTally(scores.Cols)
	for i, label := range labels {
		t.add(label, 1, rank(scores.Row(i), label) < k)
	}
	return t
}

// rank counts the classes with higher scores than one.
func rank(row []float32, class int) int {
	var before int
	for z, v := range row {
		if v > row[class] || v == row[class] && z < class {
			before++
		}
	}
	return before
}

// CheckScores returns an *invalid.Error unless there are scores, and all are finite.
func CheckScores(scores dataset.Matrix[float32]) error {
	if scores.Rows < 1 || scores.Cols < 1 {
		return &invalid.Error{Field: "scores", Want: "at least one sample and one class", Got: fmt.Sprintf("%d x %d", scores.Rows, scores.Cols)}
	}
	if i := numeric.NotFinite(scores.Data); i >= 0 {
		return &invalid.Error{
			Field: "scores", Want: "finite numbers",
			Got: fmt.Sprintf("%v for sample %d and class %d, counted from 0", scores.Data[i], i/scores.Cols, i%scores.Cols),
		}
	}
	return nil
}

// CheckLabels returns an *invalid.Error unless labels are one per sample, each from 0 to classes-1.
func CheckLabels(labels []int, samples, classes int) error {
	if len(labels) != samples {
		return &invalid.Error{Field: "labels", Want: fmt.Sprintf("%d, one per sample of the scores", samples), Got: fmt.Sprint(len(labels))}
	}
	for i, z := range labels {
		if z >= 0 && z < classes {
			continue
		}
		e := &invalid.Error{Field: "labels", Want: fmt.Sprintf("classes from 0 to %d", classes-1), Got: fmt.Sprintf("%d for sample %d", z, i)}
		if slices.Contains(labels, classes) && !slices.Contains(labels, 0) {
			e.Hint = fmt.Sprintf("There is a %d and no 0: labels that count from 1 need --index-from 1.", classes)
		}
		return e
	}
	return nil
}

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

// percentiles is the interval of resamples.
func percentiles(resamples []float64) Interval {
	if resamples == nil {
		return Interval{math.NaN(), math.NaN()}
	}
	slices.Sort(resamples)
	return Interval{stat.Quantile(0.025, stat.Empirical, resamples, nil), stat.Quantile(0.975, stat.Empirical, resamples, nil)}
}

// resample returns a statistic of the means of several sets of classes for each resample of each; nil if a
// set has fewer than two. Sets of equal sizes are resampled alike.
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

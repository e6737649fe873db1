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
// (ICML 2017); correction of p values, Holm, "A Simple Sequentially Rejective Multiple Test Procedure"
// (1979).
package metrics

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
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
			return nil, &invalid.Error{
				Field: fmt.Sprintf("scores of sample %d", i), Want: "numbers", Got: "NaN",
			}
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

// Interval is that of the accuracy per class. That of a single class, which says nothing about other classes,
// is over its samples: the exact binomial one (Clopper and Pearson 1934).
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

// Count counts the predictions of scores, the first class of equal highest scores.
func Count(scores dataset.Matrix[float32], labels []int) Tally {
	t := newTally(scores.Cols)
	for i, label := range labels {
		t.add(label, 1, Argmax(scores.Row(i)) == label)
	}
	return t
}

// CheckScores returns an *invalid.Error unless there are scores, and all are finite.
func CheckScores(scores dataset.Matrix[float32]) error {
	if scores.Rows < 1 || scores.Cols < 1 {
		return &invalid.Error{
			Field: "scores", Want: "at least one sample and one class",
			Got: fmt.Sprintf("%d x %d", scores.Rows, scores.Cols),
		}
	}
	if i := matrix.NotFinite(scores.Data); i >= 0 {
		return &invalid.Error{
			Field: "scores", Want: "finite numbers",
			Got: fmt.Sprintf("%v for sample %d and class %d, counted from 0", scores.Data[i], i/scores.Cols,
				i%scores.Cols),
		}
	}
	return nil
}

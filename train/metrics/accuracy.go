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
// Sources: per-class accuracy and the generalised setting, Xian et al., "Zero-Shot
// Learning - A Comprehensive Evaluation of the Good, the Bad and the Ugly" (2018);
// calibrated stacking and the seen-unseen curve, Chao et al., "An Empirical Study
// and Analysis of Generalized Zero-Shot Learning for Object Recognition in the Wild"
// (ECCV 2016); calibration and temperature, Guo et al., "On Calibration of Modern
// Neural Networks" (ICML 2017); risk and coverage, Geifman & El-Yaniv, "Selective
// Classification for Deep Neural Networks" (NeurIPS 2017); correction of p values, Holm, "A
// Simple Sequentially Rejective Multiple Test Procedure" (1979).
package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/finite"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Accuracy is how often the best-scored class is the true one.
type Accuracy struct {
	PerClass  float64 // mean over classes of (correct in z / samples in z), supplement A.1 of the paper
	PerSample float64 // share of all samples
}

// Confusion counts samples by their class (row) and predicted class (column).
type Confusion [][]int

// NewConfusion returns one of zeros.
func NewConfusion(classes int) Confusion {
	c := make(Confusion, classes)
	for z := range c {
		c[z] = make([]int, classes)
	}
	return c
}

// Add counts samples by their scores: one row per label, one column per class. Of equal
// highest scores the first is the prediction. NaN is an error.
func (c Confusion) Add(scores []float32, labels []int) error {
	for i, label := range labels {
		row := scores[i*len(c) : (i+1)*len(c)]
		if slices.ContainsFunc(row, func(v float32) bool { return v != v }) {
			return &invalid.Error{Field: fmt.Sprintf("scores of sample %d", i), Want: "numbers", Got: "NaN"}
		}
		c[label][Argmax(row)]++
	}
	return nil
}

// Accuracy excludes classes without samples.
func (c Confusion) Accuracy() Accuracy {
	t := newTally(len(c))
	for z, predicted := range c {
		for k, n := range predicted {
			t.add(z, n, k == z)
		}
	}
	return t.accuracy()
}

// Recall returns, for each class, its number of samples and the share of them that is
// predicted right, NaN without samples.
func (c Confusion) Recall() (samples []int, right []float64) {
	for z, predicted := range c {
		var n int
		for _, count := range predicted {
			n += count
		}
		samples, right = append(samples, n), append(right, float64(predicted[z])/float64(n))
	}
	return samples, right
}

// Mistake is one class predicted for samples of another.
type Mistake struct {
	True, Predicted int     // classes
	Samples         int     // of the true class, with this prediction
	Share           float64 // of the samples of the true class
}

// Mistakes lists the confused pairs of classes by their samples, the most first, then by
// class.
func (c Confusion) Mistakes() []Mistake {
	samples, _ := c.Recall()
	var list []Mistake
	for z, predicted := range c {
		for k, n := range predicted {
			if k != z && n > 0 {
				list = append(list, Mistake{z, k, n, float64(n) / float64(samples[z])})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Mistake) int { return cmp.Compare(b.Samples, a.Samples) })
	return list
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

// tally counts the samples of each class and the right predictions.
type tally struct{ samples, right []int }

func newTally(classes int) tally { return tally{make([]int, classes), make([]int, classes)} }

func (t tally) add(class, samples int, right bool) {
	t.samples[class] += samples
	if right {
		t.right[class] += samples
	}
}

// recall returns the share of right predictions of each class, NaN without samples.
func (t tally) recall() []float64 {
	shares := make([]float64, len(t.samples))
	for z, n := range t.samples {
		shares[z] = float64(t.right[z]) / float64(n)
	}
	return shares
}

func (t tally) accuracy() Accuracy {
	var a Accuracy
	var classes, right, samples int
	for z, n := range t.samples {
		if n > 0 {
			a.PerClass += float64(t.right[z]) / float64(n)
			classes++
		}
		right += t.right[z]
		samples += n
	}
	a.PerClass /= float64(classes)
	a.PerSample = float64(right) / float64(samples)
	return a
}

// TopK is how often the true class is among the k highest scores, per class and per
// sample. Of equal scores the first count as higher, so that k = 1 is accuracy.
func TopK(scores dataset.Matrix[float32], labels []int, k int) Accuracy {
	return topK(scores, labels, k).accuracy()
}

// TopKInterval is the interval of TopK per class.
func TopKInterval(scores dataset.Matrix[float32], labels []int, k int) Interval {
	return ClassInterval(topK(scores, labels, k).recall())
}

// ClassAccuracy is the share of the samples of each class that is predicted right, NaN for
// classes without samples.
func ClassAccuracy(scores dataset.Matrix[float32], labels []int) []float64 {
	return topK(scores, labels, 1).recall()
}

func topK(scores dataset.Matrix[float32], labels []int, k int) tally {
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

// CheckScores returns an *invalid.Error unless there are scores, as many as samples and
// classes, and all finite.
func CheckScores(scores dataset.Matrix[float32]) error {
	if scores.Rows < 1 || scores.Cols < 1 {
		return &invalid.Error{Field: "scores", Want: "at least one sample and one class", Got: fmt.Sprintf("%d x %d", scores.Rows, scores.Cols)}
	}
	if n := scores.Rows * scores.Cols; len(scores.Data) != n {
		return &invalid.Error{
			Field: "scores", Want: fmt.Sprintf("%d numbers for %d samples of %d classes", n, scores.Rows, scores.Cols), Got: fmt.Sprint(len(scores.Data)),
		}
	}
	if i := finite.Index(scores.Data); i >= 0 {
		return &invalid.Error{
			Field: "scores", Want: "finite numbers",
			Got: fmt.Sprintf("%v for sample %d and class %d, counted from 0", scores.Data[i], i/scores.Cols, i%scores.Cols),
		}
	}
	return nil
}

// CheckLabels returns an *invalid.Error unless labels are one per sample, each from 0 to
// classes-1.
func CheckLabels(labels []int, samples, classes int) error {
	if len(labels) != samples {
		return &invalid.Error{Field: "labels", Want: fmt.Sprintf("%d, one per sample of the scores", samples), Got: fmt.Sprint(len(labels))}
	}
	zero, last := false, false
	for _, z := range labels {
		zero, last = zero || z == 0, last || z == classes
	}
	for i, z := range labels {
		if z >= 0 && z < classes {
			continue
		}
		e := &invalid.Error{Field: "labels", Want: fmt.Sprintf("classes from 0 to %d", classes-1), Got: fmt.Sprintf("%d for sample %d", z, i)}
		if last && !zero {
			e.Hint = fmt.Sprintf("There is a %d and no 0: if the labels count from 1, subtract 1.", classes)
		}
		return e
	}
	return nil
}

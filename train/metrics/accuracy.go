// Package metrics evaluates scores: accuracy, generalised zero-shot accuracy over seen and
// unseen classes, calibration of probabilities, and confidence intervals over classes.
//
// Scores have one row per sample and one column per class, the higher the better; labels
// are columns. All functions are pure and independent of models, data sets and files.
// They expect scores that pass CheckScores.
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
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/model"
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
			return nil, invalid.Expected(fmt.Sprintf("scores of sample %d", i), "NaN", "numbers")
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
	i := Interval{High: 1}
	if right > 0 {
		i.Low = distuv.Beta{Alpha: right, Beta: wrong + 1}.Quantile(0.025)
	}
	if wrong > 0 {
		i.High = distuv.Beta{Alpha: right + 1, Beta: wrong}.Quantile(0.975)
	}
	return i
}

// Interval is a 95 % confidence interval by percentile bootstrap over classes.
type Interval = model.Interval

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
		return invalid.Expected("scores", fmt.Sprintf("%d x %d", scores.Rows, scores.Cols),
			"at least one sample and one class")
	}
	if i := matrix.NotFinite(scores.Data); i >= 0 {
		return invalid.Expected("scores", fmt.Sprintf("%v for sample %d and class %d, counted from 0",
			scores.Data[i], i/scores.Cols, i%scores.Cols), "finite numbers")
	}
	return nil
}

// NLL is the mean negative log-likelihood of the labels.
func NLL(scores dataset.Matrix[float32], labels []int, temperature float64) float64 {
	b := 1 / temperature
	var total float64
	for i, label := range labels {
		row := scores.Row(i)
		top := float64(row[Argmax(row)])
		var sum float64
		for _, v := range row {
			sum += math.Exp(b * (float64(v) - top))
		}
		total += math.Log(sum) + b*(top-float64(row[label])) // log sum_z exp(b (s_z - s_label))
	}
	return total / float64(len(labels))
}

// LogProbabilities returns the logs of probabilities: scores of temperature 1. Zeros become the log of the
// smallest float32.
func LogProbabilities(p dataset.Matrix[float32]) dataset.Matrix[float32] {
	scores := dataset.NewMatrix[float32](p.Rows, p.Cols)
	for i, v := range p.Data {
		scores.Data[i] = float32(math.Log(max(float64(v), math.SmallestNonzeroFloat32)))
	}
	return scores
}

var (
	errAllRight           = errors.New("all predictions are right, so the likelihood has no maximum")
	errNoBetterThanChance = errors.New("on average the true class scores no higher than the others, so the " +
		"likelihood has no maximum")
)

// FitTemperature returns the temperature T whose softmax(s/T) gives the labels the
// lowest NLL (Guo et al. 2017, section 4.2). It does not change predictions. It is an
// error if no temperature gives the lowest: the NLL falls down to T = 0 if all predictions
// are right, and up to T = Inf if the scores are no better than chance.
func FitTemperature(scores dataset.Matrix[float32], labels []int) (float64, error) {
	// In b = 1/T the NLL is convex. Its slope rises from that at b = 0, where all classes
	// are equally probable, to the mean difference of the highest and the true score.
	width := meanRange(scores)
	if slope, _ := slopes(scores, labels, 0); slope >= -tolerance*width {
		return 0, errNoBetterThanChance
	}
	allRight := true
	for i, label := range labels {
		row := scores.Row(i)
		allRight = allRight && row[label] == row[Argmax(row)]
	}
	if allRight {
		return 0, errAllRight
	}
	low, high := 0.0, 1/width
	for slope, _ := slopes(scores, labels, high); slope < 0; slope, _ = slopes(scores, labels, high) {
		low, high = high, 2*high
	}
	// Newton's method, with bisection where a step would leave the interval.
	b := (low + high) / 2
	for high-low > tolerance*high {
		slope, curvature := slopes(scores, labels, b)
		if slope == 0 {
			break
		}
		if slope < 0 {
			low = b
		} else {
			high = b
		}
		last := b
		if b -= slope / curvature; !(b > low && b < high) {
			b = (low + high) / 2
		}
		if math.Abs(b-last) <= tolerance*last {
			break
		}
	}
	return 1 / b, nil
}

// tolerance is the relative precision of the temperature and of sums of accuracies.
const tolerance = 1e-12

// slopes are the first and second derivative of NLL by b = 1/T: the means of
// E_p[s] - s_label and of Var_p[s].
func slopes(scores dataset.Matrix[float32], labels []int, b float64) (slope, curvature float64) {
	for i, label := range labels {
		row := scores.Row(i)
		top := float64(row[Argmax(row)])
		var sum, first, second float64
		for _, v := range row {
			below := float64(v) - top
			e := math.Exp(b * below)
			sum += e
			first += e * below
			second += e * below * below
		}
		mean := first / sum
		slope += mean - (float64(row[label]) - top)
		curvature += second/sum - mean*mean
	}
	n := float64(len(labels))
	return slope / n, curvature / n
}

func meanRange(scores dataset.Matrix[float32]) float64 {
	var sum float64
	for i := range scores.Rows {
		row := scores.Row(i)
		sum += float64(row[Argmax(row)]) - float64(slices.Min(row))
	}
	return sum / float64(scores.Rows)
}

// Confidence returns the highest probability of each sample.
func Confidence(scores dataset.Matrix[float32], temperature float64) []float64 {
	confidence := make([]float64, scores.Rows)
	for i := range confidence {
		row := scores.Row(i)
		top := float64(row[Argmax(row)])
		var sum float64
		for _, v := range row {
			sum += math.Exp((float64(v) - top) / temperature)
		}
		confidence[i] = 1 / sum
	}
	return confidence
}

// Right reports for each sample whether its prediction is right.
func Right(scores dataset.Matrix[float32], labels []int) []bool {
	right := make([]bool, len(labels))
	for i, label := range labels {
		right[i] = Argmax(scores.Row(i)) == label
	}
	return right
}

// Bin holds the samples with a confidence in (Low, High].
type Bin struct {
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Samples    int     `json:"samples"`
	Confidence float64 `json:"confidence"` // mean, 0 without samples
	Accuracy   float64 `json:"accuracy"`   // per sample, 0 without samples
}

// Reliability is a reliability diagram (Guo et al. 2017, section 2) in bins of equal width.
type Reliability []Bin

// NewReliability sorts samples into bins by their confidence, from 0 to 1.
func NewReliability(confidence []float64, right []bool, bins int) Reliability {
	r := make(Reliability, bins)
	for b := range r {
		r[b].Low, r[b].High = float64(b)/float64(bins), float64(b+1)/float64(bins)
	}
	for i, c := range confidence {
		b := &r[min(max(int(math.Ceil(c*float64(bins)))-1, 0), bins-1)]
		b.Samples++
		b.Confidence += c
		if right[i] {
			b.Accuracy++
		}
	}
	for b := range r {
		if n := float64(r[b].Samples); n > 0 {
			r[b].Confidence /= n
			r[b].Accuracy /= n
		}
	}
	return r
}

// ECE is the expected calibration error: the mean over samples of the difference between
// the confidence and the accuracy of their bins.
func (r Reliability) ECE() float64 {
	var sum float64
	var samples int
	for _, b := range r {
		sum += float64(b.Samples) * math.Abs(b.Accuracy-b.Confidence)
		samples += b.Samples
	}
	return sum / float64(samples)
}

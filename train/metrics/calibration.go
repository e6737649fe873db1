package metrics

import (
	"errors"
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
)

// softmax writes the probabilities of a row into to.
func softmax(to []float64, row []float32, temperature float64) {
	top := float64(row[Argmax(row)])
	var sum float64
	for z, v := range row {
		to[z] = math.Exp((float64(v) - top) / temperature)
		sum += to[z]
	}
	for z := range to {
		to[z] /= sum
	}
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
	for {
		slope, _ := slopes(scores, labels, high)
		if slope >= 0 {
			break
		}
		low, high = high, 2*high
	}
	return 1 / root(low, high, func(b float64) (slope, curvature float64) {
		return slopes(scores, labels, b)
	}), nil
}

// tolerance is the relative precision of the temperature and of sums of accuracies.
const tolerance = 1e-12

// root finds the zero of a rising function between low and high by Newton's method, with
// bisection where a Newton step would leave the interval.
func root(low, high float64, f func(float64) (value, slope float64)) float64 {
	x := (low + high) / 2
	for high-low > tolerance*high {
		value, slope := f(x)
		if value == 0 {
			return x
		}
		if value < 0 {
			low = x
		} else {
			high = x
		}
		next := x - value/slope
		if !(next > low && next < high) {
			next = (low + high) / 2
		}
		if math.Abs(next-x) <= tolerance*x {
			return next
		}
		x = next
	}
	return x
}

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

// meanRange is the mean difference between the highest and the lowest score of a sample.
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
	confidence, p := make([]float64, scores.Rows), make([]float64, scores.Cols)
	for i := range confidence {
		softmax(p, scores.Row(i), temperature)
		confidence[i] = slices.Max(p)
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

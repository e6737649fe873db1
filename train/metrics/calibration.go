package metrics

import (
	"errors"
	"math"

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

// NLL is the mean negative log-likelihood of the labels.
func NLL(scores dataset.Matrix[float32], labels []int, temperature float64) float64 {
	var total float64
	for i, label := range labels {
		total += logSumExp(scores.Row(i), label, 1/temperature)
	}
	return total / float64(len(labels))
}

// logSumExp is -log p of a class, log sum_z exp(b (s_z - s_class)).
func logSumExp(row []float32, class int, b float64) float64 {
	top := float64(row[Argmax(row)])
	var sum float64
	for _, v := range row {
		sum += math.Exp(b * (float64(v) - top))
	}
	return math.Log(sum) + b*(top-float64(row[class]))
}

// LogProbabilities returns the logs of probabilities, which softmax turns back into them.
// Zeros become the log of the smallest float32.
func LogProbabilities(p dataset.Matrix[float32]) dataset.Matrix[float32] {
	scores := dataset.NewMatrix[float32](p.Rows, p.Cols)
	for i, v := range p.Data {
		scores.Data[i] = float32(math.Log(max(float64(v), math.SmallestNonzeroFloat32)))
	}
	return scores
}

// Why scores have no best temperature.
var (
	// ErrAllRight says that no class is scored above the true one in any sample: the
	// lower the temperature, the better.
	ErrAllRight = errors.New("every sample's own class is scored highest, so that no temperature is low enough")
	// ErrNoBetterThanChance says that the true class is scored, on average, no higher
	// than the others: the higher the temperature, the better.
	ErrNoBetterThanChance = errors.New("the true class is scored no higher than the others on average, so that no temperature is high enough")
)

// FitTemperature returns the temperature T whose softmax(s/T) gives the labels the
// lowest NLL (Guo et al. 2017, section 4.2). It does not change predictions. The error is
// ErrAllRight or ErrNoBetterThanChance if there is no lowest.
func FitTemperature(scores dataset.Matrix[float32], labels []int) (float64, error) {
	// In b = 1/T the NLL is convex, and its slope rises from that at b = 0, where
	// all classes are alike, to the mean of how far the best class is above the true.
	width := spread(scores)
	if slope, _ := slopes(scores, labels, 0); slope >= -tolerance*width {
		return 0, ErrNoBetterThanChance
	}
	allRight := true
	for i, label := range labels {
		row := scores.Row(i)
		allRight = allRight && row[label] == row[Argmax(row)]
	}
	if allRight {
		return 0, ErrAllRight
	}
	low, high := 0.0, 1/width
	for {
		slope, _ := slopes(scores, labels, high)
		if slope >= 0 {
			break
		}
		low, high = high, 2*high
	}
	return 1 / root(low, high, func(b float64) (slope, curvature float64) { return slopes(scores, labels, b) }), nil
}

// tolerance is the relative precision of the temperature and of sums of accuracies.
const tolerance = 1e-12

// root finds where a rising function is 0 between low and high, by Newton's method
// and, where that would leave them, by halves.
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

// spread is the mean difference between the highest and the lowest score of a sample.
func spread(scores dataset.Matrix[float32]) float64 {
	var sum float64
	for i := range scores.Rows {
		row := scores.Row(i)
		low := row[0]
		for _, v := range row {
			low = min(low, v)
		}
		sum += float64(row[Argmax(row)]) - float64(low)
	}
	return sum / float64(scores.Rows)
}

// Bin holds the samples with a confidence in (Low, High].
type Bin struct {
	Low, High  float64
	Samples    int
	Confidence float64 // mean, 0 without samples
	Accuracy   float64 // 0 without samples
}

// Reliability is a reliability diagram (Guo et al. 2017, section 2) in bins of equal
// width.
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

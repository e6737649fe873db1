package metrics

import (
	"errors"
	"math"

	"github.com/lago-train/lago-train/dataset"
)

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
// lowest NLL (Guo et al. 2017, section 4.2). It never changes what is named. The
// error is ErrAllRight or ErrNoBetterThanChance where there is no lowest.
func FitTemperature(scores dataset.Matrix[float32], labels []int) (float64, error) {
	// In b = 1/T the NLL is convex, and its slope rises from that at b = 0, where
	// all classes are alike, to the mean of how far the best class is above the true.
	width := spread(scores)
	if slope, _ := slopes(scores, labels, 0); slope >= -rounding*width {
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

// rounding is the relative error that sums of as many terms may come out with.
const rounding = 1e-12

// root finds where a rising function is 0 between low and high, by Newton's method
// and, where that would leave them, by halves.
func root(low, high float64, f func(float64) (value, slope float64)) float64 {
	x := (low + high) / 2
	for high-low > rounding*high {
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
		if math.Abs(next-x) <= rounding*x {
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

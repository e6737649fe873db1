package metrics

import (
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

// Right says of each sample whether it is named right.
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

// LogProbabilities takes the logs of probabilities, so that softmax gives them back.
// What is 0 becomes the log of the smallest number there is.
func LogProbabilities(p dataset.Matrix[float32]) dataset.Matrix[float32] {
	scores := dataset.NewMatrix[float32](p.Rows, p.Cols)
	for i, v := range p.Data {
		scores.Data[i] = float32(math.Log(max(float64(v), math.SmallestNonzeroFloat32)))
	}
	return scores
}

package metrics

import (
	"cmp"
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
)

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

// Coverage is the accuracy of the most confident samples (Geifman & El-Yaniv 2017).
type Coverage struct {
	right []float64 // expected right predictions among the first 1, 2, ... samples
}

// NewCoverage sorts samples by their confidence. It averages over the order of samples of
// equal confidence.
func NewCoverage(confidence []float64, right []bool) *Coverage {
	order := make([]int, len(confidence))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(confidence[j], confidence[i]) })
	c := &Coverage{}
	var before float64
	for len(order) > 0 {
		var equal, correct int
		for equal < len(order) && confidence[order[equal]] == confidence[order[0]] {
			if right[order[equal]] {
				correct++
			}
			equal++
		}
		for k := range equal {
			c.right = append(c.right, before+float64(correct)*float64(k+1)/float64(equal))
		}
		before += float64(correct)
		order = order[equal:]
	}
	return c
}

// Len is the number of samples.
func (c *Coverage) Len() int { return len(c.right) }

// Accuracy is that of the n most confident samples, n from 1 to Len.
func (c *Coverage) Accuracy(n int) float64 { return c.right[n-1] / float64(n) }

// Area is the area under the risk-coverage curve: the mean of 1 - Accuracy over all n.
func (c *Coverage) Area() float64 {
	var sum float64
	for n := 1; n <= c.Len(); n++ {
		sum += 1 - c.Accuracy(n)
	}
	return sum / float64(c.Len())
}

package metrics

import "math"

// Bin is the samples whose confidence lies in (Low, High].
type Bin struct {
	Low, High  float64
	Samples    int
	Confidence float64 // mean of them, 0 of none
	Accuracy   float64 // share that is named right, 0 of none
}

// Reliability is the reliability diagram of named samples (Guo et al. 2017, section
// 2), in bins of equal width.
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

// ECE is the expected calibration error: how far confidence is from accuracy, over
// the bins by their samples.
func (r Reliability) ECE() float64 {
	var sum float64
	var samples int
	for _, b := range r {
		sum += float64(b.Samples) * math.Abs(b.Accuracy-b.Confidence)
		samples += b.Samples
	}
	return sum / float64(samples)
}

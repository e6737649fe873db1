package train

import "math"

// Accuracy is how often the best-scored class is the true one.
type Accuracy struct {
	PerClass  float64 // mean over classes of (correct in z / samples in z), supplement A.1
	PerSample float64 // share of all samples
}

// Confusion counts, for the samples of each class (row), the classes that they
// were named (column).
type Confusion [][]int

// NewConfusion returns one of zeros.
func NewConfusion(classes int) Confusion {
	c := make(Confusion, classes)
	for z := range c {
		c[z] = make([]int, classes)
	}
	return c
}

// Add counts samples by their scores, a row of as many as there are classes for
// each label. The first of equal scores is the prediction.
func (c Confusion) Add(scores []float32, labels []int) {
	for i, label := range labels {
		c[label][argmax(scores[i*len(c):(i+1)*len(c)])]++
	}
}

// Accuracy leaves classes without samples out.
func (c Confusion) Accuracy() Accuracy {
	var a Accuracy
	var classes, right, samples int
	for z, named := range c {
		var n int
		for _, count := range named {
			n += count
		}
		if n > 0 {
			a.PerClass += float64(named[z]) / float64(n)
			classes++
		}
		right += named[z]
		samples += n
	}
	a.PerClass /= float64(classes)
	a.PerSample = float64(right) / float64(samples)
	return a
}

func argmax(row []float32) int {
	best := 0
	top := math.Inf(-1)
	for z, v := range row {
		if float64(v) > top {
			best, top = z, float64(v)
		}
	}
	return best
}

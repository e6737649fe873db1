package metrics

import (
	"cmp"
	"math"
	"slices"
)

// Accuracy is how often the best-scored class is the true one.
type Accuracy struct {
	PerClass  float64 // mean over classes of (correct in z / samples in z), supplement A.1 of the paper
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
		c[label][Argmax(scores[i*len(c):(i+1)*len(c)])]++
	}
}

// Accuracy leaves classes without samples out.
func (c Confusion) Accuracy() Accuracy {
	t := newTally(len(c))
	for z, named := range c {
		for k, n := range named {
			t.add(z, n, k == z)
		}
	}
	return t.accuracy()
}

// Recall returns, for each class, its number of samples and the share of them that
// was named right, NaN where there are none.
func (c Confusion) Recall() (samples []int, right []float64) {
	for z, named := range c {
		var n int
		for _, count := range named {
			n += count
		}
		samples, right = append(samples, n), append(right, float64(named[z])/float64(n))
	}
	return samples, right
}

// Mistake is one class taken for another.
type Mistake struct {
	True, Named int
	Samples     int     // of the true class that were named the other
	Share       float64 // of the samples of the true class
}

// Mistakes lists the pairs that were confused, those with the most samples first,
// and of equals those that come first by class.
func (c Confusion) Mistakes() []Mistake {
	samples, _ := c.Recall()
	var list []Mistake
	for z, named := range c {
		for k, n := range named {
			if k != z && n > 0 {
				list = append(list, Mistake{z, k, n, float64(n) / float64(samples[z])})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Mistake) int { return cmp.Compare(b.Samples, a.Samples) })
	return list
}

// Argmax returns the place of the highest of a row, the first of equals. What is no
// number is never the highest, but where there is nothing else it returns 0.
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

// tally counts the samples of each class, and those that were named right.
type tally struct{ samples, right []int }

func newTally(classes int) tally { return tally{make([]int, classes), make([]int, classes)} }

func (t tally) add(class, samples int, right bool) {
	t.samples[class] += samples
	if right {
		t.right[class] += samples
	}
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

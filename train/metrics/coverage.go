package metrics

import (
	"cmp"
	"slices"
)

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
		var equal, rightOnes int
		for equal < len(order) && confidence[order[equal]] == confidence[order[0]] {
			if right[order[equal]] {
				rightOnes++
			}
			equal++
		}
		for k := range equal {
			c.right = append(c.right, before+float64(rightOnes)*float64(k+1)/float64(equal))
		}
		before += float64(rightOnes)
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

package train

import (
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat"
)

// Fit is how well held-out samples of the validation classes, all of them described, fit their best
// class: quantiles of model.Pipeline.BestFit, evenly spaced from the lowest to the highest.
type Fit struct {
	Quantiles []float64 `json:"quantiles"`
	Samples   int       `json:"samples"`
	Classes   int       `json:"classes"`
}

const fitQuantiles = 101 // per cent

// NewFit returns the quantiles of the fits of samples.
func NewFit(fits []float64, classes int) *Fit {
	sorted, f := slices.Sorted(slices.Values(fits)), &Fit{Samples: len(fits), Classes: classes}
	for i := range fitQuantiles {
		f.Quantiles = append(f.Quantiles, stat.Quantile(float64(i)/(fitQuantiles-1), stat.LinInterp, sorted, nil))
	}
	return f
}

// Share returns the share of the held-out samples that fit less well.
func (f *Fit) Share(fit float64) float64 {
	q, last := f.Quantiles, len(f.Quantiles)-1
	i := sort.SearchFloat64s(q, fit) // q[i-1] < fit <= q[i]
	switch {
	case i == 0:
		return 0
	case i > last:
		return 1
	}
	return (float64(i-1) + (fit-q[i-1])/(q[i]-q[i-1])) / float64(last)
}

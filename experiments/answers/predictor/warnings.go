package predictor

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/lago-train/lago-train/internal/format"
)

const (
	LowFit = 0.05 // a fit below which a sample may be of none of the candidates

	unlikely = 1e-3 // of so many samples with a low fit, if all were like held-out ones
)

// Warnings say what makes the predictions worth little: far more samples with a low fit than expected, and
// samples whose features are all 0.
func (r *Predictions) Warnings() (list []string) {
	low := 0
	for _, s := range r.Samples {
		if r.Fits != nil && s.Fit < LowFit {
			low++
		}
	}
	n := float64(len(r.Samples))
	chance := distuv.Binomial{N: n, P: LowFit}.Survival(float64(low) - 1)
	if low > 0 && chance < unlikely && float64(low) > 2*LowFit*n {
		list = append(list, fmt.Sprintf("%d of %s fit their best class less well than 95 %% of the "+
			"held-out samples fit theirs, where %.0f were expected. "+
			"Usual causes: features of another network or preprocessing, columns or colours in another "+
			"order, samples of classes that are no candidates",
			low, format.Count(len(r.Samples), "sample"), LowFit*n))
	}
	if len(r.zero) > 0 {
		const few = 5 // to name
		var names []string
		for _, i := range r.zero[:min(few, len(r.zero))] {
			names = append(names, cmp.Or(r.Samples[i].ID, strconv.Itoa(r.Samples[i].Index)))
		}
		list = append(list,
			fmt.Sprintf("the features of %s are all 0, among them %s: their predictions say nothing",
				format.Count(len(r.zero), "sample"), format.Printable(strings.Join(names, ", "))))
	}
	return list
}

// IsZero reports whether the features of a sample are all 0.
func IsZero(x []float32) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}

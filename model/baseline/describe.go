package baseline

import (
	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

// singletons is a model that knows nothing of groups.
var singletons = model.Config{Variant: model.Singletons, Prior: model.PerAttribute}

// Describe returns descriptions without gaps, Z x M. What stands for an undescribed
// attribute (NaN) is what LAGO takes where it knows no groups: the mean over the
// classes at hand. With normalise, each class is then scaled to length 1; one of
// zeros stays. The error is a *invalid.Error where u holds something else than
// probabilities.
func Describe(u dataset.Matrix[float64], normalise bool) (dataset.Matrix[float64], error) {
	d, err := singletons.Describe(u, nil)
	if err != nil {
		return u, err
	}
	if normalise {
		for z := range d.U.Rows {
			toUnitLength(d.U.Row(z))
		}
	}
	return d.U, nil
}

// toUnitLength scales a vector; one of zeros stays.
func toUnitLength(v []float64) {
	length := floats.Norm(v, 2)
	if length == 0 {
		return
	}
	for i := range v {
		v[i] /= length
	}
}

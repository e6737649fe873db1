package kernelalign

import (
	"math"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
)

// singletons is a LAGO that knows nothing of groups, for how it fills gaps; its prior
// is the mean over the classes.
var singletons = model.Config{Variant: model.Singletons, Prior: model.PerAttribute}

// frame is in which coordinates samples and classes are compared: those of the
// authors' program.
type frame struct {
	mean   dataset.Matrix[float32] // 1 x D, of the training samples
	centre dataset.Matrix[float32] // 1 x M, of the training classes; zeros where descriptions stay as they are
}

// newFrame fits a frame to the examples.
func newFrame(e baseline.Examples, normalise bool) (frame, error) {
	f := frame{dataset.NewMatrix[float32](1, e.X.Cols), dataset.NewMatrix[float32](1, e.U.Cols)}
	for d, v := range means(e.X, e.Rows) {
		f.mean.Data[d] = float32(v)
	}
	d, err := singletons.Describe(e.U, nil)
	if err != nil || !normalise {
		return f, err
	}
	for m, v := range d.P {
		f.centre.Data[m] = float32(v)
	}
	return f, nil
}

// features writes the given rows of x into the first rows of to, centred and of
// length 1. A sample that is the mean stays one of zeros.
func (f frame) features(to, x dataset.Matrix[float32], rows []int) {
	for i, r := range rows {
		row := to.Row(i)
		for d, v := range x.Row(r) {
			row[d] = v - f.mean.Data[d]
		}
		toUnitLength(row)
	}
}

// descriptions returns Y, u centred and, with normalise, of length 1. Impute are filled
// by the classes at hand; an attribute that none of them describes is at the centre,
// where it is left out of the choice.
func (f frame) descriptions(u dataset.Matrix[float64], normalise bool) (dataset.Matrix[float32], error) {
	y := dataset.NewMatrix[float32](u.Rows, u.Cols)
	d, err := singletons.Describe(u, nil)
	if err != nil {
		return y, err
	}
	for z := range y.Rows {
		row := y.Row(z)
		for m, v := range d.U.Row(z) {
			if d.Undescribed == nil || !d.Undescribed[m] {
				row[m] = float32(v - float64(f.centre.Data[m]))
			}
		}
		if normalise {
			toUnitLength(row)
		}
	}
	return y, nil
}

// toUnitLength scales a vector; one of zeros stays.
func toUnitLength(v []float32) {
	length := float32(math.Sqrt(squaredLength(v)))
	if length == 0 {
		return
	}
	for i := range v {
		v[i] /= length
	}
}

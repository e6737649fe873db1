package baseline

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
)

// singletons is a LAGO without attribute groups.
var singletons = model.Config{Variant: model.Singletons, Prior: model.PerAttribute}

// Complete returns the descriptions that LAGO without groups uses for u, Z x M: a missing
// entry is the mean of the attribute over the classes of u. The error is an
// *invalid.Error if an entry is not a probability.
func Complete(u dataset.Matrix[float64]) (*model.Description, error) {
	return singletons.Describe(u, nil)
}

// Describe returns the matrix of Complete. With normalise, classes are scaled to length 1;
// rows of zeros stay zero.
func Describe(u dataset.Matrix[float64], normalise bool) (dataset.Matrix[float64], error) {
	d, err := Complete(u)
	if err != nil {
		return u, err
	}
	if normalise {
		for z := range d.U.Rows {
			row := d.U.Row(z)
			length := floats.Norm(row, 2)
			for m := range row {
				if length > 0 {
					row[m] /= length
				}
			}
		}
	}
	return d.U, nil
}

// Finite returns the scores of a model, or a *model.NotFinite if one is NaN, which would
// count as the first class.
func Finite(scores dataset.Matrix[float32]) (dataset.Matrix[float32], error) {
	for _, v := range scores.Data {
		if v != v {
			return scores, &model.NotFinite{Term: "score", Value: float64(v)}
		}
	}
	return scores, nil
}

// CheckDetections returns an *invalid.Error unless the detections a have the given number
// of columns and the descriptions u have the given number of attributes.
func CheckDetections(a dataset.Matrix[float32], detections int, u dataset.Matrix[float64], attributes int) error {
	for _, c := range []struct {
		field     string
		want, got int
	}{{"detections", detections, a.Cols}, {"attributes", attributes, u.Cols}} {
		if c.want != c.got {
			return &invalid.Error{Field: c.field, Want: fmt.Sprintf("%d, as in training", c.want), Got: fmt.Sprint(c.got)}
		}
	}
	return nil
}

package bilinear

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
)

// Model is a map that was found. Its scores are no probabilities.
type Model struct {
	W         dataset.Matrix[float32] // D x M
	Normalise bool                    // descriptions are scaled to length 1
	Features  Features

	shift, scale []float32 // D, of Standardize
}

var _ baseline.Model = (*Model)(nil)

// Tensors implements baseline.Model.
func (m *Model) Tensors() baseline.Tensors {
	t := baseline.Tensors{{Name: "W", Matrix: m.W}}
	if m.Features == Standardize {
		row := func(v []float32) dataset.Matrix[float32] {
			return dataset.Matrix[float32]{Rows: 1, Cols: len(v), Data: v}
		}
		t = append(t, baseline.Tensor{Name: "shift", Matrix: row(m.shift)}, baseline.Tensor{Name: "scale", Matrix: row(m.scale)})
	}
	return t
}

// Restore returns the model that has the given Tensors. The error is a *invalid.Error
// that names the first that is not as it should be.
func Restore(t baseline.Tensors, normalise bool, f Features) (*Model, error) {
	w, err := t.Get("W", -1, -1)
	if err != nil {
		return nil, err
	}
	m := &Model{W: w, Normalise: normalise, Features: f}
	if f == Standardize {
		shift, err := t.Get("shift", 1, w.Rows)
		if err != nil {
			return nil, err
		}
		scale, err := t.Get("scale", 1, w.Rows)
		if err != nil {
			return nil, err
		}
		m.shift, m.scale = shift.Data, scale.Data
	}
	return m, nil
}

// Score implements model.Classifier.
func (m *Model) Score(x dataset.Matrix[float32], rows []int, u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	return model.DetectAndClassify(m, x, rows, u)
}

// Detect returns X W of the given rows: how much of each attribute is seen in a
// sample, on no particular scale.
func (m *Model) Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	return baseline.Project(m.W, x, rows, m.Gather)
}

// Classify returns A U' for the classes that u describes.
func (m *Model) Classify(a dataset.Matrix[float32], u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	scores := dataset.NewMatrix[float32](a.Rows, u.Rows)
	if a.Cols != m.W.Cols || u.Cols != m.W.Cols {
		return scores, &invalid.Error{Field: "attributes", Want: "as many as the model was fitted to", Got: fmt.Sprint([2]int{a.Cols, u.Cols})}
	}
	d, err := Describe(u, m.Normalise)
	if err != nil || a.Rows == 0 {
		return scores, err
	}
	blas32.Implementation().Sgemm(blas.NoTrans, blas.Trans, a.Rows, u.Rows, a.Cols,
		1, a.Data, a.Cols, d.Data, a.Cols, 0, scores.Data, u.Rows)
	return scores, nil
}

// Describe returns the descriptions of baseline.Describe in the precision of W.
func Describe(u dataset.Matrix[float64], normalise bool) (dataset.Matrix[float32], error) {
	d, err := baseline.Describe(u, normalise)
	if err != nil {
		return dataset.Matrix[float32]{}, err
	}
	to := dataset.NewMatrix[float32](d.Rows, d.Cols)
	for i, v := range d.Data {
		to.Data[i] = float32(v)
	}
	return to, nil
}

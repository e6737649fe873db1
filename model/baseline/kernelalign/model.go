package kernelalign

import (
	"fmt"

	"gonum.org/v1/gonum/blas"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
)

// Model is a projection that was learned, and what it takes to score by it.
type Model struct {
	config Config
	frame  frame
	w      dataset.Matrix[float32] // D x M
}

var _ baseline.Model = (*Model)(nil)

// Score implements model.Classifier.
func (m *Model) Score(x dataset.Matrix[float32], rows []int, u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	return model.DetectAndClassify(m, x, rows, u)
}

// Detect returns W'x of the given rows, centred and of length 1: where each sample
// is among the descriptions.
func (m *Model) Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	return baseline.Project(m.w, x, rows, m.frame.features)
}

// Classify returns k(a, y_z) for the classes that u describes. Where classes were
// aligned in the space of the features, too, by the kernel k', it is
//
//	k (2 - k) + k' (2 - k') = 2 - (1 - k)^2 - (1 - k')^2
//
// which is the order of the authors' program; the form on the left is exact where both
// kernels are near 0.
func (m *Model) Classify(a dataset.Matrix[float32], u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	scores := dataset.NewMatrix[float32](a.Rows, u.Rows)
	if a.Cols != m.w.Cols || u.Cols != m.w.Cols {
		return scores, &invalid.Error{Field: "attributes", Want: "as many as the model was fitted to", Got: fmt.Sprint([2]int{a.Cols, u.Cols})}
	}
	y, err := m.frame.descriptions(u, m.config.Normalise)
	if err != nil || a.Rows == 0 {
		return scores, err
	}
	gemm(blas.NoTrans, blas.Trans, 1, a, y, 0, scores)
	yy, pp := squaredLengths(y), []float64(nil)
	if m.config.mutual() {
		p := dataset.NewMatrix[float32](y.Rows, m.w.Rows)
		gemm(blas.NoTrans, blas.Trans, 1, y, m.w, 0, p)
		pp = squaredLengths(p)
	}
	k := m.config.kernel()
	for i := range a.Rows {
		aa := squaredLength(a.Row(i))
		row := scores.Row(i)
		for z, v := range row {
			s, _ := k.at(k.number(aa, float64(v), yy[z]))
			if pp != nil {
				t, _ := k.at(k.number(1, float64(v), pp[z]))
				s = s*(2-s) + t*(2-t)
			}
			row[z] = float32(s)
		}
	}
	return scores, nil
}

// Tensors implements baseline.Model.
func (m *Model) Tensors() baseline.Tensors {
	return baseline.Tensors{{Name: "W", Matrix: m.w}, {Name: "mean", Matrix: m.frame.mean}, {Name: "centre", Matrix: m.frame.centre}}
}

// Restore implements baseline.Settings. The error is a *invalid.Error that names the setting
// or the tensor that won't do.
func (c Config) Restore(t baseline.Tensors) (baseline.Model, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	m := &Model{config: c}
	var err error
	if m.w, err = t.Get("W", -1, -1); err != nil {
		return nil, err
	}
	if m.frame.mean, err = t.Get("mean", 1, m.w.Rows); err != nil {
		return nil, err
	}
	if m.frame.centre, err = t.Get("centre", 1, m.w.Cols); err != nil {
		return nil, err
	}
	return m, nil
}

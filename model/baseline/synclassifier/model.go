package synclassifier

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/linear"
)

// Model is a trained SynC. Its scores are no probabilities.
type Model struct {
	V        dataset.Matrix[float32] // D x R, the classifiers of the phantoms
	Phantoms dataset.Matrix[float32] // R x M, their descriptions
	Mean     dataset.Matrix[float32] // 1 x M, of the classes learned from, for what no class at hand describes
	Distance dataset.Matrix[float32] // 1 x 1, the length that descriptions are measured in

	config Config
}

var _ baseline.Model = (*Model)(nil)

// Tensors implements baseline.Model.
func (m *Model) Tensors() baseline.Tensors {
	return baseline.Tensors{{Name: "V", Matrix: m.V}, {Name: "phantoms", Matrix: m.Phantoms}, {Name: "mean", Matrix: m.Mean}, {Name: "distance", Matrix: m.Distance}}
}

// Restore implements baseline.Settings.
func (c Config) Restore(t baseline.Tensors) (baseline.Model, error) {
	m := &Model{config: c}
	var err error
	if m.Phantoms, err = t.Get("phantoms", -1, -1); err != nil {
		return nil, err
	}
	if m.V, err = t.Get("V", -1, m.Phantoms.Rows); err != nil {
		return nil, err
	}
	if m.Mean, err = t.Get("mean", 1, m.Phantoms.Cols); err != nil {
		return nil, err
	}
	m.Distance, err = t.Get("distance", 1, 1)
	return m, err
}

// Score implements model.Classifier.
func (m *Model) Score(x dataset.Matrix[float32], rows []int, u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	return model.DetectAndClassify(m, x, rows, u)
}

// Detect returns the scores v_r x of the phantom classes, len(rows) x R.
func (m *Model) Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	return linear.Scores(m.V, m.config.Unit, x, rows)
}

// Judge combines the scores a of phantom classes, n x R, to those of the classes that u
// describes.
func (m *Model) Classify(a dataset.Matrix[float32], u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	scores := dataset.NewMatrix[float32](a.Rows, u.Rows)
	if a.Cols != m.Phantoms.Rows {
		return scores, &invalid.Error{Field: "detections", Want: "one for each phantom class of the model", Got: fmt.Sprint(a.Cols)}
	}
	if u.Cols != m.Phantoms.Cols {
		return scores, &invalid.Error{Field: "attributes", Want: "as many as the model was fitted to", Got: fmt.Sprint(u.Cols)}
	}
	classes, err := m.describe(u)
	if err != nil || a.Rows == 0 {
		return scores, err
	}
	// In float64, since the scores of phantoms may be large and of either sign.
	s, phantoms := m.similarities(classes), double(a)
	combined := dataset.NewMatrix[float64](a.Rows, u.Rows)
	blas64.Implementation().Dgemm(blas.NoTrans, blas.Trans, a.Rows, u.Rows, a.Cols,
		1, phantoms.Data, a.Cols, s.Data, a.Cols, 0, combined.Data, u.Rows)
	for i, v := range combined.Data {
		scores.Data[i] = float32(v)
	}
	return scores, nil
}

// describe returns descriptions as the kernel takes them. An attribute that no class at
// hand describes counts as the mean of the classes learned from.
func (m *Model) describe(u dataset.Matrix[float64]) (dataset.Matrix[float64], error) {
	full := dataset.NewMatrix[float64](u.Rows, u.Cols)
	copy(full.Data, u.Data)
	for j, mean := range m.Mean.Data {
		if silent(u, j) {
			for z := range full.Rows {
				full.Row(z)[j] = float64(mean)
			}
		}
	}
	d, err := baseline.Describe(full, m.config.Normalise)
	if err != nil {
		return d, err
	}
	floats.Scale(1/float64(m.Distance.Data[0]), d.Data)
	return d, nil
}

func silent(u dataset.Matrix[float64], attribute int) bool {
	for z := range u.Rows {
		if !math.IsNaN(u.Row(z)[attribute]) {
			return false
		}
	}
	return true
}

// similarities are those of classes, as described, to the phantoms.
func (m *Model) similarities(classes dataset.Matrix[float64]) dataset.Matrix[float64] {
	return similarities(classes, double(m.Phantoms), m.config.Sigma)
}

func double(m dataset.Matrix[float32]) dataset.Matrix[float64] {
	d := dataset.NewMatrix[float64](m.Rows, m.Cols)
	for i, v := range m.Data {
		d.Data[i] = float64(v)
	}
	return d
}

package eszsl

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

// Model is a fitted ESZSL. Its scores are no probabilities.
type Model struct {
	w         dataset.Matrix[float32] // D x M
	normalise bool
}

var _ model.Detecting = (*Model)(nil)

// Score implements model.Classifier.
func (m *Model) Score(x dataset.Matrix[float32], rows []int, u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	a, err := m.Detect(x, rows)
	if err != nil {
		return a, err
	}
	return m.Judge(a, u)
}

// detectBlock is how many samples are mapped at a time.
const detectBlock = 256

// Detect returns X W of the given rows: how much of each attribute is seen in a
// sample, on no particular scale.
func (m *Model) Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	a := dataset.NewMatrix[float32](len(rows), m.w.Cols)
	if x.Cols != m.w.Rows {
		return a, &model.Error{Field: "features", Want: "as many dimensions as the model was fitted to", Got: x.Cols}
	}
	block := dataset.NewMatrix[float32](min(detectBlock, len(rows)), x.Cols)
	done := 0
	for part := range slices.Chunk(rows, detectBlock) {
		for i, r := range part {
			copy(block.Row(i), x.Row(r))
		}
		blas32.Implementation().Sgemm(blas.NoTrans, blas.NoTrans, len(part), a.Cols, x.Cols,
			1, block.Data, x.Cols, m.w.Data, a.Cols, 0, a.Data[done*a.Cols:], a.Cols)
		done += len(part)
	}
	return a, nil
}

// Judge returns A U' for the classes that u describes.
func (m *Model) Judge(a dataset.Matrix[float32], u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	scores := dataset.NewMatrix[float32](a.Rows, u.Rows)
	if a.Cols != m.w.Cols || u.Cols != m.w.Cols {
		return scores, &model.Error{Field: "attributes", Want: "as many as the model was fitted to", Got: [2]int{a.Cols, u.Cols}}
	}
	d, err := m.describe(u)
	if err != nil || a.Rows == 0 {
		return scores, err
	}
	described := make([]float32, len(d.Data))
	for i, v := range d.Data {
		described[i] = float32(v)
	}
	blas32.Implementation().Sgemm(blas.NoTrans, blas.Trans, a.Rows, u.Rows, a.Cols,
		1, a.Data, a.Cols, described, a.Cols, 0, scores.Data, u.Rows)
	return scores, nil
}

// gaps is how descriptions without gaps are made: an undescribed attribute counts
// as its mean over the classes at hand.
var gaps = model.Config{Variant: model.Singletons, Prior: model.PerAttribute}

// describe returns descriptions in the form that fits and scores take.
func (m *Model) describe(u dataset.Matrix[float64]) (dataset.Matrix[float64], error) {
	d, err := gaps.Describe(u, nil)
	if err != nil {
		return u, err
	}
	if m.normalise {
		for z := range d.U.Rows {
			toUnitLength(d.U.Row(z))
		}
	}
	return d.U, nil
}

// toUnitLength scales a vector; one of zeros stays.
func toUnitLength(v []float64) {
	var squares float64
	for _, x := range v {
		squares += x * x
	}
	if squares == 0 {
		return
	}
	length := math.Sqrt(squares)
	for i := range v {
		v[i] /= length
	}
}

package kernelalign

import (
	"math"

	"gonum.org/v1/gonum/blas"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/method"
)

// Model is a learned projection with the normalisation of features and descriptions.
type Model struct {
	config Config
	w      dataset.Matrix[float32] // D x M
	mean   dataset.Matrix[float32] // 1 x D, of the training samples
	centre dataset.Matrix[float32] // 1 x M, mean of the training classes; zeros without normalise
}

var _ method.Model = (*Model)(nil)

// newModel fits the normalisation to the examples.
func newModel(c Config, e method.Examples) (*Model, error) {
	m := &Model{
		config: c,
		w:      dataset.NewMatrix[float32](e.X.Cols, e.U.Cols),
		mean:   dataset.NewMatrix[float32](1, e.X.Cols),
		centre: dataset.NewMatrix[float32](1, e.U.Cols),
	}
	sum := make([]float64, e.X.Cols)
	for _, r := range e.Rows {
		for d, v := range e.X.Row(r) {
			sum[d] += float64(v)
		}
	}
	for d, v := range sum {
		m.mean.Data[d] = float32(v / float64(len(e.Rows)))
	}
	d, err := baseline.Complete(e.U)
	if err != nil || !c.Normalise {
		return m, err
	}
	for a, v := range d.P {
		m.centre.Data[a] = float32(v)
	}
	return m, nil
}

// features writes the given rows of x, centred and scaled to length 1, into the first
// rows of to. A sample equal to the mean becomes zeros.
func (m *Model) features(to, x dataset.Matrix[float32], rows []int) {
	for i, r := range rows {
		row := to.Row(i)
		for d, v := range x.Row(r) {
			row[d] = v - m.mean.Data[d]
		}
		toUnitLength(row)
	}
}

// descriptions returns Y, u centred and scaled to length 1. Missing entries are the mean
// of the attribute over the classes of u; an attribute that no class describes is 0, and
// so does not distinguish the classes.
func (m *Model) descriptions(u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	y := dataset.NewMatrix[float32](u.Rows, u.Cols)
	d, err := baseline.Complete(u)
	if err != nil {
		return y, err
	}
	for z := range y.Rows {
		row := y.Row(z)
		for a, v := range d.U.Row(z) {
			if d.Undescribed == nil || !d.Undescribed[a] {
				row[a] = float32(v - float64(m.centre.Data[a]))
			}
		}
		if m.config.Normalise {
			toUnitLength(row)
		}
	}
	return y, nil
}

// toUnitLength scales a vector to length 1; zeros stay zero.
func toUnitLength(v []float32) {
	length := float32(math.Sqrt(squaredLength(v)))
	if length == 0 {
		return
	}
	for i := range v {
		v[i] /= length
	}
}

func squaredLength[T model.Float](v []T) float64 {
	var s float64
	for _, x := range v {
		s += float64(x) * float64(x)
	}
	return s
}

// squaredLengths returns those of the rows.
func squaredLengths[T model.Float](m dataset.Matrix[T]) []float64 {
	s := make([]float64, m.Rows)
	for i := range s {
		s[i] = squaredLength(m.Row(i))
	}
	return s
}

// Tensors implements method.Model.
func (m *Model) Tensors() method.Tensors {
	return method.Tensors{{Name: "W", Matrix: m.w}, {Name: "mean", Matrix: m.mean}, {Name: "centre", Matrix: m.centre}}
}

// Detect returns W'x of the given rows, len(rows) x M, with x normalised.
func (m *Model) Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	return baseline.Project(m.w, x, rows, m.features)
}

// Classify returns k = k(a, y_z) for the classes that u describes. With ort, and
// k' = k(x, W y_z), it returns
//
//	k (2 - k) + k' (2 - k') = 2 - (1 - k)^2 - (1 - k')^2,
//
// which ranks the classes as the authors' program does; the form on the left is exact
// where both kernels are near 0.
func (m *Model) Classify(a dataset.Matrix[float32], u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	scores := dataset.NewMatrix[float32](a.Rows, u.Rows)
	if err := baseline.CheckDetections(a, m.w.Cols, u, m.w.Cols); err != nil {
		return scores, err
	}
	y, err := m.descriptions(u)
	if err != nil || a.Rows == 0 {
		return scores, err
	}
	baseline.Gemm(blas.NoTrans, blas.Trans, 1, a, y, 0, scores)
	yy, pp := squaredLengths(y), []float64(nil)
	if m.config.mutual() {
		p := dataset.NewMatrix[float32](y.Rows, m.w.Rows)
		baseline.Gemm(blas.NoTrans, blas.Trans, 1, y, m.w, 0, p)
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
	return baseline.Finite(scores)
}

package synclassifier

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/baseline"
)

// Model is a trained SynC. Its scores are not probabilities.
type Model struct {
	V        dataset.Matrix[float32] // D x R, the classifiers of the phantoms
	Phantoms dataset.Matrix[float32] // R x M, the scaled descriptions of the training classes
	Mean     dataset.Matrix[float32] // 1 x M, of the training classes, for attributes that no class describes
	Distance dataset.Matrix[float32] // 1 x 1, the unit of descriptions: the median distance of training classes

	config Config
}

var _ baseline.Model = (*Model)(nil)

// Tensors implements baseline.Model.
func (m *Model) Tensors() baseline.Tensors {
	return baseline.Tensors{{Name: "V", Matrix: m.V}, {Name: "phantoms", Matrix: m.Phantoms}, {Name: "mean", Matrix: m.Mean}, {Name: "distance", Matrix: m.Distance}}
}

// Restore implements baseline.Hyperparameters.
func (c Config) Restore(t baseline.Tensors) (baseline.Model, error) {
	r := &baseline.Reader{Tensors: t}
	m := &Model{config: c, Phantoms: r.Get("phantoms", -1, -1), Distance: r.Get("distance", 1, 1)}
	m.V = r.Get("V", -1, m.Phantoms.Rows)
	m.Mean = r.Get("mean", 1, m.Phantoms.Cols)
	return m, r.Err
}

// Detect returns the scores v_r'x of the phantoms, len(rows) x R.
func (m *Model) Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	gather := baseline.CopyRows
	if m.config.Unit {
		gather = baseline.CopyUnitRows
	}
	return baseline.Project(m.V, x, rows, gather)
}

// Classify combines the scores a of the phantoms, n x R, into scores of the classes that
// u describes.
func (m *Model) Classify(a dataset.Matrix[float32], u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	scores := dataset.NewMatrix[float32](a.Rows, u.Rows)
	if err := baseline.CheckDetections(a, m.Phantoms.Rows, u, m.Phantoms.Cols); err != nil {
		return scores, err
	}
	classes, err := m.describe(u)
	if err != nil || a.Rows == 0 {
		return scores, err
	}
	// In float64, since the scores of phantoms can be large and of either sign.
	combined := dataset.NewMatrix[float64](a.Rows, u.Rows)
	baseline.Gemm(blas.NoTrans, blas.Trans, 1, dataset.Convert[float64](a), m.similarities(classes), 0, combined)
	return baseline.Finite(dataset.Convert[float32](combined))
}

// describe returns the descriptions in the unit of the kernel. An attribute that no class
// describes gets the mean over the training classes.
func (m *Model) describe(u dataset.Matrix[float64]) (dataset.Matrix[float64], error) {
	full := dataset.Convert[float64](u)
	for a, mean := range dataset.Means(u, math.NaN()) {
		if math.IsNaN(mean) {
			for z := range full.Rows {
				full.Row(z)[a] = float64(m.Mean.Data[a])
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

// similarities returns the s_cr of scaled descriptions, classes x R.
func (m *Model) similarities(classes dataset.Matrix[float64]) dataset.Matrix[float64] {
	return similarities(classes, dataset.Convert[float64](m.Phantoms), m.config.Sigma)
}

func squaredDistance(a, b []float64) (sum float64) {
	for m, v := range a {
		sum += (v - b[m]) * (v - b[m])
	}
	return sum
}

// medianDistance returns the median distance of two different classes, 1 without any.
func medianDistance(classes dataset.Matrix[float64]) float64 {
	var all []float64
	for z := range classes.Rows {
		for other := range z {
			if d := squaredDistance(classes.Row(z), classes.Row(other)); d > 0 {
				all = append(all, math.Sqrt(d))
			}
		}
	}
	if len(all) == 0 {
		return 1
	}
	slices.Sort(all)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

// similarities returns the s_cr of classes and phantoms, classes x R; rows sum to 1.
func similarities(classes, b dataset.Matrix[float64], sigma float64) dataset.Matrix[float64] {
	s := dataset.NewMatrix[float64](classes.Rows, b.Rows)
	for z := range s.Rows {
		row := s.Row(z)
		for r := range row {
			row[r] = squaredDistance(classes.Row(z), b.Row(r))
		}
		closest := slices.Min(row) // its exponential is 1, so that the sum is not 0
		for r, d := range row {
			row[r] = math.Exp(-(d - closest) / sigma / sigma)
		}
		floats.Scale(1/floats.Sum(row), row)
	}
	return s
}

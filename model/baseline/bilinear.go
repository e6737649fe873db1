package baseline

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model/preprocess"
)

// Bilinear is the bilinear compatibility of features and descriptions,
//
//	score(x, z) = x' W u_z,
//
// with the features x of a sample (D) and the description u_z of a class (M). It is the
// scoring model shared by ESZSL, which solves for W, and ALE, SJE and DeViSE, which learn
// it by ranking. Its scores are not probabilities.
type Bilinear struct {
	W         dataset.Matrix[float32] // D x M
	Normalise bool                    // descriptions are scaled to length 1
	Features  Features                // normalisation of the features that W was trained on

	shift, scale []float32 // D, of Standardize
}

var _ Model = (*Bilinear)(nil)

// Features is the normalisation of a method's features. The zero value is None.
type Features string

// The normalisations.
const (
	None        Features = "none"        // no normalisation
	Unit        Features = "unit"        // samples scaled to length 1
	Standardize Features = "standardize" // mean 0 and variance 1/D in each dimension, a length of about 1
)

// Tensors implements Model.
func (m *Bilinear) Tensors() Tensors {
	t := Tensors{{"W", m.W}}
	if m.Features == Standardize {
		row := func(v []float32) dataset.Matrix[float32] {
			return dataset.Matrix[float32]{Rows: 1, Cols: len(v), Data: v}
		}
		t = append(t, Tensor{"shift", row(m.shift)}, Tensor{"scale", row(m.scale)})
	}
	return t
}

// RestoreBilinear returns the model with the given tensors. The error is an
// *invalid.Error that names the tensor.
func RestoreBilinear(t Tensors, normalise bool, f Features) (Model, error) {
	r := &Reader{Tensors: t}
	m := &Bilinear{W: r.Get("W", -1, -1), Normalise: normalise, Features: f}
	if f == Standardize {
		m.shift, m.scale = r.Get("shift", 1, m.W.Rows).Data, r.Get("scale", 1, m.W.Rows).Data
	}
	return m, r.Err
}

type standardKey struct{}

// Fit sets the normalisation of the features. Standardize computes mean and variance of
// the examples, once for all that share a cache.
func (m *Bilinear) Fit(f Features, e Examples) error {
	m.Features = f
	if f != Standardize {
		return nil
	}
	fit, err := Cached(e.Cache, standardKey{}, func() (*preprocess.Transform, error) {
		return preprocess.Fit(preprocess.Standardize, 0, e.X, e.Rows)
	})
	if err != nil {
		return err
	}
	m.shift, m.scale = slices.Clone(fit.Shift), slices.Clone(fit.Scale)
	for d := range m.scale {
		m.scale[d] /= float32(math.Sqrt(float64(e.X.Cols)))
	}
	return nil
}

// Gather copies the given rows of x, normalised, into the first rows of to.
func (m *Bilinear) Gather(to, x dataset.Matrix[float32], rows []int) {
	if m.Features == Unit {
		CopyUnitRows(to, x, rows)
		return
	}
	to.CopyRows(x, rows)
	if m.Features != Standardize {
		return
	}
	for i := range rows {
		row := to.Row(i)
		for d := range row {
			row[d] = (row[d] - m.shift[d]) * m.scale[d]
		}
	}
}

// Detect returns A = X W of the given rows, len(rows) x M.
func (m *Bilinear) Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	return Project(m.W, x, rows, m.Gather)
}

// Classify returns A U' for the classes that u describes.
func (m *Bilinear) Classify(a dataset.Matrix[float32], u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	scores := dataset.NewMatrix[float32](a.Rows, u.Rows)
	if err := CheckDetections(a, m.W.Cols, u, m.W.Cols); err != nil {
		return scores, err
	}
	d, err := Describe(u, m.Normalise)
	if err != nil || a.Rows == 0 {
		return scores, err
	}
	Gemm(blas.NoTrans, blas.Trans, 1, a, dataset.Convert[float32](d), 0, scores)
	return Finite(scores)
}

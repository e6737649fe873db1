// Package baseline has what the baselines of LAGO share: Bilinear, the scoring model of
// ESZSL, ALE, SJE and DeViSE, completed descriptions and linear projections.
//
// The baselines are in the packages below: dap (DAP), eszsl, ranking (ALE, SJE
// and DeViSE), synclassifier (SynC) and kernelalign (kernel alignment). Each implements
// method.Method. Package linear fits the linear classifiers of DAP and SynC. To add
// a baseline, implement method.Method and add it to the list of package train/methods.
package baseline

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/preprocess"
)

// New gives a method its defaults.
func New[M method.Method](m M) M {
	m.Settings().SetDefaults()
	return m
}

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

	shift, scale []float32 // D, of Standardise
}

// Features is the normalisation of a method's features. The zero value is None.
type Features string

// The normalisations.
const (
	None        Features = "none"        // no normalisation
	Unit        Features = "unit"        // samples scaled to length 1
	Standardise Features = "standardize" // mean 0 and variance 1/D in each dimension, a length of about 1
)

// Tensors implements method.Model.
func (m *Bilinear) Tensors() method.Tensors {
	t := method.Tensors{{Name: "W", Matrix: m.W}}
	if m.Features == Standardise {
		t = append(t, method.Vector("shift", m.shift), method.Vector("scale", m.scale))
	}
	return t
}

// RestoreBilinear returns the model with the given tensors. The error is an
// *invalid.Error that names the tensor.
func RestoreBilinear(t method.Tensors, s method.Shape, normalise bool, f Features) (method.Model, error) {
	r := &method.Reader{Tensors: t}
	m := &Bilinear{W: r.Get("W", s.Dims, s.Attributes), Normalise: normalise, Features: f}
	if f == Standardise {
		m.shift, m.scale = r.Get("shift", 1, s.Dims).Data, r.Get("scale", 1, s.Dims).Data
	}
	return m, r.Err
}

type standardKey struct{}

// Fit sets the normalisation of the features. Standardise computes mean and variance of
// the examples, once for all that share a cache.
func (m *Bilinear) Fit(f Features, e method.Examples) error {
	m.Features = f
	if f != Standardise {
		return nil
	}
	fit, err := method.Cached(e.Cache, standardKey{}, func() (*preprocess.Transform, error) {
		return preprocess.Fit(preprocess.Standardise, 0, e.X, e.Rows)
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
	for i := 0; m.Features == Standardise && i < len(rows); i++ {
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
func (m *Bilinear) Classify(a dataset.Matrix[float32],
	u dataset.Matrix[float64],
) (dataset.Matrix[float32], error) {
	describe := func(u dataset.Matrix[float64]) (dataset.Matrix[float64], error) {
		return Describe(u, m.Normalise)
	}
	return Classify(a, m.W.Cols, u, m.W.Cols, describe,
		func(y dataset.Matrix[float64]) dataset.Matrix[float32] {
			return matrix.Product(a, dataset.Convert[float32](y).T())
		})
}

// Complete returns the descriptions that LAGO without groups uses for u, Z x M: a missing entry is the mean
// of the attribute over the classes of u. The error is an *invalid.Error if an entry is not a probability.
func Complete(u dataset.Matrix[float64]) (*model.Description, error) {
	return model.Config{Variant: model.Singletons, Prior: model.PerAttribute}.Describe(u, nil)
}

// Describe returns the matrix of Complete. With normalise, classes are scaled to length 1;
// rows of zeros stay zero.
func Describe(u dataset.Matrix[float64], normalise bool) (dataset.Matrix[float64], error) {
	d, err := Complete(u)
	if err != nil {
		return u, err
	}
	for z := 0; normalise && z < d.U.Rows; z++ {
		row := d.U.Row(z)
		if length := floats.Norm(row, 2); length > 0 {
			for m := range row {
				row[m] /= length
			}
		}
	}
	return d.U, nil
}

// SetTransposed sets w to the transpose of a matrix.
func SetTransposed(w dataset.Matrix[float32], of mat.Matrix) {
	for i := range w.Data {
		w.Data[i] = float32(of.At(i%w.Cols, i/w.Cols))
	}
}

// Gather copies rows of x into the first rows of to.
type Gather func(to, x dataset.Matrix[float32], rows []int)

// CopyUnitRows is the Gather of features scaled to length 1; rows of zeros stay zero.
func CopyUnitRows(to, x dataset.Matrix[float32], rows []int) {
	to.CopyRows(x, rows)
	for i := range rows {
		row := to.Row(i)
		if length := float32(math.Sqrt(SquaredLength(row))); length > 0 {
			blas32.Scal(1/length, blas32.Vector{N: len(row), Inc: 1, Data: row})
		}
	}
}

// SquaredLength sums in float64, which no square of a float32 leaves; the norm of blas32 takes longer.
func SquaredLength[T model.Float](v []T) (s float64) {
	for _, x := range v {
		s += float64(x) * float64(x)
	}
	return s
}

// projectBlock is the number of samples projected at a time.
const projectBlock = 256

// Project returns X W for the given rows of x, len(rows) x w.Cols: the first step of every model that begins
// with a linear map w, D x K. gather returns the features in the form that w was trained on.
func Project(w, x dataset.Matrix[float32], rows []int, gather Gather) (dataset.Matrix[float32], error) {
	a := dataset.NewMatrix[float32](len(rows), w.Cols)
	if x.Cols != w.Rows {
		return a, &invalid.Error{
			Field: "features", Want: fmt.Sprintf("%d dimensions, as in training", w.Rows),
			Got: fmt.Sprint(x.Cols),
		}
	}
	block := dataset.NewMatrix[float32](min(projectBlock, len(rows)), x.Cols)
	done := 0
	for part := range slices.Chunk(rows, projectBlock) {
		gather(block, x, part)
		matrix.Mul(a.Slice(done, done+len(part)), block.Slice(0, len(part)), w)
		done += len(part)
	}
	return a, nil
}

// Classify returns the scores of detections, n x Z: score of the descriptions u in the form that a model
// uses, which describe returns. The error is an *invalid.Error if the columns of a or u are not as many as in
// training, and a *model.NotFinite if a score is NaN, which would count as the first class.
func Classify[T matrix.Float](
	a dataset.Matrix[float32], detections int, u dataset.Matrix[float64], attributes int,
	describe func(u dataset.Matrix[float64]) (dataset.Matrix[T],
		error), score func(y dataset.Matrix[T]) dataset.Matrix[float32],
) (dataset.Matrix[float32], error) {
	none := dataset.NewMatrix[float32](a.Rows, u.Rows)
	for _, c := range []struct {
		field     string
		want, got int
	}{{"detections", detections, a.Cols}, {"attributes", attributes, u.Cols}} {
		if c.want != c.got {
			return none, &invalid.Error{
				Field: c.field, Want: fmt.Sprintf("%d, as in training", c.want), Got: fmt.Sprint(c.got),
			}
		}
	}
	y, err := describe(u)
	if err != nil || a.Rows == 0 {
		return none, err
	}
	scores := score(y)
	if i := slices.IndexFunc(scores.Data, func(v float32) bool { return v != v }); i >= 0 {
		return none, &model.NotFinite{Term: "score", Value: math.NaN()}
	}
	return scores, nil
}

// Step trains on rows of the features, of the given classes. It returns the sum of their losses
// and whether it changed anything.
type Step func(rows, labels []int) (loss float64, moved bool, err error)

// Descend returns the learner of a model that gradient descent trains on blocks of shuffled
// examples, of the given size at most. An epoch passes the tensors to the next. Training has
// converged if no step changed anything. The loss can be finite while tensors are not.
func Descend(m method.Model, tensors method.Tensors, e method.Examples, seed uint64, block int,
	step Step,
) method.Learner {
	return method.NewLearner(m, tensors, func(number int) (method.Progress, error) {
		loss, converged := 0.0, true
		order := method.Shuffled(len(e.Rows), seed, number)
		for part := range slices.Chunk(order, block) {
			var rows, labels []int
			for _, i := range part {
				rows, labels = append(rows, e.Rows[i]), append(labels, e.Labels[i])
			}
			sum, moved, err := step(rows, labels)
			if err != nil {
				return method.Progress{}, err
			}
			loss += sum
			converged = converged && !moved
		}
		for _, t := range tensors {
			if i := matrix.NotFinite(t.Matrix.Data); i >= 0 {
				return method.Progress{}, &model.NotFinite{Term: t.Name, Value: float64(t.Matrix.Data[i])}
			}
		}
		return method.Loss(loss/float64(len(order)), converged), nil
	})
}

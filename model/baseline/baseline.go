// Package baseline has what the baselines of LAGO share: the form of their models, complete descriptions,
// linear classifiers, and stochastic gradient descent on blocks of samples.
//
// The baselines are in the packages below: dap (DAP), eszsl, ranking (ALE, SJE and DeViSE), synclassifier
// (SynC) and kernelalign (kernel alignment). To add one, implement method.Method with a Model in a package of
// its own, and add a line to the list of package train/methods.
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
)

// Model is a trained baseline: scores of samples, A = X W + b, and of descriptions. Package method says what
// the scores of a model are; those of most baselines are no probabilities.
type Model struct {
	Parameters *method.Reader          // that W and all else of the model were read from
	W          dataset.Matrix[float32] // D x K
	Bias       []float32               // b, K; nil for none
	Attributes int                     // M
	// Gather copies rows of x into the first rows of to, in the form that W takes.
	Gather func(to, x dataset.Matrix[float32], rows []int)
	// Describe returns the descriptions u of Z classes in the form that Score takes.
	Describe func(u dataset.Matrix[float64]) (y dataset.Matrix[float64], err error)
	// Score returns the scores of n samples, n x Z.
	Score func(a dataset.Matrix[float32], y dataset.Matrix[float64]) dataset.Matrix[float32]
}

// NewBilinear returns the bilinear compatibility of features and descriptions,
//
//	score(x, z) = x' W u_z,
//
// with the features x of a sample (D) and the description u_z of a class (M), which normalise scales to
// length 1. ESZSL solves for W; ALE, SJE and DeViSE learn it by ranking.
func NewBilinear(r *method.Reader, s method.Shape, normalise bool) *Model {
	return &Model{
		Parameters: r, W: r.Get("W", s.Dims, s.Attributes), Attributes: s.Attributes,
		Gather: dataset.Matrix[float32].CopyRows,
		Describe: func(u dataset.Matrix[float64]) (dataset.Matrix[float64], error) {
			return Describe(u, nil, normalise)
		},
		Score: func(a dataset.Matrix[float32], y dataset.Matrix[float64]) dataset.Matrix[float32] {
			return matrix.Product(a, dataset.Convert[float32](y).T())
		},
	}
}

func (m *Model) Tensors() method.Tensors { return slices.Clone(m.Parameters.Tensors) }

// detectBlock is the number of samples whose features are in memory at a time.
const detectBlock = 256

// Detect returns A of the given rows of x, len(rows) x K.
func (m *Model) Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	a := dataset.NewMatrix[float32](len(rows), m.W.Cols)
	if err := asInTraining("features", "%d dimensions", m.W.Rows, x.Cols); err != nil {
		return a, err
	}
	block := dataset.NewMatrix[float32](min(detectBlock, len(rows)), x.Cols)
	done := 0
	for part := range slices.Chunk(rows, detectBlock) {
		m.Gather(block, x, part)
		matrix.Mul(a.Slice(done, done+len(part)), block.Slice(0, len(part)), m.W)
		done += len(part)
	}
	for i := range rows {
		for k, b := range m.Bias {
			a.Row(i)[k] += b
		}
	}
	return a, nil
}

// Prepare returns the scores of the classes that u describes. Errors are an *invalid.Error if detections or u
// have other columns than in training, and a *model.NotFinite if a score is NaN, which would count as the
// first class.
func (m *Model) Prepare(u dataset.Matrix[float64]) (s model.Scorer[float32], err error) {
	if err := asInTraining("attributes", "%d", m.Attributes, u.Cols); err != nil {
		return s, err
	}
	y, err := m.Describe(u)
	each := func(a dataset.Matrix[float32], use func(row int, scores []float64)) error {
		if err := asInTraining("detections", "%d", m.W.Cols, a.Cols); err != nil || a.Rows == 0 {
			return err
		}
		scores := m.Score(a, y)
		if slices.ContainsFunc(scores.Data, func(v float32) bool { return v != v }) {
			return &model.NotFinite{Term: "score", Value: math.NaN()}
		}
		use(0, dataset.Convert[float64](scores).Data)
		return nil
	}
	return model.Scorer[float32]{Each: each, Classes: u.Rows}, err
}

func asInTraining(field, unit string, want, got int) error {
	if want == got {
		return nil
	}
	text := fmt.Sprintf(unit+", as in training", want)
	return &invalid.Error{Field: field, Want: text, Got: fmt.Sprint(got)}
}

// Complete returns the descriptions u, Z x M, where a missing entry is the mean of the attribute over the
// classes of u. An attribute that none of them describes has its value in otherwise, or 0 if that is nil. The
// error is an *invalid.Error if an entry is no probability.
func Complete(u dataset.Matrix[float64], otherwise []float32) (dataset.Matrix[float64], error) {
	if err := model.CheckProbabilities(u); err != nil {
		return u, err
	}
	full := dataset.Convert[float64](u)
	for m, mean := range dataset.Means(u, math.NaN()) {
		if math.IsNaN(mean) {
			mean = 0
			if otherwise != nil {
				mean = float64(otherwise[m])
			}
		}
		for z := range full.Rows {
			if p := &full.Row(z)[m]; math.IsNaN(*p) {
				*p = mean
			}
		}
	}
	return full, nil
}

// Describe returns Complete(u, otherwise). With normalise, classes are scaled to length 1; rows of zeros stay
// zero.
func Describe(u dataset.Matrix[float64], otherwise []float32,
	normalise bool,
) (dataset.Matrix[float64], error) {
	full, err := Complete(u, otherwise)
	for z := 0; err == nil && normalise && z < full.Rows; z++ {
		row := full.Row(z)
		if length := floats.Norm(row, 2); length > 0 {
			for m := range row {
				row[m] /= length
			}
		}
	}
	return full, err
}

// SetTransposed sets w to the transpose of a matrix.
func SetTransposed(w dataset.Matrix[float32], from mat.Matrix) {
	for i := range w.Data {
		w.Data[i] = float32(from.At(i%w.Cols, i/w.Cols))
	}
}

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

type learner struct {
	model *Model
	state method.Tensors
	epoch func(number int) (loss float64, converged bool, err error)
}

func (l *learner) Model() method.Model   { return l.model }
func (l *learner) State() method.Tensors { return l.state }

func (l *learner) Epoch(number int) (method.Progress, error) {
	loss, converged, err := l.epoch(number)
	return method.Progress{Phases: []method.Phase{{Steps: 1, Loss: loss}}, Converged: converged}, err
}

// FitOnce returns the learner of a model that reaches its optimum in one epoch: fit writes its parameters and
// returns the mean loss of the examples.
func FitOnce(m *Model, fit func() (loss float64, err error)) method.Learner {
	return &learner{m, m.Tensors(), func(int) (float64, bool, error) {
		loss, err := fit()
		return loss, err == nil, err
	}}
}

// Step trains on rows of the features, of the given classes. It returns the sum of their losses
// and whether it changed anything.
type Step func(rows, labels []int) (loss float64, moved bool, err error)

// Descend returns the learner of a model that gradient descent trains on blocks of shuffled
// examples, of the given size at most. An epoch passes the tensors of the state to the next. Training has
// converged if no step changed anything. The loss can be finite while tensors are not.
func Descend(m *Model, state method.Tensors, e method.Examples, seed uint64, block int,
	step Step,
) method.Learner {
	return &learner{m, state, func(number int) (loss float64, converged bool, err error) {
		converged = true
		order := method.Shuffled(len(e.Rows), seed, number)
		for part := range slices.Chunk(order, block) {
			var rows, labels []int
			for _, i := range part {
				rows, labels = append(rows, e.Rows[i]), append(labels, e.Labels[i])
			}
			sum, moved, err := step(rows, labels)
			if err != nil {
				return 0, false, err
			}
			loss += sum
			converged = converged && !moved
		}
		for _, t := range state {
			if i := matrix.NotFinite(t.Matrix.Data); i >= 0 {
				return 0, false, &model.NotFinite{Term: t.Name, Value: float64(t.Matrix.Data[i])}
			}
		}
		return loss / float64(len(order)), converged, nil
	}}
}

package dap

import (
	"math"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/method"
)

// Model is a trained DAP or IAP. Its scores are log p(z|x).
type Model struct {
	W dataset.Matrix[float32] // D x outputs: the attributes, or the training classes for IAP
	B dataset.Matrix[float32] // 1 x outputs

	// Classes is p(a_m|y) of the training classes, Y x M; empty for DAP.
	Classes dataset.Matrix[float32]

	Thresholds dataset.Matrix[float32] // 1 x M
	Prior      dataset.Matrix[float32] // 1 x M, p(a_m)
}

var _ method.Model = (*Model)(nil)

// Tensors implements method.Model.
func (m *Model) Tensors() method.Tensors {
	t := method.Tensors{{Name: "W", Matrix: m.W}, {Name: "b", Matrix: m.B}, {Name: "thresholds", Matrix: m.Thresholds}, {Name: "prior", Matrix: m.Prior}}
	if m.indirect() {
		t = append(t, method.Tensor{Name: "classes", Matrix: m.Classes})
	}
	return t
}

// Restore implements method.Method.
func (c *Config) Restore(t method.Tensors, s method.Shape) (method.Model, error) {
	r := &method.Reader{Tensors: t}
	m, outputs := new(Model), s.Attributes
	if c.Prediction == Indirect {
		m.Classes = r.Get("classes", -1, s.Attributes)
		outputs = m.Classes.Rows
	}
	m.W, m.B = r.Get("W", s.Dims, outputs), r.Get("b", 1, outputs)
	m.Thresholds, m.Prior = r.Get("thresholds", 1, s.Attributes), r.Get("prior", 1, s.Attributes)
	return m, r.Err
}

func (m *Model) indirect() bool { return m.Classes.Data != nil }

// Detect returns the log odds of p(a_m|x) of the given rows, len(rows) x M. Log odds are
// as exact for probabilities near 1 as near 0.
func (m *Model) Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	s, err := baseline.Project(m.W, x, rows, baseline.CopyRows)
	if err != nil {
		return s, err
	}
	for i := range rows {
		for k, b := range m.B.Data {
			s.Row(i)[k] += b
		}
	}
	if m.indirect() {
		return m.fromClasses(s), nil
	}
	return s, nil
}

// smallest is the lower bound of a probability, so that its log is finite.
const smallest = 1e-300

// fromClasses returns the log odds of p(a_m|x) = sum over y of p(a_m|y) p(y|x), n x M,
// from the scores of the training classes, log p(y|x) up to a constant.
func (m *Model) fromClasses(scores dataset.Matrix[float32]) dataset.Matrix[float32] {
	odds := dataset.NewMatrix[float32](scores.Rows, m.Classes.Cols)
	if scores.Rows == 0 {
		return odds
	}
	p := dataset.Convert[float64](scores)
	model.LogNormalise(p.Data, m.Classes.Rows)
	for i, l := range p.Data {
		p.Data[i] = math.Exp(l)
	}
	given := dataset.Convert[float64](m.Classes)
	not := dataset.NewMatrix[float64](given.Rows, given.Cols)
	for i, v := range given.Data {
		not.Data[i] = 1 - v
	}
	has, lacks := product(blas.NoTrans, p, given), product(blas.NoTrans, p, not)
	for i := range odds.Data {
		odds.Data[i] = float32(math.Log(max(has.Data[i], smallest)) - math.Log(max(lacks.Data[i], smallest)))
	}
	return odds
}

// Classify returns log p(z|x) of samples with the log odds s of their attributes, n x M,
// for the classes that u describes. A missing entry of u is a factor of 1.
func (m *Model) Classify(s dataset.Matrix[float32], u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	scores := dataset.NewMatrix[float32](s.Rows, u.Rows)
	if err := baseline.CheckDetections(s, m.Prior.Cols, u, m.Prior.Cols); err != nil {
		return scores, err
	}
	if _, err := baseline.Complete(u); err != nil || s.Rows == 0 {
		return scores, err
	}
	has, lacks := binary(u, m.Thresholds.Data), dataset.NewMatrix[float64](u.Rows, u.Cols)
	for i, v := range has.Data {
		if math.IsNaN(v) {
			has.Data[i] = 0
		} else {
			lacks.Data[i] = 1 - v
		}
	}
	// The logs of the factors of having the attribute, p(a_m|x) / p(a_m), and of not.
	on, off := dataset.Convert[float64](s), dataset.Convert[float64](s)
	for i, odds := range on.Data {
		p := float64(m.Prior.Data[i%s.Cols])
		on.Data[i] = -softplus(-odds) - math.Log(p)
		off.Data[i] = -softplus(odds) - math.Log1p(-p)
	}
	logP, without := product(blas.Trans, on, has), product(blas.Trans, off, lacks)
	for i, v := range without.Data {
		logP.Data[i] += v
	}
	model.LogNormalise(logP.Data, u.Rows)
	for i, v := range logP.Data {
		scores.Data[i] = float32(v)
	}
	return baseline.Finite(scores)
}

// softplus is log(1 + exp(x)) without overflow, or minus the log of sigmoid(-x).
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// product is A op(B).
func product(tB blas.Transpose, a, b dataset.Matrix[float64]) dataset.Matrix[float64] {
	cols := b.Cols
	if tB == blas.Trans {
		cols = b.Rows
	}
	c := dataset.NewMatrix[float64](a.Rows, cols)
	baseline.Gemm(blas.NoTrans, tB, 1, a, b, 0, c)
	return c
}

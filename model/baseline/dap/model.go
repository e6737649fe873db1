package dap

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/linear"
)

// Model is a trained DAP or IAP. Its scores are log p(z|x).
type Model struct {
	W dataset.Matrix[float32] // D x outputs: attributes, or for IAP the classes learned from
	B dataset.Matrix[float32] // 1 x outputs

	// Classes is p(a_m|y) of the classes learned from, Y x M. DAP has none.
	Classes dataset.Matrix[float32]

	Thresholds dataset.Matrix[float32] // 1 x M
	Prior      dataset.Matrix[float32] // 1 x M, p(a_m)
}

var _ baseline.Model = (*Model)(nil)

// Tensors implements baseline.Model.
func (m *Model) Tensors() baseline.Tensors {
	t := baseline.Tensors{{Name: "W", Matrix: m.W}, {Name: "b", Matrix: m.B}, {Name: "thresholds", Matrix: m.Thresholds}, {Name: "prior", Matrix: m.Prior}}
	if m.indirect() {
		t = append(t, baseline.Tensor{Name: "classes", Matrix: m.Classes})
	}
	return t
}

// Restore implements baseline.Settings.
func (c Config) Restore(t baseline.Tensors) (baseline.Model, error) {
	w, err := t.Get("W", -1, -1)
	if err != nil {
		return nil, err
	}
	m, attributes := &Model{W: w}, w.Cols
	if c.Prediction == Indirect {
		if m.Classes, err = t.Get("classes", w.Cols, -1); err != nil {
			return nil, err
		}
		attributes = m.Classes.Cols
	}
	if m.B, err = t.Get("b", 1, w.Cols); err != nil {
		return nil, err
	}
	if m.Thresholds, err = t.Get("thresholds", 1, attributes); err != nil {
		return nil, err
	}
	m.Prior, err = t.Get("prior", 1, attributes)
	return m, err
}

func (m *Model) indirect() bool { return m.Classes.Data != nil }

// Score implements model.Classifier.
func (m *Model) Score(x dataset.Matrix[float32], rows []int, u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	return model.DetectAndClassify(m, x, rows, u)
}

// Detect returns the log odds of p(a_m|x) of the given rows, in which a probability
// close to 1 is as exact as one close to 0.
func (m *Model) Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	s, err := linear.Scores(m.W, false, x, rows)
	if err != nil {
		return s, err
	}
	for i := range rows {
		for k, b := range m.B.Data {
			s.Row(i)[k] += b
		}
	}
	if m.indirect() {
		return m.byClasses(s), nil
	}
	return s, nil
}

// least is what a probability is taken to be at least, so that its log is finite.
const least = 1e-300

// byClasses returns the log odds of p(a_m|x) = sum over y of p(a_m|y) p(y|x), n x M,
// from the scores of the classes y, log p(y|x) up to a constant.
func (m *Model) byClasses(scores dataset.Matrix[float32]) dataset.Matrix[float32] {
	n, classes, attributes := scores.Rows, m.Classes.Rows, m.Classes.Cols
	odds := dataset.NewMatrix[float32](n, attributes)
	if n == 0 {
		return odds
	}
	p := double(scores)
	model.LogNormalise(p.Data, classes)
	for i, l := range p.Data {
		p.Data[i] = math.Exp(l)
	}
	given, not := double(m.Classes), dataset.NewMatrix[float64](classes, attributes)
	for i, v := range given.Data {
		not.Data[i] = 1 - v
	}
	has, lacks := product(blas.NoTrans, p, given), product(blas.NoTrans, p, not)
	for i := range odds.Data {
		odds.Data[i] = float32(math.Log(max(has.Data[i], least)) - math.Log(max(lacks.Data[i], least)))
	}
	return odds
}

// Classify returns log p(z|x) of samples with the log odds s of their attributes, n x M,
// for the classes that u describes. An attribute that a class leaves undescribed is a
// factor of 1.
func (m *Model) Classify(s dataset.Matrix[float32], u dataset.Matrix[float64]) (dataset.Matrix[float32], error) {
	scores := dataset.NewMatrix[float32](s.Rows, u.Rows)
	if attributes := m.Prior.Cols; s.Cols != attributes || u.Cols != attributes {
		return scores, &invalid.Error{Field: "attributes", Want: "as many as the model was fitted to", Got: fmt.Sprint([2]int{s.Cols, u.Cols})}
	}
	if _, err := baseline.Describe(u, false); err != nil || s.Rows == 0 {
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
	// The logs of the factors p(a_m|x)/p(a_m) and of those of not having it.
	on, off := double(s), double(s)
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
	return scores, nil
}

// softplus is log(1 + exp(x)), without overflow: minus the log of sigmoid(-x).
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// product is A op(B).
func product(tB blas.Transpose, a, b dataset.Matrix[float64]) dataset.Matrix[float64] {
	cols := b.Cols
	if tB == blas.Trans {
		cols = b.Rows
	}
	c := dataset.NewMatrix[float64](a.Rows, cols)
	blas64.Implementation().Dgemm(blas.NoTrans, tB, a.Rows, cols, a.Cols, 1, a.Data, a.Cols, b.Data, b.Cols, 0, c.Data, cols)
	return c
}

func double(m dataset.Matrix[float32]) dataset.Matrix[float64] {
	d := dataset.NewMatrix[float64](m.Rows, m.Cols)
	for i, v := range m.Data {
		d.Data[i] = float64(v)
	}
	return d
}

package dap

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
)

func restored(t *testing.T, p Prediction, tensors method.Tensors) method.Model {
	t.Helper()
	m, err := Config{Prediction: p}.Restore(tensors)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A sample with p(a|x) = 4/5 and 2/5, where p(a) = 1/2 and 1/4, that is, with factors of
//
//	1.6 for having the first, 0.4 for not; 1.6 for having the second, 0.8 for not:
//
//	class         factors        product   / 4.88
//	(1, 0)        1.6 x 0.8      1.28      0.262
//	(0, 1)        0.4 x 1.6      0.64      0.131
//	(1, 1)        1.6 x 1.6      2.56      0.525
//	(0, unknown)  0.4            0.40      0.082
func TestPosteriorByHand(t *testing.T) {
	m := restored(t, Direct, method.Tensors{
		{Name: "W", Matrix: baselinetest.Single(2, float32(math.Log(2)), float32(math.Log(2)/3))},
		{Name: "b", Matrix: baselinetest.Single(2, 0, float32(math.Log(2./3)-math.Log(2)*2/3))},
		{Name: "thresholds", Matrix: baselinetest.Single(2, 0.3, 0.75)},
		{Name: "prior", Matrix: baselinetest.Single(2, 0.5, 0.25)},
	})
	u := baselinetest.Matrix(2, 0.4, 0.75, 0.2, 0.8, 1, 1, 0, nan)
	x := baselinetest.Single(1, 0, 2) // log odds of log 4 = 2 log 2, and log 2/3 = 2/3 log 2 + b
	s, err := model.Score(m, x, []int{1}, u)
	if err != nil {
		t.Fatal(err)
	}
	var want []float64
	for _, product := range []float64{1.28, 0.64, 2.56, 0.4} {
		want = append(want, math.Log(product/4.88))
	}
	baselinetest.Near(t, "log p(z|x)", 1e-6, baselinetest.Floats(s.Data), want)
}

// A feature of 1 makes the scores of two classes log 3 and 0, so p(y|x) = 3/4 and 1/4.
// Four attributes: the first class has one, p(a|x) = 3/4; the second has one, 1/4; one
// cannot be learned and is 1/2 in both; one is not described by the first class and has a
// prior of 1/2, 3/4 1/2 + 1/4 = 5/8.
func TestIndirectPredictionByHand(t *testing.T) {
	m := restored(t, Indirect, method.Tensors{
		{Name: "W", Matrix: baselinetest.Single(2, float32(math.Log(3)), 0)},
		{Name: "b", Matrix: baselinetest.Single(2, 0, 0)},
		{Name: "classes", Matrix: baselinetest.Single(4, 1, 0, 0.5, 0.5, 0, 1, 0.5, 1)},
		{Name: "thresholds", Matrix: baselinetest.Single(4, 0, 0, 0, 0)},
		{Name: "prior", Matrix: baselinetest.Single(4, 0.5, 0.5, 0.5, 0.5)},
	})
	odds, err := m.Detect(baselinetest.Single(1, 1), []int{0})
	if err != nil {
		t.Fatal(err)
	}
	baselinetest.Near(t, "log odds", 1e-6, baselinetest.Floats(odds.Data), []float64{math.Log(3), -math.Log(3), 0, math.Log(5. / 3)})
	none, err := m.Detect(baselinetest.Single(1, 1), nil)
	if err != nil || none.Rows != 0 || none.Cols != 4 {
		t.Errorf("no samples: %v, %v", none, err)
	}
}

// A class probability of 1 does not make attribute odds infinite.
func TestIndirectPredictionOfSureClasses(t *testing.T) {
	m := restored(t, Indirect, method.Tensors{
		{Name: "W", Matrix: baselinetest.Single(2, 1e6, 0)},
		{Name: "b", Matrix: baselinetest.Single(2, 0, 0)},
		{Name: "classes", Matrix: baselinetest.Single(2, 1, 0, 0, 1)},
		{Name: "thresholds", Matrix: baselinetest.Single(2, 0.5, 0.5)},
		{Name: "prior", Matrix: baselinetest.Single(2, 0.5, 0.5)},
	})
	s, err := model.Score(m, baselinetest.Single(1, 1), []int{0}, baselinetest.Matrix(2, 1, 0, 0, 1, 1, 1))
	if err != nil {
		t.Fatal(err)
	}
	if s.Data[0] != 0 || !(s.Data[2] > s.Data[1]) || math.IsInf(float64(s.Data[1]), 0) {
		t.Errorf("log p(z|x) = %v, expected 0 for the class and the least for its opposite", s.Data)
	}
}

// Two classes differ in one of 3000 attributes; the odds of each of the others are e^-50.
func TestNoUnderflow(t *testing.T) {
	const attributes = 3000
	row := func(rows int, value float32) dataset.Matrix[float32] {
		m := dataset.NewMatrix[float32](rows, attributes)
		for i := range m.Data {
			m.Data[i] = value
		}
		return m
	}
	m := restored(t, Direct, method.Tensors{
		{Name: "W", Matrix: row(1, 0)},
		{Name: "b", Matrix: row(1, 0)},
		{Name: "thresholds", Matrix: row(1, 0.5)},
		{Name: "prior", Matrix: row(1, 0.5)},
	})
	u := dataset.NewMatrix[float64](2, attributes)
	for i := range u.Data {
		u.Data[i] = 1
	}
	u.Data[7] = 0
	odds := row(1, -50)
	odds.Data[7] = 1
	s, err := m.Classify(odds, u)
	if err != nil {
		t.Fatal(err)
	}
	has := 1 / (1 + math.Exp(-1))
	baselinetest.Near(t, "log p(z|x)", 1e-6, baselinetest.Floats(s.Data), []float64{math.Log(1 - has), math.Log(has)})
}

// Scores are a distribution over the described classes.
func TestPosteriorSumsToOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := examples(12, 3, 4, 3, rapid.Uint64().Draw(t, "seed"))
		classes := rapid.IntRange(1, 9).Draw(t, "classes")
		p := rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 1, nan}))
		u := baselinetest.Matrix(4, rapid.SliceOfN(p, classes*4, classes*4).Draw(t, "u")...)
		s := baselinetest.Score(t, learn(t, drawConfig(t), e), e, u)
		for i := range e.Rows {
			var sum float64
			for _, l := range s[i*classes : (i+1)*classes] {
				sum += math.Exp(l)
			}
			baselinetest.Near(t, "sum", 1e-5, []float64{sum}, []float64{1})
		}
	})
}

package eszsl_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model/baseline/eszsl"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
)

// problem is random samples of random classes.
type problem struct {
	x            dataset.Matrix[float32]
	rows, labels []int
	u            dataset.Matrix[float64]
}

func newProblem(samples, dims, attributes, classes int, seed uint64) problem {
	rng := rand.New(rand.NewPCG(seed, 0))
	p := problem{x: dataset.NewMatrix[float32](samples, dims), u: dataset.NewMatrix[float64](classes, attributes)}
	for i := range p.x.Data {
		p.x.Data[i] = float32(rng.NormFloat64())
	}
	for i := range p.u.Data {
		p.u.Data[i] = rng.Float64()
	}
	for i := range samples {
		p.rows = append(p.rows, samples-1-i)
		p.labels = append(p.labels, rng.IntN(classes))
	}
	return p
}

func (p problem) fit(t rapid.TB, gamma, lambda float64, normalise bool) *eszsl.Model {
	t.Helper()
	s, err := eszsl.NewSums(p.x, p.rows, p.labels, p.u.Rows)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Regress(gamma)
	if err != nil {
		t.Fatal(err)
	}
	m, err := r.Fit(p.u, lambda, normalise)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// weights returns W, which is what a model detects in the unit vectors.
func weights(t rapid.TB, m *eszsl.Model, dims int) *mat.Dense {
	t.Helper()
	unit, rows := dataset.NewMatrix[float32](dims, dims), make([]int, dims)
	for i := range dims {
		unit.Data[i*dims+i], rows[i] = 1, i
	}
	w, err := m.Detect(unit, rows)
	if err != nil {
		t.Fatal(err)
	}
	return mat.NewDense(w.Rows, w.Cols, baselinetest.Floats(w.Data))
}

// W solves (X'X + gamma I) W (U'U + lambda I) = X'Y U, with Y written out.
func TestFitSolvesItsEquation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 12)
		samples, dims := size.Draw(t, "samples"), size.Draw(t, "dims")
		attributes, classes := size.Draw(t, "attributes"), size.Draw(t, "classes")
		gamma := math.Pow(10, rapid.Float64Range(-1, 2).Draw(t, "log gamma"))
		lambda := math.Pow(10, rapid.Float64Range(-1, 2).Draw(t, "log lambda"))
		p := newProblem(samples, dims, attributes, classes, rapid.Uint64().Draw(t, "seed"))
		w := weights(t, p.fit(t, gamma, lambda, false), dims)

		x, y := mat.NewDense(samples, dims, nil), mat.NewDense(samples, classes, nil)
		for i, r := range p.rows {
			x.SetRow(i, baselinetest.Floats(p.x.Row(r)))
			y.Set(i, p.labels[i], 1)
		}
		u := mat.NewDense(classes, attributes, p.u.Data)
		var xx, uu, left, right mat.Dense
		xx.Mul(x.T(), x)
		addToDiagonal(&xx, gamma)
		uu.Mul(u.T(), u)
		addToDiagonal(&uu, lambda)
		left.Product(&xx, w, &uu)
		right.Product(x.T(), y, u)
		if !mat.EqualApprox(&left, &right, 1e-4*(1+mat.Max(&right)-mat.Min(&right))) {
			t.Fatalf("the sides differ:\n%v\n\n%v", mat.Formatted(&left), mat.Formatted(&right))
		}
	})
}

func addToDiagonal(m *mat.Dense, v float64) {
	n, _ := m.Dims()
	for i := range n {
		m.Set(i, i, m.At(i, i)+v)
	}
}

// More samples than are summed or mapped at a time give what their sums say:
// doubling every sample is halving the ridge.
func TestManySamples(t *testing.T) {
	p := newProblem(700, 6, 4, 5, 1)
	once := weights(t, p.fit(t, 0.5, 1, true), 6)
	p.rows, p.labels = append(p.rows, p.rows...), append(p.labels, p.labels...)
	twice := p.fit(t, 1, 1, true)
	if w := weights(t, twice, 6); !mat.EqualApprox(once, w, 1e-5) {
		t.Errorf("once\n%v\ntwice\n%v", mat.Formatted(once), mat.Formatted(w))
	}
	a, err := twice.Detect(p.x, p.rows)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 700 {
		if !mat.EqualApprox(mat.NewVecDense(4, baselinetest.Floats(a.Row(i))), mat.NewVecDense(4, baselinetest.Floats(a.Row(700+i))), 1e-5) {
			t.Fatalf("row %d detects %v, the same sample in row %d %v", i, a.Row(i), 700+i, a.Row(700+i))
		}
	}
}

// Scores are X W U'; with descriptions of length 1 their length makes no difference.
func TestScore(t *testing.T) {
	p := newProblem(30, 6, 4, 3, 2)
	plain, normalised := p.fit(t, 1, 1, false), p.fit(t, 1, 1, true)
	rows := []int{5, 0, 29}
	scores := func(m *eszsl.Model, u dataset.Matrix[float64]) []float32 {
		t.Helper()
		s, err := m.Score(p.x, rows, u)
		if err != nil {
			t.Fatal(err)
		}
		if s.Rows != len(rows) || s.Cols != u.Rows {
			t.Fatalf("%d x %d scores, expected %d x %d", s.Rows, s.Cols, len(rows), u.Rows)
		}
		return s.Data
	}
	half := dataset.NewMatrix[float64](3, 4)
	for i, v := range p.u.Data {
		half.Data[i] = v / 2
	}
	w := weights(t, plain, 6)
	for i, got := range scores(plain, p.u) {
		x, u := baselinetest.Floats(p.x.Row(rows[i/3])), p.u.Row(i%3)
		if want := mat.Inner(mat.NewVecDense(6, x), w, mat.NewVecDense(4, u)); math.Abs(float64(got)-want) > 1e-5 {
			t.Errorf("score %d is %g, expected %g", i, got, want)
		}
		if other := scores(plain, half)[i]; math.Abs(float64(got-2*other)) > 1e-5 {
			t.Errorf("score %d is %g, and %g for half the description", i, got, other)
		}
	}
	whole := scores(normalised, p.u)
	for i, got := range scores(normalised, half) {
		if math.Abs(float64(got-whole[i])) > 1e-5 {
			t.Errorf("score %d by a description of length 1 is %g, and %g for half of it", i, whole[i], got)
		}
	}
}

// What is not described counts as the mean over the classes at hand, and a class
// without any attribute scores zero.
func TestGaps(t *testing.T) {
	p := newProblem(30, 6, 2, 3, 3)
	m := p.fit(t, 1, 1, false)
	of := func(values ...float64) []float32 {
		t.Helper()
		s, err := m.Score(p.x, []int{0}, dataset.Matrix[float64]{Rows: 3, Cols: 2, Data: values})
		if err != nil {
			t.Fatal(err)
		}
		return s.Data
	}
	gap, filled := of(0.2, 1, math.NaN(), 0.5, 0.6, 0), of(0.2, 1, 0.4, 0.5, 0.6, 0)
	for z := range gap {
		if math.Abs(float64(gap[z]-filled[z])) > 1e-6 {
			t.Errorf("class %d scores %g, expected %g", z, gap[z], filled[z])
		}
	}
	m = p.fit(t, 1, 1, true)
	if s := of(0, 0, 0.4, 0.5, 0.6, 0); s[0] != 0 {
		t.Errorf("a description of zeros scores %g", s[0])
	}
}

func TestErrors(t *testing.T) {
	p := newProblem(8, 3, 2, 4, 4)
	sums, err := eszsl.NewSums(p.x, p.rows, p.labels, 4)
	if err != nil {
		t.Fatal(err)
	}
	regression, err := sums.Regress(1)
	if err != nil {
		t.Fatal(err)
	}
	m := p.fit(t, 1, 1, true)
	infinite := newProblem(8, 3, 2, 4, 4)
	infinite.x.Data[0] = float32(math.Inf(1))
	for name, c := range map[string]struct {
		field string
		do    func() error
	}{
		"no samples":     {"samples", func() error { _, err := eszsl.NewSums(p.x, nil, nil, 4); return err }},
		"a label short":  {"labels", func() error { _, err := eszsl.NewSums(p.x, p.rows, p.labels[1:], 4); return err }},
		"no ridge":       {"gamma", func() error { _, err := sums.Regress(0); return err }},
		"ridge of NaN":   {"gamma", func() error { _, err := sums.Regress(math.NaN()); return err }},
		"endless ridge":  {"lambda", func() error { _, err := regression.Fit(p.u, math.Inf(1), true); return err }},
		"not in [0, 1]":  {"descriptions", func() error { _, err := regression.Fit(matrix(4, 2, -1), 1, true); return err }},
		"other classes":  {"descriptions", func() error { _, err := regression.Fit(matrix(3, 2, 1), 1, true); return err }},
		"other features": {"features", func() error { _, err := m.Score(dataset.NewMatrix[float32](1, 4), []int{0}, p.u); return err }},
		"other names":    {"attributes", func() error { _, err := m.Score(p.x, p.rows, matrix(4, 3, 1)); return err }},
		"infinite": {"gamma", func() error {
			s, err := eszsl.NewSums(infinite.x, infinite.rows, infinite.labels, 4)
			if err != nil {
				return err
			}
			_, err = s.Regress(1)
			return err
		}},
	} {
		var wrong *invalid.Error
		if err := c.do(); !errors.As(err, &wrong) || wrong.Field != c.field {
			t.Errorf("%s: %v, expected an error of %s", name, err, c.field)
		}
	}
}

func matrix(rows, cols int, value float64) dataset.Matrix[float64] {
	m := dataset.NewMatrix[float64](rows, cols)
	for i := range m.Data {
		m.Data[i] = value
	}
	return m
}

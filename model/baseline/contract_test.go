package baseline_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/eszsl"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
	"github.com/lago-train/lago-train/model/method"
	"github.com/lago-train/lago-train/train/methods"
)

// More samples than a block holds.
func TestDetect(t *testing.T) {
	const samples = 600
	x, w := dataset.NewMatrix[float32](samples, 3), baselinetest.Matrix[float32](2, 1, 0, 0, 1, 2, -1)
	for i := range x.Data {
		x.Data[i] = float32(i % 11)
	}
	var rows []int
	for i := range 2*samples - 90 {
		rows = append(rows, (7*i)%samples)
	}
	m := &baseline.Model{W: w, Gather: dataset.Matrix[float32].CopyRows}
	a := testkit.Must(m.Detect(x, rows))(t)
	for i, r := range rows {
		v := x.Row(r)
		testkit.Equal(t, fmt.Sprintf("row %d, sample %d", i, r), a.Row(i), []float32{v[0] + 2*v[2], v[1] - v[2]})
	}
}

func TestDescribe(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		u         dataset.Matrix[float64]
		normalise bool
		want      []float64
	}{
		"complete":           {baselinetest.Matrix(2, 0.3, 0.4, 0, 1), false, []float64{0.3, 0.4, 0, 1}},
		"length 1":           {baselinetest.Matrix(2, 0.3, 0.4, 0, 1), true, []float64{0.6, 0.8, 0, 1}},
		"zeros":              {baselinetest.Matrix(2, 0, 0, 0, 0.5), true, []float64{0, 0, 0, 1}},
		"missing":            {baselinetest.Matrix(2, 0.2, 1, nan, 0.5, 0.6, 0), false, []float64{0.2, 1, 0.4, 0.5, 0.6, 0}},
		"missing and scaled": {baselinetest.Matrix(2, 0.2, 1, nan, 0.3, 0.6, 0), true, []float64{0.2 / math.Sqrt(1.04), 1 / math.Sqrt(1.04), 0.8, 0.6, 1, 0}},
	} {
		before := slices.Clone(c.u.Data)
		d := testkit.Must(baseline.Describe(c.u, nil, c.normalise))(t)
		testkit.NearAll(t, name, d.Data, c.want, 1e-12)
		if !floats.Same(before, c.u.Data) {
			t.Errorf("%s: the argument changed", name)
		}
	}
}

// Baselines take more attributes than LAGO of singletons.
func TestManyAttributes(t *testing.T) {
	u := dataset.NewMatrix[float64](2, 8193)
	testkit.Equal(t, "described", testkit.Must(baseline.Describe(u, nil, false))(t), u)
}

// baselines are all methods but LAGO.
var baselines = methods.All[1:]

// eachMethod runs a test with a trained model of every method and its examples.
func eachMethod(t *testing.T, entries []methods.Entry, test func(*testing.T, func() method.Method, method.Model, method.Examples)) {
	t.Helper()
	for _, b := range entries {
		t.Run(b.Name, func(t *testing.T) {
			l := learner(t, b.Default().Method, 1)
			epochs(t, l, 1, 2)
			test(t, func() method.Method { return b.Default().Method }, l.Model(), examples())
		})
	}
}

// examples do not describe an attribute of a class.
func examples() method.Examples {
	e := baselinetest.Examples(40, 8, 6, 4, 0.5, 1)
	for i, v := range e.X.Data {
		e.X.Data[i] = float32(math.Abs(float64(v)))
	}
	e.U.Data[3] = math.NaN()
	e.Groups = shape.Groups
	e.Cache = new(method.Cache)
	return e
}

var shape = method.Shape{Dims: 8, Attributes: 6, Groups: []int{0, 0, 1, 1, 2, 2}}

func learner(t *testing.T, m method.Method, seed uint64) method.Learner {
	t.Helper()
	return baselinetest.Learner(t, m, examples(), seed)
}

// epochs runs some epochs, fewer if training converges.
func epochs(t *testing.T, l method.Learner, from, to int) {
	t.Helper()
	for number := from; number <= to; number++ {
		loss, converged := baselinetest.Epoch(t, l, number)
		if math.IsNaN(loss) || math.IsInf(loss, 0) {
			t.Fatalf("epoch %d: a loss of %g", number, loss)
		}
		if converged {
			return
		}
	}
}

func values(l method.Learner) (values []float32) {
	for _, t := range l.Model().Tensors() {
		values = append(values, t.Matrix.Data...)
	}
	return values
}

// The seed determines the model, and a learner with the State of another continues as that one
// does. A learner also keeps the settings that it was made with.
func TestSeedAndState(t *testing.T) {
	for _, b := range methods.All {
		changed := b.Default().Method
		whole, part, resumed, other := learner(t, b.Default().Method, 1), learner(t, b.Default().Method, 1), learner(t, changed, 1), learner(t, b.Default().Method, 2)
		for _, s := range changed.Settings() {
			if n := len(s.Search); n > 0 {
				s.Set(s.Search[n-1])
			}
		}
		epochs(t, whole, 1, 4)
		epochs(t, other, 1, 4)
		epochs(t, part, 1, 2)
		resumed.State().Set(part.State())
		epochs(t, resumed, 3, 4)
		testkit.Equal(t, b.Name+" resumed", values(resumed), values(whole))
		if slices.Equal(values(whole), values(other)) == b.Seeded {
			t.Errorf("%s: expected that another model by another seed is %t", b.Name, b.Seeded)
		}
	}
}

// A restored model scores as the original, also in two steps, and names the tensor that
// is missing or has another size.
func TestRestore(t *testing.T) {
	unseen := baselinetest.Matrix(6, 1, 0, 0.5, 0.2, 0, 1, 0, math.NaN(), 1, 0.9, 0.3, 0)
	eachMethod(t, methods.All, func(t *testing.T, newMethod func() method.Method, original method.Model, e method.Examples) {
		want := baselinetest.Score(t, original, e, unseen).Data
		if !math.IsNaN(unseen.Data[7]) {
			t.Error("the descriptions changed")
		}
		if len(want) != 2*len(e.Rows) || slices.ContainsFunc(want, func(v float32) bool { return v-v != 0 }) {
			t.Fatalf("expected %d finite scores, found %v", 2*len(e.Rows), want)
		}
		restored := testkit.Must(newMethod().Restore(&method.Reader{Tensors: original.Tensors()}, shape))(t)
		testkit.NearAll(t, "restored", baselinetest.Score(t, restored, e, unseen).Data, want, 1e-4)

		for i, tensor := range original.Tensors() {
			_, err := newMethod().Restore(&method.Reader{Tensors: slices.Delete(original.Tensors(), i, i+1)}, shape)
			testkit.WantError(t, err, "tensor "+tensor.Name, "found none")
			changed := original.Tensors()
			changed[i].Matrix = dataset.NewMatrix[float32](3, 17)
			testkit.Fails(newMethod().Restore(&method.Reader{Tensors: changed}, shape))(t, "tensor "+tensor.Name, "found 3 x 17")
		}
	})
}

func TestModelsRefuse(t *testing.T) {
	eachMethod(t, baselines, func(t *testing.T, _ func() method.Method, m method.Model, e method.Examples) {
		if s, err := model.Score(m, e.X, nil, e.U); err != nil || s.Rows != 0 || s.Cols != e.U.Rows {
			t.Errorf("no samples: %d x %d, %v; expected 0 x %d", s.Rows, s.Cols, err, e.U.Rows)
		}
		a := testkit.Must(m.Detect(e.X, e.Rows[:1]))(t)
		_, err := m.Detect(dataset.NewMatrix[float32](1, 3), []int{0})
		testkit.WantError(t, err, "features: expected 8 dimensions, as in training, found 3")
		_, err = model.Classify(m, a, dataset.NewMatrix[float64](2, 3))
		testkit.WantError(t, err, "attributes: expected 6, as in training, found 3")
		testkit.Fails(model.Classify(m, dataset.NewMatrix[float32](1, a.Cols+1), e.U))(t, "detections: ")
		wrong := baselinetest.Matrix(6, slices.Clone(e.U.Data)...)
		wrong.Data[0] = -1
		testkit.Fails(model.Classify(m, a, wrong))(t, "descriptions: ")

		e.X.Row(2)[1] = float32(math.NaN()) // whose scores would count as the first class
		_, err = model.Score(m, e.X, []int{2}, e.U)
		baselinetest.WantNotFinite(t, err, "score")
	})
}

// Settings that share a cache do not change each other's model.
func TestCacheChangesNothing(t *testing.T) {
	for _, b := range baselines {
		cached := examples()
		for i, s := range b.Default().Method.Settings() {
			for _, v := range s.Search {
				m := b.Default().Method
				m.Settings()[i].Set(v)
				with, alone := baselinetest.Learner(t, m, cached, 1), learner(t, m, 1)
				epochs(t, with, 1, 1)
				epochs(t, alone, 1, 1)
				testkit.Equal(t, fmt.Sprintf("%s: %s = %v", b.Name, s.Key, v), with.Model().Tensors(), alone.Model().Tensors())
			}
		}
	}
}

// The fields of the methods are settings.
func TestSettings(t *testing.T) {
	for _, b := range baselines {
		m := b.Default().Method
		var fields map[string]any
		testkit.NoError(t, json.Unmarshal(testkit.Must(json.Marshal(m))(t), &fields))
		testkit.Equal(t, "settings of "+b.Name, slices.Sorted(slices.Values(m.Settings().Keys())), slices.Sorted(maps.Keys(fields)))
		for _, s := range m.Settings() {
			if len(s.Search) == 1 || s.Help == "" {
				t.Errorf("%s: %s searches %v, with the help %q", b.Name, s.Key, s.Search, s.Help)
			}
		}
	}
}

// Settings and examples are checked before learning.
func TestLearnRefuses(t *testing.T) {
	m, e := &eszsl.Settings{Gamma: 1, Lambda: 1}, examples()
	e.Rows, e.Labels = nil, nil
	_, err := method.Learn(m, e, 1)
	testkit.WantError(t, err, "samples: expected at least one training sample")
	m.Gamma = -1
	testkit.Fails(method.Learn(m, e, 1))(t, "gamma: expected ")
}

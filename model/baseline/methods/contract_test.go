package methods_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/methods"
)

// examples are samples of four classes that show six attributes in eight features;
// the description of a class has a gap.
func examples() baseline.Examples {
	rng := rand.New(rand.NewPCG(1, 1))
	e := baseline.Examples{X: dataset.NewMatrix[float32](50, 8), U: dataset.NewMatrix[float64](4, 6), Cache: new(baseline.Cache)}
	for i := range e.U.Data {
		e.U.Data[i] = rng.Float64()
	}
	for r := range 40 {
		z := rng.IntN(4)
		e.Rows, e.Labels = append(e.Rows, 49-r), append(e.Labels, z)
		for d := range 8 {
			e.X.Row(49 - r)[d] = float32(math.Abs(rng.NormFloat64()/4 + e.U.Row(z)[d%6]))
		}
	}
	e.U.Data[3] = math.NaN()
	return e
}

func learn(t *testing.T, m methods.Method, seed uint64) baseline.Learner {
	t.Helper()
	l, err := m.Default.Learn(examples(), seed)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// epochs learns from one epoch to another, less where there is nothing more to learn.
func epochs(t *testing.T, l baseline.Learner, from, to int) {
	t.Helper()
	for number := from; number <= to; number++ {
		loss, done, err := l.Epoch(number)
		if err != nil || math.IsNaN(loss) || math.IsInf(loss, 0) {
			t.Fatalf("epoch %d: a loss of %g, %v", number, loss, err)
		}
		if done {
			return
		}
	}
}

// bits are all numbers of some tensors.
func bits(all baseline.Tensors) (values []float32) {
	for _, t := range all {
		values = append(values, t.Matrix.Data...)
	}
	return values
}

// The same seed gives the same model, and a method that is not Seeded the same for
// any.
func TestSeeds(t *testing.T) {
	each(t, func(t *testing.T, m methods.Method) {
		var models [3][]float32
		for i, seed := range []uint64{1, 1, 2} {
			l := learn(t, m, seed)
			epochs(t, l, 1, 3)
			models[i] = bits(l.Model().Tensors())
		}
		if !slices.Equal(models[0], models[1]) {
			t.Error("the same seed gives another model")
		}
		if slices.Equal(models[0], models[2]) == m.Seeded {
			t.Errorf("Seeded is %t, but another seed says otherwise", m.Seeded)
		}
	})
}

// A learner that takes the state of another goes on to the same model.
func TestResume(t *testing.T) {
	each(t, func(t *testing.T, m methods.Method) {
		whole, part, taken := learn(t, m, 1), learn(t, m, 1), learn(t, m, 1)
		epochs(t, whole, 1, 4)
		epochs(t, part, 1, 2)
		for i, s := range part.State() {
			copy(taken.State()[i].Matrix.Data, s.Matrix.Data)
		}
		epochs(t, taken, 3, 4)
		if !slices.Equal(bits(whole.Model().Tensors()), bits(taken.Model().Tensors())) {
			t.Error("the model is another after an interruption")
		}
	})
}

// A model that was restored from its tensors scores alike, classes that it never saw,
// and detections are judged as samples are scored.
func TestRestore(t *testing.T) {
	unseen := dataset.Matrix[float64]{Rows: 2, Cols: 6, Data: []float64{1, 0, 0.5, 0.2, 0, 1, 0, math.NaN(), 1, 0.9, 0.3, 0}}
	each(t, func(t *testing.T, m methods.Method) {
		e, l := examples(), learn(t, m, 1)
		epochs(t, l, 1, 2)
		want, err := l.Model().Score(e.X, e.Rows, unseen)
		if err != nil {
			t.Fatal(err)
		}
		if want.Rows != len(e.Rows) || want.Cols != 2 {
			t.Fatalf("%d x %d scores, expected %d x 2", want.Rows, want.Cols, len(e.Rows))
		}
		if slices.ContainsFunc(want.Data, func(v float32) bool { return v-v != 0 }) {
			t.Fatalf("scores are not finite: %v", want.Data)
		}
		restored, err := m.Default.Restore(l.Model().Tensors())
		if err != nil {
			t.Fatal(err)
		}
		compare(t, "restored", restored, e, unseen, want.Data)
		a, err := restored.Detect(e.X, e.Rows)
		if err != nil {
			t.Fatal(err)
		}
		judged, err := restored.Classify(a, unseen)
		if err != nil {
			t.Fatal(err)
		}
		compareScores(t, "judged", judged.Data, want.Data)
		if _, err := m.Default.Restore(nil); err == nil {
			t.Error("a model of no tensors is restored")
		}
	})
}

func compare(t *testing.T, name string, c model.Classifier, e baseline.Examples, u dataset.Matrix[float64], want []float32) {
	t.Helper()
	got, err := c.Score(e.X, e.Rows, u)
	if err != nil {
		t.Fatal(err)
	}
	compareScores(t, name, got.Data, want)
}

func compareScores(t *testing.T, name string, got, want []float32) {
	t.Helper()
	for i, v := range got { // gonum rounds small products by where in memory they are
		if !(math.Abs(float64(v-want[i])) <= 1e-4*(1+math.Abs(float64(want[i])))) {
			t.Fatalf("%s: score %d is %g, expected %g", name, i, v, want[i])
		}
	}
}

// Examples that nothing can be learned from are refused.
func TestBadExamples(t *testing.T) {
	each(t, func(t *testing.T, m methods.Method) {
		for field, change := range map[string]func(*baseline.Examples){
			"samples": func(e *baseline.Examples) { e.Rows, e.Labels = nil, nil },
			"labels":  func(e *baseline.Examples) { e.Labels = e.Labels[1:] },
		} {
			e := examples()
			change(&e)
			_, err := m.Default.Learn(e, 1)
			if wrong := (*invalid.Error)(nil); !errors.As(err, &wrong) || wrong.Field != field {
				t.Errorf("%v, expected an error of %s", err, field)
			}
		}
	})
}

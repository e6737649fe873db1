package methods_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/baseline"
	"github.com/lago-train/lago-train/model/baseline/internal/baselinetest"
	"github.com/lago-train/lago-train/model/baseline/methods"
)

// each runs a test for every method.
func each(t *testing.T, test func(*testing.T, methods.Method)) {
	t.Helper()
	for _, m := range methods.All {
		t.Run(m.Name, func(t *testing.T) { test(t, m) })
	}
}

func examples() baseline.Examples {
	e := baselinetest.Examples(40, 8, 6, 4, 0.5, 1)
	for i, v := range e.X.Data {
		e.X.Data[i] = float32(math.Abs(float64(v)))
	}
	e.U.Data[3] = math.NaN()
	e.Cache = new(baseline.Cache)
	return e
}

func learn(t *testing.T, h baseline.Hyperparameters, seed uint64) baseline.Learner {
	t.Helper()
	l, err := baseline.Learn(h, examples(), seed)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// train runs some epochs, fewer if training converges.
func train(t *testing.T, l baseline.Learner, from, to int) {
	t.Helper()
	for epoch := from; epoch <= to; epoch++ {
		loss, converged, err := l.Epoch(epoch)
		if err != nil || math.IsNaN(loss) || math.IsInf(loss, 0) {
			t.Fatalf("epoch %d: a loss of %g, %v", epoch, loss, err)
		}
		if converged {
			return
		}
	}
}

func trained(t *testing.T, h baseline.Hyperparameters) baseline.Model {
	t.Helper()
	l := learn(t, h, 1)
	train(t, l, 1, 2)
	return l.Model()
}

func values(all baseline.Tensors) (values []float32) {
	for _, t := range all {
		values = append(values, t.Matrix.Data...)
	}
	return values
}

func TestSeedDeterminesTheModel(t *testing.T) {
	each(t, func(t *testing.T, m methods.Method) {
		var models [3][]float32
		for i, seed := range []uint64{1, 1, 2} {
			l := learn(t, m.Default, seed)
			train(t, l, 1, 3)
			models[i] = values(l.Model().Tensors())
		}
		if !slices.Equal(models[0], models[1]) {
			t.Error("the same seed gives another model")
		}
		if slices.Equal(models[0], models[2]) == m.Seeded {
			t.Errorf("Seeded is %t, but not by another seed", m.Seeded)
		}
	})
}

func TestStateResumesTraining(t *testing.T) {
	each(t, func(t *testing.T, m methods.Method) {
		whole, part, resumed := learn(t, m.Default, 1), learn(t, m.Default, 1), learn(t, m.Default, 1)
		train(t, whole, 1, 4)
		train(t, part, 1, 2)
		for i, s := range part.State() {
			copy(resumed.State()[i].Matrix.Data, s.Matrix.Data)
		}
		train(t, resumed, 3, 4)
		if !slices.Equal(values(whole.Model().Tensors()), values(resumed.Model().Tensors())) {
			t.Error("the resumed model differs")
		}
	})
}

// A restored model scores as the original, also in two steps, and names the tensor that
// is missing or has another size.
func TestRestore(t *testing.T) {
	unseen := baselinetest.Matrix(6, 1, 0, 0.5, 0.2, 0, 1, 0, math.NaN(), 1, 0.9, 0.3, 0)
	each(t, func(t *testing.T, m methods.Method) {
		e, original := examples(), trained(t, m.Default)
		want := baselinetest.Score(t, original, e, unseen)
		if len(want) != 2*len(e.Rows) || slices.ContainsFunc(want, func(v float64) bool { return v-v != 0 }) {
			t.Fatalf("expected %d finite scores, found %v", 2*len(e.Rows), want)
		}
		restored, err := m.Default.Restore(original.Tensors())
		if err != nil {
			t.Fatal(err)
		}
		baselinetest.Near(t, "restored", 1e-4, baselinetest.Score(t, restored, e, unseen), want)
		a, err := restored.Detect(e.X, e.Rows)
		if err != nil {
			t.Fatal(err)
		}
		scores, err := restored.Classify(a, unseen)
		if err != nil {
			t.Fatal(err)
		}
		baselinetest.Near(t, "in two steps", 1e-4, baselinetest.Floats(scores.Data), want)

		for i, tensor := range original.Tensors() {
			_, err := m.Default.Restore(slices.Delete(original.Tensors(), i, i+1))
			baselinetest.WantField(t, tensor.Name, err)
			if i > 0 && tensor.Name != "phantoms" { // which determine the sizes of the others
				changed := original.Tensors()
				changed[i].Matrix = dataset.NewMatrix[float32](3, 17)
				_, err = m.Default.Restore(changed)
				baselinetest.WantField(t, tensor.Name, err)
			}
		}
	})
}

func TestScoreOfNoSamples(t *testing.T) {
	each(t, func(t *testing.T, m methods.Method) {
		e := examples()
		if s, err := model.Score(trained(t, m.Default), e.X, nil, e.U); err != nil || s.Rows != 0 || s.Cols != e.U.Rows {
			t.Errorf("%d x %d, %v; expected 0 x %d", s.Rows, s.Cols, err, e.U.Rows)
		}
	})
}

func TestModelsRefuseOtherSizes(t *testing.T) {
	each(t, func(t *testing.T, m methods.Method) {
		e, classifier := examples(), trained(t, m.Default)
		a, err := classifier.Detect(e.X, e.Rows[:1])
		if err != nil {
			t.Fatal(err)
		}
		_, err = model.Score(classifier, dataset.NewMatrix[float32](1, 3), []int{0}, e.U)
		baselinetest.WantField(t, "features", err)
		_, err = classifier.Classify(a, dataset.NewMatrix[float64](2, 3))
		baselinetest.WantField(t, "attributes", err)
		_, err = classifier.Classify(dataset.NewMatrix[float32](1, a.Cols+1), e.U)
		baselinetest.WantField(t, "detections", err)
		e.U.Data[0] = -1
		_, err = classifier.Classify(a, e.U)
		baselinetest.WantField(t, "descriptions", err)
	})
}

// NaN would be predicted as the first class.
func TestScoresAreNotNaN(t *testing.T) {
	each(t, func(t *testing.T, m methods.Method) {
		e, classifier := examples(), trained(t, m.Default)
		e.X.Row(2)[1] = float32(math.NaN())
		_, err := model.Score(classifier, e.X, []int{2}, e.U)
		if wrong := (*model.NotFinite)(nil); !errors.As(err, &wrong) || wrong.Term != "score" {
			t.Errorf("%v, expected an error of the score", err)
		}
	})
}

func TestLearnRefusesNoExamples(t *testing.T) {
	e := examples()
	e.Rows, e.Labels = nil, nil
	_, err := baseline.Learn(methods.All[0].Default, e, 1)
	baselinetest.WantField(t, "samples", err)
}

// Hyperparameters that share a cache do not change each other's model.
func TestCacheChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, m methods.Method) {
		cached := examples()
		for _, s := range m.Default.Settings() {
			for _, v := range s.Search {
				spec, err := methods.Spec{Method: m.Name, Settings: m.Default}.Set(s.Name, marshal(t, v))
				if err != nil {
					t.Fatal(err)
				}
				l, err := baseline.Learn(spec.Settings, cached, 1)
				if err != nil {
					t.Fatal(err)
				}
				train(t, l, 1, 1)
				alone := learn(t, spec.Settings, 1)
				train(t, alone, 1, 1)
				if diff := cmp.Diff(alone.Model().Tensors(), l.Model().Tensors()); diff != "" {
					t.Errorf("%s = %v (-alone +cached):\n%s", s.Name, v, diff)
				}
			}
		}
	})
}

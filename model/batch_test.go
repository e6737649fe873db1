package model_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

// take rows in this order.
func pick(m dataset.Matrix[float64], rows []int) dataset.Matrix[float64] {
	p := dataset.NewMatrix[float64](len(rows), m.Cols)
	for i, r := range rows {
		copy(p.Row(i), m.Row(r))
	}
	return p
}

// The loss and its gradients don't depend on the order of the samples, nor on
// that of the classes.
func TestOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := drawTrial(t)
		samples := rapid.Permutation(tr.x.AllRows()).Draw(t, "order of samples")
		classes := rapid.Permutation(tr.described.AllRows()).Draw(t, "order of classes")
		other := tr
		other.x = pick(tr.x, samples)
		other.described = pick(tr.described, classes)
		other = other.describe(t)
		nameOf := make([]int, len(classes)) // of the class that was z before
		for now, z := range classes {
			nameOf[z] = now
		}
		other.y = make([]int, len(tr.y))
		for i, s := range samples {
			other.y[i] = nameOf[tr.y[s]]
		}
		take(t, other.byW(t)).close(t, take(t, tr.byW(t)), 1e-9)
		take(t, other.byV(t)).close(t, take(t, tr.byV(t)), 1e-9)
	})
}

// A batch with fewer labels than samples counts as one of the labelled samples
// alone, independent of the other rows and of earlier batches.
func TestPartialBatchCountsExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := drawTrial(t)
		want := []outcome{take(t, whole.byW(t)), take(t, whole.byV(t))}

		n, spare := whole.x.Rows, rapid.IntRange(1, 4).Draw(t, "rows without a label")
		partial := whole
		partial.Batch = n + spare
		partial.x = uniform(newRand(1), n+spare, whole.x.Cols, -50, 50)
		copy(partial.x.Data, whole.x.Data)
		w, v := partial.byW(t), partial.byV(t)
		w.Label(make([]int, partial.Batch)...)
		v.Label(make([]int, partial.Batch)...)
		take(t, w)
		take(t, v)
		w.Label(partial.y...)
		v.Label(partial.y...)
		take(t, w).close(t, want[0], 1e-9)
		take(t, v).close(t, want[1], 1e-9)
	})
}

// Label replaces the labels of the step before.
func TestLabelReplaces(t *testing.T) {
	tr := newTrial(t, learned, sizes{n: 4, d: 5, m: 6, k: 3, z: 4}, 1)
	m := tr.byW(t)
	want := take(t, m)
	m.Label(3, 3, 3, 3)
	take(t, m)
	m.Label(tr.y...)
	identical(t, take(t, m), want)
}

func TestGroupsAreDistributions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := drawTrial(t)
		gamma := tr.params.Groups(tr.Config.Zeta)
		for m := range gamma.Rows {
			var sum float64
			for k, g := range gamma.Row(m) {
				if !(g >= 0 && g <= 1) {
					t.Errorf("Gamma[%d,%d] = %g, expected a probability", m, k, g)
				}
				sum += g
			}
			same(t, "sum of a row of Gamma", []float64{sum}, []float64{1})
		}
	})
}

// DetectorTerms, which a VMachine is given, agrees with the terms of a WMachine.
func TestDetectorTermsAreThoseOfTheWMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := drawTrial(t)
		got, want := model.DetectorTerms(tr.params, tr.Classes), take(t, tr.byW(t)).Terms
		same(t, "terms", []float64{got.W2, got.WU2}, []float64{want.W2, want.WU2})
	})
}

// BXE of a batch is the mean over its samples.
func TestAttributeEntropyOfOneSample(t *testing.T) {
	tr := newTrial(t, learned, sizes{n: 4, d: 5, m: 600, k: 3, z: 4}, 1)
	s := dataset.NewMatrix[float64](tr.x.Rows, 600)
	tr.params.Logits(tr.x, s)
	var mean float64
	for i, z := range tr.y {
		mean += model.AttributeEntropy(s.Row(i), tr.Classes.Targets.Row(z), nil) / 4
	}
	same(t, "bxe", []float64{mean}, []float64{take(t, tr.byW(t)).Terms.BXE})
}

// Detections of 1/2 have the entropy log 2, for any number of attributes.
func TestAttributeEntropyOfManyAttributes(t *testing.T) {
	for _, m := range []int{1, 511, 512, 513, 3000} {
		same(t, "bxe", []float64{model.AttributeEntropy(make([]float64, m), make([]float64, m), nil)}, []float64{math.Ln2})
	}
}

func TestTermsAdd(t *testing.T) {
	sum := model.Terms{CXE: 1, BXE: 2, W2: 3, WU2: 4, Prior: 5}
	sum.Add(model.Terms{CXE: 10, BXE: 20, W2: 30, WU2: 40, Prior: 50}, 0.5)
	if want := (model.Terms{CXE: 6, BXE: 12, W2: 18, WU2: 24, Prior: 30}); sum != want {
		t.Errorf("the sum is %+v, expected %+v", sum, want)
	}
}

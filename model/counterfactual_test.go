package model_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/model"
)

// after classifies detections: the log odds between two classes, and the predicted
// class.
func (tr trial[T]) after(t rapid.TB, a []T, class, against int) (odds float64, predicted int) {
	t.Helper()
	l := tr.classify(t, a)
	return l[class] - l[against], slices.Index(l, slices.Max(l))
}

// Every change agrees with classifying the changed detections; each attribute is changed
// both ways, and the largest changes come first.
func TestChangesAreExact(t *testing.T) {
	for i, c := range designs() {
		t.Run(designName(c), func(t *testing.T) {
			tr, e, a := explained(t, c, uint64(i))
			now, _ := tr.after(t, a, 2, 0)
			changes, err := e.Changes(a, 2, 0)
			if err != nil {
				t.Fatal(err)
			}
			possible := 0
			for _, p := range a {
				if p != 0 {
					possible++
				}
				if p != 1 {
					possible++
				}
			}
			if len(changes) != possible {
				t.Errorf("%d changes, expected %d", len(changes), possible)
			}
			last := math.Inf(1)
			for _, change := range changes {
				changed := slices.Clone(a)
				changed[change.Attribute] = change.To
				odds, predicted := tr.after(t, changed, 2, 0)
				same(t, "log odds after a change", []float64{change.LogOdds}, []float64{odds})
				if change.From != a[change.Attribute] || change.From == change.To || change.Predicted != predicted {
					t.Errorf("%+v, expected from %g to a prediction of %d", change, a[change.Attribute], predicted)
				}
				moved := math.Abs(odds - now)
				if moved > last+1e-9 {
					t.Errorf("a change by %g after one by %g", moved, last)
				}
				last = moved
			}
		})
	}
}

// The changes that Flip finds flip the two classes, each is needed, and if a single change
// is enough it finds one. If it finds none, no single further change flips the classes.
func TestFlip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(designs()).Draw(t, "design")
		tr, e, a := explained(t, c, rapid.Uint64Range(0, 1000).Draw(t, "seed"))
		class, against := 2, 0
		if odds, _ := tr.after(t, a, class, against); odds < 0 {
			class, against = against, class
		}
		changes, found, err := e.Flip(a, class, against, len(a))
		if err != nil {
			t.Fatal(err)
		}
		at := slices.Clone(a)
		var odds float64
		for _, change := range changes {
			at[change.Attribute] = change.To
			var predicted int
			odds, predicted = tr.after(t, at, class, against)
			same(t, "log odds", []float64{change.LogOdds}, []float64{odds})
			if change.From != a[change.Attribute] || change.Predicted != predicted {
				t.Fatalf("%+v, expected from %g to a prediction of %d", change, a[change.Attribute], predicted)
			}
		}
		one := false
		for m := range a {
			for _, to := range []float64{0, 1} {
				alone := slices.Clone(a)
				alone[m] = to
				if odds, _ := tr.after(t, alone, class, against); odds < -1e-9 {
					one = true
				}
			}
		}
		if one && (!found || len(changes) != 1) {
			t.Fatalf("found %v, %+v, but one change is enough", found, changes)
		}
		if !found {
			if len(changes) > 0 && odds < 0 {
				t.Fatalf("not found, but the log odds are %g", odds)
			}
			return
		}
		if odds >= 0 {
			t.Fatalf("the log odds after %+v are %g", changes, odds)
		}
		for i := range changes {
			less := slices.Clone(a)
			for j, change := range changes {
				if i != j {
					less[change.Attribute] = change.To
				}
			}
			if odds, _ := tr.after(t, less, class, against); odds < -1e-9 {
				t.Fatalf("of %+v, change %d is not needed", changes, i)
			}
		}
	})
}

// Three groups of one attribute each, which the first class has and the second lacks, all
// detected. Removing one attribute is not enough to flip the classes, so that a limit of
// one change finds nothing.
func TestFlipRespectsItsLimit(t *testing.T) {
	c := model.Config{Variant: model.Singletons, Prior: model.PerAttribute, Complement: model.DeMorgan, Zeta: 1000}
	d, err := c.Describe(matrix([][]float64{{0.9, 0.9, 0.9}, {0.1, 0.1, 0.1}}), nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := model.NewExplainer(c, d, matrix([][]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}))
	if err != nil {
		t.Fatal(err)
	}
	a := []float64{0.95, 0.95, 0.95}
	one, found, err := e.Flip(a, 0, 1, 1)
	if err != nil || found || len(one) != 1 || one[0].LogOdds < 0 {
		t.Errorf("with a limit of 1: %v, %+v, %v; expected one change that is not enough", found, one, err)
	}
	// log odds of a group are log((1.8 a + 0.2 (1-a)) / (0.2 a + 1.8 (1-a))): with two
	// of three not detected they are -2 log 9 + log(1.72/0.28) < 0.
	two, found, err := e.Flip(a, 0, 1, 3)
	if err != nil || !found || len(two) != 2 {
		t.Fatalf("with a limit of 3: %v, %+v, %v; expected two changes", found, two, err)
	}
	same(t, "log odds", []float64{two[1].LogOdds}, []float64{-2*math.Log(9) + math.Log(1.72/0.28)})
	if two[0].Attribute == two[1].Attribute || two[0].To != 0 || two[1].Predicted != 1 {
		t.Errorf("%+v, expected two attributes not detected and the second class", two)
	}
}

// The greedy first step turns out not to be needed. In group 0 both attributes are certain
// for the first class: without one of them it keeps half of its score, without both it has
// none. As a first step, attribute 2 changes more than one of them,
//
//	log((0.9/0.6 + 0.1/0.4) / (0.1/0.4)) - log((0.3/0.6 + 0.7/0.4) / (0.7/0.4)) = 1.69
//
// against log 2 - log((4/3 + 4) / (2/3 + 4)) = 0.56. Ten further groups add
// log(0.6/0.4) = 0.41 each to the log odds of the first class.
func TestFlipRemovesUnneededChanges(t *testing.T) {
	const m, k = 13, 12
	u := matrix([][]float64{make([]float64, m), make([]float64, m)})
	copy(u.Row(0), []float64{1, 1, 0.9})
	copy(u.Row(1), []float64{0.5, 0.5, 0.3})
	a, v := make([]float64, m), matrix(slices.Repeat([][]float64{make([]float64, k)}, m))
	copy(a, []float64{1, 1, 1})
	for i := range m {
		if i > 2 {
			u.Row(0)[i], u.Row(1)[i] = 0.4, 0.6
		}
		v.Row(i)[max(i-1, 0)] = 1
	}
	c := model.Config{Variant: model.KSoft, K: k, Prior: model.PerAttribute, Complement: model.Const, Zeta: 1000}
	d, err := c.Describe(u, nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := model.NewExplainer(c, d, v)
	if err != nil {
		t.Fatal(err)
	}
	single, err := e.Changes(a, 0, 1)
	if err != nil || single[0].Attribute != 2 {
		t.Fatalf("%+v, %v; expected attribute 2 first", single[0], err)
	}
	changes, found, err := e.Flip(a, 0, 1, m)
	if err != nil || !found || len(changes) != 2 || changes[0].Attribute > 1 || changes[1].Attribute > 1 {
		t.Errorf("%v, %+v, %v; expected the two attributes of group 0", found, changes, err)
	}
}

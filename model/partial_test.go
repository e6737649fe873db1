package model_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/impute"
)

// hard draws a configuration with hard groups.
func hard(t *rapid.T, zeta ...float64) model.Config {
	return model.Config{
		Variant:    rapid.SampledFrom([]model.Variant{model.Singletons, model.SemanticHard}).Draw(t, "variant"),
		Prior:      rapid.SampledFrom(model.Priors).Draw(t, "prior"),
		Complement: rapid.SampledFrom(model.Complements).Draw(t, "complement"),
		Zeta:       rapid.SampledFrom(zeta).Draw(t, "zeta"),
	}
}

// logPOf classifies detections by descriptions, in float64.
func logPOf(t rapid.TB, l *model.Pipeline, a dataset.Matrix[float64], u dataset.Matrix[float64]) dataset.Matrix[float64] {
	t.Helper()
	e, err := l.Explainer(u) // in float64
	if err != nil {
		t.Fatal(err)
	}
	p, err := e.LogP(a)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// leaveOut removes the entries of a group from the descriptions of the given classes.
func leaveOut(u dataset.Matrix[float64], semantic []int, group int, classes ...int) {
	for _, z := range classes {
		for m, g := range semantic {
			if g == group {
				u.Row(z)[m] = nan
			}
		}
	}
}

// redetect draws other detections for the attributes of a group.
func redetect(a dataset.Matrix[float64], semantic []int, group int, seed uint64) dataset.Matrix[float64] {
	other := dataset.Matrix[float64]{Rows: a.Rows, Cols: a.Cols, Data: slices.Clone(a.Data)}
	rng := newRand(seed)
	for i := range a.Rows {
		for m, g := range semantic {
			if g == group {
				other.Row(i)[m] = rng.Float64()
			}
		}
	}
	return other
}

// partial is a LAGO with three groups of nine attributes, four classes, and
// detections of five samples.
func partial(t *rapid.T, c model.Config) (l *model.Pipeline, a, u dataset.Matrix[float64]) {
	seed := rapid.Uint64().Draw(t, "seed")
	tr := newTrial(t, c, sizes{n: 5, d: 2, m: 9, k: 3, z: 4}, seed)
	for m := range tr.Semantic {
		tr.Semantic[m] = m % 3 // for singletons too
	}
	l = lago(single(tr))
	if rapid.Bool().Draw(t, "with a reference") {
		var err error
		if l.Impute, err = impute.New(uniform(newRand(seed+1), 7, 9, 0, 0.6), tr.Semantic); err != nil {
			t.Fatal(err)
		}
	}
	return l, uniform(newRand(seed+2), 5, 9, 0, 1), tr.described
}

// Detections of a group that no class describes do not change the probabilities.
func TestUndescribedGroupChangesNothingProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, a, u := partial(t, hard(t, 2, 10, 1000))
		leaveOut(u, classifierIn(l).Semantic, 1, 0, 1, 2, 3)
		if rapid.Bool().Draw(t, "more missing entries") {
			u.Row(0)[0], u.Row(2)[5] = nan, nan
		}
		before := logPOf(t, l, a, u)
		after := logPOf(t, l, redetect(a, classifierIn(l).Semantic, 1, 3), u)
		within(t, "log p(z|x) with other detections", 1e-12, after.Data, before.Data)
	})
}

// A group that no class describes contributes nothing, also with as many groups as CUB has,
// where rounding of Gamma depends on the group.
func TestUndescribedGroupOfMany(t *testing.T) {
	const groups, group = 28, 25
	for _, v := range []model.Variant{model.SemanticHard, model.Singletons} {
		c := model.Config{Variant: v, Prior: model.Uniform, Complement: model.Const, Zeta: 10}
		tr := newTrial(t, c, sizes{n: 5, d: 2, m: 2 * groups, k: groups, z: 4}, 1)
		for m := range tr.Semantic {
			tr.Semantic[m] = m % groups
		}
		l, u := lago(single(tr)), tr.described
		leaveOut(u, classifierIn(l).Semantic, group, 0, 1, 2, 3)
		e, err := l.Explainer(u)
		if err != nil {
			t.Fatal(err)
		}
		x, err := e.Explain(uniform(newRand(2), 1, 2*groups, 0, 1).Data, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		if c := x.Groups[group].Contribution; c != 0 {
			t.Errorf("%s: a contribution of %g", v, c)
		}
	}
}

// With exactly one-hot groups, a group that no class describes is equivalent to a data set
// without its attributes.
func TestUndescribedGroupIsEquivalentToNoneProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, a, u := partial(t, hard(t, 1000))
		leaveOut(u, classifierIn(l).Semantic, 2, 0, 1, 2, 3)
		p := logPOf(t, l, a, u)

		// Group 2 is every third attribute.
		rest := func(m dataset.Matrix[float64]) dataset.Matrix[float64] {
			less := dataset.NewMatrix[float64](m.Rows, 6)
			for i := range m.Rows {
				for j := range 6 {
					less.Row(i)[j] = m.Row(i)[j/2*3+j%2]
				}
			}
			return less
		}
		without := lago(single(newTrial(t, classifierIn(l).Config, sizes{n: 5, d: 2, m: 6, k: 2, z: 4}, 0)))
		same(t, "log p(z|x)", p.Data, logPOf(t, without, rest(a), rest(u)).Data)
	})
}

// A group that a class does not describe leaves its odds unchanged against a class that
// has the mean description of the reference in this group.
func TestUndescribedGroupIsThatOfTheAverageClassProperty(t *testing.T) {
	const unsaid, average, group = 1, 3, 2
	rapid.Check(t, func(t *rapid.T) {
		c := hard(t, 1000)
		l, a, u := partial(t, c)
		reference := uniform(newRand(rapid.Uint64().Draw(t, "reference")), 7, 9, 0, 0.6)
		var err error
		if l.Impute, err = impute.New(reference, classifierIn(l).Semantic); err != nil {
			t.Fatal(err)
		}
		leaveOut(u, classifierIn(l).Semantic, group, unsaid)
		for m, g := range classifierIn(l).Semantic {
			if g == group {
				var sum float64
				for z := range reference.Rows {
					sum += reference.Row(z)[m]
				}
				u.Row(average)[m] = sum / float64(reference.Rows)
			}
		}
		before := logPOf(t, l, a, u)
		after := logPOf(t, l, redetect(a, classifierIn(l).Semantic, group, 3), u)
		moved := false
		for i := range a.Rows {
			b, f := before.Row(i), after.Row(i)
			same(t, "log odds", []float64{f[unsaid] - f[average]}, []float64{b[unsaid] - b[average]})
			moved = moved || math.Abs(b[unsaid]-b[0]-f[unsaid]+f[0]) > 1e-6
		}
		// Singletons without a complement score log U/p + log A: the odds do not depend on A.
		if !moved && !(c.Variant == model.Singletons && c.Complement == model.NoComplement) {
			t.Error("the odds against a class that describes the group did not change")
		}
	})
}

// The imputation does not change scores of full descriptions.
func TestFullDescriptionsNeedNoReference(t *testing.T) {
	tr := single(newTrial(t, learned, sizes{n: 20, d: 5, m: 6, k: 3, z: 4}, 1))
	l := lago(tr)
	rows := []int{3, 4, 5, 19}
	want, err := model.Score(l, tr.x, rows, tr.described)
	if err != nil {
		t.Fatal(err)
	}
	rule, err := impute.New(uniform(newRand(9), 7, 6, 0, 1), tr.Semantic)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range impute.Kinds {
		l.Impute = rule.WithKind(kind)
		got, err := model.Score(l, tr.x, rows, tr.described)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
}

// Missing entries are imputed from the reference, not from the other given classes, in
// Classify and in Explainer.
func TestMissingEntriesAreImputedFromTheReference(t *testing.T) {
	tr := newTrial(t, oneHot, sizes{n: 2, d: 2, m: 4, z: 2}, 1)
	l := lago(single(tr))
	var err error
	if l.Impute, err = impute.New(matrix([][]float64{{0.1, 0.2, 0.3, 0.4}, {0.3, 0.4, 0.5, 0.6}}), nil); err != nil {
		t.Fatal(err)
	}
	u := matrix([][]float64{{0.9, nan, 0.5, 0.5}, {0.9, 0.7, nan, 0.5}})
	full := matrix([][]float64{{0.9, 0.3, 0.5, 0.5}, {0.9, 0.7, 0.4, 0.5}})
	a := uniform(newRand(2), 3, 4, 0, 1)
	same(t, "log p(z|x)", logPOf(t, l, a, u).Data, logPOf(t, l, a, full).Data)
	got, err := l.Classify(to[float32](a), u)
	if err != nil {
		t.Fatal(err)
	}
	within(t, "scores", 1e-5, floats(got.Data), logPOf(t, l, a, full).Data)
}

// Classes without any described attribute are equally probable.
func TestEmptyDescriptions(t *testing.T) {
	for _, c := range model.Complements {
		config := oneHot
		config.Complement = c
		tr := newTrial(t, config, sizes{n: 2, d: 2, m: 3, z: 2}, 1)
		u := matrix([][]float64{{nan, nan, nan}, {nan, nan, nan}})
		p := logPOf(t, lago(single(tr)), uniform(newRand(2), 2, 3, 0, 1), u)
		same(t, "log p(z|x) of "+string(c), p.Data, []float64{-math.Ln2, -math.Ln2, -math.Ln2, -math.Ln2})
	}
}

func classifierIn(p *model.Pipeline) *model.LAGO { return p.Classifier.(*model.LAGO) }

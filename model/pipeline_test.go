package model_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/impute"
	imatrix "github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
)

func lago(tr trial[float32]) *model.Pipeline {
	return &model.Pipeline{Classifier: &model.LAGO{Config: tr.Config, Params: tr.params, Semantic: tr.Semantic}}
}

// echo returns the features as detections and scores by their product with u.
type echo struct{}

func (echo) Detect(x dataset.Matrix[float32], rows []int) (dataset.Matrix[float32], error) {
	return x.Gather(rows), nil
}

func (echo) Prepare(u dataset.Matrix[float64]) (model.Scorer[float32], error) {
	return model.Scorer[float32]{Classes: u.Rows, Each: func(a dataset.Matrix[float32], use func(int, []float64)) error {
		if a.Rows > 0 {
			use(0, imatrix.Product(dataset.Convert[float64](a), u.T()).Data)
		}
		return nil
	}}, nil
}

// A pipeline transforms features and imputes descriptions, by Score and by a Scorer.
func TestPipelineOfAnyClassifier(t *testing.T) {
	x := dataset.Matrix[float32]{Rows: 2, Cols: 2, Data: []float32{3, 4, 1, 2}}
	u := matrix([][]float64{{1, nan}, {nan, 1}})
	imputer := &impute.Imputer{Reference: matrix([][]float64{{0.5, 0.75}, {0.5, 0.75}})}
	standardise := &preprocess.Transform{Chain: preprocess.Standardise, Shift: []float32{1, 2}, Scale: []float32{2, 1}}
	for _, c := range []struct {
		transform *preprocess.Transform
		want      []float32
	}{
		{nil, []float32{3 + 4*0.75, 3*0.5 + 4, 1 + 2*0.75, 1*0.5 + 2}},
		{&preprocess.Transform{Chain: preprocess.None}, []float32{6, 5.5, 2.5, 2.5}},
		{standardise, []float32{4 + 2*0.75, 4*0.5 + 2, 0, 0}},
	} {
		p := &model.Pipeline{Classifier: echo{}, Transform: c.transform, Impute: imputer}
		scores := testkit.Must(model.Score(p, x, x.AllRows(), u))(t)
		testkit.NearAll(t, "scores", scores.Data, c.want, 1e-6)
		clear(scores.Data)
		testkit.NoError(t, testkit.Must(model.NewStream(p, u, false))(t)(x, scores, nil))
		testkit.NearAll(t, "scores of a Scorer", scores.Data, c.want, 1e-6)
		names(t, errorOf(model.Classify(p, x, matrix([][]float64{{nan}}))), "descriptions")
	}
	p := &model.Pipeline{Classifier: echo{}, Transform: &preprocess.Transform{Chain: preprocess.Standardise, Shift: []float32{1}, Scale: []float32{2}}}
	names(t, errorOf(p.Detect(x, []int{0})), "features")
	names(t, errorOf(p.Explainer(u)), "model")
	names(t, errorOf(p.DetectOne(x, 0)), "model")
}

func TestScoreErrors(t *testing.T) {
	tr := single(newTrial(t, learned, sizes{n: 3, d: 5, m: 6, k: 3, z: 4}, 1))
	p := lago(tr)
	names(t, errorOf(model.Score(p, dataset.NewMatrix[float32](3, 4), []int{0}, tr.described)), "features")
	names(t, errorOf(model.Score(p, tr.x, []int{0}, dataset.NewMatrix[float64](4, 0))), "descriptions")
	names(t, errorOf(model.Classify(p, dataset.NewMatrix[float32](1, 5), tr.described)), "detections")
	for _, p := range []*model.Pipeline{p, {Classifier: echo{}}} {
		names(t, errorOf(model.NewStream(p, dataset.NewMatrix[float64](0, 6), false)), "descriptions")
		scorer := testkit.Must(model.NewStream(p, tr.described, false))(t)
		names(t, scorer(tr.x, dataset.NewMatrix[float32](3, 5), nil), "scores")
		names(t, scorer(tr.x, dataset.NewMatrix[float32](2, 4), nil), "scores")
		testkit.NoError(t, scorer(dataset.NewMatrix[float32](0, 5), dataset.NewMatrix[float32](0, 4), nil))
	}
}

// configs draws any configuration.
func configs(t *rapid.T) model.Config {
	return model.Config{
		Variant: rapid.SampledFrom(model.Variants).Draw(t, "variant"), K: 3,
		Prior:      rapid.SampledFrom(model.Priors).Draw(t, "prior"),
		Complement: rapid.SampledFrom(model.Complements).Draw(t, "complement"),
		Zeta:       rapid.SampledFrom([]float64{1, 10, 1000}).Draw(t, "zeta"),
	}
}

// A scorer agrees with the graphs for any block size, with and without missing entries.
func TestScorerAgreesWithTheGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := sizes{n: rapid.IntRange(1, 40).Draw(t, "samples"), d: 4, m: 9, k: 3, z: rapid.IntRange(1, 6).Draw(t, "classes")}
		tr := newTrial(t, configs(t), s, rapid.Uint64().Draw(t, "seed"))
		for m := range tr.Semantic {
			tr.Semantic[m] = m % 3
		}
		if rapid.Bool().Draw(t, "impute") {
			leaveOut(tr.described, tr.Semantic, 1, rapid.SliceOfDistinct(rapid.IntRange(0, s.z-1), rapid.ID).Draw(t, "undescribed classes")...)
			tr.described.Row(0)[0] = nan
		}
		tr = tr.describe(t)
		scorer := testkit.Must(model.NewStream(lago(single(tr)), tr.described, false))(t)
		x := dataset.Convert[float32](tr.x)
		got := dataset.NewMatrix[float32](s.n, s.z)
		block := rapid.IntRange(1, s.n).Draw(t, "block")
		for from := 0; from < s.n; from += block {
			end := min(from+block, s.n)
			testkit.NoError(t, scorer(x.Slice(from, end), got.Slice(from, end), nil))
		}
		testkit.NearAll(t, "log p(z|x)", floats(got.Data), tr.logP(t), 2e-4)
	})
}

// Many classes and samples are scored in blocks, and the preprocessing is folded into the detectors.
func TestScorerFoldsPreprocessing(t *testing.T) {
	tr := single(newTrial(t, learned, sizes{n: 300, d: 5, m: 12, k: 4, z: 150}, 1))
	for _, chain := range []preprocess.Chain{preprocess.None, "sqrt,l2,whiten", "standardize,l2"} {
		p := lago(tr)
		p.Transform = testkit.Must(preprocess.Fit(chain, 0.1, tr.x, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}))(t)
		scorer := testkit.Must(model.NewStream(p, tr.described, false))(t)
		want := testkit.Must(model.Score(p, tr.x, tr.x.AllRows(), tr.described))(t)
		for range 2 { // a scorer can be reused
			got := dataset.NewMatrix[float32](300, 150)
			testkit.NoError(t, scorer(tr.x, got, nil))
			testkit.NearAll(t, string(chain), floats(got.Data), floats(want.Data), 1e-4)
		}
	}
}

// hard draws a configuration with hard groups.
func hard(t *rapid.T, zeta ...float64) model.Config {
	c := configs(t)
	c.Variant = rapid.SampledFrom([]model.Variant{model.Singletons, model.SemanticHard}).Draw(t, "variant")
	c.Zeta = rapid.SampledFrom(zeta).Draw(t, "zeta")
	return c
}

// logPOf classifies detections by descriptions, in float64.
func logPOf(t rapid.TB, p *model.Pipeline, a, u dataset.Matrix[float64]) dataset.Matrix[float64] {
	t.Helper()
	return testkit.Must(testkit.Must(p.Explainer(u))(t).LogP(a))(t)
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
func redetect(a dataset.Matrix[float64], semantic []int, group int) dataset.Matrix[float64] {
	other := a.Gather(a.AllRows())
	rng := newRand(3)
	for i := range a.Rows {
		for m, g := range semantic {
			if g == group {
				other.Row(i)[m] = rng.Float64()
			}
		}
	}
	return other
}

// partial is a LAGO with three groups of nine attributes, four classes, and detections of five samples.
func partial(t *rapid.T, c model.Config) (p *model.Pipeline, semantic []int, a, u dataset.Matrix[float64]) {
	seed := rapid.Uint64().Draw(t, "seed")
	tr := newTrial(t, c, sizes{n: 5, d: 2, m: 9, k: 3, z: 4}, seed)
	for m := range tr.Semantic {
		tr.Semantic[m] = m % 3 // for singletons too
	}
	p = lago(single(tr))
	return p, tr.Semantic, uniform(newRand(seed+2), 5, 9, 0, 1), tr.described
}

// Detections of a group that no class describes do not change the probabilities. With
// exactly one-hot groups, such a group is equivalent to a data set without its attributes.
func TestUndescribedGroupChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := hard(t, 2, 10, 1000)
		p, semantic, a, u := partial(t, c)
		leaveOut(u, semantic, 2, 0, 1, 2, 3)
		before := logPOf(t, p, a, u)
		testkit.NearAll(t, "log p(z|x) with other detections", logPOf(t, p, redetect(a, semantic, 2), u).Data, before.Data, 1e-12)
		if c.Zeta < 1000 {
			return
		}
		rest := func(m dataset.Matrix[float64]) dataset.Matrix[float64] { // group 2 is every third attribute
			less := dataset.NewMatrix[float64](m.Rows, 6)
			for i := range m.Rows {
				for j := range 6 {
					less.Row(i)[j] = m.Row(i)[j/2*3+j%2]
				}
			}
			return less
		}
		without := lago(single(newTrial(t, c, sizes{n: 5, d: 2, m: 6, k: 2, z: 4}, 0)))
		same(t, "log p(z|x)", before.Data, logPOf(t, without, rest(a), rest(u)).Data)
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
		leaveOut(tr.described, tr.Semantic, group, 0, 1, 2, 3)
		e := testkit.Must(lago(single(tr)).Explainer(tr.described))(t)
		x := testkit.Must(e.Explain(uniform(newRand(2), 1, 2*groups, 0, 1).Data, 0, 1))(t)
		testkit.Equal(t, "contribution", x.Groups[group].Contribution, 0.)
	}
}

// Missing entries are imputed from the reference, not from the other given classes.
func TestMissingEntriesAreImputedFromTheReference(t *testing.T) {
	tr := newTrial(t, oneHot, sizes{n: 2, d: 2, m: 4, z: 2}, 1)
	p := lago(single(tr))
	p.Impute = &impute.Imputer{Reference: matrix([][]float64{{0.2, 0.3, 0.4, 0.5}, {0.2, 0.3, 0.4, 0.5}})}
	u := matrix([][]float64{{0.9, nan, 0.5, 0.5}, {0.9, 0.7, nan, 0.5}})
	full := matrix([][]float64{{0.9, 0.3, 0.5, 0.5}, {0.9, 0.7, 0.4, 0.5}})
	a := uniform(newRand(2), 3, 4, 0, 1)
	want := logPOf(t, p, a, full)
	same(t, "log p(z|x)", logPOf(t, p, a, u).Data, want.Data)
	testkit.NearAll(t, "scores", floats(testkit.Must(model.Classify(p, dataset.Convert[float32](a), u))(t).Data), want.Data, 1e-5)
}

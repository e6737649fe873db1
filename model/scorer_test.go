package model_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/model/preprocess"
)

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
func TestScorerAgreesWithTheGraphsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		s := sizes{n: rapid.IntRange(1, 40).Draw(t, "samples"), d: 4, m: 9, k: 3, z: rapid.IntRange(1, 6).Draw(t, "classes")}
		tr := newTrial(t, configs(t), s, seed)
		for m := range tr.Semantic {
			tr.Semantic[m] = m % 3
		}
		if rapid.Bool().Draw(t, "impute") {
			leaveOut(tr.described, tr.Semantic, 1, rapid.SliceOfDistinct(rapid.IntRange(0, s.z-1), rapid.ID).Draw(t, "undescribed classes")...)
			tr.described.Row(0)[0] = nan
		}
		tr = tr.describe(t)
		want := tr.logP(t)
		l := lago(single(tr))

		scorer, err := model.NewScorer(l, tr.described)
		if err != nil {
			t.Fatal(err)
		}
		x := to[float32](tr.x)
		got := dataset.NewMatrix[float32](s.n, s.z)
		block := rapid.IntRange(1, s.n).Draw(t, "block")
		for from := 0; from < s.n; from += block {
			rows := min(block, s.n-from)
			if err := scorer.Score(
				dataset.Matrix[float32]{Rows: rows, Cols: s.d, Data: x.Data[from*s.d : (from+rows)*s.d]},
				dataset.Matrix[float32]{Rows: rows, Cols: s.z, Data: got.Data[from*s.z : (from+rows)*s.z]},
			); err != nil {
				t.Fatal(err)
			}
		}
		within(t, "log p(z|x)", 2e-4, floats(got.Data), want)
		scored, err := model.Score(l, x, x.AllRows(), tr.described)
		if err != nil {
			t.Fatal(err)
		}
		within(t, "Score", 2e-4, floats(scored.Data), want)
	})
}

// Many classes and samples are scored in blocks, and the preprocessing is folded into the
// detectors.
func TestScorerInBlocks(t *testing.T) {
	tr := single(newTrial(t, learned, sizes{n: 300, d: 5, m: 12, k: 4, z: 150}, 1))
	for _, chain := range []preprocess.Chain{preprocess.None, "sqrt,l2,whiten", "standardize,l2"} {
		l := lago(tr)
		var err error
		if l.Transform, err = preprocess.Fit(chain, 0.1, tr.x, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}); err != nil {
			t.Fatal(err)
		}
		scorer, err := model.NewScorer(l, tr.described)
		if err != nil {
			t.Fatal(err)
		}
		want, err := model.Score(l, tr.x, tr.x.AllRows(), tr.described)
		if err != nil {
			t.Fatal(err)
		}
		got := dataset.NewMatrix[float32](300, 150)
		for range 2 { // a scorer can be reused
			clear(got.Data)
			if err := scorer.Score(tr.x, got); err != nil {
				t.Fatal(err)
			}
			within(t, string(chain), 1e-4, floats(got.Data), floats(want.Data))
		}
	}
}

// Other classifiers are scored by Detect and Classify, with imputed descriptions.
func TestScorerOfAnyClassifier(t *testing.T) {
	rule, err := impute.New(dataset.Matrix[float64]{Rows: 2, Cols: 2, Data: []float64{0, 0.5, 1, 1}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &model.Pipeline{Classifier: echo{}, Transform: &preprocess.Transform{Chain: preprocess.None}, Impute: rule}
	scorer, err := model.NewScorer(c, dataset.Matrix[float64]{Rows: 2, Cols: 2, Data: []float64{1, nan, nan, 1}})
	if err != nil {
		t.Fatal(err)
	}
	got := dataset.NewMatrix[float32](2, 2)
	if err := scorer.Score(dataset.Matrix[float32]{Rows: 2, Cols: 2, Data: []float32{1, 2, 0, 4}}, got); err != nil {
		t.Fatal(err)
	}
	same(t, "scores", floats(got.Data), []float64{2.5, 2.5, 3, 4})
}

func TestScorerErrors(t *testing.T) {
	tr := single(newTrial(t, learned, sizes{n: 3, d: 5, m: 6, k: 3, z: 4}, 1))
	for _, c := range []*model.Pipeline{lago(tr), {Classifier: echo{}}} {
		_, err := model.NewScorer(c, dataset.NewMatrix[float64](0, 6))
		names(t, err, "descriptions")
		scorer, err := model.NewScorer(c, tr.described)
		if err != nil {
			t.Fatal(err)
		}
		names(t, scorer.Score(tr.x, dataset.NewMatrix[float32](3, 5)), "scores")
		names(t, scorer.Score(tr.x, dataset.NewMatrix[float32](2, 4)), "scores")
		if err := scorer.Score(dataset.NewMatrix[float32](0, 5), dataset.NewMatrix[float32](0, 4)); err != nil {
			t.Errorf("no samples: %v", err)
		}
	}
	scorer, err := model.NewScorer(lago(tr), tr.described)
	if err != nil {
		t.Fatal(err)
	}
	names(t, scorer.Score(dataset.NewMatrix[float32](3, 4), dataset.NewMatrix[float32](3, 4)), "features")
}

// BenchmarkScorer has the size of CUB: D 2048, 312 attributes in 28 groups, 50
// classes.
func BenchmarkScorer(b *testing.B) {
	for _, chain := range []preprocess.Chain{preprocess.None, preprocess.Whiten} {
		for _, block := range []int{64, 256, 1024} {
			b.Run(fmt.Sprintf("%s/%d", chain, block), func(b *testing.B) {
				l, x, u := cub(b, chain, block)
				scorer, err := model.NewScorer(l, u)
				if err != nil {
					b.Fatal(err)
				}
				scores := dataset.NewMatrix[float32](block, u.Rows)
				for b.Loop() {
					if err := scorer.Score(x, scores); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(block*b.N)/b.Elapsed().Seconds(), "samples/s")
				b.Log(blas.Current())
			})
		}
	}
}

// cub is an untrained semantic-hard model of the size of CUB.
func cub(b *testing.B, chain preprocess.Chain, samples int) (*model.Pipeline, dataset.Matrix[float32], dataset.Matrix[float64]) {
	b.Helper()
	semantic := make([]int, 312)
	for m := range semantic {
		semantic[m] = m % 28
	}
	c := model.Config{Variant: model.SemanticHard, Prior: model.Uniform, Complement: model.Const, Zeta: 10}
	params, err := c.Init(2048, 312, semantic, 1)
	if err != nil {
		b.Fatal(err)
	}
	m := &preprocess.Transform{Chain: chain, Matrix: dataset.NewMatrix[float32](2048, 2048)}
	return &model.Pipeline{Transform: m, Classifier: &model.LAGO{Config: c, Params: params, Semantic: semantic}},
		to[float32](uniform(newRand(1), samples, 2048, 0, 1)), uniform(newRand(2), 50, 312, 0, 0.1)
}

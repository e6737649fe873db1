package robustness

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/impute"
	"github.com/lago-train/lago-train/train"
)

// Given entries are unchanged, and the share of each class's described ones. Those of one
// share are part of those of higher ones. The strongest are no weaker than the others.
func TestOnlyAPartIsGivenProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, m := rapid.IntRange(1, 5).Draw(t, "classes"), rapid.IntRange(1, 12).Draw(t, "attributes")
		p := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Just(math.NaN()))
		u := dataset.Matrix[float64]{Rows: z, Cols: m, Data: rapid.SliceOfN(p, z*m, z*m).Draw(t, "descriptions")}
		given := rapid.SampledFrom([]Order{AtRandom, Strongest}).Draw(t, "given")
		seed := rapid.Uint64().Draw(t, "seed")
		less := rapid.Float64Range(0.01, 1).Draw(t, "share")
		more := rapid.Float64Range(less, 1).Draw(t, "higher share")
		few, most := given.only(u, less, seed), given.only(u, more, seed)
		if diff := cmp.Diff(u, given.only(u, 1, seed), cmp.Comparer(testlab.Same)); diff != "" {
			t.Fatalf("all of them (-described +given):\n%s", diff)
		}
		for z := range u.Rows {
			var described, kept int
			weakest, left := 1.0, 0.0
			for m, p := range u.Row(z) {
				got := few.Row(z)[m]
				if !math.IsNaN(p) {
					described++
				}
				if math.IsNaN(got) {
					left = max(left, p) // NaN where nothing is described
					continue
				}
				kept++
				weakest = min(weakest, got)
				if got != p || most.Row(z)[m] != p {
					t.Fatalf("class %d, attribute %d is %g and %g, expected %g", z, m, got, most.Row(z)[m], p)
				}
			}
			want := min(max(int(math.Round(less*float64(described))), 1), described)
			if kept != want {
				t.Errorf("class %d: %d of %d given at %g, expected %d", z, kept, described, less, want)
			}
			if given == Strongest && left > weakest {
				t.Errorf("class %d: %g is given, and %g left out", z, weakest, left)
			}
		}
	})
	u := grey(9, 9)
	if cmp.Equal(AtRandom.only(u, 0.5, 1), AtRandom.only(u, 0.5, 2), cmp.Comparer(testlab.Same)) {
		t.Error("two seeds give the same")
	}
}

func TestPartial(t *testing.T) {
	l := testlab.Simulated(t)
	p := PartialConfig{
		Models: Models{Variants: testlab.Full(l, model.SemanticHard), Baselines: []string{tuning.ESZSLMethod}, Like: testlab.Config(l, protocol.DevThenTest)}, Shares: []float64{1, 0.5, 0.1}, Given: AtRandom, Seeds: 3,
		Impute: []impute.Kind{impute.Neutral, impute.Inferred},
	}
	r, err := RunPartial(context.Background(), l, p)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range r.Methods {
		names = append(names, m.Method)
		if diff := cmp.Diff([]float64{1, 1, 1}, m.Relative[0].Values); diff != "" {
			t.Errorf("%s: relative accuracy with all given: %s", m.Method, diff)
		}
		if m.Accuracy[2].Mean >= m.Start.Mean || m.Accuracy[1].Mean < 0.3 { // chance is 0.1
			t.Errorf("%s scores %g by all, %g by half and %g by a tenth", m.Method, m.Start.Mean, m.Accuracy[1].Mean, m.Accuracy[2].Mean)
		}
	}
	want := []string{"semantic-hard", "semantic-hard, inferred", "eszsl", "eszsl, inferred"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Fatalf("methods (-want +got):\n%s", diff)
	}

	// The second seed, by the files of the models.
	s, u := train.Select(l.Data, l.Data.Features, l.Data.Split.Test), l.Data.Describe(l.Data.Split.Test)
	for i, kind := range p.Impute {
		m := r.Methods[i]
		var accuracy float64
		for _, path := range m.Models {
			saved, err := train.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			saved.SetImputation(kind)
			a, err := accuracyOf(saved.Classifier, s, AtRandom.only(u, 0.5, 1))
			if err != nil {
				t.Fatal(err)
			}
			accuracy += a.PerClass / float64(len(m.Models))
		}
		if math.Abs(m.Accuracy[1].Values[1]-accuracy) > 1e-12 {
			t.Errorf("%s scores %g by half of it, expected %g", m.Method, m.Accuracy[1].Values[1], accuracy)
		}
	}
}

func TestPartialConfigCheck(t *testing.T) {
	good := PartialConfig{Models: Models{Baselines: []string{tuning.ESZSLMethod}}, Shares: []float64{1, 0.1}, Given: AtRandom, Seeds: 1, Impute: []impute.Kind{impute.Neutral}}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		want   string
		change func(*PartialConfig)
	}{
		{"methods: ", func(p *PartialConfig) { p.Baselines = nil }},
		{"shares: expected at least one", func(p *PartialConfig) { p.Shares = nil }},
		{"shares: expected fractions above 0, up to 1, found 1.5", func(p *PartialConfig) { p.Shares = []float64{1.5} }},
		{"shares: ", func(p *PartialConfig) { p.Shares = []float64{0} }},
		{"shares: ", func(p *PartialConfig) { p.Shares = []float64{math.NaN()} }},
		{"mask_seeds: ", func(p *PartialConfig) { p.Seeds = 0 }},
		{"impute: ", func(p *PartialConfig) { p.Impute = nil }},
	} {
		p := good
		c.change(&p)
		if err := p.Check(); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, expected %s", err, c.want)
		}
	}
	var g Order
	if err := g.UnmarshalText([]byte("weakest")); err == nil || !strings.HasPrefix(err.Error(), `expected one of random, strongest, found "weakest"`) {
		t.Error(err)
	}
}

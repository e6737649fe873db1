package protocol

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
)

// TestPresetsAreThoseThatTheAuthorsReleased holds each cell to the settings and the
// mean accuracy of the released run of the test stage, typed in from its
// metric_results.json.
func TestPresetsAreThoseThatTheAuthorsReleased(t *testing.T) {
	type facts struct {
		LR, LRV, Beta, Lambda, Alpha, Psi, Zeta float64
		K, TestEpochs                           int
		Percent                                 float64 // mean test accuracy
	}
	for _, c := range []struct {
		dataset string
		variant model.Variant
		want    facts
	}{
		{"cub", model.Singletons, facts{1e-4, 0.1, 0, 1e-7, 0, 0, 10, 0, 58, 54.61}},
		{"cub", model.SemanticHard, facts{1e-4, 0.1, 1e-6, 1e-4, 0, 0, 10, 0, 55, 58.362}},
		{"cub", model.KSoft, facts{3e-5, 1, 1e-5, 1e-5, 0, 0, 1, 30, 160, 56.094}},
		{"cub", model.SemanticSoft, facts{3e-5, 0.1, 1e-3, 1e-4, 0, 1e-4, 3, 0, 100, 58.022}},
		{"awa2", model.Singletons, facts{3e-6, 0.1, 1e-5, 1e-5, 0, 0, 10, 0, 38, 63.458}},
		{"awa2", model.SemanticHard, facts{3e-6, 0.1, 0, 1e-5, 0, 0, 10, 0, 55, 61.49}},
		{"awa2", model.KSoft, facts{3e-6, 0.01, 1e-4, 1e-6, 0, 0, 3, 30, 90, 58.838}},
		{"awa2", model.SemanticSoft, facts{3e-6, 0.1, 1e-3, 1e-3, 0, 1e-4, 1, 0, 63, 64.698}},
		{"sun", model.Singletons, facts{3e-5, 0.1, 1e-8, 1e-8, 0, 0, 10, 0, 124, 57.138}},
		{"sun", model.SemanticHard, facts{3e-5, 0.1, 1e-3, 1e-4, 0, 0, 10, 0, 159, 47.206}},
		{"sun", model.KSoft, facts{1e-4, 0.1, 1e-4, 0, 1, 0, 10, 40, 39, 57.458}},
		{"sun", model.SemanticSoft, facts{1e-4, 1, 1e-4, 1e-4, 0, 0, 3, 0, 130, 48.766}},
	} {
		p := PresetFor(strings.ToUpper(c.dataset), c.variant)
		got := facts{
			p.LR, p.LRV, p.Beta, p.Lambda, p.Alpha, p.Psi, p.Zeta, p.K, p.TestEpochs,
			math.Round(1e5*lab.Summarise(p.Expect).Mean) / 1e3,
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s on %s (-want +got):\n%s", c.variant, c.dataset, diff)
		}
		if p.Dataset != c.dataset || p.Preprocess != preprocess.None || len(p.Expect) != 5 {
			t.Errorf("%s on %s: found %q, preprocessed by %s, with %d published seeds, expected no preprocessing and 5 seeds",
				c.variant, c.dataset, p.Dataset, p.Preprocess, len(p.Expect))
		}
	}
}

func TestCub127TakesTheSettingsOfCubAndExpectsNothing(t *testing.T) {
	for _, v := range model.Variants {
		want := PresetFor("cub", v)
		want.Dataset, want.Expect = "cub127", nil
		if diff := cmp.Diff(want, PresetFor("CUB127", v)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", v, diff)
		}
	}
}

func TestDefaultsElsewhere(t *testing.T) {
	for _, dataset := range []string{"glyphs", "simulated-cub", "unheard-of"} {
		for _, v := range model.Variants {
			p := PresetFor(dataset, v)
			alpha := map[model.Variant]float64{model.SemanticHard: 0.1, model.SemanticSoft: 0.3, model.Singletons: 0.3, model.KSoft: 1}[v]
			if p.Preprocess != AutoPreprocess || p.Ridge != 0 || p.Alpha != alpha || p.Expect != nil {
				t.Errorf("%s on %s: preprocess %s with ridge %g, alpha %g, expecting %v; expected auto, a ridge by the scale of the features, alpha %g, and nothing published",
					v, dataset, p.Preprocess, p.Ridge, p.Alpha, p.Expect, alpha)
			}
			if (v == model.SemanticSoft) != (p.Psi > 0) {
				t.Errorf("%s on %s: psi is %g, expected semantic-soft alone to have one", v, dataset, p.Psi)
			}
		}
	}
}

func TestAutoPreprocess(t *testing.T) {
	of := func(features ...float32) *dataset.Dataset {
		return &dataset.Dataset{
			Features: dataset.Matrix[float32]{Rows: 2, Cols: 2, Data: features},
			Labels:   []int{0, 1}, Classes: []string{"seen", "unseen"}, Split: dataset.Split{Train: []int{0}, Test: []int{1}},
		}
	}
	relu, signed := of(0, 1, -2, 0), of(0, -2, 1, 0) // the second sample is of an unseen class
	for _, c := range []struct {
		variant model.Variant
		data    *dataset.Dataset
		want    preprocess.Chain
	}{
		{model.SemanticHard, relu, "sqrt,l2,whiten"},
		{model.KSoft, relu, "sqrt,l2,whiten"},
		{model.Singletons, relu, "l2"},
		{model.SemanticHard, signed, "l2"},
		{model.Singletons, signed, "l2"},
	} {
		config := DefaultsOf(c.variant)
		if got := config.On(c.data).Preprocess; got != c.want {
			t.Errorf("%s: found %s, expected %s", c.variant, got, c.want)
		}
		config.Preprocess = preprocess.None
		if got := config.On(c.data).Preprocess; got != preprocess.None {
			t.Errorf("%s: none became %s", c.variant, got)
		}
	}
}

func TestEveryPresetCanBeRun(t *testing.T) {
	for _, dataset := range []string{"cub", "awa2", "sun", "cub127", "glyphs", "unheard-of"} {
		for _, v := range model.Variants {
			p := PresetFor(dataset, v)
			if err := p.Check(); err != nil {
				t.Errorf("%s on %s: %v", v, dataset, err)
			}
			if p.Stage != DevThenTest || p.Seeds != 5 || p.TestEpochs < 1 || p.Source == "" {
				t.Errorf("%s on %s: stage %q, %d seeds, %d epochs of test, source %q: expected the protocol of the paper",
					v, dataset, p.Stage, p.Seeds, p.TestEpochs, p.Source)
			}
		}
	}
}

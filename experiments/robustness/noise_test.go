package robustness

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// grey are descriptions of which no entry is 0 or 1.
func grey(rows, cols int) dataset.Matrix[float64] {
	u := dataset.NewMatrix[float64](rows, cols)
	for i := range u.Data {
		u.Data[i] = 0.25
	}
	return u
}

// An entry stays or is replaced by 0 or 1. Noise at one ratio is part of that at higher
// ones; ratio 0 has none, and ratio 1 replaces everything.
func TestSaltAndPepperIsNested(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := grey(rapid.IntRange(1, 9).Draw(t, "classes"), rapid.IntRange(1, 9).Draw(t, "attributes"))
		u.Data[0] = math.NaN()
		seed := rapid.Uint64().Draw(t, "seed")
		less := rapid.Float64Range(0, 1).Draw(t, "ratio")
		more := rapid.Float64Range(less, 1).Draw(t, "higher ratio")
		some, rest := saltAndPepper(u, less, seed), saltAndPepper(u, more, seed)
		for i := range u.Data {
			replaced := some.Data[i] == 0 || some.Data[i] == 1
			if replaced && rest.Data[i] != some.Data[i] {
				t.Fatalf("entry %d is %g at %g, and %g at %g", i, some.Data[i], less, rest.Data[i], more)
			}
			if !replaced && !cmp.Equal(some.Data[i], u.Data[i], cmp.Comparer(testlab.Same)) {
				t.Fatalf("entry %d is %g, expected 0, 1 or %g", i, some.Data[i], u.Data[i])
			}
			if all := saltAndPepper(u, 1, seed).Data[i]; all != 0 && all != 1 {
				t.Fatalf("entry %d is %g at the ratio 1", i, all)
			}
		}
		if diff := cmp.Diff(u, saltAndPepper(u, 0, seed), cmp.Comparer(testlab.Same)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// Of 10,000 entries 3,000 are noise and 1,500 of these ones, give or take five
// standard deviations.
func TestSaltAndPepperHitsAsManyAsItSays(t *testing.T) {
	for seed := range uint64(3) {
		var hit, salt int
		for _, p := range saltAndPepper(grey(100, 100), 0.3, seed).Data {
			if p != 0.25 {
				hit++
			}
			if p == 1 {
				salt++
			}
		}
		if hit < 3000-229 || hit > 3000+229 || salt < 1500-179 || salt > 1500+179 {
			t.Errorf("seed %d: %d entries are noise, %d of them ones", seed, hit, salt)
		}
	}
	if cmp.Equal(saltAndPepper(grey(9, 9), 0.5, 1), saltAndPepper(grey(9, 9), 0.5, 2)) {
		t.Error("two seeds make the same noise")
	}
}

func TestNoise(t *testing.T) {
	l := testlab.Simulated(t)
	n := NoiseConfig{Models: Models{Variants: testlab.Full(l, model.SemanticHard, model.Singletons), Baselines: []string{tuning.ESZSLMethod}, Like: testlab.Config(l, protocol.DevThenTest)}, Ratios: []float64{0, 0.2, 1}, Seeds: 3}
	r, err := RunNoise(context.Background(), l, n)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Methods) != 3 || len(r.Missing) != 0 {
		t.Fatalf("methods %+v, missing %+v", r.Methods, r.Missing)
	}
	for _, m := range r.Methods {
		seeds := 2
		if m.Method == tuning.ESZSLMethod {
			seeds = 1
		}
		if len(m.Start.Values) != seeds || len(m.Accuracy) != 3 || len(m.Relative) != 3 {
			t.Fatalf("%s: %+v", m.Method, m)
		}
		// Without noise there is nothing for its seeds to differ in.
		if diff := cmp.Diff([]float64{1, 1, 1}, m.Relative[0].Values); diff != "" {
			t.Errorf("%s: relative accuracy without noise: %s", m.Method, diff)
		}
		if got := m.Accuracy[0].Mean; math.Abs(got-m.Start.Mean) > 1e-12 {
			t.Errorf("%s scores %g without noise, and %g to start with", m.Method, got, m.Start.Mean)
		}
		if noise := m.Accuracy[2].Mean; noise >= m.Start.Mean {
			t.Errorf("%s scores %g by noise alone, %g without", m.Method, noise, m.Start.Mean)
		}
		compareWithRun(t, l, n, m)
	}
}

// compareWithRun compares a variant with the scores of its saved models.
func compareWithRun(t *testing.T, l *lab.Lab, n NoiseConfig, m Method) {
	t.Helper()
	s, u := train.Select(l.Data, l.Data.Features, l.Data.Split.Test), l.Data.Describe(l.Data.Split.Test)
	var accuracy, relative float64
	for i, path := range m.Models {
		saved, err := train.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		clean, err := accuracyOf(saved.Classifier, s, u)
		if err != nil {
			t.Fatal(err)
		}
		if clean.PerClass != m.Start.Values[i] {
			t.Errorf("%s scores %g, expected %g", path, m.Start.Values[i], clean.PerClass)
		}
		noisy, err := accuracyOf(saved.Classifier, s, saltAndPepper(u, n.Ratios[1], 2))
		if err != nil {
			t.Fatal(err)
		}
		accuracy += noisy.PerClass / float64(len(m.Models))
		relative += noisy.PerClass / clean.PerClass / float64(len(m.Models))
	}
	if math.Abs(m.Accuracy[1].Values[2]-accuracy) > 1e-12 || math.Abs(m.Relative[1].Values[2]-relative) > 1e-12 {
		t.Errorf("%s by noise: %g and %g, expected %g and %g", m.Method, m.Accuracy[1].Values[2], m.Relative[1].Values[2], accuracy, relative)
	}
}

// A variant that fails is listed, and the others are measured.
func TestNoiseWithoutAVariant(t *testing.T) {
	l := testlab.Simulated(t)
	n := NoiseConfig{Models: Models{Variants: testlab.Full(l, model.SemanticHard, model.Singletons)}, Ratios: []float64{0.5}, Seeds: 1}
	n.Variants[0].LR = 1e30
	r, err := RunNoise(context.Background(), l, n)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Methods) != 1 || r.Methods[0].Method != "singletons" || len(r.Missing) != 2 {
		t.Fatalf("methods %+v, missing %+v", r.Methods, r.Missing)
	}
	var b bytes.Buffer
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Missing {
		if !strings.Contains(b.String(), m.Dir+": ") {
			t.Errorf("the text does not list %s:\n%s", m.Dir, b.String())
		}
	}
}

func TestNoiseConfigCheck(t *testing.T) {
	good := NoiseConfig{Models: Models{Baselines: []string{tuning.ESZSLMethod}}, Ratios: []float64{0, 1}, Seeds: 1}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		field  string
		change func(*NoiseConfig)
	}{
		{"methods", func(n *NoiseConfig) { n.Baselines = nil }},
		{"ratios", func(n *NoiseConfig) { n.Ratios = nil }},
		{"ratios", func(n *NoiseConfig) { n.Ratios = []float64{0.1, 1.1} }},
		{"ratios", func(n *NoiseConfig) { n.Ratios = []float64{math.NaN()} }},
		{"noise_seeds", func(n *NoiseConfig) { n.Seeds = 0 }},
	} {
		n := good
		c.change(&n)
		if err := n.Check(); err == nil || !strings.HasPrefix(err.Error(), c.field+": ") {
			t.Errorf("%v, expected an error of %s", err, c.field)
		}
	}
}

func TestNoiseText(t *testing.T) {
	r := &NoiseResult{
		Dataset: "small", Ratios: []float64{0.1}, NoiseSeeds: 2,
		Methods: []Method{{
			Method: "singletons", Start: lab.Summarise([]float64{0.5, 0.6}), BySeed: []lab.Summary{lab.Summarise([]float64{0.4})},
			Accuracy: []lab.Summary{lab.Summarise([]float64{0.4, 0.44})}, Relative: []lab.Summary{lab.Summarise([]float64{0.75, 0.79})}, Models: []string{},
		}},
	}
	var b bytes.Buffer
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"│ 10.0 % │ 77.0 % ± 2.0 │", "│ 10.0 %   │ 42.0 % ± 2.0 / - │", "│ no noise │ 55.0 % ± - / 5.0 │"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("expected %q in\n%s", want, b.String())
		}
	}
}

// accuracyOf evaluates a classifier on samples.
func accuracyOf(c model.Classifier, s train.Samples, u dataset.Matrix[float64]) (metrics.Accuracy, error) {
	scores, err := model.Score(c, s.X, s.Rows, u)
	if err != nil {
		return metrics.Accuracy{}, err
	}
	return accuracyBy(scores, s.Labels)
}

package lago

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/setting"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/method"
)

func TestDefaults(t *testing.T) {
	common := Settings{
		Config: model.Config{Variant: model.SemanticHard, Prior: model.Uniform, Complement: model.Const, Zeta: 10, FreezePrior: true, Alpha: 0.1, Beta: 1e-6, Lambda: 1e-4, Smoothing: -1},
		LR:     1e-3, LRV: 0.1, BiasFactor: 3,
	}
	singletons, kSoft, semanticSoft := common, common, common
	singletons.Variant, singletons.Alpha, singletons.BiasFactor = model.Singletons, 0.3, 30
	kSoft.Variant, kSoft.Alpha, kSoft.Zeta, kSoft.LR, kSoft.LRV, kSoft.BiasFactor = model.KSoft, 1, 1, 3e-3, 0.05, 10
	semanticSoft.Variant, semanticSoft.Alpha, semanticSoft.Zeta, semanticSoft.Psi = model.SemanticSoft, 0.3, 3, 1e-4
	semanticSoft.LRV, semanticSoft.BiasFactor = 0.03, 5
	for _, want := range []Settings{common, singletons, kSoft, semanticSoft} {
		s := New(want.Variant)
		testkit.Equal(t, string(want.Variant), s, &want)
		testkit.NoError(t, s.Settings().Check())
		s.Resolve(dataset.NewMatrix[float64](3, 20), 100)
		testkit.Equal(t, "groups of 20 attributes", s.K, map[model.Variant]int{model.KSoft: 20}[s.Variant])
	}
}

// Descriptions in words are smoothed, shares and those that are smoothed already are not; small sets have
// small batches. Given values stay.
func TestResolve(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		u         []float64
		smoothing float64
	}{
		{[]float64{0, 1, nan, 0}, 0.1},
		{[]float64{nan, 1}, 0.1},
		{[]float64{0, 0.1, 0.5, 0.75, 1}, 0.1},
		{[]float64{0, 0.1, 0.5, 0.75, 1, 0.6}, 0},
		{[]float64{0.1, 0.8}, 0},
		{[]float64{nan, nan}, 0},
	} {
		s := New(model.SemanticHard)
		s.Resolve(dataset.Matrix[float64]{Rows: 1, Cols: len(c.u), Data: c.u}, 0)
		testkit.Equal(t, fmt.Sprintf("smoothing of %v", c.u), s.Smoothing, c.smoothing)
	}
	for samples, want := range map[int]int{1: 8, 200: 12, 5000: 64} {
		s := New(model.SemanticHard)
		s.Resolve(dataset.NewMatrix[float64](1, 2), samples)
		testkit.Equal(t, fmt.Sprintf("batch of %d samples", samples), s.Batch, want)
	}
	given := New(model.KSoft)
	given.Smoothing, given.Batch, given.K = 0, 100, 1
	want := *given
	given.Resolve(dataset.NewMatrix[float64](1, 2), 10)
	testkit.Equal(t, "given settings", *given, want)
}

// Which settings a search varies, and in what order, decides on its numbers.
func TestSearch(t *testing.T) {
	for v, want := range map[model.Variant]string{
		model.Singletons:   "lr bias_factor beta lambda alpha prior smoothing",
		model.SemanticHard: "lr bias_factor beta lambda alpha prior smoothing",
		model.KSoft:        "lr bias_factor beta lambda lr_v zeta k alpha prior smoothing",
		model.SemanticSoft: "lr bias_factor beta lambda lr_v zeta psi alpha prior smoothing",
	} {
		varied := slices.DeleteFunc(New(v).Settings().Used(), func(s setting.Setting) bool { return s.Search == nil })
		testkit.Equal(t, fmt.Sprintf("a search of %s varies", v), strings.Join(varied.Keys(), " "), want)
	}
}

func TestMain(m *testing.M) {
	info, err := blas.Use("")
	if err != nil {
		panic(err)
	}
	if os.Getenv("LAGO_BENCH") != "" {
		fmt.Println("blas:", info)
	}
	m.Run()
}

// examples are the train samples of a data set.
func examples(d *dataset.Dataset) method.Examples {
	classes := d.Split.Train
	e := method.Examples{X: d.Features, Rows: d.SamplesOf(classes), U: d.Describe(classes), Groups: d.GroupOf()}
	for _, row := range e.Rows {
		e.Labels = append(e.Labels, slices.Index(classes, d.Labels[row]))
	}
	return e
}

// settings are those of a variant that learns in an epoch of milliseconds.
func settings(v model.Variant) *Settings {
	s := New(v)
	s.LR, s.LRV, s.BiasFactor, s.Batch, s.Zeta, s.K, s.Alpha = 1e-2, 0.1, 1, 32, 3, 6, 0
	return s
}

// learn returns a learner of the 405 train samples of tiny.Learnable.
func learn(t testing.TB, s *Settings) *learner {
	t.Helper()
	return testkit.Must(method.Learn(s, examples(tiny.Learnable()), 1))(t).(*learner)
}

// train runs epochs up to the last.
func train(t testing.TB, l *learner, first, last int) []method.Phase {
	t.Helper()
	var phases []method.Phase
	for epoch := first; epoch <= last; epoch++ {
		phases = append(phases, testkit.Must(l.Epoch(epoch))(t).Phases...)
	}
	for i := range phases {
		phases[i].Seconds = 0
	}
	return phases
}

// eachVariant runs a test for every variant.
func eachVariant(t *testing.T, test func(*testing.T, model.Variant)) {
	t.Helper()
	for _, v := range model.Variants {
		t.Run(string(v), func(t *testing.T) { test(t, v) })
	}
}

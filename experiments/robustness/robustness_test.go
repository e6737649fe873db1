package robustness

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/results"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/impute"
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
		none, all := saltAndPepper(u, 0, seed), saltAndPepper(u, 1, seed)
		for i := range u.Data {
			if some.Data[i] == 0 || some.Data[i] == 1 {
				testkit.Near(t, "noise at a higher ratio", rest.Data[i], some.Data[i], 0)
			} else {
				testkit.Near(t, "an entry without noise", some.Data[i], u.Data[i], 0)
			}
			if testkit.Near(t, "ratio 0", none.Data[i], u.Data[i], 0); all.Data[i] != 0 && all.Data[i] != 1 {
				t.Fatalf("entry %d is %g at the ratio 1", i, all.Data[i])
			}
		}
	})
}

// Given entries are unchanged, and the share of each class's described ones. Those of one
// share are part of those of higher ones. The strongest are no weaker than the others.
func TestMasksAreNested(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, m := rapid.IntRange(1, 5).Draw(t, "classes"), rapid.IntRange(1, 12).Draw(t, "attributes")
		p := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Just(math.NaN()))
		u := dataset.Matrix[float64]{Rows: z, Cols: m, Data: rapid.SliceOfN(p, z*m, z*m).Draw(t, "descriptions")}
		given := rapid.SampledFrom([]Order{AtRandom, Strongest}).Draw(t, "given")
		seed := rapid.Uint64().Draw(t, "seed")
		less := rapid.Float64Range(0.01, 1).Draw(t, "share")
		more := rapid.Float64Range(less, 1).Draw(t, "higher share")
		few, most := given.only(u, less, seed), given.only(u, more, seed)
		testkit.NearAll(t, "all of them", given.only(u, 1, seed).Data, u.Data, 0)
		for z := range u.Rows {
			var described, kept int
			weakest, left := 1.0, 0.0
			for m, p := range u.Row(z) {
				got := few.Row(z)[m]
				if math.IsNaN(p) {
					if !math.IsNaN(got) {
						t.Fatalf("class %d, attribute %d is %g, and not described", z, m, got)
					}
					continue
				}
				described++
				if math.IsNaN(got) {
					left = max(left, p)
					continue
				}
				kept++
				weakest = min(weakest, got)
				if got != p || most.Row(z)[m] != p {
					t.Fatalf("class %d, attribute %d is %g and %g, expected %g", z, m, got, most.Row(z)[m], p)
				}
			}
			if want := min(max(int(math.Round(less*float64(described))), 1), described); kept != want {
				t.Errorf("class %d: %d of %d given at %g, expected %d", z, kept, described, less, want)
			}
			if given == Strongest && left > weakest {
				t.Errorf("class %d: %g is given, and %g left out", z, weakest, left)
			}
		}
	})
	if cmp.Equal(AtRandom.only(grey(9, 9), 0.5, 1), AtRandom.only(grey(9, 9), 0.5, 2), cmpopts.EquateNaNs()) {
		t.Error("two seeds give the same")
	}
}

func configOf(l *lab.Lab, d Distortion, variants ...model.Variant) Config {
	return Config{
		Variants: testlab.Full(l, variants...), Baselines: []string{"eszsl"}, Like: testlab.Config(l, config.DevThenTest, model.SemanticHard), Distortion: d,
	}
}

// accuracy is the mean over models of the accuracy with other descriptions of the test
// classes, and of that relative to the given ones.
func accuracy(t *testing.T, l *lab.Lab, files []string, kind impute.Kind, worse dataset.Matrix[float64]) (mean, relative float64) {
	t.Helper()
	s := train.Select(l.Data, l.Data.Features, l.Data.Split.Test)
	of := func(p *model.Pipeline, u dataset.Matrix[float64]) float64 {
		confusion := metrics.NewConfusion(u.Rows)
		testkit.NoError(t, confusion.Add(testkit.Must(model.Score(p, s.X, s.Rows, u))(t).Data, s.Labels))
		return confusion.Accuracy().PerClass
	}
	for _, path := range files {
		p := testkit.Must(train.Load(path))(t).Pipeline.WithImputation(kind)
		a := of(p, worse)
		mean += a / float64(len(files))
		relative += a / of(p, l.Data.Describe(l.Data.Split.Test)) / float64(len(files))
	}
	return mean, relative
}

// The accuracies are those of the saved models with the same noise for each of them.
func TestNoise(t *testing.T) {
	l := testlab.New(t)
	c := configOf(l, Distortion{Ratios: []float64{0, 0.2, 1}, NoiseSeeds: 3}, model.SemanticHard, model.Singletons)
	r := testkit.Must(Run(t.Context(), l, c))(t)
	if len(r.Methods) != 3 || len(r.Missing) != 0 {
		t.Fatalf("methods %+v, missing %+v", r.Methods, r.Missing)
	}
	for i, m := range r.Methods {
		seeds := []int{2, 2, 1}[i] // ESZSL has no randomness
		if len(m.Start.Values) != seeds || len(m.Accuracy) != 3 || len(m.BySeed[1].Values) != seeds {
			t.Fatalf("%s: %+v", m.Method, m)
		}
		testkit.NearAll(t, m.Method+" without noise", m.Relative[0].Values, []float64{1, 1, 1}, 1e-12)
		if noise := m.Accuracy[2].Mean; noise >= m.Start.Mean {
			t.Errorf("%s scores %g by noise alone, %g without", m.Method, noise, m.Start.Mean)
		}
		mean, relative := accuracy(t, l, m.Models, impute.Neutral, saltAndPepper(l.Data.Describe(l.Data.Split.Test), 0.2, 2))
		testkit.Near(t, m.Method+" with the third noise", m.Accuracy[1].Values[2], mean, 1e-12)
		testkit.Near(t, m.Method+" relative", m.Relative[1].Values[2], relative, 1e-12)
	}
	var stored Result
	testlab.Stored(t, l, NoiseKind, &stored)
	if diff := cmp.Diff(r, &stored); diff != "" {
		t.Errorf("(-made +stored):\n%s", diff)
	}
	if p := testkit.Must(stored.Figures(""))(t)[0].Picture.(*plot.Lines); len(p.Series) != 3 {
		t.Errorf("%d lines, expected one for each method", len(p.Series))
	} else if q := p.Series[0].Points[0]; math.Abs(q.Y-100*r.Methods[0].Start.Mean) > 1e-9 || !(q.Low < q.Y && q.Y < q.High) {
		t.Errorf("found %+v without noise, expected the accuracy within its interval over classes", q)
	}
}

// Each method is measured with each imputation, by the same masks.
func TestPartial(t *testing.T) {
	l := testlab.New(t)
	c := configOf(l, Distortion{Shares: []float64{1, 0.5, 0.1}, Given: AtRandom, MaskSeeds: 3}, model.SemanticHard)
	c.Impute = []impute.Kind{impute.Neutral, impute.Inferred}
	r := testkit.Must(Run(t.Context(), l, c))(t)
	for i, want := range []string{"semantic-hard", "semantic-hard, inferred", "eszsl", "eszsl, inferred"} {
		m := r.Methods[i]
		mean, _ := accuracy(t, l, m.Models, c.Impute[i%2], AtRandom.only(l.Data.Describe(l.Data.Split.Test), 0.5, 1))
		testkit.Near(t, m.Method+" by half of it", m.Accuracy[1].Values[1], mean, 1e-12)
		testkit.NearAll(t, m.Method+" with all given", m.Relative[0].Values, []float64{1, 1, 1}, 1e-12)
		if m.Method != want || m.Accuracy[2].Mean >= m.Start.Mean {
			t.Errorf("%s scores %g by all and %g by a tenth; expected %s, which needs descriptions", m.Method, m.Start.Mean, m.Accuracy[2].Mean, want)
		}
	}
	var stored Result
	testlab.Stored(t, l, PartialKind, &stored)
	lines := testkit.Must(stored.Figures(""))(t)[0].Picture.(*plot.Lines)
	if first := lines.Series[0].Points[0]; first.X != 10 || lines.Series[1].Look.Condition != plot.Dashed {
		t.Errorf("found %+v, expected shares in ascending order, and a dashed line where entries are inferred", lines.Series)
	}
	l = testlab.New(t)
	c.Given, c.Variants = Strongest, nil
	testkit.Must(Run(t.Context(), l, c))(t)
	testlab.Stored(t, l, StrongestKind, &stored)
}

func TestRefusals(t *testing.T) {
	one := Distortion{Ratios: []float64{0}}
	for want, c := range map[string]Config{
		"methods: expected at least one":                  {Distortion: one},
		"methods: expected each method once":              {Baselines: []string{"dap", "dap"}, Distortion: one},
		"ratios: expected at least one":                   {Baselines: []string{"dap"}},
		"ratios: expected fractions from 0 to 1, found 2": {Baselines: []string{"dap"}, Distortion: Distortion{Ratios: []float64{0.1, 2}}},
		"ratios: expected fractions from 0 to 1, found N": {Baselines: []string{"dap"}, Distortion: Distortion{Ratios: []float64{math.NaN()}}},
		"shares: expected fractions above 0, up to 1":     {Baselines: []string{"dap"}, Distortion: Distortion{Given: AtRandom, Shares: []float64{1, 0}}},
	} {
		testkit.WantError(t, c.Check(), want)
	}
}

func TestTables(t *testing.T) {
	r := &Result{Study: results.Study{Dataset: "small"}, Distortion: Distortion{Ratios: []float64{0.1}, NoiseSeeds: 2}, Methods: []Method{{
		Method: "singletons", Start: lab.Summarise([]float64{0.5, 0.6}), BySeed: []lab.Summary{lab.Summarise([]float64{0.4})},
		Accuracy: []lab.Summary{lab.Summarise([]float64{0.4, 0.44})}, Relative: []lab.Summary{lab.Summarise([]float64{0.75, 0.79})},
	}}}
	testkit.WantText(t, testlab.Text(r.Tables()), "│ 10.0 % │ 77.0 % ± 2.0 │", "│ 10.0 %   │ 42.0 % ± 2.0 / - │", "│ no noise │ 55.0 % ± - / 5.0 │")
	r.Ratios[0] = 0
	if text := testlab.Text(r.Tables()); strings.Contains(text, "no noise") {
		t.Errorf("the accuracy without noise twice:\n%s", text)
	}
}

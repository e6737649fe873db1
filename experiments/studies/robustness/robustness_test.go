package robustness

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/testkit"
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

// ask asks with LAGO's variants and ESZSL, and returns the stored result.
func ask(t *testing.T, l *lab.Lab, kind string, d Distortion, variants ...model.Variant) *results.Accuracies {
	t.Helper()
	c := &Noise{Config{Distortion: d, names: append(format.Strings(variants), "eszsl")}}
	configs := testlab.Full(l, variants...)
	for i, v := range configs {
		configs[i] = v.With("freeze_prior", false) // with the prior of eight training classes, accuracy is near chance
	}
	r := testlab.Request(testlab.Config(l, config.DevThenTest, model.SemanticHard), configs...)
	testlab.Ask[*results.Accuracies](t, l, c, r)
	var stored results.Accuracies
	testlab.Stored(t, l, kind, &stored)
	return &stored
}

// models are the files of the models of a method.
func models(t *testing.T, l *lab.Lab, method string) (files []string) {
	t.Helper()
	for _, r := range testkit.Must(lab.ReadRuns(l.Root))(t) {
		if r.Stage == train.Test && r.Method.Label() == method {
			files = append(files, lab.ModelFiles([]lab.Run{r})...)
		}
	}
	return files
}

// accuracy is the mean over models of the accuracy with other descriptions of the test
// classes, and of that relative to the given ones.
func accuracy(t *testing.T, l *lab.Lab, files []string, worse dataset.Matrix[float64]) (mean, relative float64) {
	t.Helper()
	s := train.Select(l.Data, l.Data.Features, l.Data.Split.Test)
	of := func(p *model.Pipeline, u dataset.Matrix[float64]) float64 {
		return testkit.Must(metrics.Confuse(testkit.Must(model.Score(p, s.X, s.Rows, u))(t), s.Labels))(t).Accuracy().PerClass
	}
	for _, path := range files {
		p := testkit.Must(train.Load(path))(t).Pipeline
		a := of(p, worse)
		mean += a / float64(len(files))
		relative += a / of(p, l.Data.Describe(l.Data.Split.Test)) / float64(len(files))
	}
	return mean, relative
}

// The accuracies are those of the saved models with the same noise for each of them. That without noise
// is always there.
func TestNoise(t *testing.T) {
	l := testlab.New(t)
	a := ask(t, l, NoiseKind, Distortion{Ratios: []float64{1, 0.2}, NoiseSeeds: 3}, model.SemanticHard, model.Singletons)
	if len(a.Rows) != 15 || len(a.Missing) != 0 || a.Classes != 4 {
		t.Fatalf("%d rows of %d classes, missing %+v", len(a.Rows), a.Classes, a.Missing)
	}
	for i, name := range []string{"semantic-hard", "singletons", "eszsl"} {
		none, some, all := a.Rows[5*i], a.Rows[5*i+1], a.Rows[5*i+2]
		if files := models(t, l, name); len(none.Accuracy.Values) != len(files) || len(some.Accuracy.Values) != len(files) || !slices.Equal(some.Labels, []string{name, "20.0 %"}) {
			t.Fatalf("%s: %+v and %+v", name, none, some)
		}
		testkit.NearAll(t, name+" without noise", none.Relative.Values, []float64{1, 1, 1}, 1e-12)
		if all.Accuracy.Mean >= none.Accuracy.Mean || none.Difference != nil {
			t.Errorf("%s scores %g by noise alone, %g without", name, all.Accuracy.Mean, none.Accuracy.Mean)
		}
		testkit.Near(t, name+" minus that without noise", all.Difference.Mean, all.Accuracy.Mean-none.Accuracy.Mean, 1e-12)
		mean, relative := accuracy(t, l, models(t, l, name), saltAndPepper(l.Data.Describe(l.Data.Split.Test), 0.2, 2))
		testkit.Near(t, name+" with the third noise", some.ByDraw.Values[2], mean, 1e-12)
		testkit.Near(t, name+" relative", some.Relative.Values[2], relative, 1e-12)
		testkit.Near(t, name+" over seeds and draws", some.Accuracy.Mean, some.ByDraw.Mean, 1e-12)
		emptied := a.Rows[5*i+3]
		testkit.Equal(t, "labels", emptied.Labels, []string{name + doubtfulEmptied, "20.0 %"})
		u := saltAndPepper(l.Data.Describe(l.Data.Split.Test), 0.2, 2)
		left := emptyDoubtful(u, l.Data.Describe(l.Data.Split.Seen()), int(math.Round(0.2*float64(len(u.Data)))))
		mean, _ = accuracy(t, l, models(t, l, name), left)
		testkit.Near(t, name+" with doubtful entries emptied", emptied.ByDraw.Values[2], mean, 1e-12)
	}
	p := testkit.Must(a.Figures(""))(t)[0].Picture.(*plot.Lines)
	if q := p.Series[0].Points[0]; len(p.Series) != 6 || q.X != 0 || !(q.Low < q.Y && q.Y < q.High) {
		t.Errorf("%d lines, expected two for each method; %+v without noise, expected it within its interval over classes", len(p.Series), q)
	}
	testkit.WantText(t, testlab.Text(a.Tables()), "methods on simulated-small: test accuracy with noisy descriptions, 4 test classes, 2 seeds", "minus that without noise")
}

// A wrong entry of a new class that the known classes contradict is emptied, and no other.
func TestEmptyDoubtful(t *testing.T) {
	known := dataset.NewMatrix[float64](40, 4)
	for z := range known.Rows {
		for m := range known.Cols {
			known.Row(z)[m] = float64(z % 2)
		}
	}
	u := dataset.Matrix[float64]{Rows: 2, Cols: 4, Data: []float64{1, 1, 0, 1, 0, 0, 0, 0}}
	left := emptyDoubtful(u, known, 1)
	testkit.Equal(t, "entries", left.Data, []float64{1, 1, math.NaN(), 1, 0, 0, 0, 0}, cmpopts.EquateNaNs())
	testkit.Equal(t, "the given ones", u.Data[2], 0)
}

// Methods are measured by the same masks.
func TestPartial(t *testing.T) {
	l := testlab.New(t)
	d := Distortion{Shares: []float64{1, 0.5, 0.1}, Given: AtRandom, MaskSeeds: 3}
	a := ask(t, l, PartialKind, d, model.SemanticHard)
	for i, want := range []string{"semantic-hard", "eszsl"} {
		tenth, half, all := a.Rows[3*i], a.Rows[3*i+1], a.Rows[3*i+2]
		mean, _ := accuracy(t, l, models(t, l, want), AtRandom.only(l.Data.Describe(l.Data.Split.Test), 0.5, 1))
		testkit.Near(t, want+" by half of it", half.ByDraw.Values[1], mean, 1e-12)
		testkit.NearAll(t, want+" with all given", all.Relative.Values, []float64{1, 1, 1}, 1e-12)
		if half.Labels[0] != want || tenth.Accuracy.Mean >= all.Accuracy.Mean {
			t.Errorf("%s scores %g by all and %g by a tenth; expected %s, which needs descriptions", half.Labels[0], all.Accuracy.Mean, tenth.Accuracy.Mean, want)
		}
	}
	d.Given = Groups
	a = ask(t, testlab.New(t), GroupsKind, d)
	worse := Groups.groups(l.Data)(0.5, 1)
	mean, _ := accuracy(t, l, models(t, l, "eszsl"), worse)
	testkit.Near(t, "half of the groups", a.Rows[1].ByDraw.Values[1], mean, 1e-12)
	testkit.Equal(t, "attributes given", dataset.Described(worse.Row(0)), dataset.Described(worse.Row(3)))
	d.Given = Questions
	a = ask(t, testlab.New(t), QuestionsKind, d)
	testkit.NearAll(t, "one order", a.Rows[0].ByDraw.Values, []float64{a.Rows[0].ByDraw.Mean, a.Rows[0].ByDraw.Mean, a.Rows[0].ByDraw.Mean}, 1e-12)
	d.Given = Strongest
	rotated := testlab.New(t)
	testkit.NoError(t, rotated.Rotate(3, 0))
	a = ask(t, rotated, StrongestKind, d)
	sum, classes := 0.0, 0.0
	for _, path := range models(t, &lab.Lab{Root: filepath.Join(rotated.Root, "splits")}, "eszsl") {
		part := *rotated.Data
		part.Split = testkit.Must(train.Load(path))(t).Split
		n := float64(len(part.Split.Test))
		mean, _ := accuracy(t, &lab.Lab{Data: &part}, []string{path}, part.Describe(part.Split.Test))
		sum, classes = sum+n*mean, classes+n
	}
	testkit.Near(t, "with all given in rotation", a.Rows[2].Accuracy.Mean, sum/classes, 1e-12)
	testkit.Equal(t, "unseen classes", a.Classes, len(l.Data.Classes))
}

func TestRefusals(t *testing.T) {
	for want, c := range map[string]Config{
		"methods: expected each method once":              {names: []string{"dap", "dap"}, Distortion: Distortion{Ratios: []float64{0}}},
		"ratios: expected fractions from 0 to 1, found 2": {names: []string{"dap"}, Distortion: Distortion{Ratios: []float64{0.1, 2}}},
		"shares: expected fractions above 0, up to 1":     {names: []string{"dap"}, Distortion: Distortion{Given: AtRandom, Shares: []float64{1, 0}}},
	} {
		testkit.WantError(t, c.Check(testlab.Request(config.Config{})), want)
	}
}

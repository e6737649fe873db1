package studies

import (
	"math"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// An entry stays or is replaced by 0 or 1. Noise at one ratio is part of that at higher
// ones; ratio 0 has none, and ratio 1 replaces everything.
func TestSaltAndPepperIsNested(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := dataset.NewMatrix[float64](rapid.IntRange(1, 9).Draw(t, "classes"), rapid.IntRange(1, 9).Draw(t, "attributes"))
		for i := range u.Data {
			u.Data[i] = 0.25
		}
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

// noisyAccuracy is the mean over the models of a method of the accuracy with other descriptions of the test
// classes, and of that relative to the given ones.
func noisyAccuracy(t *testing.T, l *lab.Lab, method string, worse dataset.Matrix[float64]) (mean, relative float64) {
	t.Helper()
	s := train.Select(l.Data, l.Data.Split.Test)
	accuracy := func(p *model.Pipeline, u dataset.Matrix[float64]) float64 {
		return testkit.Must(metrics.Confuse(testkit.Must(model.Score(p, s.X, s.Rows, u))(t), s.Labels))(t).Accuracy().PerClass
	}
	files := testkit.Must(filepath.Glob(filepath.Join(l.Root, "*-"+method+"-test-*", train.ModelFile)))(t)
	for _, path := range files {
		p := testkit.Must(train.Load(path))(t).Pipeline
		mean += accuracy(p, worse) / float64(len(files))
		relative += accuracy(p, worse) / accuracy(p, l.Data.Describe(l.Data.Split.Test)) / float64(len(files))
	}
	return mean, relative
}

// The accuracies are those of the saved models with the same noise for each of them. That without noise
// is always there.
func TestNoise(t *testing.T) {
	l := testlab.New(t)
	c := &Noise{Ratios: []float64{1, 0.2}, NoiseSeeds: 3, names: []string{"semantic-hard", "singletons", "eszsl"}}
	configs := testlab.Full(l, model.SemanticHard, model.Singletons)
	for i, v := range configs {
		configs[i] = v.With("freeze_prior", false) // with the prior of eight training classes, accuracy is near chance
	}
	a := testlab.Ask[*results.Accuracies](t, l, c, testlab.Request(configs[0], configs...))
	testkit.Equal(t, "rows, classes, missing", []int{len(a.Rows), a.Classes, len(a.Missing)}, []int{9, 4, 0})
	for i, name := range c.names {
		none, some, all := a.Rows[3*i], a.Rows[3*i+1], a.Rows[3*i+2]
		testkit.Equal(t, "labels", some.Labels, []string{name, "20.0 %"})
		testkit.Equal(t, name+": seeds", []int{len(none.Accuracy.Values), len(some.Accuracy.Values)}, []int{min(3-i, 2), min(3-i, 2)})
		testkit.NearAll(t, name+" without noise", none.Relative.Values, []float64{1, 1, 1}, 1e-12)
		if all.Accuracy.Mean >= none.Accuracy.Mean || none.Difference != nil {
			t.Errorf("%s scores %g by noise alone, %g without", name, all.Accuracy.Mean, none.Accuracy.Mean)
		}
		testkit.Near(t, name+" minus that without noise", all.Difference.Mean, all.Accuracy.Mean-none.Accuracy.Mean, 1e-12)
		mean, relative := noisyAccuracy(t, l, name, saltAndPepper(l.Data.Describe(l.Data.Split.Test), 0.2, 2))
		testkit.Near(t, name+" with the third noise", some.ByDraw.Values[2], mean, 1e-12)
		testkit.Near(t, name+" relative", some.Relative.Values[2], relative, 1e-12)
		testkit.Near(t, name+" over seeds and draws", some.Accuracy.Mean, some.ByDraw.Mean, 1e-12)
	}
	p := testkit.Must(a.Figures(""))(t)[0].Picture.(*plot.Lines)
	testkit.Equal(t, "panel of a baseline", p.Series[4].Panel, "ESZSL")
	if q := p.Series[0].Points[0]; len(p.Series) != 6 || q.X != 0 || !(q.Low < q.Y && q.Y < q.High) {
		t.Errorf("%d lines, expected two for each method; %+v without noise, expected it within its interval over classes", len(p.Series), q)
	}
	testkit.WantText(t, testlab.Text(a.Tables()), "methods on simulated-small: test accuracy with noisy descriptions, 4 test classes, 2 seeds", "│ ESZSL         │  20.0 % │", "\nthe settings of baselines were searched, ")
}

func TestNoiseRefuses(t *testing.T) {
	c := Noise{names: []string{"dap"}, Ratios: []float64{0.1, 2}}
	testkit.WantError(t, c.Check(testlab.Request(config.Config{})), "ratios: expected fractions from 0 to 1, found 2")
}

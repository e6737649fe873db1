package search

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

// The settings are ranked by the mean over the folds, and the two best of them by all seeds, with which they
// are trained to the end; the average curve of the best gives the epochs. Another search with the same start tries
// the same ones, and trains nothing in the same folder.
func TestSearch(t *testing.T) {
	const budget = 16
	l := lab.New(tiny.Small(), t.TempDir())
	p := lab.Plan{Folds: 2, Stage: config.OnlyDev, Arms: []lab.Arm{armOf(t, budget, "semantic-hard")}}
	c := p.Arms[0].Starts[0]
	o := runPlan(t, l, p).Arms[0][0]
	const trials = 2 * (budget + 2*2) // folds, two finalists with two seeds
	if len(o.Tried) != budget || len(o.Folds) != 2 || len(o.Missing) > 0 || o.Corrections != 7 {
		t.Fatalf("%d settings, %d folds, missing %v", len(o.Tried), len(o.Folds), o.Missing)
	}
	if !slices.ContainsFunc(o.Tried, func(t lab.Tried) bool { return same(t.Config.WithCorrection(c.Correction), c.On(l.Data)) }) {
		t.Error("the settings that it starts from were not tried")
	}
	for i, tried := range o.Tried {
		if len(tried.Dirs) != 2 || (tried.Final != nil) != (i < 2) {
			t.Fatalf("setting %d: runs of %d folds, to the end %v", i, len(tried.Dirs), tried.Final)
		}
		means := map[model.Correction]float64{} // of the models, with each correction
		for _, dir := range tried.Dirs {
			run, err := lab.ReadRun(dir)
			testkit.NoError(t, err)
			for _, e := range run.Result.Evaluations {
				means[e.Correction] += e.PerClass / 2
			}
		}
		if best := slices.Max(slices.Collect(maps.Values(means))); len(means) != 7 || math.Abs(best-tried.Accuracy) > 1e-9 {
			t.Errorf("setting %d has %g; the best of %d corrections has %g", i, tried.Accuracy, len(means), best)
		}
		if i > 2 && tried.Accuracy > o.Tried[i-1].Accuracy || i > 1 && tried.Accuracy > min(o.Tried[0].Accuracy, o.Tried[1].Accuracy) {
			t.Errorf("setting %d has %g, more than one before", i, tried.Accuracy)
		}
		for key := range tried.Settings {
			if !slices.Contains(o.Keys, key) {
				t.Errorf("%s is listed, and was not searched", key)
			}
		}
	}
	best := o.Tried[0]
	if best.Final.Mean < o.Tried[1].Final.Mean || len(best.Final.Values) != 2 || !same(best.Config, o.Chosen) {
		t.Errorf("the best has %v, the second %v", best.Final, o.Tried[1].Final)
	}
	testkit.NearAll(t, "all seeds", best.Final.Values, lab.Validation(o.Val).Values, 1e-12)
	testkit.Equal(t, "epochs", o.Epochs, testkit.Must(lab.DevEpoch(o.Val))(t))
	runs := testkit.Must(lab.ReadRuns(filepath.Join(l.Root, "splits")))(t)
	for _, r := range runs {
		testkit.Equal(t, "stage of "+r.Dir, r.Stage, train.Dev) // test classes are not used
	}
	l.OnRun = func(r lab.Run) { t.Errorf("%s is trained again", r.Dir) }
	for _, other := range []*lab.Lab{l, lab.New(l.Data, t.TempDir())} {
		again := runPlan(t, other, p).Arms[0][0]
		if !slices.EqualFunc(o.Tried, again.Tried, func(a, b lab.Tried) bool { return same(a.Config, b.Config) && a.Accuracy == b.Accuracy }) || len(runs) != trials {
			t.Errorf("in %s it found other settings; %d folders, expected %d", other.Root, len(runs), trials)
		}
	}
}

func spaceOf(v model.Variant, attributes int, fixed ...string) space {
	return newSpace(config.Defaults(methods.Variant(v)), attributes, fixed)
}

// same reports whether two configurations have the same settings.
func same(a, b config.Config) bool { return cmp.Equal(a.Settings().Values(), b.Settings().Values()) }

// Every listed value is drawn before long, whatever the seed, and nothing else. A larger
// budget starts with the draws of a smaller one.
func TestDraws(t *testing.T) {
	const draws = 60
	s, base := spaceOf(model.KSoft, 35), config.Defaults(methods.Variant(model.KSoft))
	for seed := range uint64(3) {
		configs := s.draw(base, draws, rand.NewPCG(seed, 0))
		for _, d := range s {
			got := map[any]bool{}
			for _, c := range configs {
				got[c.Value(d.key)] = true
			}
			for _, v := range d.values {
				want := base.With(d.key, v).Value(d.key)
				if !got[want] {
					t.Fatalf("%s: %v is not drawn", d.key, want)
				}
				delete(got, want)
			}
			if len(got) > 0 {
				t.Fatalf("%s: drew %v, which is not of %v", d.key, got, d.values)
			}
		}
		if !slices.EqualFunc(configs[:9], s.draw(base, 9, rand.NewPCG(seed, 0)), same) {
			t.Fatal("9 draws are not the first of more")
		}
		if slices.EqualFunc(configs, s.draw(base, draws, rand.NewPCG(seed+1, 0)), same) {
			t.Fatal("another seed draws the same")
		}
	}
	if got := (space{}).draw(base, 7, rand.NewPCG(0, 0)); len(got) != 1 || !same(got[0], base) {
		t.Errorf("drew %+v of nothing", got)
	}
}

func edge(setting string, value any, end string) lab.Edge {
	return lab.Edge{Setting: setting, Value: value, End: end}
}

func TestEdges(t *testing.T) {
	c := config.Defaults(methods.Variant(model.KSoft)).With("lr", 3e-3).With("bias_factor", 3).With("alpha", 0.1).With("preprocess", preprocess.None).
		With("ridge", 1e2).With("beta", 1e-6).With("lambda", 0).With("lr_v", 0.1).With("zeta", 1).With("k", 30).With("smoothing", 0.05)
	lr, zeta := edge("lr", 3e-3, "highest"), edge("zeta", 1.0, "lowest") // nothing is below a lambda of 0
	for name, one := range map[string]struct {
		config.Config
		want []lab.Edge
	}{
		"not whitened":           {c, []lab.Edge{lr, zeta}},
		"whitened":               {c.With("preprocess", preprocess.Whiten), []lab.Edge{lr, edge("ridge", 1e2, "lowest"), zeta}},
		"a ridge by the data":    {c.With("preprocess", preprocess.Whiten).With("ridge", 0), []lab.Edge{lr, zeta}},
		"highest number of k":    {c.With("lr", 1e-4).With("zeta", 3).With("k", 60), []lab.Edge{edge("k", 60, "highest")}},
		"between listed numbers": {c.With("lr", 1.7e-5).With("zeta", 3), []lab.Edge{}},
	} {
		testkit.Equal(t, name, spaceOf(model.KSoft, 312).edges(one.Config), one.want)
	}
	// With a single attribute there is one number of groups, which is no edge.
	if e := spaceOf(model.KSoft, 1).edges(c.With("lr", 1e-4).With("zeta", 3).With("k", 1)); len(e) > 0 {
		t.Errorf("found %v", e)
	}
}

func TestSearchBudgetIsSpent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		settings := rapid.IntRange(1, 1000).Draw(t, "budget")
		b := divide(settings)
		total := b.coarse
		for _, n := range b.refined {
			total += n
		}
		if total != settings || b.coarse < 1 || slices.Min(b.refined[:]) < 0 {
			t.Fatalf("%+v of %d", b, settings)
		}
	})
	for settings, want := range map[int]budget{
		4:  {3, [refiningRounds]int{1}},
		24: {12, [refiningRounds]int{6, 6}}, // as the help says
	} {
		if got := divide(settings); got != want {
			t.Errorf("of %d: %+v, expected %+v", settings, got, want)
		}
	}
}

// From every start, a search tries each correction that the scores of its method can have, and the same
// settings beside it: LAGO, as DAP, whose scores are logarithms too, has seven.
func TestCorrectionsFromEveryStart(t *testing.T) {
	folds, want := []lab.View{{Data: tiny.Small()}}, map[string]int{"dap": 7}
	var starts []methods.Named
	for _, v := range model.Variants {
		starts, want[string(v)] = append(starts, methods.Variant(v)), 7
	}
	for _, e := range methods.All[1:] {
		starts = append(starts, e.Default())
	}
	for _, m := range starts {
		first := newSearch(config.Defaults(m), folds, 100, nil)
		testkit.Equal(t, "corrections of "+m.Label(), len(first.corrections), max(want[m.Label()], 4))
		testkit.Equal(t, m.Label()+" is tried for fewer epochs", first.epochs < first.base.DevEpochs(), m.Entry().Seeded)
		for _, c := range m.Corrections() {
			s := newSearch(config.Defaults(m).WithCorrection(c), folds, 100, nil)
			testkit.Equal(t, fmt.Sprintf("%s from %v: corrections", m.Label(), c), s.corrections, first.corrections)
			testkit.Equal(t, fmt.Sprintf("%s from %v: settings", m.Label(), c), s.keys, first.keys)
			for _, key := range methods.CorrectionKeys {
				if now := s.base.Settings(); len(testkit.Must(now.Find(key))(t).Search) == 0 {
					t.Errorf("%s from %v: no values of %s", m.Label(), c, key)
				}
			}
		}
	}
}

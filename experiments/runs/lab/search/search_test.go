package search

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
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
	testkit.Equal(t, "settings, folds, missing, corrections", []int{len(o.Tried), len(o.Folds), len(o.Missing), o.Corrections}, []int{budget, 2, 0, 7})
	started := slices.ContainsFunc(o.Tried, func(t lab.Tried) bool { return same(t.Config.WithCorrection(c.Correction), c.On(l.Data)) })
	testkit.Equal(t, "the settings that it starts from were tried", started, true)
	for i, tried := range o.Tried {
		testkit.Equal(t, fmt.Sprint("folds of setting ", i, ", and to the end"), []any{len(tried.Dirs), tried.Final != nil}, []any{2, i < 2})
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
	}
	best := o.Tried[0]
	testkit.Equal(t, "the best is not below the second, and is chosen", []bool{best.Final.Mean >= o.Tried[1].Final.Mean, same(best.Config, o.Chosen)}, []bool{true, true})
	testkit.NearAll(t, "all seeds", best.Final.Values, lab.Validation(o.Val).Values, 1e-12)
	testkit.Equal(t, "epochs", o.Epochs, testkit.Must(lab.DevEpoch(o.Val))(t))
	runs := testkit.Must(lab.ReadRuns(filepath.Join(l.Root, "splits")))(t)
	for _, r := range runs {
		testkit.Equal(t, "stage of "+r.Dir, r.Stage, train.Dev) // test classes are not used
	}
	l.OnRun = func(r lab.Run) { t.Errorf("%s is trained again", r.Dir) }
	testkit.Equal(t, "runs", len(runs), trials)
	for _, other := range []*lab.Lab{l, lab.New(l.Data, t.TempDir())} {
		again := runPlan(t, other, p).Arms[0][0]
		equal := func(a, b lab.Tried) bool { return same(a.Config, b.Config) && a.Accuracy == b.Accuracy }
		testkit.Equal(t, "the same settings in "+other.Root, slices.EqualFunc(o.Tried, again.Tried, equal), true)
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
			got, want := map[any]bool{}, map[any]bool{}
			for _, c := range configs {
				got[c.Value(d.key)] = true
			}
			for _, v := range d.values {
				want[base.With(d.key, v).Value(d.key)] = true
			}
			testkit.Equal(t, "drawn values of "+d.key, got, want)
		}
		again, other := s.draw(base, 9, rand.NewPCG(seed, 0)), s.draw(base, draws, rand.NewPCG(seed+1, 0))
		testkit.Equal(t, "9 draws are the first of more", slices.EqualFunc(configs[:9], again, same), true)
		testkit.Equal(t, "another seed draws the same", slices.EqualFunc(configs, other, same), false)
	}
	testkit.Equal(t, "draws of nothing", slices.EqualFunc(space{}.draw(base, 7, rand.NewPCG(0, 0)), []config.Config{base}, same), true)
}

func TestEdges(t *testing.T) {
	c := config.Defaults(methods.Variant(model.KSoft)).With("lr", 3e-3).With("bias_factor", 3).With("alpha", 0.1).With("preprocess", preprocess.None).
		With("ridge", 1e2).With("beta", 1e-6).With("lambda", 0).With("lr_v", 0.1).With("zeta", 1).With("k", 30).With("smoothing", 0.05)
	edge := func(setting string, value any, end string) lab.Edge {
		return lab.Edge{Setting: setting, Value: value, End: end}
	}
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
}

func TestSearchBudgetIsSpent(t *testing.T) {
	for budget := 1; budget < 1000; budget++ {
		rounds, total := divide(budget), 0
		for _, n := range rounds {
			total += n
		}
		if total != budget || rounds[0] < 1 || slices.Min(rounds[:]) < 0 {
			t.Fatalf("%v of %d", rounds, budget)
		}
	}
	testkit.Equal(t, "of 24, as the help says", divide(24), [1 + refiningRounds]int{12, 6, 6})
}

// From every start, a search tries each correction that the scores of its method can have, and the same
// settings beside it: LAGO, as DAP, whose scores are logarithms too, has seven.
func TestCorrectionsFromEveryStart(t *testing.T) {
	folds := []lab.View{{Data: tiny.Small()}}
	for _, label := range methods.Labels() {
		m := testkit.Must(methods.Labelled(label))(t)
		first, want := newSearch(config.Defaults(m), folds, 100, nil), 4
		if m.Entry().Logarithms {
			want = 7
		}
		testkit.Equal(t, "corrections of "+label, len(first.corrections), want)
		testkit.Equal(t, label+" is tried for fewer epochs", first.epochs < first.base.DevEpochs(), m.Entry().Seeded)
		for _, c := range m.Corrections() {
			s := newSearch(config.Defaults(m).WithCorrection(c), folds, 100, nil)
			testkit.Equal(t, fmt.Sprintf("%s from %v: corrections", label, c), s.corrections, first.corrections)
			testkit.Equal(t, fmt.Sprintf("%s from %v: settings", label, c), s.keys, first.keys)
		}
	}
}

// quick is a run of two seeds on tiny.Small that takes milliseconds.
func quick(t testkit.TB, name string) config.Config {
	t.Helper()
	c := config.GeneralFor("simulated-small", testkit.Must(methods.Labelled(name))(t)).Config
	c.Seeds, c.Seed, c.Epochs = 2, 5, 3
	if c.Method.Variant() != "" {
		c = c.With("batch", 16).With("lr", 0.01)
	}
	return c
}

// armOf is an arm that chooses between methods, or has one.
func armOf(t testkit.TB, tune int, names ...string) lab.Arm {
	t.Helper()
	a := lab.Arm{Name: names[0], Title: names[0], Tune: tune}
	for _, name := range names {
		a.Starts = append(a.Starts, quick(t, name))
	}
	return a
}

func runPlan(t testkit.TB, l *lab.Lab, p lab.Plan) *lab.Outcomes {
	t.Helper()
	return testkit.Must(Run(context.Background(), l, p))(t)
}

func accuracies(runs []lab.Run) (list []float64) {
	for _, r := range runs {
		list = append(list, r.Evaluation.PerClass)
	}
	return list
}

// The dev stage gives the number of epochs of the test stage; the test stage alone takes that
// of its settings. Methods without randomness have one seed.
func TestStages(t *testing.T) {
	for stage, dev := range map[config.Stages]int{config.OnlyDev: 2, config.OnlyTest: 0, config.DevThenTest: 2} {
		l := lab.New(tiny.Small(), t.TempDir())
		p := lab.Plan{Stage: stage, Arms: []lab.Arm{armOf(t, 0, "semantic-hard"), armOf(t, 0, "eszsl")}}
		r := runPlan(t, l, p)
		hard, eszsl := r.Arms[0][0], r.Arms[1][0]
		tested := 2 * min(1, len(stage)-3) // none of "dev"
		runs := []int{len(hard.Val), len(hard.Test), len(eszsl.Val), len(eszsl.Test), len(r.Missing)}
		testkit.Equal(t, fmt.Sprint("runs of ", stage), runs, []int{dev, tested, dev / 2, tested / 2, 0})
		testkit.Equal(t, "arms are done", []bool{r.Done(0), r.Done(1)}, []bool{true, true})
		want := 3
		if dev > 0 {
			want = testkit.Must(lab.DevEpoch(hard.Val))(t)
		}
		for _, run := range hard.Test {
			testkit.Equal(t, "stage and epochs", []any{run.Stage, run.Result.Epochs, run.Result.BestEpoch}, []any{train.Test, want, want})
		}
		testkit.Equal(t, fmt.Sprint("epochs of ", stage), hard.Epochs, want)
	}
}

// Samples of unseen classes change neither the choice of settings nor the epochs nor a model,
// of any method, on the data set's own split and in a rotation.
func TestUnseenSamplesChangeNoChoice(t *testing.T) {
	for _, parts := range []int{1, 3} {
		p := lab.Plan{Stage: config.DevThenTest, Folds: 2, Arms: []lab.Arm{armOf(t, 4, "semantic-hard", "singletons"), armOf(t, 3, "k-soft")}}
		names := methods.Names()[1:]
		if parts > 1 {
			names = names[3:4] // ESZSL
		}
		for _, name := range names {
			p.Arms = append(p.Arms, armOf(t, 3, name))
			if name == "eszsl" {
				p.Arms[len(p.Arms)-1].Fixed = []string{"preprocess", "lambda"} // leaves 7 settings of the grid
			}
		}
		for i := range p.Arms {
			for j := range p.Arms[i].Starts {
				p.Arms[i].Starts[j].Epochs, p.Arms[i].Starts[j].Seeds = 2, 1
			}
		}
		rotated := func(d *dataset.Dataset) *lab.Lab {
			l := lab.New(d, t.TempDir())
			if parts > 1 {
				testkit.NoError(t, l.Rotate(parts, 3, false))
			}
			return l
		}
		before, d := rotated(tiny.Small()), tiny.Small()
		unseen := before.Parts[parts-1].Data
		for _, row := range unseen.SamplesOf(unseen.Split.Test) {
			clear(d.Features.Row(row))
		}
		a, b := runPlan(t, before, p), runPlan(t, rotated(d), p)
		seen, u := unseen.SamplesOf(unseen.Split.Val), unseen.Describe(unseen.Split.Test)
		for i, arm := range p.Arms {
			x, y := a.Arms[i][parts-1], b.Arms[i][parts-1]
			if x.Test == nil || y.Test == nil || len(x.Tried) < arm.Tune || !same(x.Chosen, y.Chosen) || x.Chosen.Method.Label() != y.Chosen.Method.Label() || x.Epochs != y.Epochs ||
				!slices.Equal(accuracies(x.Val), accuracies(y.Val)) {
				t.Errorf("%d parts, %s: tried %d, chose %v with %d epochs, and with other unseen samples %v with %d", parts, arm.Name, len(x.Tried),
					x.Chosen.Settings().Values(), x.Epochs, y.Chosen.Settings().Values(), y.Epochs)
			}
			var scores [2][]float32
			for j, o := range []*lab.Outcome{x, y} {
				saved := testkit.Must(train.Load(lab.ModelFiles(o.Test)[0]))(t)
				scores[j] = testkit.Must(model.Score(saved.Pipeline, before.Data.Features, seen, u))(t).Data
			}
			testkit.Equal(t, fmt.Sprintf("%d parts, %s: scores with other unseen samples", parts, arm.Name), scores[1], scores[0])
		}
	}
}

// The arm of LAGO has the runs of the variant that did best on the validation classes. The two best variants
// are trained to the end, with all seeds; an arm of the chosen variant alone trains nothing again.
func TestTheArmOfLAGOIsItsBestVariant(t *testing.T) {
	l := lab.New(tiny.Small(), t.TempDir())
	l.Jobs = 1
	first, total := map[string]float64{}, map[string]float64{} // of the first seed, and of both, by variant
	l.OnRun = func(r lab.Run) {
		r.Evaluate(quick(t, "k-soft").Correction)
		switch {
		case r.Stage != train.Dev:
		case r.Seed == 5:
			first[r.Method.Label()] = r.Evaluation.PerClass
		default:
			total[r.Method.Label()] = first[r.Method.Label()] + r.Evaluation.PerClass
		}
	}
	p := lab.Plan{Stage: config.DevThenTest, Arms: []lab.Arm{armOf(t, 0, "singletons", "semantic-hard", "k-soft", "semantic-soft")}}
	chosen := runPlan(t, l, p).Arms[0][0]
	label, ranked := chosen.Chosen.Method.Label(), slices.Sorted(maps.Values(first))
	testkit.Equal(t, "variants, and those with all seeds", []int{len(first), len(chosen.Tried), len(total)}, []int{4, 4, 2})
	for v, accuracy := range total {
		if first[v] < ranked[2] || accuracy > total[label] {
			t.Errorf("%s has a further seed; the first seed has %v, both %v; chosen %s", v, first, total, label)
		}
	}
	for _, run := range chosen.Val {
		testkit.Equal(t, "epochs of "+run.Name(), run.Epochs, chosen.Chosen.Epochs)
	}
	p.Arms = append(p.Arms, armOf(t, 0, label))
	l.OnRun = func(r lab.Run) { t.Errorf("%s is trained again", r.Name()) }
	both := runPlan(t, l, p)
	testkit.Equal(t, "LAGO and its variant", lab.ModelFiles(both.Arms[1][0].Test), lab.ModelFiles(both.Arms[0][0].Test))
}

// With too few classes for a dev stage, arms with something to choose have the given validation classes, and
// others a fixed number of epochs.
func TestFewClasses(t *testing.T) {
	d := tiny.Small()
	d.Split.Train, d.Split.Val = d.Split.Train[:3], d.Split.Val[:2]
	p := lab.Plan{Stage: config.DevThenTest, Arms: []lab.Arm{armOf(t, 0, "semantic-hard"), armOf(t, 3, "singletons")}}
	r := runPlan(t, lab.New(d, t.TempDir()), p)
	fixed, searched := r.Arms[0][0], r.Arms[1][0]
	testkit.Equal(t, "sources", []lab.EpochSource{fixed.Source, searched.Source}, []lab.EpochSource{lab.FixedEpochs, lab.DevStage})
	testkit.Equal(t, "epochs", []int{fixed.Epochs, searched.Epochs}, []int{3, testkit.Must(lab.DevEpoch(searched.Val))(t)})
	testkit.Equal(t, "runs and settings", []int{len(fixed.Val), len(fixed.Test), len(searched.Val), len(searched.Test), len(searched.Tried)}, []int{0, 2, 2, 2, 3})
	testkit.Equal(t, "arms are done", []bool{r.Done(0), r.Done(1)}, []bool{true, true})
}

// An arm that fails is left out of the rows, a start that fails is not chosen, and what failed
// is missing, each run once. The others are as they are alone.
func TestArmsThatFail(t *testing.T) {
	failing := armOf(t, 0, "semantic-hard")
	failing.Starts[0] = failing.Starts[0].With("lr", 1e38)
	either := lab.Arm{Name: "either", Starts: []config.Config{failing.Starts[0], quick(t, "singletons")}}
	p := lab.Plan{Stage: config.DevThenTest, Arms: []lab.Arm{failing, either, armOf(t, 0, "eszsl")}}
	l := lab.New(tiny.Small(), t.TempDir())
	r := runPlan(t, l, p)
	testkit.Equal(t, "arms are done", []bool{r.Done(0), r.Done(1), r.Done(2)}, []bool{false, true, true})
	testkit.Equal(t, "chosen", r.Arms[1][0].Chosen.Method.Label(), "singletons")
	testkit.Equal(t, "missing, two seeds alone and one beside singletons", len(r.Missing), 3)
	for _, m := range r.Missing {
		testkit.Equal(t, "state", m.State, lab.Failed)
		testkit.WantText(t, m.Name, "semantic-hard-dev")
	}
	alone := runPlan(t, lab.New(tiny.Small(), t.TempDir()), lab.Plan{Stage: config.DevThenTest, Arms: []lab.Arm{armOf(t, 0, "singletons")}})
	testkit.Equal(t, "accuracies beside others", accuracies(r.Arms[1][0].Test), accuracies(alone.Arms[0][0].Test))
}

// Each shard waits for the others before it chooses, and together they find what one process finds.
func TestPlansInShards(t *testing.T) {
	p := lab.Plan{Stage: config.DevThenTest, Arms: []lab.Arm{armOf(t, 9, "semantic-hard"), armOf(t, 4, "eszsl")}}
	p.Arms[1].Fixed = []string{"preprocess", "lambda"} // leaves 7 settings of the grid
	want := runPlan(t, lab.New(tiny.Small(), t.TempDir()), p)
	root := t.TempDir()
	waited := map[string]bool{}
	for turn := 0; ; turn++ {
		if turn > 20 {
			t.Fatal("the plan does not end")
		}
		shard := lab.New(tiny.Small(), root)
		shard.Shard = lab.Shard{Index: turn % 2, Count: 2}
		var round string
		shard.OnStep = func(what string) { round = what }
		got, err := Run(t.Context(), shard, p)
		if err != nil {
			testkit.WantError(t, err, "left to other shards, which have not finished them; repeat the command")
			waited[round] = true
			continue
		}
		for i := range p.Arms {
			a, b := want.Arms[i][0], got.Arms[i][0]
			if !same(a.Chosen, b.Chosen) || !slices.Equal(accuracies(a.Test), accuracies(b.Test)) || !slices.Equal(accuracies(a.Val), accuracies(b.Val)) {
				t.Errorf("%s: one process chose %v, shards %v", p.Arms[i].Name, a.Chosen.Settings().Values(), b.Chosen.Settings().Values())
			}
		}
		break
	}
	if len(waited) < 2 {
		t.Errorf("shards waited in the rounds %v", waited)
	}
}

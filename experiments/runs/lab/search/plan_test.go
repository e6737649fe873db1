package search

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/labelled"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

// quick is a run of two seeds on tiny.Small that takes milliseconds.
func quick(t testkit.TB, name string) config.Config {
	t.Helper()
	c := config.GeneralFor("simulated-small", labelled.Method(name)).Config
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
// of its settings or, without it, of the preset. Methods without randomness have one seed.
func TestStages(t *testing.T) {
	for stage, dev := range map[config.Stages]int{config.OnlyDev: 2, config.OnlyTest: 0, config.DevThenTest: 2} {
		l := lab.New(tiny.Small(), t.TempDir())
		p := lab.Plan{Stage: stage, Arms: []lab.Arm{armOf(t, 0, "semantic-hard"), armOf(t, 0, "eszsl")}}
		r := runPlan(t, l, p)
		hard, eszsl := r.Arms[0][0], r.Arms[1][0]
		tested := 2 * min(1, len(stage)-3) // none of "dev"
		if len(hard.Val) != dev || len(hard.Test) != tested || len(eszsl.Val) != dev/2 || len(eszsl.Test) != tested/2 || len(r.Missing) > 0 {
			t.Fatalf("%s: %d, %d, %d and %d runs", stage, len(hard.Val), len(hard.Test), len(eszsl.Val), len(eszsl.Test))
		}
		if !r.Done(0) || !r.Done(1) {
			t.Errorf("%s: an arm is not done", stage)
		}
		want := 3
		if dev > 0 {
			want = testkit.Must(lab.DevEpoch(hard.Val))(t)
		}
		for _, run := range hard.Test {
			if run.Stage != train.Test || run.Result.Epochs != want || run.Result.BestEpoch != want {
				t.Errorf("%s: the test stage ran %d epochs, expected %d", stage, run.Result.Epochs, want)
			}
		}
		testkit.Equal(t, fmt.Sprint("epochs of ", stage), hard.Epochs, want)
	}
	preset := lab.Plan{Stage: config.OnlyTest, Arms: []lab.Arm{armOf(t, 0, "semantic-hard")}}
	preset.Arms[0].Starts[0].Epochs = 0
	if o := runPlan(t, lab.New(tiny.Small(), t.TempDir()), preset).Arms[0][0]; o.Epochs != 50 || len(o.Test) != 2 {
		t.Errorf("%d epochs in %d runs, expected those of the preset, 50", o.Epochs, len(o.Test))
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
				testkit.NoError(t, l.Rotate(parts, 3))
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

// Arms with the same start share its search, and the arm of LAGO has the runs of the variant
// that did best on the validation classes. The two best variants are trained to the end, with all seeds.
func TestTheArmOfLAGOIsItsBestVariant(t *testing.T) {
	l := lab.New(tiny.Small(), t.TempDir())
	l.Jobs = 1
	first, further := map[string]float64{}, map[string]bool{}
	total := map[string]float64{} // of both seeds
	trained := map[string]int{}
	l.OnRun = func(r lab.Run) {
		trained[r.Name()]++
		r.Evaluate(quick(t, "k-soft").Correction)
		if r.Stage == train.Dev {
			total[r.Method.Label()] += r.Evaluation.PerClass
		}
		switch {
		case r.Stage != train.Dev:
		case r.Seed == 5:
			first[r.Method.Label()] = r.Evaluation.PerClass
		default:
			further[r.Method.Label()] = true
		}
	}
	p := lab.Plan{Stage: config.DevThenTest, Arms: []lab.Arm{armOf(t, 0, "singletons", "semantic-hard", "k-soft", "semantic-soft")}}
	chosen := runPlan(t, l, p).Arms[0][0]
	ranked := slices.Sorted(maps.Values(first))
	for v := range further {
		if first[v] < ranked[2] || total[v] > total[chosen.Chosen.Method.Label()] {
			t.Errorf("%s has a further seed; the first seed has %v, both %v; chosen %s", v, first, total, chosen.Chosen.Method.Label())
		}
	}
	if len(first) != 4 || len(further) != 2 || !further[chosen.Chosen.Method.Label()] || len(chosen.Tried) != 4 {
		t.Errorf("first seed %v, further seeds of %v, chosen %s of %d", first, further, chosen.Chosen.Method.Label(), len(chosen.Tried))
	}
	for _, run := range chosen.Val {
		testkit.Equal(t, "epochs of "+run.Name(), run.Epochs, chosen.Chosen.Epochs)
	}
	p.Arms = append(p.Arms, armOf(t, 0, chosen.Chosen.Method.Label()))
	l.OnRun = func(r lab.Run) { t.Errorf("%s is trained again", r.Name()) }
	both := runPlan(t, l, p)
	testkit.Equal(t, "LAGO and its variant", lab.ModelFiles(both.Arms[1][0].Test), lab.ModelFiles(both.Arms[0][0].Test))
	for name, n := range trained {
		if n > 1 {
			t.Errorf("%s was trained %d times", name, n)
		}
	}
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
	var done []int
	for i := range p.Arms {
		if r.Done(i) {
			done = append(done, i)
		}
	}
	if len(done) != 2 || r.Arms[1][0].Chosen.Method.Label() != "singletons" || !slices.Equal(done, []int{1, 2}) {
		t.Fatalf("arms %v are done, expected that of singletons and that of ESZSL", done)
	}
	var failed []string
	for _, m := range r.Missing {
		if m.State != lab.Failed || !strings.Contains(m.Name, "semantic-hard-dev") {
			t.Errorf("missing %v", m)
		}
		failed = append(failed, m.Name)
	}
	if slices.Sort(failed); len(failed) != 3 || len(slices.Compact(failed)) != 3 { // two seeds alone, one beside singletons
		t.Errorf("missing %v, expected each run of semantic-hard once", failed)
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

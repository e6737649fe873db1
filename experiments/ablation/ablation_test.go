package ablation

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/stat"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/experiments/published"
	"github.com/lago-train/lago-train/experiments/results"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/metrics"
)

// rowsOf returns a row for each design with the accuracy of each class, best first.
func rowsOf(classes func(d Design) []float64) []trained {
	var rows []trained
	for _, d := range designs() {
		c := classes(d)
		rows = append(rows, trained{d, results.Row{Accuracy: lab.Summarise([]float64{stat.Mean(c, nil)}), ByClass: c}})
	}
	return bestOfEach(rows)
}

// What the paper reads from its numbers holds for them, and not for others.
func TestFindings(t *testing.T) {
	for _, dataset := range []string{"cub", "awa2"} {
		rows := rowsOf(func(d Design) []float64 { return []float64{*d.published(dataset)} })
		want := slices.Clone(published.All().Ablation)
		slices.SortFunc(want, func(x, y published.Ablation) int {
			px, _ := x.On(dataset)
			py, _ := y.On(dataset)
			return cmp.Compare(py, px)
		})
		for i, row := range rows {
			if d := (Design{want[i].Prior, want[i].Complement, Supervision(want[i].Supervision)}); row.Design != d {
				t.Errorf("%s: row %d is %v, expected %v", dataset, i, row.Design, d)
			}
		}
		for _, f := range findings(rows) {
			if !f.Holds {
				t.Errorf("%s: does not hold for the paper's own table: %s", dataset, f.Text)
			}
		}
		a := &Result{Findings: findings(rows)} // one class cannot make a difference clear
		a.Stage = "validation"
		testkit.WantText(t, testlab.Text(a.Tables()), "unclear: with a uniform prior, const is above De-Morgan: ")
	}
	other := []float64{0.1, 0.5, 0.3, 0.2, 0.6, 0.4, 0.4, 0.4} // in the order of designs
	rows := rowsOf(func(d Design) []float64 { return []float64{other[slices.Index(designs(), d)]} })
	list := findings(rows)
	if len(list) != 5 {
		t.Fatalf("%d findings, expected 5", len(list))
	}
	for _, f := range list {
		if f.Holds {
			t.Errorf("holds: %s", f.Text)
		}
	}
	rows[3].Accuracy = lab.Summary{}
	if list := findings(rows); len(list) > 0 {
		t.Errorf("%d findings although a row is without accuracy", len(list))
	}
}

// Of twelve classes, each is 10 points better with a uniform prior, half of them 1 point better
// and the others 1 point worse with const, and 2 to 13 points worse with explicit supervision
// if the prior is per attribute.
func TestDifferencesOverClasses(t *testing.T) {
	rows := rowsOf(func(d Design) []float64 {
		list := make([]float64, 12)
		for z := range list {
			list[z] = 0.5 + 0.01*float64(z)
			if d.Prior == model.Uniform {
				list[z] += 0.1
			}
			if d.Complement == model.Const {
				list[z] += []float64{0.01, -0.01}[z%2]
			}
			if d.Prior == model.PerAttribute && d.Supervision == Explicit {
				list[z] -= 0.02 + 0.01*float64(z)
			}
		}
		return list
	})
	for i, want := range []struct {
		difference float64
		clear      bool
	}{{0, false}, {0.1 + (0.02+0.13)/4, true}, {(0.02 + 0.13) / 2, true}, {0, false}, {0, false}} {
		f := findings(rows)[i]
		if d := f.Difference; math.Abs(d.Mean-want.difference) > 1e-9 || (d.P < metrics.Significance) != want.clear {
			t.Errorf("%s: %+v, expected %+v", f.Text, f.Difference, want)
		}
	}
}

// Each row is the dev runs of its design, with the best alpha if it is explicit; the row of the
// prior per group is extra. A second ablation trains nothing.
func TestAblate(t *testing.T) {
	l := testlab.New(t)
	c := Config{Base: testlab.Config(l, config.DevThenTest, model.SemanticHard), PerGroup: true, Alphas: []float64{0.5, 1e4}}
	a := testkit.Must(c.Ask(t.Context(), l))(t).(*Result)
	if len(a.Rows) != 9 || len(a.Findings) != 5 || a.Classes != 4 || a.Seeds != 2 || len(a.Missing) > 0 {
		t.Errorf("found %+v", a)
	}
	l.OnRun = func(r lab.Run) { t.Errorf("%s was not trained by the ablation", r.Dir) }
	var designs []string
	for i, r := range a.Rows {
		supervision, alpha, explicit := strings.Cut(r.Labels[2], ", alpha ")
		designs = append(designs, strings.Join([]string{r.Labels[0], r.Labels[1], supervision}, ", "))
		alphas := c.Alphas
		if !explicit {
			alphas = []float64{0}
		}
		best := lab.Summary{Mean: -1}
		for _, tried := range alphas {
			one := c.Base.With("prior", r.Labels[0]).With("complement", r.Labels[1]).With("alpha", tried)
			m := results.Measure(testkit.Must(l.Do(t.Context(), one.Trials(l.Parts[0], train.Dev, a.Epochs)))(t)).PerClass
			if explicit && alpha == fmt.Sprint(tried) && !gocmp.Equal(m, r.Accuracy) {
				t.Errorf("%v: %+v, expected %+v", r.Labels, r.Accuracy, m)
			}
			if m.Mean > best.Mean {
				best = m
			}
		}
		if best.Mean != r.Accuracy.Mean || i > 0 && a.Rows[i-1].Accuracy.Mean < r.Accuracy.Mean || r.Published != nil {
			t.Errorf("%v: %+v, expected a mean of %g", r.Labels, r.Accuracy, best.Mean)
		}
		if r.Reference != (r.Difference == nil) || r.Reference != (designs[i] == "uniform, const, implicit") {
			t.Errorf("%v: difference %v", r.Labels, r.Difference)
		}
	}
	if slices.Sort(designs); len(slices.Compact(designs)) != 9 {
		t.Errorf("designs %v", designs)
	}
	testkit.WantText(t, testlab.Text(a.Tables()), "2 seeds", "explicit: the best alpha of 0.5, 10000 by the same accuracy", "│ per-group     │", "│ points ")
	again := testkit.Must(c.Ask(t.Context(), l))(t)
	var stored Result
	testlab.Stored(t, l, Kind, &stored)
	ignored := cmpopts.IgnoreFields(results.Row{}, "ByClass")
	if diff := gocmp.Diff(a, again, ignored) + gocmp.Diff(a, &stored, ignored); diff != "" {
		t.Errorf("another run, or what is stored, differs:\n%s", diff)
	}
	if dots := testkit.Must(stored.Figures(""))(t)[0].Picture.(*plot.Dots); len(dots.Rows) != 9 || len(dots.Panels[0].Series[1].Dots) != 0 {
		t.Errorf("%d rows and series %+v in the figure, expected 9 and none that is published", len(dots.Rows), dots.Panels)
	}
}

func TestAblateRefuses(t *testing.T) {
	l := testlab.New(t)
	c := Config{Base: testlab.Config(l, config.OnlyDev, model.SemanticHard)}
	for _, wrong := range [][]float64{{0, 1}, {1, 1}, {-1}, {math.NaN()}, {math.Inf(1)}} {
		c.Alphas = wrong
		testkit.WantError(t, c.Check(), "alphas: expected different positive numbers, found ")
	}
	l.Data.Groups, c.Alphas = nil, nil
	_, err := c.Ask(t.Context(), l)
	testkit.WantError(t, err, "variant: expected one that the data set allows")
}

// Random groups have the sizes of the semantic ones, and their mean stands beside these and
// singletons, all by the full protocol.
func TestGroups(t *testing.T) {
	l := testlab.New(t)
	testkit.NoError(t, l.Rotate(3, 0))
	c := testlab.Config(l, config.DevThenTest, model.SemanticHard)
	g := testkit.Must(Groups{c}.Ask(t.Context(), l))(t).(*results.Accuracies)
	if len(g.Rows) != 4 || g.Classes != 16 || g.Rows[3].Draws != randomDraws || g.Rows[0].Difference != nil {
		t.Fatalf("%d classes, rows %+v", g.Classes, g.Rows)
	}
	sizes := func(d *dataset.Dataset) []int {
		n := make([]int, len(d.Groups))
		for _, a := range d.Attributes {
			n[a.Group]++
		}
		return n
	}
	var mean float64
	for seed := range uint64(randomDraws) {
		var parts []lab.View
		for _, part := range l.Parts {
			d := shuffled(part, seed)
			if parts = append(parts, l.ViewOf(d)); !slices.Equal(sizes(d), sizes(l.Data)) || slices.Equal(d.Attributes, l.Data.Attributes) {
				t.Errorf("draw %d has groups %v", seed, d.GroupOf())
			}
		}
		plan := engine.Plan{Stage: config.DevThenTest, Arms: []engine.Arm{{Name: "x", Starts: []config.Config{c}}}}
		mean += results.Methods(testkit.Must(engine.Run(t.Context(), l.On(parts...), plan))(t))[0].Test.PerClass.Mean / randomDraws
	}
	testkit.Near(t, "random groups", g.Rows[3].Accuracy.Mean, mean, 1e-12)
	for _, r := range g.Rows[1:] {
		testkit.Near(t, r.Label(), r.Difference.Mean, g.Rows[0].Accuracy.Mean-r.Accuracy.Mean, 1e-12)
	}
	var stored results.Accuracies
	testlab.Stored(t, l, GroupsKind, &stored)
	testkit.WantText(t, testlab.Text(stored.Tables()), "16 test classes", "│ singletons, same settings ", "random: mean over 5 draws")
}

// Rows whose runs failed are left out, and the others shown, down to none.
func TestGroupsWithFailedRuns(t *testing.T) {
	l := testlab.New(t)
	random := l.ViewOf(shuffled(l.Parts[0], 2)).Fingerprint
	c := testlab.Config(l, config.DevThenTest, model.SemanticHard)
	c.Seeds = 1
	block := func(fingerprint string) {
		for _, trial := range c.Trials(lab.View{Data: l.Data, Fingerprint: fingerprint}, train.Dev, c.DevEpochs()) {
			testkit.Write(t, l.Root+"/splits", trial.Name(), "a file in place of the folder of a run")
		}
	}
	testkit.NoError(t, os.Mkdir(l.Root+"/splits", 0o755))
	block(random)
	g := testkit.Must(Groups{c}.Ask(t.Context(), l))(t).(*results.Accuracies)
	if len(g.Rows) != 3 || g.Rows[2].Label() != "singletons, same settings" || len(g.Missing) != 1 {
		t.Errorf("rows %+v, missing %v", g.Rows, g.Missing)
	}
	text := testlab.Text(g.Tables())
	if testkit.WantText(t, text, "missing from the table"); strings.Contains(text, "│ random") {
		t.Errorf("found a row of random groups of which one failed:\n%s", text)
	}
	c = c.With("lr", 1e38)
	empty := testkit.Must(Groups{c}.Ask(t.Context(), l))(t).(*results.Accuracies)
	if empty.Rows = slices.DeleteFunc(empty.Rows, func(r results.Row) bool { return r.Label() == "singletons" }); len(empty.Rows) > 0 {
		t.Errorf("rows %+v of runs that failed", empty.Rows)
	}
	testkit.WantText(t, testlab.Text(empty.Tables()), "missing from the table")
}

package ablation

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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
)

func TestPublishedDesigns(t *testing.T) {
	for _, row := range published.Tables.Ablation {
		d := design{row.Prior, row.Complement, row.Supervision}
		if got := d.published("awa2"); !slices.Contains(designs(), d) || *got != row.AWA2/100 {
			t.Errorf("%v: %g, expected %g %%", d, *got, row.AWA2)
		}
	}
	if lago.published("sun") != nil {
		t.Error("a number that the paper does not have")
	}
}

// Each row is the dev runs of its design, with the best alpha if it is explicit; the row of the
// prior per group is extra. A second ablation trains nothing.
func TestAblate(t *testing.T) {
	l := testlab.New(t)
	c := Config{Base: testlab.Config(l, config.DevThenTest, model.SemanticHard), PerGroup: true, Alphas: []float64{0.5, 1e4}}
	a := testkit.Must(c.Ask(t.Context(), l))(t).(*Result)
	if len(a.Rows) != 9 || a.Classes != 4 || a.Seeds != 2 || len(a.Missing) > 0 {
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
	g := testkit.Must((&Config{Base: c, Groups: true}).Ask(t.Context(), l))(t).(*results.Accuracies)
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

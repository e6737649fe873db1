package studies

import (
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/plot"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
	"github.com/lago-train/lago-train/train/methods"
)

func TestPublishedDesigns(t *testing.T) {
	for _, row := range config.Published.Ablation {
		d := design{row.Prior, row.Complement, row.Supervision}
		if got := d.published("awa2"); !slices.Contains(designs(false), d) || *got != row.Accuracy["AWA2"]/100 {
			t.Errorf("%v: %g, expected %g %%", d, *got, row.Accuracy["AWA2"])
		}
	}
	testkit.Equal(t, "a number that the paper does not have", lagoDesign.published("sun"), nil)
}

// Each row is the dev runs of its design; the row of the prior per group is extra. A second ablation
// trains nothing.
func TestAblate(t *testing.T) {
	l := testlab.New(t)
	c := Ablation{PerGroup: true}
	base := testlab.Config(l, config.DevThenTest, model.SemanticHard).With("alpha", 0.5)
	a := testlab.Ask[*results.Accuracies](t, l, &c, testlab.Request(base))
	testkit.Equal(t, "rows, classes, seeds, missing", []int{len(a.Rows), a.Classes, a.Seeds, len(a.Missing)}, []int{9, 4, 2, 0})
	l.OnRun = func(r lab.Run) { t.Errorf("%s was not trained by the ablation", r.Dir) }
	designs := map[string]bool{}
	for i, r := range a.Rows {
		start := c.Base.With("prior", r.Labels[0]).With("complement", r.Labels[1])
		if r.Labels[2] == implicit {
			start = start.With("alpha", 0)
		}
		runs := testkit.Must(l.Do(t.Context(), start.Trials(l.Data, l.Fingerprint, train.Dev, c.Base.DevEpochs())))(t)
		want := results.Measure(lab.Evaluate(runs, start.Correction)).PerClass
		if !gocmp.Equal(want, r.Accuracy) || i > 0 && a.Rows[i-1].Accuracy.Mean < r.Accuracy.Mean || r.Published != nil {
			t.Errorf("%v: %+v, expected %+v", r.Labels, r.Accuracy, want)
		}
		if designs[r.Label()] = true; r.Reference != (r.Difference == nil) || r.Reference != (r.Label() == "uniform, const, implicit") {
			t.Errorf("%v: difference %v", r.Labels, r.Difference)
		}
	}
	testkit.WantText(t, testlab.Text(a.Tables()), "2 seeds", "explicit supervision: alpha 0.5", "│ per-group, const, implicit ", "│ minus LAGO's design, points (95 %) ")
	testkit.Equal(t, "designs", len(designs), 9)
	dots := testkit.Must(a.Figures(""))(t)[0].Picture.(*plot.Dots)
	testkit.Equal(t, "rows of the figure, and those that are published", []int{len(dots.Rows), len(dots.Panels[0].Series[1].Points)}, []int{9, 0})
}

// The numbers are those of runs with each setting.
func TestSweep(t *testing.T) {
	l := testlab.New(t)
	c := testlab.Config(l, config.OnlyDev, model.KSoft)
	s := testlab.Ask[*results.Accuracies](t, l, &Sweep{Ks: []int{9, 2, 2}}, testlab.Request(c))
	l.OnRun = func(r lab.Run) { t.Errorf("%s was not trained by the sweep", r.Dir) }
	c = c.On(l.Data)
	labels := []string{"k-soft, 2", "k-soft, 9", "singletons, 9", "semantic-hard, 3"}
	for i, alone := range []config.Config{c.With("k", 2), c.With("k", 9), trainedAlike(c, model.Singletons), trainedAlike(c, model.SemanticHard)} {
		runs := testkit.Must(l.Do(t.Context(), alone.Trials(l.Data, l.Fingerprint, train.Dev, c.Epochs)))(t)
		m := results.Measure(lab.Evaluate(runs, alone.Correction))
		got := s.Rows[i]
		if got.Label() != labels[i] || got.Reference != (i > 1) || len(got.Accuracy.Values) != 2 || !gocmp.Equal(m.PerClass, got.Accuracy) || m.Interval != got.Interval {
			t.Errorf("row %d is %+v, expected %+v", i, got, m)
		}
	}
	picture := testkit.Must(s.Figures(""))(t)[0].Picture.(*plot.Lines)
	testkit.Equal(t, "lines, and a point", []any{len(picture.Series), picture.Series[0].Points[1].Y}, []any{3, 100 * s.Rows[1].Accuracy.Mean})
	without := *l.Data
	without.Groups = nil
	s = testlab.Ask[*results.Accuracies](t, lab.New(&without, t.TempDir()), &Sweep{Ks: []int{2}}, testlab.Request(c))
	testkit.Equal(t, "rows of data without groups, of k-soft and singletons", len(s.Rows), 2)
}

func TestSweptKs(t *testing.T) {
	for attributes, want := range map[int][]int{312: {1, 10, 20, 30, 40, 60}, 40: {1, 10, 20, 30, 40}} { // the paper's
		testkit.Equal(t, "numbers of groups", testkit.Must(sweptKs(nil, attributes))(t), want)
	}
	testkit.Equal(t, "given ones", testkit.Must(sweptKs([]int{5, 3, 5}, 5))(t), []int{3, 5})
	for _, k := range []int{0, 6} {
		testkit.Fails(sweptKs([]int{k}, 5))(t, fmt.Sprintf("ks: expected numbers from 1 to the number of attributes, 5, found %d", k))
	}
}

// Settings of the model come from the preset, the others from the configuration.
func TestLinesOfASweep(t *testing.T) {
	preset := func(v model.Variant) config.Config {
		c := config.PresetFor("cub", methods.Variant(v)).Config
		c.Seeds, c.Epochs = 9, 10
		return c.With("complement", model.DeMorgan).With("preprocess", "l2")
	}
	want := preset(model.SemanticHard)
	got := trainedAlike(preset(model.KSoft).With("lr", 7).With("zeta", 8), model.SemanticHard)
	testkit.Equal(t, "settings", got.Settings().Values(), want.Settings().Values())
}

package studies

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// The numbers are those of runs with each setting.
func TestSweep(t *testing.T) {
	l := testlab.New(t)
	c := testlab.Config(l, config.OnlyDev, model.KSoft)
	s := testlab.Ask[*results.Accuracies](t, l, &Sweep{Ks: []int{9, 2, 2}}, testlab.Request(c))
	l.OnRun = func(r lab.Run) { t.Errorf("%s was not trained by the sweep", r.Dir) }
	c = c.On(l.Data)
	labels := []string{"k-soft, 2", "k-soft, 9", "singletons, 9", "semantic-hard, 3"}
	for i, alone := range []config.Config{c.With("k", 2), c.With("k", 9), trainedAlike(c, model.Singletons), trainedAlike(c, model.SemanticHard)} {
		runs := testkit.Must(l.Do(t.Context(), alone.Trials(l.Data, l.Fingerprint(), train.Dev, c.Epochs)))(t)
		m := results.Measure(lab.Evaluate(runs, alone.Correction))
		got := s.Rows[i]
		if got.Label() != labels[i] || got.Reference != (i > 1) || len(got.Accuracy.Values) != 2 || !cmp.Equal(m.PerClass, got.Accuracy) || m.Interval != got.Interval {
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

package studies

import (
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
		runs := testkit.Must(l.Do(t.Context(), start.Trials(l.Data, l.Fingerprint(), train.Dev, c.Base.DevEpochs())))(t)
		want := results.Measure(lab.Evaluate(runs, start.Correction)).PerClass
		if !gocmp.Equal(want, r.Accuracy) || i > 0 && a.Rows[i-1].Accuracy.Mean < r.Accuracy.Mean || r.Published != nil {
			t.Errorf("%v: %+v, expected %+v", r.Labels, r.Accuracy, want)
		}
		if designs[r.Label()] = true; r.Reference != (r.Difference == nil) || r.Reference != (r.Label() == "uniform, const, implicit") {
			t.Errorf("%v: difference %v", r.Labels, r.Difference)
		}
	}
	testkit.WantText(t, testlab.Text(a.Tables()), "2 seeds", "explicit: alpha 0.5", "│ per-group, const, implicit ", "│ points ")
	testkit.Equal(t, "designs", len(designs), 9)
	dots := testkit.Must(a.Figures(""))(t)[0].Picture.(*plot.Dots)
	testkit.Equal(t, "rows of the figure, and those that are published", []int{len(dots.Rows), len(dots.Panels[0].Series[1].Points)}, []int{9, 0})
}

package engine

import (
	"maps"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/experiments/config"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// The settings are ranked by the mean over the folds, and the two best of them by all seeds, with which they
// are trained to the end; the average curve of the best gives the epochs. Another search with the same start tries
// the same ones, and trains nothing in the same folder.
func TestSearch(t *testing.T) {
	const budget = 16
	l := lab.New(tiny.Small(), t.TempDir())
	p := Plan{Folds: 2, Stage: config.OnlyDev, Arms: []Arm{armOf(t, budget, "semantic-hard")}}
	c := p.Arms[0].Starts[0]
	o := carryOut(t, l, p).Arms[0][0]
	const trials = 2 * (budget + 2*2) // folds, two finalists with two seeds
	if len(o.Tried) != budget || len(o.Folds) != 2 || len(o.Missing) > 0 || o.Corrections != 7 {
		t.Fatalf("%d settings, %d folds, missing %v", len(o.Tried), len(o.Folds), o.Missing)
	}
	if !slices.ContainsFunc(o.Tried, func(t Tried) bool { return same(t.Config.WithCorrection(c.Correction), c.On(l.Data)) }) {
		t.Error("the settings that it starts from were not tried")
	}
	for i, tried := range o.Tried {
		if len(tried.Dirs) != 2 || (tried.Final != nil) != (i < 2) {
			t.Fatalf("setting %d: runs of %d folds, to the end %v", i, len(tried.Dirs), tried.Final)
		}
		means := map[model.Correction]float64{} // of the models, with each correction
		for _, dir := range tried.Dirs {
			run, _, err := lab.ReadRun(dir)
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
			if !slices.Contains(o.Searched, key) {
				t.Errorf("%s is listed, and was not searched", key)
			}
		}
	}
	best := o.Tried[0]
	if best.Final.Mean < o.Tried[1].Final.Mean || len(best.Final.Values) != 2 || !same(best.Config, o.Chosen) {
		t.Errorf("the best has %v, the second %v", best.Final, o.Tried[1].Final)
	}
	testkit.NearAll(t, "all seeds", best.Final.Values, validation(o.Val).Values, 1e-12)
	testkit.Equal(t, "epochs", o.Epochs, testkit.Must(DevEpoch(o.Val))(t))
	runs := testkit.Must(lab.ReadRuns(filepath.Join(l.Root, "splits")))(t)
	for _, r := range runs {
		testkit.Equal(t, "stage of "+r.Dir, r.Stage, train.Dev) // test classes are not used
	}
	l.OnRun = func(r lab.Run) { t.Errorf("%s is trained again", r.Dir) }
	for _, other := range []*lab.Lab{l, lab.New(l.Data, t.TempDir())} {
		again := carryOut(t, other, p).Arms[0][0]
		if !slices.EqualFunc(o.Tried, again.Tried, func(a, b Tried) bool { return same(a.Config, b.Config) && a.Accuracy == b.Accuracy }) || len(runs) != trials {
			t.Errorf("in %s it found other settings; %d folders, expected %d", other.Root, len(runs), trials)
		}
	}
}

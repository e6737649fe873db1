package engine

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// The settings are ranked by the mean over the folds, and the best of them by further seeds
// alone, whose average curve gives the epochs. Another search with the same start tries the
// same ones, and trains nothing in the same folder.
func TestSearch(t *testing.T) {
	const budget = 16 // of which two have further seeds
	l := lab.New(tiny.Small(), t.TempDir())
	p := Plan{Folds: 2, Arms: []Arm{armOf(t, budget, "semantic-hard")}}
	c := p.Arms[0].Starts[0]
	f := testkit.Must(Search(t.Context(), l, p))(t)
	const trials = 2 * (budget + 2*FurtherSeeds)
	if f.Trials != trials || len(f.Tried) != budget || f.Folds != 2 || len(f.Missing) > 0 {
		t.Fatalf("%d trials, %d settings, %d folds, missing %v", f.Trials, len(f.Tried), f.Folds, f.Missing)
	}
	if !slices.ContainsFunc(f.Tried, func(t Tried) bool { return same(t.Config.WithCorrection(c.Correction), c.On(l.Data)) }) {
		t.Error("the settings that it starts from were not tried")
	}
	for i, tried := range f.Tried {
		if len(tried.Dirs) != 2 || (tried.Further != nil) != (i < 2) {
			t.Fatalf("setting %d: runs of %d folds, further seeds %v", i, len(tried.Dirs), tried.Further)
		}
		means := map[model.Correction]float64{} // of the models, with each correction
		for _, dir := range tried.Dirs {
			run, _, err := lab.ReadRun(dir)
			testkit.NoError(t, err)
			for _, e := range run.Result.Evaluations {
				means[e.Correction] += e.PerClass / 2
			}
		}
		chosen := tried.Config.Correction.Canonical()
		testkit.Near(t, "accuracy", tried.Accuracy, means[chosen], 1e-12)
		if best := slices.Max(slices.Collect(maps.Values(means))); len(means) != 7 || best > tried.Accuracy+1e-9 {
			t.Errorf("setting %d has %g with %v; the best of %d corrections has %g", i, tried.Accuracy, chosen, len(means), best)
		}
		if i > 2 && tried.Accuracy > f.Tried[i-1].Accuracy || i > 1 && tried.Accuracy > min(f.Tried[0].Accuracy, f.Tried[1].Accuracy) {
			t.Errorf("setting %d has %g, more than one before", i, tried.Accuracy)
		}
		for key := range tried.Settings {
			if !slices.Contains(f.Space, key) {
				t.Errorf("%s is listed, and was not searched", key)
			}
		}
	}
	best := f.Tried[0]
	if best.Further.Mean < f.Tried[1].Further.Mean || len(best.Further.Values) != FurtherSeeds {
		t.Errorf("the best has %v, the second %v", best.Further, f.Tried[1].Further)
	}
	further := best.Config
	further.Seed, further.Seeds = c.Seed+1, FurtherSeeds
	var lists []lab.Task
	for _, fold := range testkit.Must(l.Folds(l.Parts[0], 2))(t) {
		lists = append(lists, further.Trials(fold, train.Dev, c.DevEpochs())...)
	}
	l.OnRun = func(r lab.Run) { t.Errorf("%s is trained again", r.Dir) }
	done := testkit.Must(l.Do(t.Context(), lists))(t)
	testkit.NearAll(t, "further seeds", best.Further.Values, validation(done).Values, 1e-12)
	if epochs := testkit.Must(DevEpoch(done))(t); best.Epochs != epochs {
		t.Errorf("%d epochs, expected %d", best.Epochs, epochs)
	}
	runs := testkit.Must(lab.ReadRuns(filepath.Join(l.Root, "splits")))(t)
	for _, r := range runs {
		if r.Stage != train.Dev {
			t.Errorf("%s is of the %s stage: the search used test classes", r.Dir, r.Stage)
		}
	}
	for _, other := range []*lab.Lab{l, lab.New(l.Data, t.TempDir())} {
		again := testkit.Must(Search(t.Context(), other, p))(t)
		if !slices.EqualFunc(f.Tried, again.Tried, func(a, b Tried) bool { return same(a.Config, b.Config) && a.Accuracy == b.Accuracy }) || len(runs) != trials {
			t.Errorf("in %s it found other settings; %d folders, expected %d", other.Root, len(runs), trials)
		}
	}
}

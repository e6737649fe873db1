package studies

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/lab"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

const testBudget = 6

func searchedFrom(l *lab.Lab) config.Config {
	return testlab.Config(l, config.DevThenTest, model.SemanticHard)
}

// The file has the best settings for the test stage, with the epochs of all seeds: it
// makes the trials of the result, which run.
func TestChosenSettings(t *testing.T) {
	l := testlab.New(t)
	c := &Search{Budget: testBudget, Folds: 2, File: filepath.Join(t.TempDir(), "found.json")}
	s := testlab.Ask[*FoundSettings](t, l, c, testlab.Request(searchedFrom(l)))
	testkit.NoError(t, fileio.Write(c.File, c.Files(s)[0].Write))
	if len(s.Tried) != testBudget || len(s.Missing) > 0 || s.Tried[1].Final == nil || s.Tried[2].Final != nil {
		t.Fatalf("%d settings, missing %v", len(s.Tried), s.Missing)
	}
	if !cmp.Equal(*s.Tried[0].Final, s.Chosen.Accuracy) || len(s.Tried[0].Dirs) != 2 {
		t.Errorf("the best is %+v, chosen %+v", s.Tried[0], s.Chosen)
	}
	given := testkit.Must(config.ReadFile(t.Context(), c.File))(t)
	p := testkit.Must(config.Resolve(given, config.PresetFor))(t)
	if p.Stage != config.OnlyTest || p.Epochs != s.Chosen.Epochs || p.Seeds != 2 || p.Seed != 5 || p.ChosenOn != l.Fingerprint() {
		t.Errorf("the file has %+v", p)
	}
	want, got := s.Chosen.Config.Trials(l.Data, l.Fingerprint(), train.Test, p.Epochs), p.Trials(l.Data, l.Fingerprint(), train.Test, p.Epochs)
	for i := range want {
		testkit.Equal(t, "trial of the file", got[i].Name(), want[i].Name())
	}
	for key, value := range s.Tried[0].Settings {
		testkit.Equal(t, key+" in the file", testkit.Must(p.Settings().Find(key))(t).Value(), value)
	}
	for _, r := range testkit.Must(l.Do(t.Context(), got))(t) {
		if r.Missing != nil {
			t.Error(r.Missing)
		}
	}
	s.Budget++ // as if the space had no more
	testkit.WantText(t, testlab.Text(s.Tables()), "the best 6 of 6 settings by validation accuracy, the mean over 2 folds",
		"the budget of 7 settings was not used up", "chosen: the first, "+s.Chosen.Accuracy.MeanText(), "  lago-train run --config "+format.ShellLine(c.File)+"\n")
}

// The errors name the folder of a run that failed.
func TestSearchesThatFail(t *testing.T) {
	l := testlab.New(t)
	c, r := &Search{Budget: testBudget, Folds: 2}, testlab.Request(searchedFrom(l).With("lr", 1e38))
	r.Given = []string{"lr"}
	testkit.Fails(results.Ask(t.Context(), c, r, l))(t, "none of the settings has a model; the first that failed, "+l.Root)

	r = testlab.Request(searchedFrom(l))
	s := testlab.Ask[*FoundSettings](t, l, c, r)
	for _, best := range s.Tried[:2] {
		trial := lab.DevTrials(best.Config, testkit.Must(l.Folds(l.Parts[0], 2))(t)[:1], 1, s.Epochs)[0]
		dir := filepath.Join(l.Root, "splits", trial.Name())
		testkit.NoError(t, trial.WriteResult(dir, &train.Result{Status: train.NotFinite, Error: "CXE is NaN"}, nil))
	}
	testkit.Fails(results.Ask(t.Context(), c, r, l))(t, "none of the best settings has a model with each of 3 seeds; the last that failed, "+l.Root, ": CXE is NaN")
}

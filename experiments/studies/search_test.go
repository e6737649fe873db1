package studies

import (
	"path/filepath"
	"testing"

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

// The file has the best settings for the test stage, with the epochs of all seeds: it
// makes the trials of the result, which run.
func TestChosenSettings(t *testing.T) {
	l := testlab.New(t)
	c := &Search{Budget: testBudget, Folds: 2, File: filepath.Join(t.TempDir(), "found.json")}
	s := testlab.Ask[*FoundSettings](t, l, c, testlab.Request(testlab.Config(l, config.DevThenTest, model.SemanticHard)))
	testkit.NoError(t, fileio.Write(c.File, c.Files(s)[0].Write))
	if len(s.Tried) != testBudget || len(s.Missing) > 0 || s.Tried[1].Final == nil || s.Tried[2].Final != nil {
		t.Fatalf("%d settings, missing %v", len(s.Tried), s.Missing)
	}
	testkit.Equal(t, "accuracy of the best", s.Chosen.Accuracy, *s.Tried[0].Final)
	given := testkit.Must(config.ReadFile(t.Context(), c.File))(t)
	p := testkit.Must(config.Resolve(given, config.PresetFor))(t)
	testkit.Equal(t, "stage, epochs, data", []any{p.Stage, p.Epochs, p.ChosenOn}, []any{config.OnlyTest, s.Chosen.Epochs, l.Fingerprint()})
	want, got := s.Chosen.Config.Trials(l.Data, l.Fingerprint(), train.Test, p.Epochs), p.Trials(l.Data, l.Fingerprint(), train.Test, p.Epochs)
	for i, r := range testkit.Must(l.Do(t.Context(), got))(t) {
		testkit.Equal(t, "trial of the file", got[i].Name(), want[i].Name())
		testkit.Equal(t, "missing", r.Missing, nil)
	}
	for key, value := range s.Tried[0].Settings {
		testkit.Equal(t, key+" in the file", testkit.Must(p.Settings().Find(key))(t).Value(), value)
	}
	s.Budget++ // as if the space had no more
	testkit.WantText(t, testlab.Text(s.Tables()), "the best 6 of 6 settings by validation accuracy, the mean over 2 folds",
		"the budget of 7 settings was not used up", "chosen: the first, "+s.Chosen.Accuracy.MeanText(), "  lago-train run --config "+format.ShellLine(c.File)+"\n")
}

// The errors name the folder of a run that failed.
func TestSearchesThatFail(t *testing.T) {
	l := testlab.New(t)
	start := testlab.Config(l, config.DevThenTest, model.SemanticHard)
	c, r := &Search{Budget: testBudget, Folds: 2}, testlab.Request(start.With("lr", 1e38))
	r.Given = []string{"lr"}
	testkit.Fails(results.Ask(t.Context(), c, r, l))(t, "none of the settings has a model; the first that failed, "+l.Root)

	r = testlab.Request(start)
	s := testlab.Ask[*FoundSettings](t, l, c, r)
	for _, best := range s.Tried[:2] {
		trial := lab.DevTrials(best.Config, testkit.Must(l.Folds(l.Parts[0], 2))(t)[:1], 1, s.Epochs)[0]
		dir := filepath.Join(l.Root, "splits", trial.Name())
		testkit.NoError(t, trial.WriteResult(dir, &train.Result{Status: train.NotFinite, Error: "CXE is NaN"}, nil))
	}
	testkit.Fails(results.Ask(t.Context(), c, r, l))(t, "none of the best settings has a model with each of 3 seeds; the last that failed, "+l.Root, ": CXE is NaN")
}

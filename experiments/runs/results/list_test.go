package results_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/runs/config"
	"github.com/lago-train/lago-train/experiments/runs/results"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// Each run has a line, the newest first, with how it ended or how far it is; files and folders that are no
// runs have none.
func TestListing(t *testing.T) {
	l := testlab.New(t)
	trained := func(c config.Config, stage train.Stage) (dirs []string) {
		for _, r := range testkit.Must(l.Do(t.Context(), c.Trials(l.Data, l.Fingerprint, stage, 2)))(t) {
			dirs = append(dirs, r.Dir)
		}
		return dirs
	}
	hard := testlab.Config(l, config.OnlyDev, model.SemanticHard)
	trained(hard.With("lr", 1e38), train.Dev)
	for _, dir := range trained(hard.With("lr", 0.02), train.Dev) {
		testkit.NoError(t, os.Remove(filepath.Join(dir, train.ResultFile)))
	}
	testkit.Write(t, trained(hard.With("lr", 0.03), train.Dev)[0], train.TrialFile, "{")
	trained(testlab.Config(l, config.OnlyTest, model.KSoft), train.Test)
	testkit.Write(t, l.Root, "search-simulated-small-semantic-hard.json", "{}")
	testkit.NoError(t, os.Mkdir(filepath.Join(l.Root, "notes"), 0o755))
	for filter, want := range map[results.RunFilter]int{
		{}: 8, {Method: "k-soft"}: 2, {Status: "epochs", Stage: "dev"}: 1,
		{Status: "not finite"}: 2, {Status: "unfinished"}: 2, {Status: "broken"}: 1,
	} {
		testkit.Equal(t, fmt.Sprintf("%+v", filter), len(testkit.Must(filter.List(l.Root))(t).Runs), want)
	}
	text := testlab.Text(testkit.Must(results.RunFilter{}.List(l.Root))(t).Tables())
	testkit.WantText(t, text, "8 runs in ", " and 1 other run: semantic-hard, epoch 1: phase W", "-dev-seed5-", "│ not finite │      0 │        - │", "│ unfinished │      2 │        - │", ": trial.json: expected what a run writes")
	none := filepath.Join(l.Root, "none")
	_, err := results.RunFilter{}.List(none)
	testkit.WantError(t, err, none, "expected a folder of runs, found no such folder")
}

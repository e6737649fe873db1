package results

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/labelled"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

func trialOf(dataset, method string, stage train.Stage, seed uint64) train.Trial {
	return train.Trial{Dataset: dataset, Fingerprint: "data", Stage: stage, Preprocess: "none", Epochs: 50, Patience: 50, Seed: seed, Method: labelled.Method(method)}
}

// writeRun writes the folder of a run with these validation accuracies.
func writeRun(t *testing.T, root string, trial train.Trial, status train.Status, accuracies ...float64) string {
	t.Helper()
	dir := filepath.Join(root, trial.Name())
	record := train.Record{Trial: trial, ResultsVersion: train.ResultsVersion, Environment: train.Environment{Versions: map[string]string{"go": "go1.26"}}}
	testkit.Write(t, dir, train.TrialFile, string(testkit.Must(json.Marshal(record))(t)))
	r := train.Result{Status: status, Epochs: len(accuracies), Seconds: 1.5}
	var curve train.Curve
	for i, a := range accuracies {
		if r.Evaluations == nil || a > r.Evaluations[0].PerClass {
			right := int(math.Round(a * 1000))
			r.BestEpoch, r.Classes, r.Evaluations = i+1, []string{"crow", "wren"}, []train.Evaluation{
				{PerClass: a, PerSample: a, Confusion: [][3]int{{0, 0, right}, {0, 1, 1000 - right}, {1, 0, 1000 - right}, {1, 1, right}}},
			}
		}
		curve = append(curve, train.Epoch{Epoch: i + 1, ValAccuracy: &a, ValAccuracyPerSample: &a})
		testkit.NoError(t, json.Unmarshal([]byte(`[{"name": "W"}]`), &curve[i].Phases))
	}
	switch status {
	case statusUnfinished:
		testkit.NoError(t, curve.Write(filepath.Join(dir, train.CurveFile)))
		return dir
	case train.NotFinite:
		r.BestEpoch, r.Evaluations, r.Error = 0, nil, "CXE is NaN"
	}
	if r.Evaluations != nil {
		r.Evaluations[0].Correction.Kind = model.NoCorrection
		testkit.NoError(t, fileio.Write(filepath.Join(dir, train.ModelFile), func(w io.Writer) error {
			return safetensors.Write(w, nil, map[string]string{safetensors.Added + "decisions": `{"correction": "none"}`})
		}))
	}
	testkit.NoError(t, trial.WriteResult(dir, &r, curve))
	return dir
}

// folderOfAll holds a run of each kind, by seed: ended by patience, by its epochs, failed, unfinished, with a
// broken record, and before its first checkpoint; beside a baseline, a file and a folder that are no runs.
func folderOfAll(t *testing.T) string {
	root := t.TempDir()
	for seed, status := range []train.Status{train.Patience, train.Epochs, train.NotFinite, statusUnfinished, statusBroken} {
		dir := writeRun(t, root, trialOf("cub", "semantic-hard", train.Dev, uint64(seed)), status, 0.25, 0.5, 0.375)
		if status == statusBroken {
			testkit.Write(t, dir, train.TrialFile, fmt.Sprintf(`{"results_version": %d, "dataset": 7}`, train.ResultsVersion))
		}
	}
	dir := writeRun(t, root, trialOf("cub", "semantic-hard", train.Dev, 5), statusUnfinished)
	testkit.NoError(t, os.Remove(filepath.Join(dir, train.CurveFile)))
	writeRun(t, root, trialOf("awa2", "eszsl", train.Test, 9), train.Epochs, 0.6)
	testkit.Write(t, root, "search-cub-semantic-hard.json", "{}")
	testkit.NoError(t, os.Mkdir(filepath.Join(root, "notes"), 0o755))
	return root
}

func TestListing(t *testing.T) {
	root := folderOfAll(t)
	for filter, want := range map[RunFilter][]uint64{ // seeds; a broken record has none
		{}:                               {9, 0, 1, 2, 3, 0, 5},
		{Dataset: "CUB"}:                 {0, 1, 2, 3, 5},
		{Method: "eszsl"}:                {9},
		{Status: "epochs", Stage: "dev"}: {1},
		{Status: "unfinished"}:           {3, 5},
		{Status: "broken"}:               {0},
		{Dataset: "sun"}:                 nil,
	} {
		var got []uint64
		for _, r := range testkit.Must(filter.List(t.Context(), root, nil))(t).Runs {
			got = append(got, r.Seed)
		}
		testkit.Equal(t, fmt.Sprintf("%+v", filter), got, want)
	}
	again := trialOf("cub", "semantic-hard", train.Dev, 8)
	writeRun(t, root, again, train.NotFinite, 0.25)
	text := testkit.Must(RunFilter{}.List(t.Context(), root, nil))(t).Tables()[0].Text(1000, 0)
	testkit.WantText(t, text, "8 runs in ", " and 1 other run: CXE is NaN\n",
		"-dev-seed0-", "│ patience   │      3 │   50.0 % │", "│ not finite │      3 │        - │", "│ unfinished │      3 │        - │", ": trial.json: expected what a run writes")
	none := filepath.Join(root, "none")
	_, err := RunFilter{}.List(t.Context(), none, nil)
	testkit.WantError(t, err, none, "expected a folder of runs: no such file or directory")
}

// The newest run comes first; the many trials of a study share a row, others have their own.
func TestTrialsOfAStudyShareARow(t *testing.T) {
	l := &RunList{Dir: "runs", studies: map[string]string{}}
	for i := range fewTrials + 1 {
		accuracy := float64(i) / 16
		name := fmt.Sprintf("a-ale-dev-seed0-%d", i)
		l.Runs = append(l.Runs, RunLine{Dir: "runs/" + name, Stage: train.Dev, Accuracy: &accuracy, written: time.Unix(int64(i), 0)})
		l.studies[name] = "compare: LAGO and its baselines, a"
	}
	l.Runs = append(l.Runs, RunLine{Dir: "runs/a-ale-test-seed0-9", Stage: train.Test, Status: train.Epochs, written: time.Unix(100, 0)})
	testkit.Equal(t, "rows", l.Tables()[0].Rows, [][]any{
		{"a-ale-test-seed0-9", train.Epochs, 0, "-"}, {"compare: LAGO and its baselines, a", "best of 11", "", "62.5 %"},
	})
	l.Runs = l.Runs[1:]
	testkit.Equal(t, "rows of few trials", len(l.Tables()[0].Rows), fewTrials+1)
}

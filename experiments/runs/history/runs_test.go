package history

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/labelled"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

func trialOf(dataset, method string, stage train.Stage, seed uint64) train.Trial {
	return train.Trial{Dataset: dataset, Fingerprint: "data", Stage: stage, Preprocess: "none", Epochs: 50, Patience: 50, Seed: seed, Method: labelled.Method(method)}
}

// write writes the folder of a run with these validation accuracies.
func write(t *testing.T, root string, trial train.Trial, status train.Status, accuracies ...float64) string {
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
		dir := write(t, root, trialOf("cub", "semantic-hard", train.Dev, uint64(seed)), status, 0.25, 0.5, 0.375)
		if status == statusBroken {
			testkit.Write(t, dir, train.TrialFile, fmt.Sprintf(`{"results_version": %d, "dataset": 7}`, train.ResultsVersion))
		}
	}
	dir := write(t, root, trialOf("cub", "semantic-hard", train.Dev, 5), statusUnfinished)
	testkit.NoError(t, os.Remove(filepath.Join(dir, train.CurveFile)))
	write(t, root, trialOf("awa2", "eszsl", train.Test, 9), train.Epochs, 0.6)
	testkit.Write(t, root, "search-cub-semantic-hard.json", "{}")
	testkit.NoError(t, os.Mkdir(filepath.Join(root, "notes"), 0o755))
	return root
}

func TestListing(t *testing.T) {
	root := folderOfAll(t)
	for filter, want := range map[Filter][]uint64{ // seeds; a broken record has none
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
	write(t, root, again, train.NotFinite, 0.25)
	text := testlab.Text(testkit.Must(Filter{}.List(t.Context(), root, nil))(t).Tables())
	testkit.WantText(t, text, "8 runs in ", " and 1 other run: CXE is NaN\n",
		"-dev-seed0-", "│ patience   │      3 │   50.0 % │", "│ not finite │      3 │        - │", "│ unfinished │      3 │        - │", ": trial.json: expected what a run writes")
	for dir, want := range map[string]string{
		filepath.Join(root, "none"):                                         "expected a folder of runs: no such file or directory",
		filepath.Join(root, trialOf("awa2", "eszsl", train.Test, 9).Name()): "expected a folder of runs, found the folder of one run",
	} {
		_, err := Filter{}.List(t.Context(), dir, nil)
		testkit.WantError(t, err, dir, want)
	}
}

func TestShow(t *testing.T) {
	root := folderOfAll(t)
	for seed, want := range map[uint64]string{
		0: "patience: 50 epochs passed without a better validation accuracy than in epoch 2",
		1: "epochs: all 3 epochs were run",
		2: "not finite: its numbers went out of range: CXE is NaN",
		3: "unfinished: unfinished at epoch 3; repeat the command that started it to resume",
		5: "unfinished: unfinished, without a checkpoint; repeat the command that started it to resume",
	} {
		d := testkit.Must(Show(filepath.Join(root, trialOf("cub", "semantic-hard", train.Dev, seed).Name())))(t)
		testkit.Equal(t, "end", string(d.Status)+": "+d.Why, want)
		testkit.WantText(t, testlab.Text(d.Tables()), "ended     "+strings.TrimPrefix(want, "unfinished: ")+"\n")
	}
	_, err := Show(root)
	testkit.WantError(t, err, "expected the folder of a run, with a trial.json")

	d := testkit.Must(Show(filepath.Join(root, trialOf("cub", "semantic-hard", train.Dev, 0).Name())))(t)
	testkit.WantText(t, testlab.Text(d.Tables()), "accuracy  50.0 % per class and 50.0 % per sample on 2 validation classes", "  lr           0.001\n", "  go go1.26\n")
}

func TestCSV(t *testing.T) {
	root := folderOfAll(t)
	l := testkit.Must(Filter{Dataset: "cub"}.List(t.Context(), root, nil))(t)
	d := testkit.Must(Show(filepath.Join(root, trialOf("cub", "semantic-hard", train.Dev, 3).Name())))(t) // unfinished
	for _, c := range []struct {
		write  func(io.Writer) error
		column int
		want   []string
	}{
		{l.WriteCSV, 8, []string{"per_class_accuracy", "0.5", "0.5", "", "", ""}},
		{d.WriteCurve, 11, []string{"val_accuracy", "0.25", "0.5", "0.375"}},
	} {
		var b bytes.Buffer
		testkit.NoError(t, c.write(&b))
		var got []string
		for _, row := range testkit.Must(csv.NewReader(&b).ReadAll())(t) {
			got = append(got, row[c.column])
		}
		testkit.Equal(t, fmt.Sprint("column ", c.column), got, c.want)
	}
}

func TestRemove(t *testing.T) {
	root := folderOfAll(t)
	dir := func(seed uint64) string {
		return filepath.Join(root, trialOf("cub", "semantic-hard", train.Dev, seed).Name())
	}
	left := func() int { return len(testkit.Must(os.ReadDir(root))(t)) }
	testkit.Write(t, dir(1), "figure.svg", "")
	testkit.Write(t, dir(2), ".notes.txt", "of the user")
	testkit.Write(t, filepath.Join(root, "mine"), train.TrialFile, "{}")
	renamed := strings.Replace(dir(5), "seed5", "seed6", 1)
	testkit.NoError(t, os.CopyFS(renamed, os.DirFS(dir(5))))
	pipe := write(t, root, trialOf("cub", "semantic-hard", train.Dev, 7), statusUnfinished)
	testkit.NoError(t, unix.Mkfifo(filepath.Join(pipe, train.LockFile), 0o600))
	testkit.NoError(t, os.Symlink(dir(5), filepath.Join(root, "link")))
	busy := testkit.Must(train.Lock(dir(3)))(t)
	before := left()
	for path, want := range map[string]string{
		filepath.Join(root, "none"):  "none: no such file",
		filepath.Join(root, "notes"): "notes: expected the folder of a run, with a trial.json",
		filepath.Join(root, "link"):  "link: expected the folder of a run itself, found a link",
		dir(1):                       "expected only the files of a run, found figure.svg",
		dir(2):                       "expected only the files of a run, found .notes.txt",
		pipe:                         "expected only the files of a run, found lock",
		filepath.Join(root, "mine"):  "mine: expected a folder whose name ends in the digest of its settings, found another name",
		renamed:                      "expected a folder whose name ends in the digest of its settings, found another name",
		dir(3):                       train.ErrBusy.Error(),
	} {
		_, err := Hold(dir(0), path)
		testkit.WantError(t, err, want)
	}
	testkit.NoError(t, busy.Close())
	testkit.Write(t, dir(3), ".model.safetensors.0123456789abcdef.tmp", "of a killed process")
	link := filepath.Join(t.TempDir(), "link")
	testkit.NoError(t, os.Symlink(filepath.Dir(dir(0)), link))
	again := filepath.Join(link, filepath.Base(dir(0)))
	// one of them is damaged, and one is named twice
	r := testkit.Must(Hold(dir(0), dir(3), dir(4), dir(0), again))(t)
	testkit.WantText(t, testlab.Text([]*table.Table{r.Table()}), "3 runs, ", "patience", "unfinished", "broken", " kB")
	if _, err := train.Lock(dir(0)); err != train.ErrBusy {
		t.Errorf("%v: expected that no other process can train the run", err)
	}
	testkit.Equal(t, "entries before the deletion", left(), before)
	testkit.NoError(t, r.Delete())
	r.Close()
	testkit.Equal(t, "entries after the deletion", left(), before-3)
}

// The newest run comes first; the trials of a search share a row, the others have their own.
func TestTableOfASearch(t *testing.T) {
	l := &Listing{Dir: "runs"}
	for i := range fewTrials + 1 {
		accuracy := float64(i) / 8
		l.Runs = append(l.Runs, Line{Dir: fmt.Sprintf("runs/a-ale-dev-seed0-%d", i), Stage: train.Dev, Accuracy: &accuracy, written: time.Unix(int64(i), 0)})
	}
	l.Runs = append(l.Runs, Line{Dir: "runs/a-ale-test-seed0-9", Stage: train.Test, Status: train.Epochs, written: time.Unix(100, 0)})
	rows := l.Tables()[0].Rows
	want := [][]any{{"a-ale-test-seed0-9", train.Epochs, 0, "-"}, {"a-ale-dev-seed0-*", "best of 5", "", "50.0 %"}}
	testkit.Equal(t, "rows", rows, want)

	l.studies = map[string]string{}
	for _, r := range l.Runs[:fewTrials+1] {
		l.studies[filepath.Base(r.Dir)] = "compare: LAGO and its baselines, a"
	}
	want[1][0] = "compare: LAGO and its baselines, a"
	testkit.Equal(t, "rows with a study", l.Tables()[0].Rows, want)
	for i := range fewTrials + 1 { // one trial of each seed
		l.Runs[i].Dir = fmt.Sprintf("runs/a-ale-dev-seed%d-0", i)
		l.studies[filepath.Base(l.Runs[i].Dir)] = "run: Methods by the paper's protocol, a"
	}
	if rows := l.Tables()[0].Rows; len(rows) != fewTrials+2 {
		t.Errorf("%d rows, expected one for each seed, whose settings are the same", len(rows))
	}
}

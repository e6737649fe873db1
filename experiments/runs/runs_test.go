package runs

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train"
)

// folderOfAll holds a run of each kind, by seed: ended by patience, by its epochs,
// failed, unfinished, and with a broken record; beside a file and a folder that are
// no runs.
func folderOfAll(t *testing.T) string {
	root := t.TempDir()
	for seed, status := range []train.Status{train.Patience, train.Epochs, train.NotFinite, statusUnfinished, statusBroken} {
		dir := testlab.LogRun(t, root, testlab.DevTrial("cub", uint64(seed)), status, 0.25, 0.5, 0.375)
		if status == statusBroken {
			if err := os.WriteFile(filepath.Join(dir, train.TrialFile), []byte(`{"dataset": 7}`), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	testlab.WriteFile(t, filepath.Join(root, "search-cub-semantic-hard.json"), protocol.Config{})
	if err := os.Mkdir(filepath.Join(root, "notes"), 0o755); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestReadRuns(t *testing.T) {
	runs, err := lab.ReadRuns(folderOfAll(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 5 {
		t.Fatalf("%d runs, expected 5", len(runs))
	}
	wants := []string{"", "", "CXE is NaN", "unfinished at epoch 3", "trial.json: expected the settings of a run"}
	for i, r := range runs {
		switch want := wants[i]; {
		case want == "" && r.Err != nil:
			t.Errorf("run %d: %v, expected none", i, r.Err)
		case want != "" && (r.Err == nil || !strings.Contains(r.Err.Error(), want)):
			t.Errorf("run %d: error %v, expected %q", i, r.Err, want)
		}
		if i < 4 && r.Trial != testlab.DevTrial("cub", uint64(i)) {
			t.Errorf("run %d: %+v", i, r.Trial)
		}
	}
	if _, err := lab.ReadRuns(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a folder that is not there reads")
	}
}

func TestUnfinishedBeforeTheFirstCheckpoint(t *testing.T) {
	root := t.TempDir()
	dir := testlab.LogRun(t, root, testlab.DevTrial("cub", 0), statusUnfinished)
	if err := os.Remove(filepath.Join(dir, train.CurveFile)); err != nil {
		t.Fatal(err)
	}
	runs, err := lab.ReadRuns(root)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := runs[0].Err.Error(), "unfinished, without a checkpoint"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
}

// A trial of any config has all of its settings listed, under the names that config
// files and trial.json give them.
func TestSettingsNameAllThatDefinesATrial(t *testing.T) {
	data, err := json.Marshal(testlab.DevTrial("cub", 3))
	if err != nil {
		t.Fatal(err)
	}
	var nested map[string]any
	if err := json.Unmarshal(data, &nested); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	var flatten func(map[string]any)
	flatten = func(object map[string]any) {
		for name, v := range object {
			if inner, ok := v.(map[string]any); ok {
				flatten(inner)
				continue
			}
			want[name] = jsonOf(t, v)
		}
	}
	flatten(nested)
	got := map[string]string{}
	for _, s := range protocol.OfTrial(testlab.DevTrial("cub", 3)) {
		got[s.Name] = jsonOf(t, s.Value)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-trial.json +listed):\n%s", diff)
	}
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRunFilter(t *testing.T) {
	root := folderOfAll(t)
	singletons := protocol.PresetFor("awa2", model.Singletons).Trial(train.Test, "data", 9, 20)
	testlab.LogRun(t, root, singletons, train.Epochs, 0.6)
	for _, c := range []struct {
		name   string
		filter Filter
		want   []uint64 // seeds; a broken record has none
	}{
		{"none", Filter{}, []uint64{9, 0, 1, 2, 3, 0}},
		{"data set", Filter{Dataset: "CUB"}, []uint64{0, 1, 2, 3}},
		{"variant", Filter{Variant: "singletons"}, []uint64{9}},
		{"stage", Filter{Stage: "test"}, []uint64{9}},
		{"status", Filter{Status: "epochs"}, []uint64{9, 1}},
		{"status and stage", Filter{Status: "epochs", Stage: "dev"}, []uint64{1}},
		{"unfinished", Filter{Status: "unfinished"}, []uint64{3}},
		{"broken", Filter{Status: "broken"}, []uint64{0}},
		{"nothing fits", Filter{Dataset: "sun"}, nil},
	} {
		l, err := c.filter.List(root)
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		for _, r := range l.Runs {
			got = append(got, r.Seed)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestListingText(t *testing.T) {
	l, err := Filter{}.List(folderOfAll(t))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := l.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"5 runs in ",
		"│    0 │ patience              │      3 │ 2          │   50.0 % │",
		"│    2 │ not finite            │      3 │ -          │        - │",
		"│    3 │ unfinished at epoch 3 │      3 │ -          │        - │",
		": CXE is NaN\n",
		"trial.json: expected the settings of a run",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("expected %q in\n%s", want, &b)
		}
	}
}

func TestShowRun(t *testing.T) {
	root := folderOfAll(t)
	wants := []string{
		"patience: 50 epochs passed without a better validation accuracy than in epoch 2",
		"epochs: all 3 epochs were run",
		"not finite: its numbers went out of range: CXE is NaN",
		"unfinished: unfinished at epoch 3; repeat the command that started it to resume",
	}
	for seed, want := range wants {
		d, err := Show(filepath.Join(root, testlab.DevTrial("cub", uint64(seed)).Name()))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(d.Status) + ": " + d.Why; got != want {
			t.Errorf("%q, expected %q", got, want)
		}
		var b bytes.Buffer
		if err := d.WriteText(&b); err != nil {
			t.Fatal(err)
		}
		if once := "ended     " + strings.TrimPrefix(want, "unfinished: ") + "\n"; !strings.Contains(b.String(), once) {
			t.Errorf("expected %q in\n%s", once, &b)
		}
	}
	if _, err := Show(root); err == nil || !strings.Contains(err.Error(), "expected the folder of a run, with a trial.json") {
		t.Errorf("error %v for a folder that is no run", err)
	}
}

func TestShownText(t *testing.T) {
	dir := testlab.LogRun(t, t.TempDir(), testlab.DevTrial("cub", 1), train.Patience, 0.25, 0.5)
	d, err := Show(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := d.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"accuracy  50.0 % per class and 50.0 % per sample on 2 validation classes",
		"  lr           0.0001\n",
		"  seed         1\n",
		"  go go1.26\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("expected %q in\n%s", want, &b)
		}
	}
	names := []string{}
	for _, f := range d.Files {
		if f.Bytes <= 0 || f.Holds == "" {
			t.Errorf("%+v: expected a size and what it is for", f)
		}
		names = append(names, f.Name)
	}
	if diff := cmp.Diff([]string{train.CurveFile, train.ResultFile, train.TrialFile}, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// What is read from the folders of a grid is what the grid said.
func TestReadRunsAgreesWithTheLab(t *testing.T) {
	l := testlab.Simulated(t)
	done, err := l.Do(t.Context(), testlab.Config(l, protocol.OnlyDev).Trials(l.Parts[0], train.Dev, 3))
	if err != nil {
		t.Fatal(err)
	}
	runs, err := lab.ReadRuns(l.Root)
	if err != nil {
		t.Fatal(err)
	}
	byDir := map[string]lab.Run{}
	for _, r := range runs {
		byDir[r.Dir] = r
	}
	for _, want := range done {
		if diff := cmp.Diff(want, byDir[want.Dir], cmpopts.IgnoreFields(lab.Run{}, "Ended", "Reused")); diff != "" {
			t.Errorf("(-lab +folder):\n%s", diff)
		}
	}
}

func TestCSV(t *testing.T) {
	root := folderOfAll(t)
	l, err := Filter{}.List(root)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Show(filepath.Join(root, testlab.DevTrial("cub", 3).Name())) // unfinished
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		write     func(io.Writer) error
		rows, col int
		want      []string // cells of a column
	}{
		{l.WriteCSV, 6, 5, []string{"status", "patience", "epochs", "not finite", "unfinished", "broken"}},
		{l.WriteCSV, 6, 8, []string{"per_class_accuracy", "0.5", "0.5", "", "", ""}},
		{d.WriteCurve, 4, 11, []string{"val_accuracy", "0.25", "0.5", "0.375"}},
	} {
		var b bytes.Buffer
		if err := c.write(&b); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&b).ReadAll()
		if err != nil || len(rows) != c.rows {
			t.Fatalf("%d rows, %v; expected %d", len(rows), err, c.rows)
		}
		var got []string
		for _, row := range rows {
			got = append(got, row[c.col])
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("column %d (-want +got):\n%s", c.col, diff)
		}
	}
}

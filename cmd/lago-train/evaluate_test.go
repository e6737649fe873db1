package main

import (
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/experiments/evaluation"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/train"
)

// heldOut runs both stages of two seeds with samples held out, and returns the folders
// of the test stage and the flags that name the data.
func heldOut(t *testing.T) (dirs, data []string) {
	t.Helper()
	var o protocol.Outcome
	decode(t, succeeds(t, runOnMini(t, "--hold-out", "--json", "--lr", "0.01")...), &o)
	for _, dir := range o.RunDirs {
		if strings.Contains(dir, "-test-") {
			dirs = append(dirs, dir)
		}
	}
	return dirs, onMini(t)[:3] // the model names the data set
}

// evaluation runs evaluate with --json.
func evaluationOf(t *testing.T, args ...string) *evaluation.Result {
	t.Helper()
	e := new(evaluation.Result)
	decode(t, succeeds(t, append([]string{"evaluate", "--json"}, args...)...), e)
	return e
}

// readCSV reads a file.
func readCSV(t *testing.T, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(f).ReadAll()
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return rows
}

// forAnother writes the labels of the evaluated samples, and lists the columns of unseen
// classes, as another program would.
func forAnother(t *testing.T, csvDir string) (labels, unseen string) {
	t.Helper()
	var list []string
	for _, row := range readCSV(t, filepath.Join(csvDir, "samples.csv"))[1:] {
		list = append(list, row[1])
	}
	columns := readCSV(t, filepath.Join(csvDir, "confusion.csv"))[0][1:]
	var of []string
	for _, row := range readCSV(t, filepath.Join(csvDir, "classes.csv"))[1:] {
		if row[1] == "true" {
			of = append(of, strconv.Itoa(slices.Index(columns, row[0])))
		}
	}
	labels = filepath.Join(t.TempDir(), "labels.txt")
	writeText(t, labels, strings.Join(list, "\n"))
	return labels, strings.Join(of, ",")
}

// The scores written for a model evaluate as the model does.
func TestEvaluateAModelAndItsScores(t *testing.T) {
	dirs, data := heldOut(t)
	out := t.TempDir()
	scores := filepath.Join(out, "scores.npy")
	want := evaluationOf(t, append(data, "--model", dirs[0], "--split", "gzsl", "--scores-out", scores,
		"--csv", out, "--figures", filepath.Join(out, "figures"))...)
	if want.Source.Split != "gzsl" || want.Source.Dataset != "plain" || want.Validation == nil || want.Seen == nil {
		t.Fatalf("found %+v", want)
	}
	for _, name := range []string{"reliability.csv", "coverage.csv", "seen-unseen.csv", "figures/reliability.svg", "figures/coverage.svg", "figures/seen-unseen.svg"} {
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	labels, unseen := forAnother(t, out)
	list := filepath.Join(t.TempDir(), "unseen.txt")
	writeText(t, list, unseen)
	got := evaluationOf(t, "--scores", scores, "--labels", labels, "--unseen", unseen)
	fromFile := evaluationOf(t, "--scores", scores, "--labels", labels, "--unseen", list)
	for _, e := range []*evaluation.Result{got, fromFile} {
		if e.Kind != evaluation.Logits || e.Calibrated != nil || e.Temperature != nil {
			t.Errorf("found %+v", e)
		}
		if e.PerClass != want.PerClass || e.Top5 != want.Top5 || *e.Seen != *want.Seen || *e.Unseen != *want.Unseen || *e.AUSUC != *want.AUSUC {
			t.Errorf("found %+v, expected %+v", e, want)
		}
		if diff := cmp.Diff(want.Calibration, e.Calibration, cmpopts.IgnoreUnexported(evaluation.Calibration{}), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("(-model +scores):\n%s", diff)
		}
	}
	// Columns are columns even where a file has such a name.
	shadowed := command(t, "evaluate", "--json", "--scores", scores, "--labels", labels, "--unseen", unseen)
	writeText(t, filepath.Join(shadowed.Dir, unseen), "0")
	var e evaluation.Result
	printed, err := shadowed.Output()
	if err != nil {
		t.Fatal(err)
	}
	decode(t, string(printed), &e)
	if *e.Unseen != *want.Unseen {
		t.Errorf("beside a file %s: unseen accuracy %g, expected %g", unseen, *e.Unseen, *want.Unseen)
	}
	// Validated with themselves they have a gamma.
	if e := evaluationOf(t, "--scores", scores, "--labels", labels, "--unseen", unseen,
		"--val-scores", scores, "--val-labels", labels, "--val-unseen", list); e.Calibrated == nil || e.Calibrated.Mean < *e.HarmonicMean {
		t.Errorf("found %+v", e)
	}
}

func TestEvaluatePrintsTables(t *testing.T) {
	dirs, data := heldOut(t)
	out := succeeds(t, append([]string{"evaluate", "--model", dirs[0], "--model", dirs[1]}, data...)...)
	for _, part := range []string{"plain, test: ", "mean probabilities of", "seed 1", "top 5", "expected calibration error, 15 bins", "coverage", "Validated with"} {
		if !strings.Contains(out, part) {
			t.Errorf("stdout doesn't say %q:\n%s", part, out)
		}
	}
}

func TestEvaluateRefuses(t *testing.T) {
	dir := t.TempDir()
	scores, labels := filepath.Join(dir, "scores.npy"), filepath.Join(dir, "labels.txt")
	err := features.WriteNPY(scores, dataset.Matrix[float32]{Rows: 2, Cols: 2, Data: []float32{1, 2, 3, 4}})
	if err := errors.Join(err, os.WriteFile(labels, []byte("1 2"), 0o600)); err != nil {
		t.Fatal(err)
	}
	both := []string{"--scores", scores, "--labels", labels}
	for _, c := range []struct {
		name  string
		args  []string
		parts []string
	}{
		{"nothing", nil, []string{"--model", "--scores with --labels"}},
		{"both", append(both, "--model", dir), []string{"either --model, or --scores"}},
		{"no labels", both[:2], []string{"--scores and --labels"}},
		{"no scores to validate by", append(both, "--val-labels", labels), []string{"--val-scores and --val-labels"}},
		{"labels from 1", both, []string{labels, scores, "count from 1", "subtract 1"}},
		{"no list", append(both, "--unseen", "wren"), []string{"--unseen", "a file", `"wren"`}},
		{"an empty list", append(both, "--unseen", ","), []string{"--unseen", "found none"}},
		{"an unknown class", append(both, "--unseen", "2"), []string{"unseen", "from 0 to 1, found 2"}},
		{"kind", append(both, "--score-kind", "votes"), []string{"--score-kind", "probabilities, logits, scores", `"votes"`}},
		{"bins", append(both, "--bins", "0"), []string{"--bins", "found 0"}},
		{"a split of scores", append(both, "--split", "gzsl"), []string{"--split: expected no --split beside --scores"}},
		{"unseen classes of a model", []string{"--model", dir, "--unseen", "1"}, []string{"--unseen: expected no --unseen beside --model"}},
		{"split", []string{"--model", dir, "--split", "train"}, []string{"--split", "val, test, gzsl", `"train"`}},
		{"no run", []string{"--model", dir}, []string{dir, "folder of a finished run", "model.safetensors"}},
		{"no model", []string{"--model", filepath.Join(dir, "none")}, []string{"none"}},
		{"an argument", append(both, "more"), []string{`"more"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			refuses(t, append([]string{"evaluate"}, c.args...), c.parts...)
		})
	}
}

// The error of a model that was trained on held-out samples says how to train another. No
// model is overwritten by its scores.
func TestEvaluateRefusesAModel(t *testing.T) {
	var o protocol.Outcome
	decode(t, succeeds(t, runOnMini(t, "--json", "--seeds", "1")...), &o)
	args := append(append([]string{"evaluate"}, onMini(t)...), "--model", o.RunDirs[1])
	refuses(t, append(args, "--scores-out", filepath.Join(o.RunDirs[1], train.ModelFile)), "--scores-out", "does not read")
	refuses(t, append(args, "--split", "gzsl"),
		o.RunDirs[1], "lago-train run --dataset plain --variant semantic-hard --hold-out")
}

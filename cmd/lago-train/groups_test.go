package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/experiments/grouping"
	"github.com/lago-train/lago-train/experiments/reproduction"
	"github.com/lago-train/lago-train/experiments/robustness"
)

// small are arguments of a protocol that takes a moment.
func small(t *testing.T, command, out string) []string {
	return append([]string{command, "--seeds", "2", "--epochs", "3", "--out", out}, onMini(t)...)
}

// One folder serves all three: what reproduce trained, the others find.
func TestProtocolCommandsShareTheirRuns(t *testing.T) {
	out := t.TempDir()
	var r reproduction.Result
	decode(t, succeeds(t, append(small(t, "reproduce", out), "--json")...), &r)
	if len(r.Table) != 5 || r.Result == nil || len(r.Missing) > 0 {
		t.Errorf("%d rows, result %+v, missing %+v", len(r.Table), r.Result, r.Missing)
	}
	trained := folders(t, out)

	var n robustness.NoiseResult
	decode(t, succeeds(t, append(small(t, "noise", out), "--json", "--noise-seeds", "2", "--ratios", "0,0.5")...), &n)
	var names []string
	for _, m := range n.Methods {
		names = append(names, m.Method)
		if len(m.Accuracy) != 2 || len(m.Accuracy[1].Values) != 2 {
			t.Errorf("%s: %+v, expected 2 ratios of 2 seeds", m.Method, m.Accuracy)
		}
	}
	if got := strings.Join(names, " "); got != "semantic-hard singletons eszsl" {
		t.Errorf("methods are %s", got)
	}

	var trainedHere, given grouping.Result
	decode(t, succeeds(t, append(small(t, "groups", out), "--json")...), &trainedHere)
	if trainedHere.Variant != "k-soft" {
		t.Errorf("the groups are those of %s", trainedHere.Variant)
	}
	if n := len(folders(t, out)); n != len(trained) {
		t.Errorf("%d runs after reproduce, %d after noise and groups", len(trained), n)
	}

	models, err := filepath.Glob(filepath.Join(out, "*-k-soft-test-seed0-*"))
	if err != nil || len(models) != 1 {
		t.Fatal(models, err)
	}
	data := onMini(t)[:3] // the model knows its data set
	decode(t, succeeds(t, append([]string{"groups", "--json", "--model", models[0]}, data...)...), &given)
	if given.NonZero != trainedHere.NonZero || given.All != trainedHere.All {
		t.Errorf("%+v by --model, %+v by training", given, trainedHere)
	}
}

func decode(t *testing.T, text string, to any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), to); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
}

func folders(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(entries, func(e os.DirEntry) bool { return !e.IsDir() })
}

func TestProtocolCommandsRefuse(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "search-glyphs-k-soft.json"), []byte(`{"k": "many"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args  string
		parts []string
	}{
		{"noise --variants singletons,svm", []string{"--variants", `"svm"`, "eszsl"}},
		{"noise --variants eszsl --ratios 0.1,1.5", []string{"ratios", "1.5"}},
		{"noise --noise-seeds 0", []string{"--noise-seeds", "at least 1"}},
		{"noise --lr -1", []string{"--lr", "-1"}},
		{"noise glyphs", []string{`"glyphs"`}},
		{"reproduce --configs " + dir, []string{"search-glyphs-k-soft.json: k: expected", "many"}},
		{"reproduce --configs " + filepath.Join(dir, "none"), []string{"--configs", "none"}},
		{"reproduce --seeds 0", []string{"seeds", "at least 1"}},
		{"reproduce --k 3", []string{"-k", "lago-train reproduce --help"}},
		{"groups --by sample", []string{"--by", "samples, classes", `"sample"`}},
		{"groups --threshold 1", []string{"--threshold", "1"}},
		{"groups --top -1", []string{"--top"}},
		{"groups --model nope", []string{"--model", `"nope"`}},
		{"groups --from " + dir, []string{dir, "model.safetensors"}},
		{"groups --from " + dir + " --lr-v 1", []string{"--lr-v"}},
	} {
		t.Run(c.args, func(t *testing.T) {
			refuses(t, strings.Fields(c.args), c.parts...)
		})
	}
}

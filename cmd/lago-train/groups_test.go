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

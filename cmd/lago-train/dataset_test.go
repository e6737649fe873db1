package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDatasetInfo(t *testing.T) {
	args := append([]string{"dataset", "info"}, onMini(t)[:3]...)
	out := succeeds(t, append(args, "plain")...)
	for _, part := range []string{
		"plain: 108 samples of 12 classes, 24 features each", "10 attributes", "in 4 groups",
		"train", "val", "test", "colour", "v3, v4, v5, v6", "012.Class_L",
	} {
		if !strings.Contains(out, part) {
			t.Errorf("stdout doesn't say %q:\n%s", part, out)
		}
	}
	o := object(t, succeeds(t, append(args, "--json", "plain")...))
	for key, want := range map[string]string{
		"name": `"plain"`, "samples": "108", "dimensions": "24", "attributes": "10",
	} {
		if string(o[key]) != want {
			t.Errorf("%s is %s, expected %s", key, o[key], want)
		}
	}
}

func TestDatasetInfoRefuses(t *testing.T) {
	refuses(t, []string{"dataset", "info"}, "dataset info: expected the name of one data set", "found 0")
	refuses(t, []string{"dataset", "info", "plain", "glyphs"}, "the name of one data set", "found 2")
	dir := t.TempDir()
	refuses(t, []string{"dataset", "info", "--data-dir", dir, "awa2"}, `data set "awa2"`, dir, "lago-train dataset fetch --data-dir "+dir+" awa2")
	refuses(t, []string{"dataset", "info", "--data-dir", dir, "glyps"}, `data set "glyps"`, "Did you mean glyphs?")
}

// Generalised zero-shot learning needs no download.
func TestGlyphsHaveHeldOutSamples(t *testing.T) {
	if out := succeeds(t, "dataset", "info", "glyphs"); !strings.Contains(out, "held out for generalised zero-shot learning: 600 samples of seen classes") {
		t.Errorf("found\n%s", out)
	}
	out := filepath.Join(t.TempDir(), "runs")
	succeeds(t, "run", "--stage", "test", "--epochs", "1", "--seeds", "1", "--hold-out", "--out", out)
	runs, err := filepath.Glob(filepath.Join(out, "glyphs-*"))
	if err != nil || len(runs) != 1 {
		t.Fatalf("found runs %v, %v", runs, err)
	}
	if text := succeeds(t, "evaluate", "--split", "gzsl", "--model", runs[0]); !strings.Contains(text, "harmonic mean") {
		t.Errorf("found\n%s", text)
	}
}

// Of folders that differ by case only, a command trains on the one that was typed.
func TestDatasetFlagKeepsItsCase(t *testing.T) {
	root := t.TempDir()
	if err := os.CopyFS(filepath.Join(root, "MINI"), os.DirFS("../../dataset/xlsa17/testdata/plain")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "mini"), 0o777); err != nil {
		t.Skip(err)
	}
	args := []string{"run", "--data-dir", root, "--no-cache", "--variant", "singletons", "--stage", "dev", "--epochs", "1", "--seeds", "1", "--dataset"}
	succeeds(t, append(args, "MINI")...)
	refuses(t, append(args, "mini"), filepath.Join(root, "mini"))
}

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/train"
)

func TestFindModel(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for i, name := range []string{"runs/glyphs-a-1", "runs/glyphs-b-2", "runs/glyphs-b-3", "other/cub-c-4"} {
		path := testkit.Write(t, name, train.ModelFile, "")
		finished := time.Now().Add(time.Duration(i%2) * time.Hour) // glyphs-b-2 is the latest of runs
		testkit.NoError(t, os.Chtimes(path, finished, finished))
	}
	for value, want := range map[string]string{
		"runs/glyphs-a-1": "runs/glyphs-a-1",
		filepath.Join("runs/glyphs-b-3", train.ModelFile): "runs/glyphs-b-3",
		"glyphs-a":     "runs/glyphs-a-1",
		"glyphs-b-3":   "runs/glyphs-b-3",
		"latest":       "runs/glyphs-b-2",
		"other/c":      "other/cub-c-4",
		"other/latest": "other/cub-c-4",
	} {
		if got, err := findModel("--model", value); err != nil || got != filepath.Join(want, train.ModelFile) {
			t.Errorf("%s: found %s, %v, expected the model of %s", value, got, err, want)
		}
	}
	for value, parts := range map[string][]string{
		"":             {"--model", "none"},
		"glyphs-b":     {"--model", "one run", "matches 2", "glyphs-b-2, glyphs-b-3"},
		"glphs-a-1":    {`"glphs-a-1"`, "Did you mean glyphs-a-1"},
		"empty/latest": {"empty has no finished runs"},
	} {
		_, err := findModel("--model", value)
		testkit.WantError(t, err, parts...)
	}
}

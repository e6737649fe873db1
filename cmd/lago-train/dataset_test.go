package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model/network/networktest"
)

// animals copies docs/example into a data dir, which it returns.
func animals(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	testkit.NoError(t, os.CopyFS(filepath.Join(root, "animals"), os.DirFS("../../docs/example")))
	return root
}

// Each "next:" is a command: from features and labels alone they lead to a trained model.
func TestNextCommandsRun(t *testing.T) {
	root := animals(t)
	folder := filepath.Join(root, "animals")
	for _, file := range []string{"classes.csv", "attributes.csv", "splits.csv"} {
		testkit.NoError(t, os.Remove(filepath.Join(folder, file)))
	}
	next := func(out string) []string {
		t.Helper()
		_, line, found := strings.Cut(out, "next: lago-train ")
		if !found {
			t.Fatalf("no next command in\n%s", out)
		}
		line, _, _ = strings.Cut(line, "\n")
		line, _, _ = strings.Cut(line, " #")
		return words(line)
	}
	check := []string{"dataset", "check", folder}
	describe := next(lagoTrain(t, check...).stdout)
	testkit.Equal(t, "the first", strings.Join(describe, " "), "dataset describe "+folder)
	testkit.WantText(t, succeeds(t, describe...), "attributes come from a table of traits (--from FILE)")
	testkit.NoError(t, os.Remove(filepath.Join(folder, "classes.csv")))
	text := testkit.Read(t, "../../docs/example/classes.csv")
	testkit.Write(t, folder, "attributes.csv", testkit.Read(t, "../../docs/example/attributes.csv"))
	testkit.Equal(t, "to describe", strings.Join(next(succeeds(t, "dataset", "describe", folder)), " "), "serve "+folder)
	testkit.Write(t, folder, "classes.csv", text)
	split := succeeds(t, next(lagoTrain(t, check...).stdout)...)
	testkit.Equal(t, "to train", next(split), next(lagoTrain(t, check...).stdout))
	// That split is another than the held-out samples of the example are for.
	testkit.Write(t, folder, "splits.csv", testkit.Read(t, "../../docs/example/splits.csv"))
	out := t.TempDir()
	trained := succeeds(t, "run", "--dataset", folder, "--seeds", "1", "--epochs", "3", "--out", out)
	testkit.WantText(t, succeeds(t, next(trained)...), "animals, test")
}

func TestDatasetSplit(t *testing.T) {
	root := animals(t)
	file := filepath.Join(root, "animals", "splits.csv")
	before := testkit.Read(t, file)
	args := []string{"dataset", "split", "--data-dir", root}
	misused(t, append(args, "--to", file, "animals"), file, "expected a new file")
	testkit.NoError(t, os.Remove(file))
	out := succeeds(t, append(args, "--to", file, "--val-size", "2", "--test-size", "0.3", "--seed", "3", "animals")...)
	testkit.WantText(t, out, "train  │      12 │     144", "val    │       2 │      24", "leaks: none", "written to "+file)
	// A class twice, in train and in test, whose names differ in case.
	text := testkit.Read(t, filepath.Join(root, "animals", "classes.csv"))
	testkit.Write(t, root, "animals/classes.csv", text+"Horse"+strings.Repeat(",", 26)+"1\n")
	again := testkit.Write(t, root, "again.csv", before+"Horse,test\n")
	e := lagoTrain(t, append(args, "--check", again, "animals")...)
	if e.code != 1 || !strings.Contains(e.stderr, "1 leak between subsets") || !strings.Contains(e.stdout, `class "horse" (train) and class "Horse" (test)`) {
		t.Errorf("ended with %d: %s\n%s", e.code, e.stderr, e.stdout)
	}
}

// What is no such network, or an archive without the data set, takes no place.
func TestDatasetFetch(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "weights.safetensors")
	testkit.NoError(t, networktest.WriteResNet18(path))
	testkit.WantError(t, checkFetched(t.Context(), "resnet50", path), "expected the weights of resnet50, found those of resnet18")
	args := []string{"dataset", "fetch", "--data-dir", dir}
	misused(t, append(args, "apy"), `"apy"`, "cub, awa2, sun")
}

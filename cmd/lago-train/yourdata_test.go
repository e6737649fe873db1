package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/experiments/protocol"
)

// exampleFile is a file of the example in the document: its name, and the text.
var exampleFile = regexp.MustCompile("(?m)^`([a-z]+\\.csv)`\n\n```csv\n((?:[^`].*\n)+)```$")

// animals writes the data set of docs/your-data.md into a data dir, which it returns.
func animals(t *testing.T) (root string) {
	t.Helper()
	text := read(t, "../../docs/your-data.md")
	root = t.TempDir()
	dir := filepath.Join(root, "animals")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	files := exampleFile.FindAllStringSubmatch(text, -1)
	if len(files) != 5 {
		t.Fatalf("the document has %d files of the example, expected 5", len(files))
	}
	for _, f := range files {
		writeText(t, filepath.Join(dir, f[1]), f[2])
	}
	return root
}

// The document's example works with the document's commands.
func TestYourDataFromScratch(t *testing.T) {
	root := animals(t)
	out := succeeds(t, "dataset", "check", "--data-dir", root, "animals")
	for _, part := range []string{
		"animals: no problems found", "14 samples of 4 features", "7 classes", "6 attributes in 3 groups", "1 split ", "2 samples of seen classes held out",
	} {
		if !strings.Contains(out, part) {
			t.Errorf("dataset check doesn't say %q:\n%s", part, out)
		}
	}
	out = succeeds(t, "dataset", "info", "--data-dir", root, "animals")
	for _, part := range []string{"animals: 14 samples of 7 classes, 4 features each", "6 attributes in 3 groups; 1 missing", "limbs", "hooves, paws, fins", "zebra"} {
		if !strings.Contains(out, part) {
			t.Errorf("dataset info doesn't say %q:\n%s", part, out)
		}
	}
	var o protocol.Outcome
	out = succeeds(t, "run", "--data-dir", root, "--dataset", "animals", "--epochs", "2", "--seeds", "1", "--json", "--out", filepath.Join(root, "runs"))
	decode(t, out, &o)
	if o.Dataset != "animals" || o.Test == nil || o.Test.Classes != 2 || o.Val.Classes != 2 {
		t.Errorf("the run found %+v", o)
	}
}

func TestDatasetCheckListsEveryProblem(t *testing.T) {
	root := animals(t)
	dir := filepath.Join(root, "animals")
	for name, change := range map[string][2]string{
		"labels.csv":   {"cow,cow/02", "caw,cow/02"},
		"classes.csv":  {"0.9", "90"},
		"features.csv": {"0.91,0.12,0.05,0.33", "0.91,0.12,0.05"},
	} {
		path := filepath.Join(dir, name)
		text := read(t, path)
		writeText(t, path, strings.Replace(text, change[0], change[1], 1))
	}
	e := lagoTrain(t, "dataset", "check", dir)
	for _, part := range []string{
		`classes.csv: line 4, column plain: expected a number from 0 to 1`,
		`labels.csv: line 9, column class: expected one of the 7 classes of classes.csv, found "caw". Did you mean cow?`,
		`features.csv: line 2: expected 3 numbers, as in the line before, found 4`,
	} {
		if !strings.Contains(e.stdout, part) {
			t.Errorf("stdout doesn't say %q:\n%s", part, e.stdout)
		}
	}
	if e.code != 1 || !strings.Contains(e.stderr, "8 problems") {
		t.Errorf("ended with %d: %s\n%s", e.code, e.stderr, e.stdout)
	}
	e = lagoTrain(t, "dataset", "check", "--data-dir", root, "--json", "animals")
	o := object(t, e.stdout)
	compareKeys(t, "check", o, "ok", "errors", "warnings")
	var errors []map[string]string
	if err := json.Unmarshal(o["errors"], &errors); err != nil {
		t.Fatal(err)
	}
	if e.code != 1 || string(o["ok"]) != "false" || len(errors) != 8 || errors[0]["file"] != filepath.Join(dir, "classes.csv") ||
		errors[0]["field"] == "" || errors[0]["expected"] == "" || errors[0]["found"] == "" {
		t.Errorf("ended with %d: %s", e.code, e.stdout)
	}
	refuses(t, []string{"dataset", "check"}, "the name of one data set", "0 arguments")
	refuses(t, []string{"dataset", "check", "--data-dir", root, "zoo"}, `"zoo"`, "The folder has animals.")
}

func TestDatasetConvert(t *testing.T) {
	root := animals(t)
	dir := filepath.Join(root, "there")
	args := []string{"dataset", "convert", "--data-dir"}
	mini := onMini(t)[1]
	out := succeeds(t, append(args, mini, "--no-cache", "--out", dir, "plain")...)
	if want := fingerprint(t, mini, "plain"); fingerprint(t, root, "there") != want || !strings.Contains(out, "plain, with 1 split, written to "+dir) {
		t.Errorf("%s: expected fingerprint %s", out, want)
	}
	r := object(t, succeeds(t, append(args, root, "--json", "animals")...))
	compareKeys(t, "convert", r, "name", "source", "dir", "splits", "fingerprint")
	if string(r["fingerprint"]) != fingerprint(t, root, "animals-open") {
		t.Errorf("the fingerprint is %s", r["fingerprint"])
	}
	refuses(t, append(args, root, "animals"), "animals-open: expected an empty folder, or none")
	refuses(t, append(args, root, "animals", "others"), "dataset convert: expected the name of one data set, found 2 arguments")
}

// fingerprint returns that of a data set, as JSON.
func fingerprint(t *testing.T, dir, name string) string {
	t.Helper()
	return string(object(t, succeeds(t, "dataset", "info", "--data-dir", dir, "--no-cache", "--json", name))["fingerprint"])
}

func TestDatasetSplit(t *testing.T) {
	root := animals(t)
	file := filepath.Join(root, "animals", "splits.csv")
	before := read(t, file)
	args := []string{"dataset", "split", "--data-dir", root}
	refuses(t, append(args, "--out", file, "animals"), file, "expected a new file")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	out := succeeds(t, append(args, "--out", file, "--val-classes", "2", "--test-share", "0.3", "--seed", "3", "animals")...)
	for _, part := range []string{"train  │       3 │       6", "val    │       2 │       4", "test   │       2 │       4", "leaks: none", "ImageNet", "written to " + file} {
		if !strings.Contains(out, part) {
			t.Errorf("stdout doesn't say %q:\n%s", part, out)
		}
	}
	again := filepath.Join(root, "again.csv")
	succeeds(t, append(args, "--out", again, "--val-classes", "2", "--test-share", "0.3", "--seed", "3", "--json", "animals")...)
	if first, second := read(t, file), read(t, again); first != second {
		t.Errorf("the same seed gives\n%s\nand\n%s", first, second)
	}
	// A class twice, in train and in test, whose names differ in case.
	text := read(t, filepath.Join(root, "animals", "classes.csv"))
	writeText(t, filepath.Join(root, "animals", "classes.csv"), text+"Horse,,,,,,1\n")
	writeText(t, again, before+"Horse,test\n")
	e := lagoTrain(t, append(args, "--check", again, "animals")...)
	if e.code != 1 || !strings.Contains(e.stderr, "1 leak between subsets") || !strings.Contains(e.stdout, `class "horse" (train) and class "Horse" (test)`) {
		t.Errorf("ended with %d: %s\n%s", e.code, e.stderr, e.stdout)
	}
	o := object(t, lagoTrain(t, append(args, "--check", again, "--json", "animals")...).stdout)
	compareKeys(t, "split", o, "splits")
	misused(t, append(args, "--check", again, "--own", "animals"), "--check: expected no --check beside --own")
	refuses(t, append(args, "--own", "--seed", "3", "animals"), "--seed: expected no --seed beside --own")
	refuses(t, append(args, "--val-share", "1.5", "animals"), "--val-share: expected a number between 0 and 1, found 1.5")
	refuses(t, append(args, "--test-classes", "9", "animals"), "at least 1 for each of train, val and test, of 7")
	refuses(t, append(args, "--check", filepath.Join(root, "none.csv"), "animals"), "none.csv")
}

func TestDatasetSplitOfItsOwn(t *testing.T) {
	root := animals(t)
	out := succeeds(t, "dataset", "split", "--data-dir", root, "--own", "animals")
	if !strings.Contains(out, "leaks: none") || strings.Contains(out, "written") {
		t.Error(out)
	}
	if out := succeeds(t, "dataset", "split", "--own", "glyphs"); !strings.Contains(out, "leaks: none") {
		t.Error(out)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

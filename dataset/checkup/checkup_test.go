package checkup_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/checkup"
	"github.com/lago-train/lago-train/dataset/matlab"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/internal/invalid"
)

const fixtures = "../xlsa17/testdata"

func quiet() logrus.FieldLogger {
	log, _ := logtest.NewNullLogger()
	return log
}

func options(dir string) catalog.Options {
	return catalog.Options{DataDir: dir, NoCache: true, Log: quiet()}
}

// folder makes a folder pets of the fixture in the open layout.
func folder(t *testing.T) (root, dir string) {
	t.Helper()
	d, err := catalog.Open(t.Context(), "plain", options(fixtures))
	if err != nil {
		t.Fatal(err)
	}
	root = t.TempDir()
	dir = filepath.Join(root, "pets")
	if err := openlayout.Write(dir, d); err != nil {
		t.Fatal(err)
	}
	return root, dir
}

func edit(t *testing.T, path, old, changed string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		t.Fatalf("no %q in %s", old, path)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), old, changed, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, name string, o catalog.Options) checkup.Report {
	t.Helper()
	r, err := checkup.Run(t.Context(), name, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestASoundDataSetIsOK(t *testing.T) {
	root, dir := folder(t)
	for _, c := range []struct{ name, dir string }{{"glyphs", ""}, {"plain", fixtures}, {"compressed", fixtures}, {"PETS", root}, {dir, ""}, {dir + "/", ""}} {
		r := run(t, c.name, options(c.dir))
		if !r.OK || len(r.Errors) != 0 || r.Data == nil || r.Divisions != 1 {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
	t.Chdir(dir)
	if r := run(t, ".", options("")); !r.OK || r.Data.Name != "pets" {
		t.Errorf(".: %+v", r)
	}
	text, err := json.Marshal(run(t, ".", options("")))
	if err != nil || string(text) != `{"ok":true,"errors":[]}` {
		t.Errorf("as JSON %s, %v", text, err)
	}
}

func TestAllThatIsWrongWithFilesIsListed(t *testing.T) {
	root, dir := folder(t)
	edit(t, filepath.Join(dir, "labels.csv"), "005.Class_E", "005.Klass_E")
	edit(t, filepath.Join(dir, "splits.csv"), "train", "training")
	if err := os.Remove(filepath.Join(dir, "features.npy")); err != nil {
		t.Fatal(err)
	}
	want := []checkup.Problem{
		{filepath.Join(dir, "labels.csv"), "line 2, column class", "one of the 12 classes of classes.csv", `"005.Klass_E", which is near "005.Class_E"`},
		{filepath.Join(dir, "splits.csv"), "line 5, column part", "train, val or test, or nothing for a class that is left out", `"training"`},
		{dir, "", "features.npy or features.csv", "neither"},
	}
	r := run(t, "pets", options(root))
	if diff := cmp.Diff(want, r.Errors); diff != "" || r.OK {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := r.Errors[2].String(); got != dir+": expected features.npy or features.csv, found neither" {
		t.Errorf("as text %q", got)
	}
}

// copied is a copy of the fixture in the xlsa17 layout.
func copied(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "plain")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(fixtures, "plain"))); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTheXLSA17Layout(t *testing.T) {
	t.Run("its reader", func(t *testing.T) {
		dir := copied(t)
		edit(t, filepath.Join(dir, "testclasses.txt"), "Class_B", "Klass_B")
		r := run(t, dir, options(""))
		if len(r.Errors) != 1 || r.Errors[0].File != filepath.Join(dir, "testclasses.txt") || r.Errors[0].Expected == "" {
			t.Errorf("%+v", r.Errors)
		}
	})
	t.Run("dataset.Check", func(t *testing.T) {
		dir := copied(t)
		path := filepath.Join(dir, "res101.mat")
		vars, err := matlab.Read(t.Context(), path, "features", "labels")
		if err != nil {
			t.Fatal(err)
		}
		x := vars["features"]
		x.Float32[0], x.Float32[24*7+3] = float32(math.NaN()), float32(math.Inf(1))
		if err := matlab.Write(path, x, vars["labels"]); err != nil {
			t.Fatal(err)
		}
		want := []checkup.Problem{
			{"plain", "feature 0 of sample 0", "a finite number", "NaN"},
			{"plain", "feature 3 of sample 7", "a finite number", "+Inf"},
		}
		if diff := cmp.Diff(want, run(t, dir, options("")).Errors); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("another division", func(t *testing.T) {
		dir := copied(t)
		for name, text := range map[string]string{"trainclasses2.txt": "005.Class_E\n", "valclasses2.txt": "005.Class_E\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		r := run(t, dir, options(""))
		if len(r.Errors) != 1 || !strings.Contains(r.Errors[0].Found, "trainclasses2.txt and in valclasses2.txt") {
			t.Errorf("%+v", r.Errors)
		}
	})
	t.Run("a MAT-file that is none", func(t *testing.T) {
		dir := copied(t)
		path := filepath.Join(dir, "att_splits.mat")
		if err := os.WriteFile(path, []byte("text"), 0o666); err != nil {
			t.Fatal(err)
		}
		want := []checkup.Problem{{path, "", "a level 5 MAT-file", "4 bytes, fewer than its header has"}}
		if diff := cmp.Diff(want, run(t, dir, options("")).Errors); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestWhatIsNotFoundIsAnError(t *testing.T) {
	root := t.TempDir()
	var missing *catalog.Missing
	if _, err := checkup.Run(t.Context(), "pets", options(root)); !errors.As(err, &missing) {
		t.Errorf("a name: %v", err)
	}
	if _, err := checkup.Run(t.Context(), filepath.Join(root, "pets"), options("")); err == nil || !strings.Contains(err.Error(), "the folder of a data set") {
		t.Errorf("a folder: %v", err)
	}
}

func TestProblems(t *testing.T) {
	inner := &invalid.Error{Where: "a", Field: "b", Want: "c", Got: "d"}
	err := errors.Join(inner, errors.Join(fmt.Errorf("plain"), &matlab.Error{File: "m", Offset: 9, Want: "w", Err: os.ErrClosed}),
		&matlab.Error{File: "m", Variable: "v", Got: "g", Err: os.ErrClosed}, &invalid.Error{Where: "e", Err: os.ErrNotExist})
	want := []checkup.Problem{
		{"a", "b", "c", "d"},
		{"", "", "", "plain"},
		{"m", "byte 9", "w", "file already closed"},
		{"m", "v", "", "g: file already closed"},
		{"e", "", "", "file does not exist"},
	}
	if diff := cmp.Diff(want, checkup.Problems(err)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if checkup.Problems(nil) != nil {
		t.Error("of no error there are problems")
	}
}

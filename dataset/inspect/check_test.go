package inspect_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/inspect"
	"github.com/lago-train/lago-train/dataset/openlayout"
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

func run(t *testing.T, name string, o catalog.Options) inspect.Report {
	t.Helper()
	r, err := inspect.Check(t.Context(), name, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCheckAcceptsSoundData(t *testing.T) {
	root, dir := folder(t)
	for _, c := range []struct{ name, dir string }{{"glyphs", ""}, {"plain", fixtures}, {"compressed", fixtures}, {"PETS", root}, {dir, ""}, {dir + "/", ""}} {
		r := run(t, c.name, options(c.dir))
		if !r.OK || len(r.Errors) != 0 || r.Data == nil || r.Splits != 1 {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
	t.Chdir(dir)
	if r := run(t, ".", options("")); !r.OK || r.Data.Name != "pets" {
		t.Errorf(".: %+v", r)
	}
	text, err := json.Marshal(run(t, ".", options("")))
	if err != nil || string(text) != `{"ok":true,"errors":[],"warnings":[]}` {
		t.Errorf("as JSON %s, %v", text, err)
	}
}

func TestCheckListsEveryProblem(t *testing.T) {
	root, dir := folder(t)
	edit(t, filepath.Join(dir, "labels.csv"), "005.Class_E", "005.Klass_E")
	edit(t, filepath.Join(dir, "splits.csv"), "train", "training")
	if err := os.Remove(filepath.Join(dir, "features.npy")); err != nil {
		t.Fatal(err)
	}
	want := []inspect.Problem{
		{filepath.Join(dir, "labels.csv"), "line 2, column class", "one of the 12 classes of classes.csv", `"005.Klass_E"`, "Did you mean 005.Class_E or 001.Class_A or 002.Class_B?"},
		{filepath.Join(dir, "splits.csv"), "line 5, column part", "train, val or test, or nothing for a class that is left out", `"training"`, ""},
		{dir, "", "features.npy or features.csv", "neither", ""},
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

func TestCheckXLSA17(t *testing.T) {
	t.Run("its reader", func(t *testing.T) {
		dir := copied(t)
		edit(t, filepath.Join(dir, "testclasses.txt"), "Class_B", "Klass_B")
		r := run(t, dir, options(""))
		if len(r.Errors) != 1 || r.Errors[0].File != filepath.Join(dir, "testclasses.txt") || r.Errors[0].Expected == "" {
			t.Errorf("%+v", r.Errors)
		}
	})
	t.Run("another split", func(t *testing.T) {
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
}

func TestCheckOfMissingDataSets(t *testing.T) {
	root := t.TempDir()
	if _, err := inspect.Check(t.Context(), "pets", options(root)); err == nil || !strings.Contains(err.Error(), `data set "pets"`) {
		t.Errorf("a name: %v", err)
	}
	if _, err := inspect.Check(t.Context(), filepath.Join(root, "pets"), options("")); err == nil || !strings.Contains(err.Error(), "no such file or directory") {
		t.Errorf("a folder: %v", err)
	}
}

func TestCheckWarnsOfClassesWithTheSameDescription(t *testing.T) {
	_, dir := folder(t)
	path := filepath.Join(dir, "classes.csv")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	_, first, _ := strings.Cut(lines[1], ",")
	name, second, _ := strings.Cut(lines[4], ",")
	edit(t, path, name+","+second, name+","+first)
	r := run(t, dir, options(""))
	if !r.OK || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].String(), name) || !strings.Contains(r.Warnings[0].String(), "different descriptions, found the same") {
		t.Errorf("found %+v", r)
	}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil || !strings.HasPrefix(b.String(), "warning: pets: classes ") || !strings.Contains(b.String(), "no problems found") {
		t.Errorf("found %v and\n%s", err, &b)
	}
}

func TestList(t *testing.T) {
	root, dir := folder(t)
	if err := os.CopyFS(filepath.Join(root, "sick"), os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	edit(t, filepath.Join(root, "sick", "splits.csv"), "train", "training")
	for _, name := range []string{"both", "notes", ".hidden"} {
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"labels.csv", "att_splits.mat"} {
		if err := os.WriteFile(filepath.Join(root, "both", name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l, err := inspect.List(t.Context(), options(root), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		Name    string
		Usable  bool
		Samples int
	}
	var got []line
	for _, e := range l.Datasets {
		got = append(got, line{e.Name, e.Usable, e.Samples})
	}
	want := []line{
		{"glyphs", true, 3900},
		{"simulated-cub", true, 11788},
		{"simulated-awa2", true, 37322},
		{"simulated-sun", true, 14340},
		{"both", false, 0},
		{"notes", false, 0},
		{"pets", true, run(t, "pets", options(root)).Data.Features.Rows},
		{"sick", false, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var text strings.Builder
	if err := l.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"no data set", "1 problem", "both: ", "expected one data set", "sick: ", `found "training"`, "Folders are in " + root} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("expected %q in\n%s", part, &text)
		}
	}
	if _, err := inspect.List(t.Context(), options(filepath.Join(root, "none")), func(string) {}); err != nil {
		t.Errorf("a data directory that does not exist: %v", err)
	}
}

package catalog_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/internal/invalid"
)

// mini is a small data set in the xlsa17 layout.
var mini = func() string {
	path, err := filepath.Abs("../xlsa17/testdata/plain") // tests change the folder
	if err != nil {
		panic(err)
	}
	return path
}()

// copyMini copies the small data set to root/name.
func copyMini(t *testing.T, root, name string) {
	t.Helper()
	if err := os.CopyFS(filepath.Join(root, name), os.DirFS(mini)); err != nil {
		t.Fatal(err)
	}
}

func TestOpenFindsAFolderInAnyCase(t *testing.T) {
	for _, c := range []struct{ folder, name string }{{"MINI", "mini"}, {"mini", "MINI"}, {"MiNi", "mInI"}} {
		root := t.TempDir()
		copyMini(t, root, c.folder)
		d, err := catalog.Open(t.Context(), c.name, catalog.Options{DataDir: root, NoCache: true})
		if err != nil {
			t.Fatalf("%s in %s: %v", c.name, c.folder, err)
		}
		if d.Name != "mini" {
			t.Errorf("%s in %s: named %q, expected the folder's name in lower case", c.name, c.folder, d.Name)
		}
	}
}

func TestOpenPrefersTheExactSpelling(t *testing.T) {
	root := t.TempDir()
	copyMini(t, root, "Mini")
	copyMini(t, root, "MINI")
	source := func(name string) string {
		d, err := catalog.Open(t.Context(), name, catalog.Options{DataDir: root, NoCache: true})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return ""
		}
		return filepath.Base(d.Source)
	}
	if _, err := catalog.Open(t.Context(), "mini", catalog.Options{DataDir: root, NoCache: true}); err == nil || !strings.Contains(err.Error(), "MINI and Mini") {
		t.Errorf("two folders that differ by case: error %v", err)
	}
	copyMini(t, root, "mini")
	for name, want := range map[string]string{"mini": "mini", "MINI": "MINI", "Mini": "Mini", "mINI": "mini"} {
		if got := source(name); got != want {
			t.Errorf("%s is read from %s", name, got)
		}
	}
}

func TestOpenTakesTheDataDirOfTheEnvironment(t *testing.T) {
	root := t.TempDir()
	copyMini(t, root, "mini")
	t.Setenv(catalog.EnvDataDir, root)
	if _, err := catalog.Open(t.Context(), "mini", catalog.Options{NoCache: true}); err != nil {
		t.Errorf("from $%s: %v", catalog.EnvDataDir, err)
	}
	t.Setenv(catalog.EnvDataDir, "")
	t.Chdir(root)
	if err := os.Mkdir("data", 0o755); err != nil {
		t.Fatal(err)
	}
	copyMini(t, filepath.Join(root, "data"), "other")
	if _, err := catalog.Open(t.Context(), "other", catalog.Options{NoCache: true}); err != nil {
		t.Errorf("from ./data: %v", err)
	}
}

func TestUnknownNames(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"SUN", "pets"} {
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	here := t.TempDir()
	t.Setenv(catalog.EnvDataDir, here)
	const generated = "expected glyphs, simulated-cub, simulated-awa2, simulated-sun, or a folder of this name in "
	for _, c := range []struct{ name, dir, want string }{
		{"pest", root, `data set "pest": ` + generated + root + ", found none. Did you mean pets?"},
		{"simulated", root, "Did you mean simulated-cub or simulated-awa2 or simulated-sun?"},
		{"AWA", root, "Did you mean awa2?"},
		{"zoo", root, "found none. The folder has SUN, pets."},
		{"zoo", root + "/none", "found none. The folder " + root + "/none does not exist; --data-dir or $LAGO_DATA names another."},
		{"CUB", "", "found none. To download it: lago-train dataset fetch cub"},
		{"cub", here, "found none. To download it: lago-train dataset fetch cub"},
		{"cub", root + "/none", "found none. To download it: lago-train dataset fetch --data-dir " + root + "/none cub"},
	} {
		_, err := catalog.Open(t.Context(), c.name, catalog.Options{DataDir: c.dir})
		if !errors.As(err, new(*invalid.Error)) || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %s", c.name, err, c.want)
		}
	}
}

func TestOpenGeneratesGlyphs(t *testing.T) {
	d, err := catalog.Open(t.Context(), "Glyphs", catalog.Options{})
	if err != nil || d.Name != "glyphs" {
		t.Fatalf("glyphs: %v", err)
	}
	_, err = catalog.Open(t.Context(), "glyphs", catalog.Options{DevSplit: 2})
	if err == nil || err.Error() != `data set "glyphs": dev_split: expected 1, since data that the program generates have one split, found 2` {
		t.Errorf("split 2: error %v", err)
	}
}

// writeOpen writes the small data set to root/name in the open layout.
func writeOpen(t *testing.T, root, name string) *dataset.Dataset {
	t.Helper()
	f, err := catalog.FolderAt(mini)
	if err != nil {
		t.Fatal(err)
	}
	log, _ := logtest.NewNullLogger()
	d, err := f.Open(t.Context(), catalog.Options{NoCache: true, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	second := dataset.Split{Train: d.Split.Val, Val: d.Split.Train, Test: d.Split.Test}
	if err := openlayout.Write(filepath.Join(root, name), d, second); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestOpenFindsAFolderInTheOpenLayout(t *testing.T) {
	root := t.TempDir()
	want := writeOpen(t, root, "Pets")
	got, err := catalog.Open(t.Context(), "PETS", catalog.Options{DataDir: root})
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "pets" || got.Fingerprint() != want.Fingerprint() {
		t.Errorf("%s is another data set than was written", got.Name)
	}
	second, err := catalog.Open(t.Context(), "pets", catalog.Options{DataDir: root, DevSplit: 2})
	if err != nil {
		t.Fatal(err)
	}
	f, err := catalog.Find("pets", catalog.Options{DataDir: root})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]dataset.Split{got.Split, second.Split}, got.Splits()); diff != "" || f.Layout != catalog.OpenLayout {
		t.Errorf("splits of layout %s (-want +got):\n%s", f.Layout, diff)
	}
}

func TestOpenWithoutSplit(t *testing.T) {
	root := t.TempDir()
	writeOpen(t, root, "pets")
	if err := os.Remove(filepath.Join(root, "pets", openlayout.SplitsFile)); err != nil {
		t.Fatal(err)
	}
	o := catalog.Options{DataDir: root, NoCache: true}
	if _, err := catalog.Open(t.Context(), "pets", o); err == nil || !strings.Contains(err.Error(), openlayout.SplitsFile) {
		t.Errorf("without splits.csv: %v", err)
	}
	o.WithoutSplit = true
	d, err := catalog.Open(t.Context(), "pets", o)
	if err != nil || d.Split.Train != nil {
		t.Errorf("before the classes are split: %v", err)
	}
	copyMini(t, root, "mini")
	if d, err := catalog.Open(t.Context(), "mini", o); err != nil || len(d.Split.Train) == 0 {
		t.Errorf("in the xlsa17 layout, which has always a split: %v", err)
	}
}

func TestFolderAtFindsTheLayout(t *testing.T) {
	for _, c := range []struct {
		files string
		want  catalog.Layout
		err   string
	}{
		{"labels.csv features.npy", catalog.OpenLayout, ""},
		{"labels.csv other.mat", catalog.OpenLayout, ""},
		{"classes.csv splits.csv", catalog.OpenLayout, ""},
		{"features.csv", catalog.OpenLayout, ""},
		{"att_splits.mat res101.mat", catalog.XLSA17, ""},
		{"att_splits.mat classes.csv", catalog.XLSA17, ""},
		{"googlenet.MAT", catalog.XLSA17, ""},
		{"labels.csv att_splits.mat", "", "expected one data set, found labels.csv of the open layout and att_splits.mat of the xlsa17 layout. Move one of the two elsewhere."},
		{"README.md", "", "expected a data set: features.npy, features.csv, labels.csv, classes.csv, attributes.csv, splits.csv (the open layout), or res101.mat and att_splits.mat (the xlsa17 layout): found none of these files"},
		{"", "", "found none of these files"},
	} {
		dir := t.TempDir()
		for name := range strings.FieldsSeq(c.files) {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		f, err := catalog.FolderAt(dir)
		if c.err == "" && (err != nil || f.Layout != c.want || f.Dir != dir) {
			t.Errorf("%s: %+v, %v, expected %s", c.files, f, err, c.want)
		}
		if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err) || !strings.HasPrefix(err.Error(), dir)) {
			t.Errorf("%s: error %v, expected %s", c.files, err, c.err)
		}
	}
	if _, err := catalog.FolderAt(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "no such file or directory") {
		t.Errorf("of no folder: %v", err)
	}
}

func TestGenerated(t *testing.T) {
	for name, want := range map[string]bool{"glyphs": true, "GLYPHS": true, "Simulated-CUB": true, "cub": false, "": false} {
		if catalog.Generated(name) != want {
			t.Errorf("Generated(%q) is %v", name, !want)
		}
	}
}

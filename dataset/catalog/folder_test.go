package catalog_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/openlayout"
)

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
	splits, err := f.Splits(t.Context(), got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]dataset.Split{got.Split, second.Split}, splits); diff != "" || f.Layout != catalog.OpenLayout {
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
		{"README.md", "", "expected a data set: features.npy, features.csv, labels.csv, classes.csv, attributes.csv, splits.csv (the open layout), or res101.mat and att_splits.mat (the xlsa17 layout), found none of these files"},
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

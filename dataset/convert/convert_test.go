package convert_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/convert"
	"github.com/lago-train/lago-train/dataset/openlayout"
)

func quiet() logrus.FieldLogger {
	log, _ := logtest.NewNullLogger()
	return log
}

func in(dir string) catalog.Options {
	return catalog.Options{DataDir: dir, NoCache: true, Log: quiet()}
}

// open returns the fingerprint of a data set by a division, and its sizes.
func open(t *testing.T, name, dir string, division int) *dataset.Dataset {
	t.Helper()
	o := in(dir)
	o.DevSplit = division
	d, err := catalog.Open(t.Context(), name, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func turn(t *testing.T, name, from string, to catalog.Layout, dir string) convert.Result {
	t.Helper()
	r, err := convert.Convert(t.Context(), name, in(from), to, dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// There and back again a data set is the same to the bit.
func TestThereAndBack(t *testing.T) {
	const fixtures = "../xlsa17/testdata"
	for _, name := range []string{"plain", "compressed", "glyphs"} {
		t.Run(name, func(t *testing.T) {
			want := open(t, name, fixtures, 1).Fingerprint()
			root := t.TempDir()
			there := turn(t, name, fixtures, catalog.OpenLayout, filepath.Join(root, "there"))
			renamed := turn(t, "there", root, catalog.XLSA17, filepath.Join(root, "Back"))
			again := turn(t, "back", root, catalog.OpenLayout, filepath.Join(root, "again"))
			for _, r := range []convert.Result{there, renamed, again} {
				if r.Fingerprint != want || r.Renamed || r.Divisions != 1 {
					t.Errorf("%+v, expected fingerprint %s", r, want)
				}
				if got := open(t, filepath.Base(r.Dir), root, 1).Fingerprint(); got != want {
					t.Errorf("%s has fingerprint %s, expected %s", r.Dir, got, want)
				}
			}
			if there.Layout != catalog.OpenLayout || there.Name != name || there.Source == "" || again.Source != renamed.Dir {
				t.Errorf("%+v", there)
			}
		})
	}
}

// small is a data set with three divisions, samples held out, undescribed attributes
// and groups that the names don't tell.
func small(t *testing.T, dir string) *dataset.Dataset {
	t.Helper()
	d := open(t, "plain", "../xlsa17/testdata", 1)
	d.Groups = []string{"shape", "the colour", "habitat", "size"}
	d.TestSeen = d.SamplesOf(d.Split.Train[:2])[:5]
	u := slices.Clone(d.Descriptions.Data)
	u[3] = 0.1 + 0.2 // needs all of its digits
	d.Descriptions.Data = u
	s := d.Split
	second := dataset.Split{Train: slices.Sorted(slices.Values(append(s.Val[1:], s.Train[:4]...))), Val: slices.Sorted(slices.Values(append([]int{s.Val[0]}, s.Train[4:]...))), Test: s.Test}
	third := dataset.Split{Train: s.Val, Val: s.Train, Test: s.Test}
	if err := openlayout.Write(dir, d, second, third); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestAllDivisionsAreConverted(t *testing.T) {
	root := t.TempDir()
	d := small(t, filepath.Join(root, "small"))
	r := turn(t, "small", root, catalog.XLSA17, filepath.Join(root, "mat"))
	if r.Divisions != 3 || !r.Renamed || r.Fingerprint == d.Fingerprint() {
		t.Errorf("%+v, expected three divisions and names with groups", r)
	}
	turn(t, "mat", root, catalog.OpenLayout, filepath.Join(root, "back"))
	for n := 1; n <= 3; n++ {
		want, got := open(t, "small", root, n), open(t, "back", root, n)
		want.Attributes = got.Attributes // renamed
		if want.Fingerprint() != got.Fingerprint() {
			t.Errorf("division %d is another one", n)
		}
	}
	if name := open(t, "back", root, 1).Attributes[3].Name; name != "the colour::colour::v3" {
		t.Errorf("an attribute is %q", name)
	}
}

func TestConvertRefuses(t *testing.T) {
	root := t.TempDir()
	small(t, filepath.Join(root, "small"))
	full := filepath.Join(root, "full")
	if err := os.Mkdir(full, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(full, "notes"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what, name string
		to         catalog.Layout
		dir        string
		want       string
	}{
		{"a layout", "small", "hdf5", "new", `expected the layout open or xlsa17, found "hdf5"`},
		{"a name", "big", catalog.OpenLayout, "new", `"big"`},
		{"a folder that is not empty", "small", catalog.OpenLayout, "full", "expected an empty folder, or none, found 1 files in it"},
		{"a folder that is a file", "small", catalog.OpenLayout, filepath.Join("full", "notes"), "not a directory"},
	} {
		_, err := convert.Convert(t.Context(), c.name, in(root), c.to, filepath.Join(root, c.dir))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected %s", c.what, err, c.want)
		}
	}
	// What can't be written leaves nothing behind.
	for _, name := range []string{"classes.csv", "labels.csv", "splits.csv"} {
		path := filepath.Join(root, "small", name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "012.Class_L", "Class\x00L")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := convert.Convert(t.Context(), "small", in(root), catalog.XLSA17, filepath.Join(root, "new")); err == nil || !strings.Contains(err.Error(), "control characters") {
		t.Errorf("a name that no line can hold: %v", err)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
}

// An empty folder may be there already.
func TestConvertIntoAnEmptyFolder(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "new"), 0o777); err != nil {
		t.Fatal(err)
	}
	turn(t, "plain", "../xlsa17/testdata", catalog.OpenLayout, filepath.Join(root, "new"))
	open(t, "new", root, 1)
}

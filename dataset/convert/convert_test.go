package convert

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
	"github.com/lago-train/lago-train/dataset/openlayout"
)

const fixtures = "../xlsa17/testdata"

func quiet() logrus.FieldLogger {
	log, _ := logtest.NewNullLogger()
	return log
}

func in(dir string) catalog.Options {
	return catalog.Options{DataDir: dir, NoCache: true, Log: quiet()}
}

// open opens a data set with one of its splits.
func open(t *testing.T, name, dir string, split int) *dataset.Dataset {
	t.Helper()
	o := in(dir)
	o.DevSplit = split
	d, err := catalog.Open(t.Context(), name, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestConvertKeepsFingerprint(t *testing.T) {
	for _, name := range []string{"plain", "compressed", "glyphs"} {
		t.Run(name, func(t *testing.T) {
			want := open(t, name, fixtures, 1).Fingerprint()
			root := t.TempDir()
			dir := filepath.Join(root, "Converted")
			r, err := Convert(t.Context(), name, in(fixtures), dir)
			if err != nil {
				t.Fatal(err)
			}
			if r.Fingerprint != want || r.Splits != 1 || r.Name != name || r.Dir != dir || r.Source == "" {
				t.Errorf("%+v, expected fingerprint %s", r, want)
			}
			if got := open(t, "converted", root, 1).Fingerprint(); got != want {
				t.Errorf("fingerprint %s, expected %s", got, want)
			}
		})
	}
}

// small writes a data set with three splits, held-out samples and missing entries.
func small(t *testing.T, dir string) {
	t.Helper()
	d := open(t, "plain", fixtures, 1)
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
}

// All splits are converted. Without a folder the result is beside the original, and an
// empty folder may exist.
func TestConvertAllSplits(t *testing.T) {
	root := t.TempDir()
	small(t, filepath.Join(root, "small"))
	if err := os.Mkdir(filepath.Join(root, "small-open"), 0o777); err != nil {
		t.Fatal(err)
	}
	r, err := Convert(t.Context(), "Small", in(root), "")
	if err != nil || r.Splits != 3 || r.Dir != filepath.Join(root, "small-open") {
		t.Fatalf("%+v: %v", r, err)
	}
	for n := 1; n <= 3; n++ {
		if open(t, "small", root, n).Fingerprint() != open(t, "small-open", root, n).Fingerprint() {
			t.Errorf("split %d differs", n)
		}
	}
}

func TestConvertErrors(t *testing.T) {
	root := t.TempDir()
	small(t, filepath.Join(root, "small"))
	full := filepath.Join(root, "full")
	if err := os.Mkdir(full, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(full, "notes"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ what, name, dir, want string }{
		{"unknown name", "big", "new", `"big"`},
		{"folder that is not empty", "small", "full", "full: expected an empty folder, or none, found 1 file in it"},
		{"folder that is a file", "small", filepath.Join("full", "notes"), "not a directory"},
	} {
		if _, err := Convert(t.Context(), c.name, in(root), filepath.Join(root, c.dir)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected %s", c.what, err, c.want)
		}
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 2 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestVerifyNoticesDifferences(t *testing.T) {
	d := open(t, "plain", fixtures, 1)
	dir := filepath.Join(t.TempDir(), "new")
	if err := openlayout.Write(dir, d); err != nil {
		t.Fatal(err)
	}
	same := []dataset.Split{d.Split}
	other := []dataset.Split{{Train: d.Split.Val, Val: d.Split.Train, Test: d.Split.Test}}
	changed := *d
	changed.Features.Data = slices.Clone(d.Features.Data)
	changed.Features.Data[5] += 1e-6
	changed.FeaturesSum = ""
	for _, c := range []struct {
		name   string
		d      *dataset.Dataset
		splits []dataset.Split
		want   string
	}{
		{"missing split", d, append(same, d.Split), "2 splits were written, and 1 are read"},
		{"other split", d, other, "split 1 of the written folder differs"},
		{"other feature", &changed, same, "differs"},
	} {
		if err := verify(t.Context(), c.d, c.splits, dir, in("")); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := verify(t.Context(), d, same, dir, in("")); err != nil {
		t.Error(err)
	}
}

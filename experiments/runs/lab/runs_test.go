package lab

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/tiny"
)

// Each kind, configuration, data set and division of the classes has its own file, which the
// same question replaces. The newest is the first.
func TestStoredResults(t *testing.T) {
	l := New(tiny.Small(), t.TempDir())
	changed := *l.Data
	changed.Features.Data, changed.FeaturesSum = slices.Clone(changed.Features.Data), ""
	changed.Features.Data[0]++
	other, rotated := New(&changed, l.Root), New(l.Data, l.Root)
	testkit.NoError(t, rotated.Rotate(4, 1))
	for i, s := range []struct {
		*Lab
		kind   string
		config int
		files  int
	}{{l, "noise", 1, 1}, {l, "noise", 2, 2}, {l, "noise", 1, 2}, {l, "compare", 1, 3}, {other, "noise", 1, 4}, {rotated, "noise", 1, 5}} {
		testkit.NoError(t, s.Store(s.kind, s.config, []int{i}))
		list, missing, err := ReadStored(t.Context(), l.Root)
		if err != nil || len(missing) > 0 || len(list) != s.files {
			t.Fatalf("result %d: %d files, unreadable %+v, %v, expected %d files", i, len(list), missing, err, s.files)
		}
	}
	files := testkit.Must(filepath.Glob(filepath.Join(l.Root, "compare-*.json")))(t)
	later := time.Now().Add(time.Minute)
	testkit.NoError(t, os.Chtimes(files[0], later, later))
	list, _, err := ReadStored(t.Context(), l.Root)
	testkit.NoError(t, err)
	var result []int
	testkit.NoError(t, list[0].Decode(&result))
	if got := list[0]; got.Kind != "compare" || got.Dataset != l.Data.Name || got.Fingerprint != l.Fingerprint() || string(got.Config) != "1" ||
		got.Path != files[0] || !got.Time.Equal(later) && got.Time.Sub(later).Abs() > time.Second || !slices.Equal(result, []int{3}) {
		t.Errorf("found %+v with %v, expected the newest", got, result)
	}
	testkit.WantError(t, list[0].Decode(&struct{}{}), files[0]+": result: expected a result of compare", "Repeat the command")
}

// A damaged file is listed with its reason, and a named pipe is not waited for. Other files of
// the folder are no results.
func TestDamagedStoredResults(t *testing.T) {
	dir := t.TempDir()
	testkit.Write(t, dir, "noise-a-00000001.json", `{"kind": "noise", "dataset": "a"}`)
	testkit.Write(t, dir, "notes.json", `{`)
	l := New(tiny.Small(), t.TempDir())
	testkit.NoError(t, l.Store("compare", 1, []int{3}))
	stored := testkit.Must(filepath.Glob(filepath.Join(l.Root, "compare-*.json")))(t)[0]
	testkit.Write(t, dir, "compare-a-00000001.json", strings.Replace(testkit.Read(t, stored), "3\n", "4\n", 1))
	testkit.NoError(t, unix.Mkfifo(filepath.Join(dir, "noise-a-00000002.json"), 0o600))
	testkit.NoError(t, os.Mkdir(filepath.Join(dir, "noise-a-00000003.json"), 0o700))
	list, missing, err := ReadStored(t.Context(), dir)
	if err != nil || len(list) != 0 || len(missing) != 3 {
		t.Fatalf("found %+v, %v, and unreadable %+v, expected three that are unreadable", list, err, missing)
	}
	for _, m := range missing[:2] { // the first was changed
		testkit.WantText(t, m.Why, "expected a result that this version of lago-train stored. Repeat the command that stored it.")
	}
	testkit.WantText(t, missing[2].Why, "regular file")
}

func TestSummarise(t *testing.T) {
	s := Summarise([]float64{0.2, 0.3, 0.7})
	testkit.Near(t, "mean", s.Mean, 0.4, 1e-12)
	testkit.Near(t, "standard error", *s.SEM, math.Sqrt((0.04+0.01+0.09)/2/3), 1e-12)
	one := Summarise([]float64{0.25})
	testkit.Equal(t, "JSON", string(testkit.Must(json.Marshal(one))(t)), `{"mean":0.25,"sem":null,"values":[0.25]}`)
	testkit.Equal(t, "texts", []string{one.MeanText(), one.SEMText(), Summarise(nil).MeanText(), Summarise([]float64{0.5, 0.52}).SEMText()}, []string{"25.0 %", "-", "-", "1.0 %"})
	list := []Summary{{}, one, Summarise([]float64{0.5}), {}, Summarise([]float64{0.3})}
	slices.SortStableFunc(list, ByMean)
	if list[0].Mean != 0.5 || list[1].Mean != 0.3 || list[2].Mean != 0.25 || list[3].Values != nil {
		t.Errorf("by mean: %+v", list)
	}
}

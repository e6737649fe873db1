package comparison

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/model"
)

// Each data set, split and configuration has its own stored comparison, and Find
// returns the last one of the same data.
func TestStoredComparison(t *testing.T) {
	m := &protocol.Measured{PerClass: lab.Summarise([]float64{0.625}), Classes: 4}
	l := testlab.Simulated(t)
	config := compareAll(l)
	store := func(l *lab.Lab, name string) (files []string) {
		t.Helper()
		if err := l.Store(Kind, config, &Result{Dataset: l.Data.Name, Methods: []tuning.Method{{Name: name, Val: m, Test: m, Parts: make([]tuning.Part, 1)}}}); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(l.Root, "compare-simulated-small-*.json"))
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	first := store(l, "first")[0]
	config.Budget++
	store(l, "second")
	d := *l.Data
	d.Labels = slices.Clone(d.Labels)
	d.Labels[0], d.Labels[1] = d.Labels[1], d.Labels[0]
	d.Features.Data, d.FeaturesSum = slices.Clone(d.Features.Data), ""
	d.Features.Data[0]++
	if files := store(lab.New(&d, l.Root), "other data"); len(files) != 3 {
		t.Errorf("stored in %v, expected three files", files)
	}
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(first, later, later); err != nil {
		t.Fatal(err)
	}
	r, path, err := Find(l.Root, Kind, "Simulated-Small", l.Fingerprint())
	if err != nil || path != first || r.Methods[0].Name != "first" || r.Methods[0].Test.PerClass.Mean != 0.625 {
		t.Errorf("found %+v in %s, error %v", r, path, err)
	}
	if _, _, err := Find(l.Root, Kind, l.Data.Name, "nowhere"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, expected fs.ErrNotExist", err)
	}
}

func TestStoredDifferencesNameMethods(t *testing.T) {
	m := &protocol.Measured{PerClass: lab.Summarise([]float64{0.625}), Classes: 4}
	methods := []tuning.Method{{Name: "lago", Val: m, Test: m, Parts: make([]tuning.Part, 1)}}
	l := testlab.Simulated(t)
	for _, d := range []Difference{{Reference: "lago", Method: "other"}, {Reference: "other", Method: "lago"}} {
		r := &Result{Dataset: l.Data.Name, Methods: methods, Differences: []Difference{d}}
		if err := l.Store(Kind, compareAll(l), r); err != nil {
			t.Fatal(err)
		}
		if _, _, err := Find(l.Root, Kind, l.Data.Name, l.Fingerprint()); err == nil || !strings.Contains(err.Error(), `"other"`) {
			t.Errorf("%s minus %s: error %v, expected one on other", d.Reference, d.Method, err)
		}
	}
}

// Nothing is stored where no method has a result, and a file without methods is refused.
func TestComparisonWithoutMethods(t *testing.T) {
	l := testlab.Simulated(t)
	c := tuning.Config{Methods: []string{"k-soft"}, Common: common(l, 1, 1), LAGO: []protocol.Config{testlab.Config(l, protocol.DevThenTest)}}
	c.LAGO[0].Variant, c.LAGO[0].K = model.KSoft, 400
	r, err := Run(t.Context(), l, c)
	if err != nil || len(r.Methods) != 0 || len(r.Missing) == 0 || !strings.HasPrefix(r.Missing[0].Why, "k: expected at most the number of attributes") {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, _, err := Find(l.Root, Kind, l.Data.Name, l.Fingerprint()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, expected fs.ErrNotExist", err)
	}
	if err := l.Store(Kind, c, r); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Find(l.Root, Kind, l.Data.Name, l.Fingerprint()); err == nil || !strings.Contains(err.Error(), "methods: expected at least one, found none") {
		t.Errorf("error %v", err)
	}
}

package convert

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/openlayout"
)

// Whatever is lost is noticed before the folder appears.
func TestSameNoticesADifference(t *testing.T) {
	f, err := catalog.FolderAt("../xlsa17/testdata/plain")
	if err != nil {
		t.Fatal(err)
	}
	o := catalog.Options{NoCache: true}
	d, err := f.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "new")
	if err := openlayout.Write(dir, d); err != nil {
		t.Fatal(err)
	}
	divisions := []dataset.Split{d.Split}
	if err := same(t.Context(), d, divisions, dir, o); err != nil {
		t.Error(err)
	}
	if err := same(t.Context(), d, append(divisions, d.Split), dir, o); err == nil || !strings.Contains(err.Error(), "2 divisions were written, and 1 are read") {
		t.Errorf("a division is missing: %v", err)
	}
	other := []dataset.Split{{Train: d.Split.Val, Val: d.Split.Train, Test: d.Split.Test}}
	if err := same(t.Context(), d, other, dir, o); err == nil || !strings.Contains(err.Error(), "another data set by division 1") {
		t.Errorf("a division is another one: %v", err)
	}
	d.Features.Data[5] += 1e-6
	d.FeaturesSum = ""
	if err := same(t.Context(), d, divisions, dir, o); err == nil || !strings.Contains(err.Error(), "another data set") {
		t.Errorf("a feature is another one: %v", err)
	}
}

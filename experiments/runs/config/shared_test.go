//go:build shared

package config

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/matlab"
	"github.com/lago-train/lago-train/internal/testkit"
)

// released returns a data set of the size of a released one, with its classes and split. It has no features.
func released(t *testing.T, dir string, samples int) *dataset.Dataset {
	t.Helper()
	dir = testkit.Shared(t, "data", dir)
	vars := testkit.Must(matlab.Open(t.Context(), filepath.Join(dir, "att_splits.mat"), []string{"allclasses_names", "test_seen_loc", "original_att"}))(t)
	d := &dataset.Dataset{Name: strings.ToLower(filepath.Base(dir)), Attributes: make([]dataset.Attribute, vars["original_att"].Dims[0])}
	d.Features.Rows, d.Features.Cols = samples, 2048
	testkit.NoError(t, vars["allclasses_names"].Load(t.Context()))
	testkit.NoError(t, vars["test_seen_loc"].Load(t.Context()))
	test := strings.Fields(testkit.Read(t, filepath.Join(dir, "testclasses.txt")))
	for z, class := range vars["allclasses_names"].Strings {
		if d.Classes = append(d.Classes, class); slices.Contains(test, class) {
			d.Split.Test = append(d.Split.Test, z)
		} else {
			d.Split.Train = append(d.Split.Train, z)
		}
	}
	for _, at := range vars["test_seen_loc"].Float32 {
		d.TestSeen = append(d.TestSeen, int(at)-1)
	}
	slices.Sort(d.TestSeen)
	d.TestSeen = slices.Compact(d.TestSeen)
	return d
}

// Numbers are of the released features and split alone, not of others below the same name.
func TestCovers(t *testing.T) {
	for dir, samples := range map[string]int{"xlsa17/CUB": 11788, "xlsa17/AWA2": 37322, "xlsa17/SUN": 14340, "CUB127": 7456} {
		d := released(t, dir, samples)
		if !IsPublished(d) {
			t.Errorf("%s has the digest %s, expected %s", dir, PublishedDigest(d), PublishedDigests[d.Name])
		}
		for what, change := range map[string]func(d *dataset.Dataset){
			"other features": func(d *dataset.Dataset) { d.Features.Cols = 512 },
			"fewer samples":  func(d *dataset.Dataset) { d.Features.Rows-- },
			"another split": func(d *dataset.Dataset) {
				d.Split = dataset.Split{Train: d.Split.Train[1:], Test: append(d.Split.Test, d.Split.Train[0])}
			},
			"another name": func(d *dataset.Dataset) { d.Name = "birds" },
		} {
			other := *d
			if change(&other); IsPublished(&other) {
				t.Errorf("%s, %s: still covered", dir, what)
			}
		}
	}
}

package config

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/matlab"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model"
)

func TestEveryVariantHasARunAndACellOnEveryDataset(t *testing.T) {
	for _, dataset := range []string{"cub", "AWA2", "sun"} {
		for _, v := range model.Variants {
			if r, ok := publishedRun(dataset, v); !ok || len(r.Accuracy) != 5 || publishedCell(dataset, string(v)) == "" {
				t.Errorf("%s on %s: found %+v", v, dataset, r)
			}
		}
	}
}

func TestCellsAreAsPrinted(t *testing.T) {
	for _, c := range []struct{ dataset, method, want string }{
		{"cub", "ESZSL", "53.9"},                  // table 1 of the paper
		{"AWA2", "Kernel alignment", "58.3-70.5"}, // ZHANG2018 in table 1
		{"SUN", "semantic-hard", "47.1"},          // table A.1
		{"CUB", "semantic-soft", "57.8"},          // table A.1
	} {
		testkit.Equal(t, c.method+" on "+c.dataset, publishedCell(c.dataset, c.method), c.want)
	}
	testkit.Equal(t, "cub127, which the paper does not have", publishedCell("cub127", "ESZSL"), "")
	rows := Published.Ablation
	got, ok := rows[0].On("CUB")
	if _, sun := rows[0].On("sun"); len(rows) != 8 || !ok || got != 52.85 || sun {
		t.Errorf("%d rows, %g on CUB; expected the 8 of table A.2, which has no SUN, and 52.85", len(rows), got)
	}
}

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

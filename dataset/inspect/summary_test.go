package inspect_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/inspect"
)

// animals has classes of 1, 2, 3, 4 and 2 samples. The split leaves out the last one.
func animals() *dataset.Dataset {
	d := &dataset.Dataset{
		Name:       "animals",
		Source:     "made by hand",
		Features:   dataset.NewMatrix[float32](12, 3),
		Labels:     []int{0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4},
		Classes:    []string{"ant", "bee", "cat", "dog", "éléphant"},
		Attributes: []dataset.Attribute{{Name: "legs::four", Group: 0}, {Name: "flies", Group: 1}, {Name: "legs::six", Group: 0}},
		Groups:     []string{"legs", "flies"},
		Descriptions: dataset.Matrix[float64]{Rows: 5, Cols: 3, Data: []float64{
			0, 0, 1,
			0, 1, math.NaN(),
			1, 0, 0,
			1, 0, 0,
			1, 0, 0,
		}},
		Split:    dataset.Split{Train: []int{0, 3}, Val: []int{1}, Test: []int{2}},
		TestSeen: []int{1},
	}
	if err := dataset.Check(d); err != nil {
		panic(err)
	}
	return d
}

func TestSummarize(t *testing.T) {
	d := animals()
	want := inspect.Summary{
		Name: "animals", Source: "made by hand", Fingerprint: d.Fingerprint(),
		Samples: 12, HeldOut: 1, Dimensions: 3, Attributes: 3, Undescribed: 1,
		Subsets: []inspect.Subset{
			{Name: "train", Classes: 2, Samples: 5, Min: 1, Median: 2.5, Max: 4},
			{Name: "val", Classes: 1, Samples: 2, Min: 2, Median: 2, Max: 2},
			{Name: "test", Classes: 1, Samples: 3, Min: 3, Median: 3, Max: 3},
		},
		Groups: []inspect.Group{
			{Name: "legs", Attributes: []string{"legs::four", "legs::six"}},
			{Name: "flies", Attributes: []string{"flies"}},
		},
		Classes: []inspect.Class{
			{Name: "ant", Subset: "train", Samples: 1, Described: 3},
			{Name: "bee", Subset: "val", Samples: 2, Described: 2},
			{Name: "cat", Subset: "test", Samples: 3, Described: 3},
			{Name: "dog", Subset: "train", Samples: 4, Described: 3},
			{Name: "éléphant", Samples: 2, Described: 3},
		},
	}
	if diff := cmp.Diff(want, inspect.Summarize(d)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSummarizeWithoutGroups(t *testing.T) {
	d := animals()
	d.Groups = nil
	for m := range d.Attributes {
		d.Attributes[m].Group = -1
	}
	text, err := json.Marshal(inspect.Summarize(d))
	if err != nil || !strings.Contains(string(text), `"groups":[]`) {
		t.Errorf("expected an empty list of groups, found %s, %v", text, err)
	}
}

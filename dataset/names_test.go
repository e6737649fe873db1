package dataset_test

import (
	"slices"
	"testing"

	"github.com/lago-train/lago-train/dataset"
)

func TestNameIndex(t *testing.T) {
	var x dataset.NameIndex
	if got := x.Find("a", "a"); got != nil {
		t.Errorf("an empty index finds %v", got)
	}
	for i, name := range []string{"Killer whale", "killer-whale", "Ox", "Été!"} {
		x.Add(i, name, dataset.FoldName(name))
	}
	for name, want := range map[string][]int{"killer-whale": {1}, "KILLER_WHALE": {0, 1}, "ox": {2}, " été": {3}, "cow": nil} {
		if got := x.Find(name, dataset.FoldName(name)); !slices.Equal(got, want) {
			t.Errorf("%q: found %v, expected %v", name, got, want)
		}
	}
}

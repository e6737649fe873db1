package simulate_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/internal/testkit/simulate"
)

func drawSpec(t *rapid.T) simulate.Spec {
	s := simulate.Spec{
		Name:         "simulated",
		Seed:         rapid.Uint64().Draw(t, "seed"),
		Dims:         rapid.IntRange(1, 40).Draw(t, "dims"),
		Attributes:   rapid.IntRange(1, 60).Draw(t, "attributes"),
		TrainClasses: rapid.IntRange(1, 20).Draw(t, "train classes"),
		ValClasses:   rapid.IntRange(1, 8).Draw(t, "val classes"),
		TestClasses:  rapid.IntRange(1, 8).Draw(t, "test classes"),
	}
	s.Groups = rapid.IntRange(1, s.Attributes).Draw(t, "groups")
	s.Samples = s.TrainClasses + s.ValClasses + s.TestClasses + rapid.IntRange(0, 100).Draw(t, "more samples")
	return s
}

// Any size gives sound data, the same for any number of processors.
func TestMake(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t)
		runtime.GOMAXPROCS(1)
		ds := simulate.Make(s)
		testkit.NoError(t, check.Errors(ds))
		runtime.GOMAXPROCS(rapid.IntRange(2, 9).Draw(t, "processors"))
		testkit.Equal(t, "with more processors", simulate.Make(s), ds)
		got := simulate.Spec{
			Name: ds.Name, Seed: s.Seed,
			Samples: ds.Features.Rows, Dims: ds.Features.Cols,
			Attributes: len(ds.Attributes), Groups: len(ds.Groups),
			TrainClasses: len(ds.Split.Train), ValClasses: len(ds.Split.Val), TestClasses: len(ds.Split.Test),
		}
		testkit.Equal(t, "sizes", got, s)
		for _, z := range ds.Split.Seen() {
			held := 0
			for _, i := range ds.TestSeen {
				if ds.Labels[i] == z {
					held++
				}
			}
			testkit.Equal(t, fmt.Sprintf("held-out samples of class %d", z), held, ds.SamplesPerClass()[z]/5)
		}
		if least := slices.Min(ds.Features.Data); least < 0 {
			t.Errorf("a feature is %v, want none below 0", least)
		}
		// Samples and attributes are spread evenly, and values of a group exclude each other.
		attributes := make([]int, len(ds.Groups))
		for _, k := range ds.GroupOf() {
			attributes[k]++
		}
		for _, counts := range [][]int{ds.SamplesPerClass(), attributes} {
			if slices.Max(counts)-slices.Min(counts) > 1 {
				t.Errorf("counts differ by more than one: %v", counts)
			}
		}
		for z := range ds.Classes {
			sums := make([]float64, len(ds.Groups))
			for m, p := range ds.Descriptions.Row(z) {
				sums[ds.Attributes[m].Group] += p
			}
			if most := slices.Max(sums); most > 1+1e-9 {
				t.Errorf("class %d has a group that sums to %v", z, most)
			}
		}
	})
}

package simulate_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/simulate"
	"github.com/lago-train/lago-train/internal/invalid"
)

func mustMake(t rapid.TB, s simulate.Spec) *dataset.Dataset {
	t.Helper()
	ds, err := simulate.Make(s)
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

func drawSpec(t *rapid.T) simulate.Spec {
	s := simulate.Spec{
		Name:         rapid.StringMatching(`[a-z]{0,8}`).Draw(t, "name"),
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

func TestAnySizeIsValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t)
		ds := mustMake(t, s)
		if err := dataset.Check(ds); err != nil {
			t.Error(err)
		}
		got := simulate.Spec{
			Name: s.Name, Seed: s.Seed,
			Samples: ds.Features.Rows, Dims: ds.Features.Cols,
			Attributes: len(ds.Attributes), Groups: len(ds.Groups),
			TrainClasses: len(ds.Split.Train), ValClasses: len(ds.Split.Val), TestClasses: len(ds.Split.Test),
		}
		if diff := cmp.Diff(s, got); diff != "" {
			t.Errorf("sizes (-want +got):\n%s", diff)
		}
		if !strings.HasPrefix(ds.Name, "simulated") || !strings.Contains(ds.Source, "simulated") {
			t.Errorf("name %q and source %q must say that the data are simulated", ds.Name, ds.Source)
		}
		for _, z := range ds.Split.Seen() {
			held := 0
			for _, i := range ds.TestSeen {
				if ds.Labels[i] == z {
					held++
				}
			}
			if n := ds.SamplesPerClass()[z]; held != n/5 {
				t.Errorf("%d of %d samples of class %d are held out", held, n, z)
			}
		}
		if least := slices.Min(ds.Features.Data); least < 0 {
			t.Errorf("a feature is %v, want none below 0", least)
		}
	})
}

func TestSamplesAndAttributesAreSpreadEvenly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := mustMake(t, drawSpec(t))
		samples := make([]int, len(ds.Classes))
		for _, z := range ds.Labels {
			samples[z]++
		}
		attributes := make([]int, len(ds.Groups))
		for _, k := range ds.GroupOf() {
			attributes[k]++
		}
		for _, counts := range [][]int{samples, attributes} {
			if slices.Max(counts)-slices.Min(counts) > 1 {
				t.Errorf("counts differ by more than one: %v", counts)
			}
		}
	})
}

func TestValuesOfAGroupExcludeEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := mustMake(t, drawSpec(t))
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

func TestMakeDoesNotDependOnTheNumberOfProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t)
		runtime.GOMAXPROCS(1)
		want := mustMake(t, s)
		runtime.GOMAXPROCS(rapid.IntRange(2, 9).Draw(t, "processors"))
		if diff := cmp.Diff(want, mustMake(t, s)); diff != "" {
			t.Errorf("(-1 processor +more):\n%s", diff)
		}
	})
}

func TestSeedChangesTheNumbersOnly(t *testing.T) {
	s := simulate.Spec{Samples: 30, Dims: 8, Attributes: 9, Groups: 3, TrainClasses: 5, ValClasses: 2, TestClasses: 3}
	a := mustMake(t, s)
	s.Seed++
	b := mustMake(t, s)
	if slices.Equal(a.Features.Data, b.Features.Data) || slices.Equal(a.Descriptions.Data, b.Descriptions.Data) {
		t.Error("another seed gives the same numbers")
	}
	if diff := cmp.Diff(a, b, cmpopts.IgnoreFields(dataset.Dataset{}, "Features", "Descriptions", "Source")); diff != "" {
		t.Errorf("more changed with the seed than numbers:\n%s", diff)
	}
}

func TestImpossibleSpecs(t *testing.T) {
	for field, change := range map[string]func(*simulate.Spec){
		"dimensions":  func(s *simulate.Spec) { s.Dims = 0 },
		"samples":     func(s *simulate.Spec) { s.Samples = 9 },
		"attributes":  func(s *simulate.Spec) { s.Groups = 7 },
		"val classes": func(s *simulate.Spec) { s.ValClasses = -5 },
	} {
		s := simulate.Spec{Samples: 20, Dims: 4, Attributes: 6, Groups: 2, TrainClasses: 5, ValClasses: 2, TestClasses: 3}
		change(&s)
		_, err := simulate.Make(s)
		if e := (*invalid.Error)(nil); !errors.As(err, &e) || e.Field != field {
			t.Errorf("found %v, expected an error of %s", err, field)
		}
	}
}

// The sizes in section 4 of the paper, and the split of each data set.
func TestPresets(t *testing.T) {
	type size struct{ samples, dims, attributes, groups, train, val, test int }
	for name, want := range map[string]size{
		"simulated-cub":  {11788, 2048, 312, 28, 100, 50, 50},
		"simulated-awa2": {37322, 2048, 85, 11, 27, 13, 10},
		"simulated-sun":  {14340, 2048, 102, 4, 580, 65, 72},
	} {
		s, ok := simulate.Preset(name)
		got := size{s.Samples, s.Dims, s.Attributes, s.Groups, s.TrainClasses, s.ValClasses, s.TestClasses}
		if !ok || got != want {
			t.Errorf("Preset(%q) = %+v, %v, want %+v", name, got, ok, want)
		}
		s.Dims = 2 // fewer, to be quick
		ds := mustMake(t, s)
		if err := dataset.Check(ds); err != nil || ds.Name != name {
			t.Errorf("data set %s: %v", ds.Name, err)
		}
	}
}

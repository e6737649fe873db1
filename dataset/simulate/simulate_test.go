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

func TestSameBitsOnAnyNumberOfProcessors(t *testing.T) {
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
	for _, c := range []struct {
		name   string
		change func(*simulate.Spec)
		field  string
		got    string
	}{
		{"no samples", func(s *simulate.Spec) { s.Samples = 0 }, "samples", "0"},
		{"no dimensions", func(s *simulate.Spec) { s.Dims = 0 }, "dimensions", "0"},
		{"no attributes", func(s *simulate.Spec) { s.Attributes = -1 }, "attributes", "-1"},
		{"no groups", func(s *simulate.Spec) { s.Groups = 0 }, "groups", "0"},
		{"no train classes", func(s *simulate.Spec) { s.TrainClasses = 0 }, "train classes", "0"},
		{"no val classes", func(s *simulate.Spec) { s.ValClasses = -5 }, "val classes", "-5"},
		{"no test classes", func(s *simulate.Spec) { s.TestClasses = 0 }, "test classes", "0"},
		{"fewer samples than classes", func(s *simulate.Spec) { s.Samples = 9 }, "samples", "9"},
		{"more groups than attributes", func(s *simulate.Spec) { s.Groups = 7 }, "attributes", "6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := simulate.Spec{
				Samples: 20, Dims: 4, Attributes: 6, Groups: 2,
				TrainClasses: 5, ValClasses: 2, TestClasses: 3,
			}
			c.change(&s)
			ds, err := simulate.Make(s)
			var e *invalid.Error
			if !errors.As(err, &e) {
				t.Fatalf("Make = %v, %v, want a invalid.Error", ds, err)
			}
			if e.Field != c.field || e.Got != c.got || e.Where != "simulated" {
				t.Errorf("error = %q, want one on %q that found %s", e, c.field, c.got)
			}
		})
	}
}

func TestNamesSaySimulated(t *testing.T) {
	for name, want := range map[string]string{
		"":               "simulated",
		"cub":            "simulated-cub",
		"simulated-cub":  "simulated-cub",
		"Simulated":      "simulated-Simulated",
		"real simulated": "simulated-real simulated",
	} {
		s := simulate.Spec{
			Name: name, Samples: 3, Dims: 1, Attributes: 1, Groups: 1,
			TrainClasses: 1, ValClasses: 1, TestClasses: 1,
		}
		if got := mustMake(t, s).Name; got != want {
			t.Errorf("named %q, the data set is %q, want %q", name, got, want)
		}
	}
}

// TestPresets holds the table of sizes in the paper (section 4), and the split of
// each data set.
func TestPresets(t *testing.T) {
	if diff := cmp.Diff([]string{"simulated-cub", "simulated-awa2", "simulated-sun"}, simulate.Presets()); diff != "" {
		t.Errorf("Presets (-want +got):\n%s", diff)
	}
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
		s.Dims = 2 // fewer, to be quick: all else is as large as it will be
		ds := mustMake(t, s)
		if err := dataset.Check(ds); err != nil || ds.Name != name {
			t.Errorf("data set %s: %v", ds.Name, err)
		}
	}
	if s, ok := simulate.Preset("cub"); ok {
		t.Errorf("Preset(cub) = %+v, want none: cub is no simulation", s)
	}
}

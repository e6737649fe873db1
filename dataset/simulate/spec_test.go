package simulate_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/simulate"
	"github.com/lago-train/lago-train/internal/invalid"
)

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

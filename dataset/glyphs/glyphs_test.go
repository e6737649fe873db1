package glyphs_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/glyphs"
	"github.com/lago-train/lago-train/internal/invalid"
)

func mustMake(t *testing.T, o glyphs.Options) *dataset.Dataset {
	t.Helper()
	ds, err := glyphs.Make(o)
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

// standard is the default data set, made once for the tests that only read it.
var standard = sync.OnceValues(func() (*dataset.Dataset, error) { return glyphs.Make(glyphs.Options{}) })

func TestDefaultIsASoundDataSet(t *testing.T) {
	ds, err := standard()
	if err != nil {
		t.Fatal(err)
	}
	if err := dataset.Check(ds); err != nil {
		t.Error(err)
	}
	type size struct{ Samples, Classes, Train, Val, Test, Groups int }
	got := size{
		ds.Features.Rows, len(ds.Classes),
		len(ds.Split.Train), len(ds.Split.Val), len(ds.Split.Test), len(ds.Groups),
	}
	if diff := cmp.Diff(size{3900, 52, 30, 10, 12, 12}, got); diff != "" {
		t.Errorf("sizes (-want +got):\n%s", diff)
	}
	if !strings.Contains(ds.Source, "seed 0") {
		t.Errorf("Source %q does not say the seed", ds.Source)
	}
}

func TestSameBitsOnAnyNumberOfProcessors(t *testing.T) {
	o := glyphs.Options{Seed: 7, SamplesPerClass: 3}
	want := mustMake(t, o)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, n := range []int{1, 3, 8} {
		runtime.GOMAXPROCS(n)
		if diff := cmp.Diff(want, mustMake(t, o)); diff != "" {
			t.Errorf("with GOMAXPROCS %d (-want +got):\n%s", n, diff)
		}
	}
}

func TestSeedChangesThePicturesOnly(t *testing.T) {
	a := mustMake(t, glyphs.Options{Seed: 1, SamplesPerClass: 2})
	b := mustMake(t, glyphs.Options{Seed: 2, SamplesPerClass: 2})
	for i := range a.Labels {
		if slices.Equal(a.Features.Row(i), b.Features.Row(i)) {
			t.Errorf("sample %d is the same with another seed", i)
		}
	}
	if diff := cmp.Diff(a, b, cmpopts.IgnoreFields(dataset.Dataset{}, "Features", "Source")); diff != "" {
		t.Errorf("more than features changed with the seed:\n%s", diff)
	}
}

func TestMoreSamplesKeepTheFirst(t *testing.T) {
	few := mustMake(t, glyphs.Options{SamplesPerClass: 2})
	many := mustMake(t, glyphs.Options{SamplesPerClass: 5})
	for z := range few.Classes {
		for i := range 2 {
			if !slices.Equal(few.Features.Row(2*z+i), many.Features.Row(5*z+i)) {
				t.Errorf("class %s: sample %d depends on the number of samples", few.Classes[z], i)
			}
		}
	}
}

func TestNegativeSamples(t *testing.T) {
	_, err := glyphs.Make(glyphs.Options{SamplesPerClass: -1})
	var e *invalid.Error
	if !errors.As(err, &e) || e.Field != "samples per class" || e.Got != "-1" {
		t.Errorf("error = %v, want a invalid.Error on the samples per class", err)
	}
}

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

// standard is the default data set, for tests that only read it.
var standard = sync.OnceValue(func() *dataset.Dataset { return glyphs.Make(glyphs.Options{}) })

func TestDefaultIsASoundDataSet(t *testing.T) {
	ds := standard()
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
	want := glyphs.Make(o)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, n := range []int{1, 3, 8} {
		runtime.GOMAXPROCS(n)
		if diff := cmp.Diff(want, glyphs.Make(o)); diff != "" {
			t.Errorf("with GOMAXPROCS %d (-want +got):\n%s", n, diff)
		}
	}
}

func TestSeedChangesThePicturesOnly(t *testing.T) {
	a := glyphs.Make(glyphs.Options{Seed: 1, SamplesPerClass: 2})
	b := glyphs.Make(glyphs.Options{Seed: 2, SamplesPerClass: 2})
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
	few := glyphs.Make(glyphs.Options{SamplesPerClass: 2})
	many := glyphs.Make(glyphs.Options{SamplesPerClass: 5})
	for z := range few.Classes {
		for i := range 2 {
			if !slices.Equal(few.Features.Row(2*z+i), many.Features.Row(5*z+i)) {
				t.Errorf("class %s: sample %d depends on the number of samples", few.Classes[z], i)
			}
		}
	}
}

// A fifth of the samples of each seen class is held out, and every typeface remains.
func TestHeldOutSamples(t *testing.T) {
	ds := standard()
	const perClass, faces = 75, 25
	seen := ds.Split.Seen()
	if n := len(ds.TestSeen); n != len(seen)*perClass/5 {
		t.Errorf("%d samples are held out of %d classes", n, len(seen))
	}
	trained := map[[2]int]bool{} // class and face
	for _, i := range ds.SamplesOf(seen) {
		if !slices.Contains(ds.TestSeen, i) {
			trained[[2]int{ds.Labels[i], i % perClass % faces}] = true
		}
	}
	if len(trained) != len(seen)*faces {
		t.Errorf("%d pairs of class and typeface are trained on, expected %d", len(trained), len(seen)*faces)
	}
}

func TestImageErrors(t *testing.T) {
	o := glyphs.Options{SamplesPerClass: 2}
	for _, c := range []struct {
		class string
		i     int
	}{{"?", 0}, {"", 0}, {"A", -1}, {"A", 2}} {
		if _, err := glyphs.Image(o, c.class, c.i); !errors.As(err, new(*invalid.Error)) {
			t.Errorf("Image(%q, %d): found %v, expected an *invalid.Error", c.class, c.i, err)
		}
	}
}

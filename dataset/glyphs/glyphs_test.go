package glyphs

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// standard is the default data set, for tests that only read it.
var standard = sync.OnceValue(Make)

func TestMake(t *testing.T) {
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
}

func TestMakeDoesNotDependOnTheNumberOfProcessors(t *testing.T) {
	want := standard()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if diff := cmp.Diff(want, Make()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
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
	for _, c := range []struct {
		class string
		i     int
	}{{"?", 0}, {"", 0}, {"A", -1}, {"A", 75}} {
		if _, err := Image(c.class, c.i); !errors.As(err, new(*invalid.Error)) {
			t.Errorf("Image(%q, %d): found %v, expected an *invalid.Error", c.class, c.i, err)
		}
	}
}

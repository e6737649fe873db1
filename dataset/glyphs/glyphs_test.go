package glyphs

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/testkit"
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

// The features and all else are those of the first version, on the architecture that made
// the results of the README.
func TestFingerprint(t *testing.T) {
	const want = "258675fa18814f54082a1a77d155f9e6b6482e1d1c6ab59162923f9d833f4918"
	if got := standard().Fingerprint(); got != want && runtime.GOARCH == "amd64" {
		t.Errorf("fingerprint %s, expected %s", got, want)
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

// The last exception that applies holds.
func TestParseTable(t *testing.T) {
	table := parseTable("# a comment\n\nclass part foot top\nA train end,serif:bar,mono:- -\n")
	if !slices.Equal(table.groups, []string{"foot", "top"}) || len(table.classes) != 1 || table.classes[0].name != "A" || table.classes[0].part != "train" {
		t.Fatalf("found %+v", table)
	}
	for _, f := range []struct {
		traits []trait
		want   string
	}{
		{nil, "end"},
		{[]trait{slanted}, "end"},
		{[]trait{serif}, "bar"},
		{[]trait{mono, serif}, ""},
	} {
		cells, of := table.classes[0].cells, face{traits: f.traits}
		if foot, top := cells[0].in(of), cells[1].in(of); foot != f.want || top != "" {
			t.Errorf("in a face with %v: %q and %q, expected %q and none", f.traits, foot, top, f.want)
		}
	}
}

// Each line has a cell per group, and exceptions are by traits of faces.
func TestLetters(t *testing.T) {
	for _, l := range letters.classes {
		if len(l.cells) != len(letters.groups) {
			t.Errorf("%s has %d cells, expected %d", l.name, len(l.cells), len(letters.groups))
		}
		for _, c := range l.cells {
			for _, exception := range strings.Split(string(c), ",")[1:] {
				name, _, found := strings.Cut(exception, ":")
				if !found || !slices.ContainsFunc(faces, func(f face) bool { return f.has(trait(name)) }) {
					t.Errorf("%s: %s is not trait:value", l.name, exception)
				}
			}
		}
	}
}

// Some entries equal shares of the faces, counted by their names.
func TestDescriptionsAreShares(t *testing.T) {
	attributes := letters.attributes()
	u := letters.descriptions(attributes)
	inFaces := func(word string) float64 {
		n := 0
		for _, f := range faces {
			if strings.Contains(f.name, word) {
				n++
			}
		}
		return float64(n) / float64(len(faces))
	}
	// Two monospaced faces have serifs too.
	serifs := inFaces("Serif") + inFaces("Roman") + inFaces("Go Mono") + inFaces("Modern Mono")
	for _, c := range []struct {
		class, attribute string
		want             float64
	}{
		{"T", "top::bar", 1},
		{"T", "left::open", 1},
		{"T", "foot::bar", serifs},
		{"T", "foot::end", 1 - serifs},
		{"B", "ends::serifed", serifs},
		{"O", "width::wide", 1 - inFaces("Mono")},
		{"O", "width::medium", inFaces("Mono")},
		{"J", "height::full", inFaces("DejaVu") - inFaces("DejaVu Sans Mono")},
		{"f", "height::full", inFaces("Serif Italic") + inFaces("Roman Italic")},
		{"H", "symmetry::turn", inFaces("Italic") + inFaces("Oblique")},
	} {
		z := slices.IndexFunc(letters.classes, func(l letter) bool { return l.name == c.class })
		m := slices.IndexFunc(attributes, func(a dataset.Attribute) bool { return a.Name == c.attribute })
		if z < 0 || m < 0 {
			t.Fatalf("no class %s or no attribute %s", c.class, c.attribute)
		}
		testkit.Near(t, c.attribute+" of "+c.class, u.Row(z)[m], c.want, 1e-12)
	}
}

func TestTrainClassesHaveEveryAttribute(t *testing.T) {
	attributes := letters.attributes()
	u := letters.descriptions(attributes)
	for m, a := range attributes {
		if !slices.ContainsFunc(letters.split().Train, func(z int) bool { return u.Row(z)[m] > 0.5 }) {
			t.Errorf("no train class has %s in most faces", a.Name)
		}
	}
}

package glyphs

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/internal/testkit"
)

// standard is the default data set, for tests that only read it.
var standard = sync.OnceValue(Make)

// The features and all else are those of the first version, on the architecture that made
// the results of the README.
func TestMake(t *testing.T) {
	ds := standard()
	testkit.NoError(t, check.Errors(ds))
	const want = "258675fa18814f54082a1a77d155f9e6b6482e1d1c6ab59162923f9d833f4918"
	if got := ds.Fingerprint(); got != want && runtime.GOARCH == "amd64" {
		t.Errorf("fingerprint %s, expected %s", got, want)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	testkit.Equal(t, "with one processor", Make(), ds)
}

// Some entries equal shares of the faces, counted by their names.
func TestDescriptionsAreShares(t *testing.T) {
	attributes, u := letters.describe()
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
		{"T", "foot::bar", serifs},
		{"B", "ends::serifed", serifs},
		{"O", "width::wide", 1 - inFaces("Mono")},
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

func TestImageHasTheFeaturesOfItsRow(t *testing.T) {
	ds := standard()
	got := make([]float32, dims)
	for row := 1; row < ds.Features.Rows; row += samples + 1 {
		hog(testkit.Must(Image(row))(t), got)
		testkit.Equal(t, fmt.Sprintf("features of the picture of row %d", row), got, ds.Features.Row(row))
	}
	for _, row := range []int{-1, ds.Features.Rows} {
		testkit.Fails(Image(row))(t, "glyphs: sample: expected 0 to 3899")
	}
}

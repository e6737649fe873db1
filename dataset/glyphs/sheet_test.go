package glyphs

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"slices"
	"testing"

	"github.com/lago-train/lago-train/internal/invalid"
)

func TestImageIsWhatFeaturesAreTakenFrom(t *testing.T) {
	o := Options{Seed: 3, SamplesPerClass: 2}
	ds, err := Make(o)
	if err != nil {
		t.Fatal(err)
	}
	for z, class := range ds.Classes {
		im, err := Image(o, class, 1)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float32, dims)
		hog(im, got)
		if !slices.Equal(got, ds.Features.Row(2*z+1)) {
			t.Errorf("the picture of %s has other features than its sample", class)
		}
	}
}

func TestImageErrors(t *testing.T) {
	for _, c := range []struct {
		class string
		i     int
		field string
	}{
		{"?", 0, "class"},
		{"", 0, "class"},
		{"A", -1, "sample of A"},
		{"A", 75, "sample of A"},
	} {
		_, err := Image(Options{}, c.class, c.i)
		var e *invalid.Error
		if !errors.As(err, &e) || e.Field != c.field {
			t.Errorf("Image(%q, %d) = %v, want a invalid.Error on the %s", c.class, c.i, err, c.field)
		}
	}
}

func TestContactSheetShowsTheImages(t *testing.T) {
	o := Options{SamplesPerClass: 3}
	var buf bytes.Buffer
	if err := ContactSheet(&buf, o); err != nil {
		t.Fatal(err)
	}
	decoded, err := png.Decode(&buf)
	if err != nil {
		t.Fatal(err)
	}
	table, err := letters()
	if err != nil {
		t.Fatal(err)
	}
	sheet, ok := decoded.(*image.Gray)
	if want := image.Rect(0, 0, 3*side, len(table.classes)*side); !ok || sheet.Rect != want {
		t.Fatalf("the sheet is a %T of %v, want a gray one of %v", decoded, decoded.Bounds(), want)
	}
	for z, l := range table.classes {
		im, err := Image(o, l.name, 2)
		if err != nil {
			t.Fatal(err)
		}
		for y := range side {
			for x := range side {
				if got, want := sheet.GrayAt(2*side+x, z*side+y), im.GrayAt(x, y); got != want {
					t.Fatalf("row %s, pixel (%d, %d) = %v, want %v", l.name, x, y, got, want)
				}
			}
		}
	}
}

package glyphs

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lago-train/lago-train/dataset"
)

func TestParseTable(t *testing.T) {
	got := parseTable("# a comment\n\nclass part foot top\nA train end,serif:bar,mono:- -\n")
	want := table{
		groups: []string{"foot", "top"},
		classes: []letter{{name: "A", part: "train", cells: []cell{
			{value: "end", exceptions: []exception{{serif, "bar"}, {mono, ""}}},
			{},
		}}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(table{}, letter{}, cell{}, exception{})); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestLastExceptionHolds(t *testing.T) {
	c := cell{value: "end", exceptions: []exception{{serif, "bar"}, {mono, ""}}}
	for _, f := range []struct {
		traits []trait
		want   string
	}{
		{nil, "end"},
		{[]trait{slanted}, "end"},
		{[]trait{serif}, "bar"},
		{[]trait{mono, serif}, ""},
	} {
		if got := c.in(face{traits: f.traits}); got != f.want {
			t.Errorf("in a face with %v: %q, want %q", f.traits, got, f.want)
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
		if got := u.Row(z)[m]; got-c.want > 1e-12 || c.want-got > 1e-12 {
			t.Errorf("p(%s | %s) = %v, want %v", c.attribute, c.class, got, c.want)
		}
	}
}

func TestValuesOfAGroupExcludeEachOther(t *testing.T) {
	attributes := letters.attributes()
	u := letters.descriptions(attributes)
	for z, l := range letters.classes {
		sums := make([]float64, len(letters.groups))
		for m, p := range u.Row(z) {
			sums[attributes[m].Group] += p
		}
		for k, sum := range sums {
			if sum > 1+1e-12 {
				t.Errorf("%s: group %s sums to %v", l.name, letters.groups[k], sum)
			}
		}
	}
}

func TestDescriptionsDiffer(t *testing.T) {
	u := letters.descriptions(letters.attributes())
	for z, l := range letters.classes {
		for y := range z {
			if slices.Equal(u.Row(z), u.Row(y)) {
				t.Errorf("%s and %s have the same description", l.name, letters.classes[y].name)
			}
		}
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

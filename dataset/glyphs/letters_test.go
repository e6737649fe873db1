package glyphs

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

func TestParseTable(t *testing.T) {
	got, err := parseTable("# a comment\n\nclass part foot top\nA train end,serif:bar,mono:- -\n")
	if err != nil {
		t.Fatal(err)
	}
	want := &table{
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

func TestParseTableErrors(t *testing.T) {
	for _, c := range []struct{ name, text, field string }{
		{"empty", "", "line 0"},
		{"no groups", "class part", "line 1"},
		{"too few cells", "class part foot\nA train", "line 2"},
		{"too many cells", "class part foot\nA train bar bar", "line 2"},
		{"unknown part", "class part foot\n\nA dev bar", "line 3"},
		{"unknown trait", "class part foot\nA train end,bold:bar", "line 2"},
		{"no value", "class part foot\nA train end,serif", "line 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parseTable(c.text)
			var e *invalid.Error
			if !errors.As(err, &e) || e.Field != c.field {
				t.Errorf("error = %v, want a invalid.Error on %s", err, c.field)
			}
		})
	}
}

// TestDescriptionsAreShares holds some entries against counts of faces, taken by
// their names: 4 of the 25 are monospaced, and so on.
func TestDescriptionsAreShares(t *testing.T) {
	table, err := letters()
	if err != nil {
		t.Fatal(err)
	}
	attributes := table.attributes()
	u := table.descriptions(attributes)
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
		z := slices.IndexFunc(table.classes, func(l letter) bool { return l.name == c.class })
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
	table, err := letters()
	if err != nil {
		t.Fatal(err)
	}
	attributes := table.attributes()
	u := table.descriptions(attributes)
	for z, l := range table.classes {
		sums := make([]float64, len(table.groups))
		for m, p := range u.Row(z) {
			sums[attributes[m].Group] += p
		}
		for k, sum := range sums {
			if sum > 1+1e-12 {
				t.Errorf("%s: group %s sums to %v", l.name, table.groups[k], sum)
			}
		}
	}
}

func TestNoTwoLettersAreDescribedAlike(t *testing.T) {
	table, err := letters()
	if err != nil {
		t.Fatal(err)
	}
	u := table.descriptions(table.attributes())
	for z, l := range table.classes {
		for y := range z {
			if slices.Equal(u.Row(z), u.Row(y)) {
				t.Errorf("%s and %s have the same description", l.name, table.classes[y].name)
			}
		}
	}
}

func TestTrainingMeetsEveryAttribute(t *testing.T) {
	table, err := letters()
	if err != nil {
		t.Fatal(err)
	}
	attributes := table.attributes()
	u := table.descriptions(attributes)
	for m, a := range attributes {
		if !slices.ContainsFunc(table.split().Train, func(z int) bool { return u.Row(z)[m] > 0.5 }) {
			t.Errorf("no train class has %s in most faces", a.Name)
		}
	}
}

// TestParseTableNeverPanics reads damaged copies of the table.
func TestParseTableNeverPanics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.IntRange(0, len(lettersText)).Draw(t, "from")
		to := rapid.IntRange(from, len(lettersText)).Draw(t, "to")
		damage := rapid.StringN(0, 5, -1).Draw(t, "damage")
		table, err := parseTable(lettersText[:from] + damage + lettersText[to:])
		if err != nil {
			return
		}
		for _, l := range table.classes {
			if len(l.cells) != len(table.groups) {
				t.Errorf("%s has %d cells for %d groups", l.name, len(l.cells), len(table.groups))
			}
		}
	})
}

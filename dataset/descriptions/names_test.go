package descriptions

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
)

// However case and what parts words are changed, an attribute with its group is the
// same; and its own name always means it, whatever others are called.
func TestSpellingsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SampledFrom([]string{"has", "wing", "colour", "red", "very", "large"})
		name := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(words, 1, 3).Draw(t, "group"), "_") + "::" + strings.Join(rapid.SliceOfN(words, 1, 2).Draw(t, "name"), "_")
		})
		var attributes []dataset.Attribute
		for _, n := range rapid.SliceOfNDistinct(name, 1, 6, rapid.ID).Draw(t, "attributes") {
			attributes = append(attributes, dataset.Attribute{Name: n})
		}
		v := newVocabulary(attributes, nil)
		part := rapid.SampledFrom([]string{" ", "-", "_", "", ": "})
		for m, a := range attributes {
			if got := v.find(a.Name); len(got) != 1 || got[0] != m {
				t.Fatalf("%q is %v, expected %d", a.Name, got, m)
			}
			spelt := strings.ToUpper(strings.NewReplacer("::", part.Draw(t, "colon"), "_", part.Draw(t, "gap")).Replace(a.Name))
			if got := v.find(spelt); !slices.Contains(got, m) {
				t.Errorf("%q may mean %v, expected %d among them", spelt, got, m)
			}
		}
	})
}

func TestFind(t *testing.T) {
	v := newVocabulary([]dataset.Attribute{
		{Name: "has_wing_color::blue"}, {Name: "has_bill_color::blue"}, {Name: "has_wing_shape::long"}, {Name: "has::blue wing"},
	}, nil)
	for _, c := range []struct {
		name string
		want int
		says string
	}{
		{"wing color blue", 0, ""},
		{"Bill color: blue", 1, ""},
		{"long", 2, ""},
		{"blue wing", 3, ""},
		{"blue", 0, `"blue", which may mean "has_wing_color::blue" or "has_bill_color::blue"`},
		{"wing colour: blue", 0, `"wing colour: blue"; the nearest of the 4 are "has_wing_color::blue" and "has_bill_color::blue"`},
		{"", 0, `"", which is like none of the 4, as in "has_wing_color::blue"`},
		{strings.Repeat("x", 100), 0, `"` + strings.Repeat("x", 60) + `...", which is like none of the 4, as in "has_wing_color::blue"`},
	} {
		got := v.find(c.name)
		if c.says == "" {
			if len(got) != 1 || got[0] != c.want {
				t.Errorf("%q: %v, expected %d", c.name, got, c.want)
			}
			continue
		}
		if len(got) == 1 || v.found(c.name) != c.says {
			t.Errorf("%q: %v, %s\nexpected %s", c.name, got, v.found(c.name), c.says)
		}
	}
}

// Of many that a name may mean the first few are told.
func TestFindAmongMany(t *testing.T) {
	var attributes []dataset.Attribute
	for _, part := range strings.Split("abcdefgh", "") {
		attributes = append(attributes, dataset.Attribute{Name: part + "::blue"})
	}
	if found := newVocabulary(attributes, nil).found("blue"); !strings.HasSuffix(found, `"e::blue", "f::blue" or 2 others`) {
		t.Error(found)
	}
}

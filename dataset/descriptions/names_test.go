package descriptions

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/dataset"
)

// An attribute with its group is found however case and separators are changed, and
// always by its own name.
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
		hint string
	}{
		{"wing color blue", 0, ""},
		{"Bill color: blue", 1, ""},
		{"long", 2, ""},
		{"blue wing", 3, ""},
		{"blue", 0, `It may mean "has_wing_color::blue" or "has_bill_color::blue".`},
		{"wing colour: blue", 0, `Did you mean "has_wing_color::blue" or "has_bill_color::blue"?`},
		{"", 0, `One of the 4 attributes is "has_wing_color::blue".`},
		{strings.Repeat("x", 100), 0, `One of the 4 attributes is "has_wing_color::blue".`},
	} {
		got := v.find(c.name)
		if c.hint == "" {
			if len(got) != 1 || got[0] != c.want {
				t.Errorf("%q: %v, expected %d", c.name, got, c.want)
			}
			continue
		}
		if len(got) == 1 || v.hint(c.name) != c.hint {
			t.Errorf("%q: %v, %s\nexpected %s", c.name, got, v.hint(c.name), c.hint)
		}
	}
}

func TestHintNamesTheFirstOfMany(t *testing.T) {
	var attributes []dataset.Attribute
	for _, part := range strings.Split("abcdefgh", "") {
		attributes = append(attributes, dataset.Attribute{Name: part + "::blue"})
	}
	if hint := newVocabulary(attributes, nil).hint("blue"); !strings.HasSuffix(hint, `"e::blue" or "f::blue" or 2 others.`) {
		t.Error(hint)
	}
}

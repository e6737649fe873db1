package described

import (
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
			if got, found := v.find(a.Name); found != "" || got != m {
				t.Fatalf("%q is %d (%s), expected %d", a.Name, got, found, m)
			}
			spelt := strings.ToUpper(strings.NewReplacer("::", part.Draw(t, "colon"), "_", part.Draw(t, "gap")).Replace(a.Name))
			got, found := v.find(spelt)
			if found == "" && got != m && fold(attributes[got].Name) != fold(a.Name) {
				t.Errorf("%q is %q", spelt, attributes[got].Name)
			}
			if found != "" && !strings.Contains(found, "may mean") {
				t.Errorf("%q isn't found: %s", spelt, found)
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
		m, found := v.find(c.name)
		if m != c.want || found != c.says {
			t.Errorf("%q: %d, %s\nexpected %d, %s", c.name, m, found, c.want, c.says)
		}
	}
}

// Of many that a name may mean the first few are told.
func TestFindAmongMany(t *testing.T) {
	var attributes []dataset.Attribute
	for _, part := range strings.Split("abcdefgh", "") {
		attributes = append(attributes, dataset.Attribute{Name: part + "::blue"})
	}
	if _, found := newVocabulary(attributes, nil).find("blue"); !strings.HasSuffix(found, `"e::blue", "f::blue" or 2 others`) {
		t.Error(found)
	}
}

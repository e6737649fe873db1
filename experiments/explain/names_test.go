package explain

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/lago-train/lago-train/experiments/candidates"
)

func TestNames(t *testing.T) {
	for _, c := range []struct{ name, class, attribute string }{
		{"has_wing_color::olive", "has wing color::olive", "wing color: olive"},
		{"has_bill_shape::curved_(up_or_down)", "has bill shape::curved (up or down)", "bill shape: curved (up or down)"},
		{"functions/affordance::sailing/boating", "functions/affordance::sailing/boating", "functions/affordance: sailing/boating"},
		{"has_size", "has size", "size"},
		{"has_", "has ", "has "},
		{"002.Laysan_Albatross", "Laysan Albatross", "002.Laysan Albatross"},
		{"grizzly+bear", "grizzly bear", "grizzly bear"},
		{"3", "3", "3"},
		{"3.", "3.", "3."},
		{"été", "été", "été"},
		{"a\x1b[31mb\nc", "a\uFFFD[31mb\uFFFDc", "a\uFFFD[31mb\uFFFDc"},
		{"", "", ""},
	} {
		if got := className(c.name); got != c.class {
			t.Errorf("the class %q is %q, expected %q", c.name, got, c.class)
		}
		if got := attributeName(c.name); got != c.attribute {
			t.Errorf("the attribute %q is %q, expected %q", c.name, got, c.attribute)
		}
	}
}

// No name prints a control character.
func TestNamesArePrintable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		for _, text := range []string{className(name), attributeName(name), nameWithin(name, "has_size")} {
			if i := strings.IndexFunc(text, unicode.IsControl); i >= 0 {
				t.Fatalf("%q has the control character %q", text, text[i])
			}
		}
	})
}

func TestFindClass(t *testing.T) {
	c := candidates.Set{What: "test classes"}
	c.Names = []string{"001.Herring_Gull", "002.Ring_Billed_Gull", "polar+bear", "a", "A"}
	for _, f := range []struct {
		name string
		want int
	}{
		{"002.Ring_Billed_Gull", 1},
		{"ring billed gull", 1},
		{"Ring-billed Gull", 1},
		{"Polar bear", 2},
		{"polar+bear", 2},
		{"a", 3}, // exact names first
		{"A", 4},
	} {
		if z, err := findClass(c, f.name); err != nil || z != f.want {
			t.Errorf("%q is class %d, %v; expected %d", f.name, z, err, f.want)
		}
	}
	for _, f := range []struct {
		name  string
		parts []string
	}{
		{"Hering Gull", []string{"5 test classes", `"Hering Gull"`, "Did you mean Herring Gull"}},
		{"_a_", []string{`Choose one of "a", "A".`}},
		{"\x1b", []string{`"\x1b"`}},
	} {
		_, err := findClass(c, f.name)
		for _, part := range f.parts {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%q: expected an error that says %s, found %v", f.name, part, err)
			}
		}
	}
}

package xlsa17

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFindClass(t *testing.T) {
	index := newClassIndex([]string{"001.Black_footed_Albatross", "killer+whale", "002.House_Wren", "003.House_wren", "house wren", "Ox", "ox"})
	for _, tt := range []struct {
		name string
		want int
		err  string // instead of a class
	}{
		{"001.Black_footed_Albatross", 0, ""},
		{"black footed albatross", 0, ""},
		{"17. Black_Footed__Albatross", 0, ""},
		{"Killer_Whale", 1, ""},
		{"killer whale", 1, ""},
		{"killerwhale", 0, `"killerwhale", which is none of them`},
		{"003.house_wren", 3, ""},
		{"house_wren", 4, ""}, // by name alone, before numbers are forgotten
		{"9.house_wren", 0, `may mean "002.House_Wren" or "003.House_wren"`},
		{"ox", 6, ""},
		{"OX", 0, `may mean "Ox" or "ox"`},
		{"", 0, "none of them"},
	} {
		z, err := index.find(tt.name)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("find(%q) gives %d and the error %v, want %q", tt.name, z, err, tt.err)
			}
			continue
		}
		if err != nil || z != tt.want {
			t.Errorf("find(%q) gives %d and the error %v, want %d", tt.name, z, err, tt.want)
		}
	}
}

// A class is found by its name in any case, with any separators, with any number
// or none, as long as its words are not those of another.
func TestFindClassProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,4}`), 1, 3)
		classes := rapid.SliceOfNDistinct(words, 1, 8, func(w []string) string { return strings.Join(w, " ") }).Draw(t, "classes")
		names := make([]string, len(classes))
		for z, w := range classes {
			names[z] = respell(t, w)
		}
		index := newClassIndex(names)
		z := rapid.IntRange(0, len(classes)-1).Draw(t, "class")
		name := respell(t, classes[z])
		if got, err := index.find(name); err != nil || got != z {
			t.Fatalf("%q in %q is found at %d, not %d: %v", name, names, got, z, err)
		}
	})
}

func respell(t *rapid.T, words []string) string {
	separator := rapid.SampledFrom([]string{" ", "_", "+", "__"}).Draw(t, "separator")
	name := strings.Join(words, separator)
	if rapid.Bool().Draw(t, "upper case") {
		name = strings.ToUpper(name)
	}
	if rapid.Bool().Draw(t, "numbered") {
		name = fmt.Sprintf("%03d.%s", rapid.IntRange(0, 999).Draw(t, "number"), name)
	}
	return name
}

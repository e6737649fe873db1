package descriptions

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/lago-train/lago-train/internal/invalid"
)

// foldName removes case, spaces and punctuation from a name, to compare spellings.
func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPunct(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// spellings has the places of names by their spellings, in a map for each kind of spelling, the strictest
// first.
type spellings []map[string][]int

// add adds a place by spellings of each kind.
func (s *spellings) add(place int, spelled ...string) {
	for kind, spelling := range spelled {
		if kind == len(*s) {
			*s = append(*s, map[string][]int{})
		}
		if spelling != "" { // some names are punctuation alone
			(*s)[kind][spelling] = append((*s)[kind][spelling], place)
		}
	}
}

// find returns the places of the first kind that has a spelling.
func (s spellings) find(spelled ...string) []int {
	for kind, places := range s {
		if hits := places[spelled[kind]]; len(hits) > 0 {
			return hits
		}
	}
	return nil
}

// Index finds the class that a name means: in any case, with other spaces and punctuation, or without the
// number before one such as 016.Painted_Bunting.
type Index struct{ spellings }

// Index returns that of the classes. It does not follow later changes.
func (t *Table) Index() *Index {
	x := &Index{}
	for z, name := range t.Classes {
		x.Add(name, z)
	}
	return x
}

var numbered = regexp.MustCompile(`^\d+[^\pL\d]+(.*\pL.*)`)

func classSpellings(name string) []string {
	return []string{name, foldName(name), foldName(numbered.ReplaceAllString(name, "$1"))}
}

// Add adds the name of a class.
func (x *Index) Add(name string, z int) { x.add(z, classSpellings(name)...) }

// Find returns the class, the first of several, or -1 for another name.
func (x *Index) Find(name string) int {
	if hits := x.find(classSpellings(name)...); len(hits) > 0 {
		return hits[0]
	}
	return -1
}

// vocabulary finds attributes by names as people spell them: as they are, or, without case, spaces and
// punctuation, with the group, without its "has", and without the group.
type vocabulary struct {
	spellings
	names []string // without groups, then with their groups
}

// newVocabulary takes the groups of attributes from names such as "has_wing_color::olive", or
// from their groups.
func newVocabulary(attributes []Attribute) *vocabulary {
	v, full := &vocabulary{}, make([]string, len(attributes))
	for m, a := range attributes {
		group, name, found := strings.Cut(a.Name, "::")
		if !found {
			group, name = a.Group, a.Name
			if group == name {
				group = ""
			}
		}
		if full[m] = name; group != "" {
			full[m] = group + "::" + name
		}
		v.names = append(v.names, name)
		group, name = foldName(group), foldName(name)
		v.add(m, full[m], group+name, strings.TrimPrefix(group, "has")+name, name)
	}
	v.names = append(v.names, full...)
	return v
}

// find returns the attributes that a name may mean. A looser spelling counts only where no
// stricter one is known.
func (v *vocabulary) find(name string) []int {
	folded := foldName(name)
	return v.spellings.find(name, folded, folded, folded)
}

// hint says what a name that means none or several attributes may be.
func (v *vocabulary) hint(name string, hits []int) string {
	const most = 6
	if len(hits) == 0 {
		return invalid.DidYouMean(name, v.names)
	}
	var names []string
	for _, m := range hits[:min(len(hits), most)] {
		names = append(names, v.names[len(v.names)/2+m])
	}
	return fmt.Sprintf("It may mean %d attributes, such as %s.", len(hits),
		strings.Join(slices.Compact(names), " or "))
}

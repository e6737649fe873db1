package descriptions

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// vocabulary finds attributes by names as people spell them.
type vocabulary struct {
	names []string                         // with their groups
	index [len(spellings)]map[string][]int // attributes by each of the spellings
	loose []string                         // folded spellings without the "has" of the group
}

// spellings are the names of an attribute, the strictest first. A looser one is used only
// if no stricter one is known.
var spellings = [...]func(group, name string) string{
	func(group, name string) string { return qualified(group, name) },
	func(group, name string) string { return fold(group) + fold(name) },
	func(group, name string) string { return withoutHas(group) + fold(name) },
	func(_, name string) string { return fold(name) },
}

// newVocabulary takes the groups of attributes from names such as
// "has_wing_color::olive", or from groups if a name has none.
func newVocabulary(attributes []dataset.Attribute, groups []string) *vocabulary {
	v := &vocabulary{names: make([]string, len(attributes))}
	for i := range v.index {
		v.index[i] = make(map[string][]int, len(attributes))
	}
	for m, a := range attributes {
		group, name, found := strings.Cut(a.Name, "::")
		if !found {
			group, name = "", a.Name
			if a.Group >= 0 && a.Group < len(groups) && groups[a.Group] != a.Name {
				group = groups[a.Group]
			}
		}
		v.names[m] = qualified(group, name)
		for i, spell := range spellings {
			key := spell(group, name)
			if i >= 2 && len(v.index[i][key]) == 0 {
				v.loose = append(v.loose, key)
			}
			v.index[i][key] = append(v.index[i][key], m)
		}
	}
	return v
}

func qualified(group, name string) string {
	if group == "" {
		return name
	}
	return group + "::" + name
}

// fold removes case, space and punctuation.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPunct(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// withoutHas returns the folded "wing color" for the group "has_wing_color".
func withoutHas(group string) string {
	words := strings.FieldsFunc(group, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) })
	if len(words) > 1 && strings.EqualFold(words[0], "has") {
		group = strings.Join(words[1:], "")
	}
	return fold(group)
}

// find returns the attributes that a name may mean.
func (v *vocabulary) find(name string) []int {
	for i, index := range v.index {
		key := fold(name)
		if i == 0 {
			key = name
		}
		if hits := index[key]; len(hits) > 0 {
			return hits
		}
	}
	return nil
}

// hint says what a name that means none or several attributes may be.
func (v *vocabulary) hint(name string) string {
	if hits := v.find(name); len(hits) > 0 {
		return "It may mean " + v.list(hits) + "."
	}
	var near []int
	seen := make(map[int]bool)
	for _, key := range invalid.Nearest(fold(name), v.loose) {
		for _, index := range v.index[2:] {
			for _, m := range index[key] {
				if !seen[m] {
					seen[m] = true
					near = append(near, m)
				}
			}
		}
	}
	if len(near) == 0 {
		return fmt.Sprintf("One of the %d attributes is %q.", len(v.names), v.names[0])
	}
	return "Did you mean " + v.list(near) + "?"
}

// list names the first few attributes.
func (v *vocabulary) list(attributes []int) string {
	const most = 6
	var names []string
	for _, m := range attributes[:min(len(attributes), most)] {
		names = append(names, fmt.Sprintf("%q", v.names[m]))
	}
	text := strings.Join(names, " or ")
	if more := len(attributes) - most; more > 0 {
		text += fmt.Sprintf(" or %d others", more)
	}
	return text
}

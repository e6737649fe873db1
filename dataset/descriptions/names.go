package descriptions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/xrash/smetrics"

	"github.com/lago-train/lago-train/dataset"
)

// vocabulary finds attributes by names as people spell them.
type vocabulary struct {
	names []string                         // with their groups
	index [len(spellings)]map[string][]int // attributes by each of the spellings
}

// spellings are what an attribute may be called, the strictest first. A looser one
// is asked only where the stricter ones know no such name.
var spellings = [...]func(group, name string) string{
	func(group, name string) string { return qualified(group, name) },
	func(group, name string) string { return fold(group) + fold(name) },
	func(group, name string) string { return withoutHas(group) + fold(name) },
	func(_, name string) string { return fold(name) },
}

// newVocabulary takes the groups of attributes from their names, as in
// "has_wing_color::olive", or from groups where a name tells none.
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

// fold forgets case, and what parts words: space and punctuation.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPunct(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// withoutHas is a folded group as people say it: the wing color, not has wing color.
func withoutHas(group string) string {
	words := strings.FieldsFunc(group, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) })
	if len(words) > 1 && strings.EqualFold(words[0], "has") {
		group = strings.Join(words[1:], "")
	}
	return fold(group)
}

// find returns the attributes that a name may mean; one is what it should be.
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

// found says in an error what a name is that means none or several.
func (v *vocabulary) found(name string) string {
	if hits := v.find(name); len(hits) > 0 {
		return fmt.Sprintf("%s, which may mean %s", quote(name), v.list(hits, " or "))
	}
	near := v.nearest(fold(name))
	if len(near) == 0 {
		return fmt.Sprintf("%s, which is like none of the %d, as in %q", quote(name), len(v.names), v.names[0])
	}
	return fmt.Sprintf("%s; the nearest of the %d are %s", quote(name), len(v.names), v.list(near, " and "))
}

// Of many attributes that a name may mean, or is near to, the first few are told.
const (
	mostMeant   = 6
	mostNearest = 3
)

// list names attributes, the last one after the given word.
func (v *vocabulary) list(attributes []int, last string) string {
	var names []string
	for _, m := range attributes[:min(len(attributes), mostMeant)] {
		names = append(names, fmt.Sprintf("%q", v.names[m]))
	}
	if more := len(attributes) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d others", more))
	}
	n := len(names) - 1
	if n == 0 {
		return names[0]
	}
	return strings.Join(names[:n], ", ") + last + names[n]
}

// nearest returns the attributes with a spelling that few edits part from a folded
// name, the nearest first.
func (v *vocabulary) nearest(name string) []int {
	distance := make(map[int]int)
	most := 1 + len(name)/4
	for _, index := range v.index[1:] {
		for key, attributes := range index {
			if max(len(name), len(key))-min(len(name), len(key)) > most {
				continue // as many edits at least
			}
			d := smetrics.WagnerFischer(name, key, 1, 1, 1)
			if d > most {
				continue
			}
			for _, m := range attributes {
				if old, known := distance[m]; !known || d < old {
					distance[m] = d
				}
			}
		}
	}
	near := make([]int, 0, len(distance))
	for m := range distance {
		near = append(near, m)
	}
	slices.SortFunc(near, func(a, b int) int { return cmp.Or(cmp.Compare(distance[a], distance[b]), cmp.Compare(a, b)) })
	return near[:min(len(near), mostNearest)]
}

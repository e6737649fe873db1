package descriptions

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Read returns the classes that a file of Form describes by the attributes of a data set. What the file
// leaves out is not described.
//
// An attribute may be written without its group, or without the "has" of the group, if that is unambiguous.
// Case, spaces and punctuation are ignored.
//
// The error joins all problems of the file, each an *invalid.Error with its line.
func Read(ctx context.Context, path string, attributes []Attribute) (*Table, error) {
	text, err := fileio.ReadFile(ctx, path, maxSize)
	if err != nil {
		return nil, err
	}
	return parse(path, text, attributes)
}

const (
	maxSize       = 1 << 26 // of a file in bytes
	maxAttributes = 1 << 16
	// MaxEntries is the largest number of classes x attributes, of a table and of all candidates together.
	// One takes about 140 bytes while missing entries are imputed.
	MaxEntries = 1 << 23
)

func parse(path string, text []byte, attributes []Attribute) (*Table, error) {
	t := &Table{Attributes: attributes}
	r := newTraitReader(t, path)
	r.all, r.fixed = true, true
	r.add(text)
	for z, name := range t.Classes {
		if strings.Join(t.Cells[z], "") == "" {
			r.problems.Add("described", &invalid.Error{
				Where: path, Field: "class " + invalid.Quote(name), Want: "at least one described attribute",
				Got: "none",
			})
		}
	}
	return t, r.problems.Err()
}

// vocabulary finds attributes by names as people spell them.
type vocabulary struct {
	names []string // with their groups
	// attributes by their spellings, the strictest first: the name, and, without case, spaces and
	// punctuation, with the group, without its "has", and without the group
	spellings [4]map[string][]int
}

// newVocabulary takes the groups of attributes from names such as "has_wing_color::olive", or
// from their groups.
func newVocabulary(attributes []Attribute) *vocabulary {
	v := &vocabulary{names: make([]string, len(attributes))}
	for level := range v.spellings {
		v.spellings[level] = make(map[string][]int, len(attributes))
	}
	for m, a := range attributes {
		group, name, found := strings.Cut(a.Name, "::")
		if !found {
			group, name = a.Group, a.Name
			if group == name {
				group = ""
			}
		}
		v.names[m] = name
		if group != "" {
			v.names[m] = group + "::" + name
		}
		group, name = foldName(group), foldName(name)
		for level, spelling := range []string{
			v.names[m], group + name, strings.TrimPrefix(group, "has") + name, name,
		} {
			v.spellings[level][spelling] = append(v.spellings[level][spelling], m)
		}
	}
	return v
}

// foldName removes case, spaces and punctuation from a name, to compare spellings.
func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPunct(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// find returns the attributes that a name may mean. A looser spelling counts only where no
// stricter one is known.
func (v *vocabulary) find(name string) []int {
	if hits := v.spellings[0][name]; len(hits) > 0 {
		return hits
	}
	folded := foldName(name)
	for _, known := range v.spellings[1:] {
		if hits := known[folded]; len(hits) > 0 {
			return hits
		}
	}
	return nil
}

// hint says what a name that means none or several attributes may be.
func (v *vocabulary) hint(name string, hits []int) string {
	switch differs := func(m int) bool { return v.names[m] != v.names[hits[0]] }; {
	case len(hits) > 1 && !slices.ContainsFunc(hits, differs):
		return fmt.Sprintf("%d attributes of the data set have this name.", len(hits))
	case len(hits) > 0:
		return "It may mean " + v.list(hits) + "."
	}
	loose := slices.AppendSeq(slices.Collect(maps.Keys(v.spellings[2])), maps.Keys(v.spellings[3]))
	slices.Sort(loose)
	var near []int
	for _, spelling := range invalid.Nearest(foldName(name), slices.Compact(loose)) {
		for _, m := range v.find(spelling) {
			if !slices.Contains(near, m) {
				near = append(near, m)
			}
		}
	}
	if len(near) == 0 {
		return fmt.Sprintf("One of the %d attributes is %q.", len(v.names), v.names[0])
	}
	return invalid.Suggest([]string{v.list(near)})
}

// list names the first few attributes.
func (v *vocabulary) list(attributes []int) string {
	const most = 6
	var names []string
	for _, m := range attributes[:min(len(attributes), most)] {
		names = append(names, strconv.Quote(v.names[m]))
	}
	if more := len(attributes) - most; more > 0 {
		names = append(names, fmt.Sprintf("%d others", more))
	}
	return strings.Join(names, " or ")
}

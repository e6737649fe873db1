package descriptions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Read returns the classes that a file describes by the attributes of a data set. What the file
// leaves out is not described.
//
// It is a CSV file in one of three forms:
//
//	class,has_wing_color::olive,bill length   one line per class; an empty cell is
//	olive warbler,often,0.2                   not described
//
//	class,attribute,value                     one line per value
//	olive warbler,wing color: olive,often
//
// or a table of traits as AddTraits reads it, with words of the groups:
//
//	species,wing color,bill
//	olive warbler,olive; grey (rarely),all-purpose
//
// A value is one of table.Probability. An attribute may be written without its group, or without the
// "has" of the group, if that is unambiguous. Case, spaces and punctuation are ignored.
//
// The error joins all problems of the file, each an *invalid.Error with its line.
func Read(ctx context.Context, path string, attributes []Attribute) (*Table, error) {
	text, err := fileio.ReadFile(ctx, path, maxSize)
	if err != nil {
		return nil, err
	}
	f := newFile(path, attributes)
	f.read(text)
	return f.finish()
}

const (
	maxSize       = 1 << 26 // of a file in bytes
	maxAttributes = 1 << 16
	// MaxEntries is the largest number of classes x attributes, of a table and of all candidates together.
	// One takes about 140 bytes while missing entries are imputed.
	MaxEntries = 1 << 23
)

type file struct {
	path       string
	table      *Table
	vocabulary *vocabulary
	classes    map[string]int // indices by folded name
	attributes map[string]int // the meaning of the names so far; -1 for those that were reported
	described  [][]bool       // classes x attributes: whether the file has a cell, which may be empty
	scale      table.Scale
	problems   invalid.List
}

func newFile(path string, attributes []Attribute) *file {
	return &file{
		path: path, table: &Table{Attributes: attributes}, vocabulary: newVocabulary(attributes),
		classes: map[string]int{}, attributes: map[string]int{},
	}
}

// read reads either form.
func (f *file) read(text []byte) {
	t := table.Parse(f.path, bytes.NewReader(text), &f.problems)
	if t == nil {
		return
	}
	r := &traitReader{table: f.table, all: true}
	r.indexAttributes()
	isGroup := func(name string) bool {
		_, group := r.groups[shortName(name)]
		return group && len(f.vocabulary.find(name)) != 1
	}
	switch header := strings.ToLower(strings.Join(t.Columns, ",")); {
	case header == "class,attribute,value":
		for _, row := range t.Rows {
			f.describe(row.Line, f.class(row.Line, row.Cells[0], false), f.attribute(row.Line, row.Cells[1]),
				row.Cells[2])
		}
	case strings.HasPrefix(header, "class,") && !strings.HasPrefix(header, "class,attribute,value,") &&
		!slices.ContainsFunc(t.Columns, isGroup):
		for _, row := range t.Rows {
			z := f.class(row.Line, row.Cells[0], true)
			for i, name := range t.Columns[1:] {
				f.describe(row.Line, z, f.attribute(1, name), row.Cells[1+i])
			}
		}
	default:
		f.readTraits(t, r)
	}
}

// readTraits reads a table of traits as AddTraits does, with the attributes and groups of the data set alone.
func (f *file) readTraits(t *table.Table, r *traitReader) {
	l := r.layout(t)
	if l == nil {
		f.problems.AddError(r.problems.Err())
		return
	}
	var all []*described
	for _, c := range l.columns {
		c.clean()
		if _, group := r.groups[shortName(c.name)]; !group {
			if f.attribute(1, c.name) < 0 || len(c.cells) == 0 {
				continue
			}
			for _, of := range c.cells {
				_, err := f.scale.Probability(of.text)
				if e := (*invalid.Error)(nil); errors.As(err, &e) {
					f.report("value", of.line, "column "+c.name, e.Want, e.Got, e.Hint)
				}
			}
		}
		all = append(all, r.read(l, c)...)
	}
	f.problems.AddError(r.problems.Err())
	if f.problems.Len() == 0 {
		r.apply(l, all)
	}
	for z, name := range f.table.Classes {
		f.classes[foldName(name)] = z
	}
}

// class returns the class of a name, which may have to be new, or -1 if the name is a problem.
func (f *file) class(line int, name string, isNew bool) int {
	name, want := dataset.CheckName(name)
	folded := foldName(name)
	z, known := f.classes[folded]
	got := invalid.Quote(name)
	switch most := MaxEntries / max(len(f.table.Attributes), 1); {
	case want != "":
	case folded == "":
		want = "a name"
	case known && f.table.Classes[z] != name:
		want = fmt.Sprintf("%s, as before, or another name", invalid.Quote(f.table.Classes[z]))
	case known && isNew:
		want, got = "each class once", got+" twice"
	case known:
		return z
	case len(f.classes) >= most:
		want, got = fmt.Sprintf("at most %d classes", most), "more"
	default:
		z = len(f.classes)
		f.classes[folded] = z
		f.table.Classes = append(f.table.Classes, name)
		f.table.Cells = append(f.table.Cells, make([]string, len(f.table.Attributes)))
		f.described = append(f.described, make([]bool, len(f.table.Attributes)))
		return z
	}
	f.report("class", line, "class", want, got)
	return -1
}

// attribute returns the attribute that a name means, or -1 if that is none or several. A
// wrong name is reported once.
func (f *file) attribute(line int, name string) int {
	name = strings.TrimSpace(name)
	if m, known := f.attributes[name]; known {
		return m
	}
	hits := f.vocabulary.find(name)
	if len(hits) != 1 {
		hint := ""
		if !f.problems.Full("attribute", f.path) {
			hint = f.vocabulary.hint(name, hits)
		}
		f.report("attribute", line, "attribute", "the name of one attribute of the data set",
			invalid.Quote(name), hint)
		hits = []int{-1}
	}
	f.attributes[name] = hits[0]
	return hits[0]
}

// describe sets an attribute of a class, unless one of their names was reported.
func (f *file) describe(line, z, m int, value string) {
	if z < 0 || m < 0 {
		return
	}
	field := func() string {
		return fmt.Sprintf("class %s, %q", invalid.Quote(f.table.Classes[z]), f.vocabulary.names[m])
	}
	if f.described[z][m] {
		f.report("repeated", line, field(), "each attribute once", "it twice")
		return
	}
	_, err := f.scale.Probability(value)
	if e := (*invalid.Error)(nil); errors.As(err, &e) {
		f.report("value", line, field(), e.Want, e.Got, e.Hint)
	}
	f.described[z][m], f.table.Cells[z][m] = true, value
}

// report adds a problem of a line, which is 0 where lines are not known.
func (f *file) report(kind string, line int, field, want, got string, hints ...string) {
	if line > 0 {
		field = fmt.Sprintf("line %d, %s", line, field)
	}
	f.problems.Add(kind, &invalid.Error{
		Where: f.path, Field: field, Want: want, Got: got, Hint: strings.Join(hints, " "),
	})
}

// finish returns what was read, or all problems.
func (f *file) finish() (*Table, error) {
	if len(f.classes) == 0 && f.problems.Len() == 0 {
		f.problems.AddError(&invalid.Error{Where: f.path, Want: "at least one class", Got: "none"})
	}
	if err := f.problems.Err(); err != nil {
		return nil, err
	}
	for z, name := range f.table.Classes {
		if strings.TrimSpace(strings.Join(f.table.Cells[z], "")) == "" {
			f.report("described", 0, "class "+invalid.Quote(name), "at least one described attribute", "none")
		}
	}
	return f.table, f.problems.Err()
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

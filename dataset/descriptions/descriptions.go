// Package descriptions reads classes that a person describes in a CSV or JSON file by the
// attributes of a data set, each with a probability or a word such as "often". What the
// file leaves out is not described.
//
// It does not read whole data sets: see packages openlayout and xlsa17.
package descriptions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Read returns the classes that a file describes and their descriptions, classes x
// attributes in [0, 1], NaN for what the file leaves out. attributes and groups are those
// of a data set.
//
// The file ends in .csv or .json:
//
//	class,has_wing_color::olive,bill length   one line per class; an empty cell is
//	olive warbler,often,0.2                   not described
//
//	class,attribute,value                     one line per value
//	olive warbler,wing color: olive,often
//
//	{"olive warbler": {"wing color: olive": "often", "bill length": 0.2}}
//
// A value is a number from 0 to 1 or one of the words never, no (0), rarely (0.1),
// sometimes (0.5), often (0.75), always and yes (1); in JSON also true, false or null. An
// attribute may be written without its group, or without the "has" of the group, if that
// is unambiguous. Case, spaces and punctuation are ignored.
//
// The error joins all problems of the file, each an *invalid.Error with its line.
func Read(ctx context.Context, path string, attributes []dataset.Attribute, groups []string) (classes []string, u dataset.Matrix[float64], err error) {
	read := readCSV
	switch ending := strings.ToLower(filepath.Ext(path)); ending {
	case ".csv":
	case ".json":
		read = readJSON
	default:
		return nil, u, &invalid.Error{Where: path, Want: "a file that ends in .csv or .json"}
	}
	text, err := input.ReadFile(ctx, path, maxSize)
	if err != nil {
		return nil, u, err
	}
	f := newFile(path, newVocabulary(attributes, groups))
	read(f, text)
	return f.finish()
}

// maxSize is the largest size of a file in bytes.
const maxSize = 1 << 26

// maxEntries is the largest number of classes x attributes.
const maxEntries = 1 << 26

// file is a file that is being read.
type file struct {
	path       string
	vocabulary *vocabulary
	classes    []class
	place      map[string]int // of each class, by its folded name
	attributes map[string]int // the meaning of the names so far; -1 for those that were reported
	problems   invalid.List
}

type class struct {
	name  string
	line  int             // where it is first named
	lines map[int]int     // of the attributes that are given, with a value or without
	u     map[int]float64 // of the attributes that are described
}

func newFile(path string, v *vocabulary) *file {
	return &file{path: path, vocabulary: v, place: map[string]int{}, attributes: map[string]int{}}
}

const wantHeader = `a header: "class" and the names of attributes, or "class,attribute,value"`

// readCSV reads either form of a CSV file.
func readCSV(f *file, text []byte) {
	t := table.Parse(f.path, bytes.NewReader(text), &f.problems)
	if t == nil {
		return
	}
	columns := make([]string, len(t.Columns))
	for i, name := range t.Columns {
		columns[i] = dataset.FoldName(name)
	}
	switch {
	case columns[0] != "class":
		t.Report("header", 1, "", wantHeader, t.Header())
	case slices.Equal(columns, []string{"class", "attribute", "value"}):
		for _, row := range t.Rows {
			f.describe(row.Line, f.class(row.Line, row.Cells[0]), f.attribute(row.Line, row.Cells[1]), row.Cells[2])
		}
	default:
		readWide(f, t)
	}
}

// readWide reads one line per class.
func readWide(f *file, t *table.Table) {
	attributes := make([]int, len(t.Columns))
	first := map[int]int{}
	for i, name := range t.Columns[1:] {
		m := f.attribute(1, name)
		if other, repeated := first[m]; m >= 0 && repeated {
			t.Report("column", 1, "", "each attribute once", fmt.Sprintf("%q in column %d and in column %d", f.vocabulary.names[m], other+2, i+2))
			m = -1
		} else {
			first[m] = i
		}
		attributes[1+i] = m
	}
	for _, row := range t.Rows {
		c := f.newClass(row.Line, row.Cells[0])
		for i, m := range attributes[1:] {
			f.describe(row.Line, c, m, row.Cells[i+1])
		}
	}
}

// class returns the class of a name, new or not, or nil if the name is a problem.
func (f *file) class(line int, name string) *class {
	name = strings.TrimSpace(name)
	key := dataset.FoldName(name)
	switch {
	case key == "":
		f.report("name", line, "class", "a name", invalid.Quote(name))
		return nil
	case invalid.HasControl(name):
		f.report("name", line, "class", "a name without control characters", invalid.Quote(name))
		return nil
	}
	i, known := f.place[key]
	if most := maxEntries / max(len(f.vocabulary.names), 1); !known && len(f.classes) >= most {
		f.report("classes", line, "class", fmt.Sprintf("at most %d classes", most), "more")
		return nil
	}
	if !known {
		i = len(f.classes)
		f.place[key] = i
		f.classes = append(f.classes, class{name: name, line: line, lines: map[int]int{}, u: map[int]float64{}})
	}
	c := &f.classes[i]
	if c.name != name {
		f.report("spelling", line, "class", fmt.Sprintf("%s, as on line %d, or another name", invalid.Quote(c.name), c.line), invalid.Quote(name))
		return nil
	}
	return c
}

// newClass is class for a class that must be new.
func (f *file) newClass(line int, name string) *class {
	before := len(f.classes)
	c := f.class(line, name)
	if c != nil && len(f.classes) == before {
		f.report("class", line, "class", "each class once", fmt.Sprintf("%s, which is also on line %d", invalid.Quote(c.name), c.line))
		return nil
	}
	return c
}

// attribute returns the attribute that a name means, or -1 if that is none or several. A
// wrong name is reported once.
func (f *file) attribute(line int, name string) int {
	const kind = "attribute"
	name = strings.TrimSpace(name)
	m, known := f.attributes[name]
	if known {
		return m
	}
	m = -1
	if hits := f.vocabulary.find(name); len(hits) == 1 {
		m = hits[0]
	} else {
		e := &invalid.Error{
			Where: f.path, Field: fmt.Sprintf("line %d, attribute", line),
			Want: "the name of one attribute of the data set", Got: invalid.Quote(name),
		}
		if !f.problems.Full(kind, f.path) {
			e.Hint = f.vocabulary.hint(name)
		}
		f.problems.Add(kind, e)
	}
	f.attributes[name] = m
	return m
}

// describe sets an attribute of a class, unless one of their names was reported.
func (f *file) describe(line int, c *class, m int, value string) {
	if c == nil || m < 0 {
		return
	}
	name := f.vocabulary.names[m]
	if other, repeated := c.lines[m]; repeated {
		f.report("repeated", line, "class "+invalid.Quote(c.name), "each attribute once", fmt.Sprintf("%q, which is also on line %d", name, other))
		return
	}
	c.lines[m] = line
	p, err := table.Probability(value)
	if e := (*invalid.Error)(nil); errors.As(err, &e) {
		f.report("value", line, fmt.Sprintf("class %s, %q", invalid.Quote(c.name), name), e.Want, e.Got)
		return
	}
	if !math.IsNaN(p) {
		c.u[m] = p
	}
}

// report adds a problem of a line, or of the whole file for line 0.
func (f *file) report(kind string, line int, field, want, got string) {
	if line > 0 {
		at := fmt.Sprintf("line %d", line)
		if field != "" {
			at += ", " + field
		}
		field = at
	}
	f.problems.Add(kind, &invalid.Error{Where: f.path, Field: field, Want: want, Got: got})
}

// finish returns what was read, or all problems.
func (f *file) finish() ([]string, dataset.Matrix[float64], error) {
	if f.problems.Len() == 0 {
		if len(f.classes) == 0 {
			f.report("none", 0, "", "at least one class", "none")
		}
		for _, c := range f.classes {
			if len(c.u) == 0 {
				f.report("described", c.line, "class "+invalid.Quote(c.name), "at least one described attribute", "none")
			}
		}
	}
	if err := f.problems.Err(); err != nil {
		return nil, dataset.Matrix[float64]{}, err
	}
	u := dataset.NewMatrix[float64](len(f.classes), len(f.vocabulary.names))
	names := make([]string, len(f.classes))
	for z, c := range f.classes {
		names[z] = c.name
		for m := range u.Cols {
			p, known := c.u[m]
			if !known {
				p = math.NaN()
			}
			u.Row(z)[m] = p
		}
	}
	return names, u, nil
}

const wantObject = `an object of classes, {"class": {"attribute": value}}`

// readJSON reads an object of classes token by token. Maps would lose the order of the
// classes, the lines, and keys that are repeated.
func readJSON(f *file, text []byte) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if len(bytes.TrimSpace(text)) == 0 {
		f.report("json", 0, "", wantObject, "an empty file")
		return
	}
	if syntax := (*json.SyntaxError)(nil); errors.As(json.Unmarshal(text, new(json.RawMessage)), &syntax) {
		line := 1 + bytes.Count(text[:syntax.Offset], []byte("\n"))
		e := &invalid.Error{Where: f.path, Field: fmt.Sprintf("line %d", line), Want: "valid JSON", Err: syntax}
		if syntax.Error() == "unexpected end of JSON input" {
			e.Got, e.Err = "the end of the file inside an object", nil
		}
		f.problems.AddError(e)
		return
	}
	o := &object{Decoder: json.NewDecoder(bytes.NewReader(text)), file: f, text: text}
	o.UseNumber()
	if !o.open("") {
		return
	}
	for o.More() {
		name := o.token()
		c := f.newClass(o.line(), name)
		if !o.open("class " + invalid.Quote(name)) {
			return
		}
		for o.More() {
			attribute, line := o.token(), o.line()
			m := f.attribute(line, attribute)
			var value json.RawMessage
			_ = o.Decode(&value) // which is valid JSON
			f.describe(line, c, m, valueText(value))
		}
		o.token() // the closing brace
	}
}

// object reads the tokens of a valid JSON text.
type object struct {
	*json.Decoder
	file *file
	text []byte

	// The line breaks before offset counted are counted already.
	lines, counted int
}

func (o *object) token() string {
	t, _ := o.Token()
	return fmt.Sprint(t)
}

// open reads the opening brace of an object.
func (o *object) open(field string) bool {
	t, _ := o.Token() // of valid JSON
	if t != json.Delim('{') {
		o.file.report("json", o.line(), field, wantObject, invalid.Quote(fmt.Sprint(t)))
		return false
	}
	return true
}

// line is that of the last token.
func (o *object) line() int {
	at := int(o.InputOffset())
	o.lines += bytes.Count(o.text[o.counted:at], []byte("\n"))
	o.counted = at
	return 1 + o.lines
}

// valueText returns a JSON value as table.Probability reads it.
func valueText(value json.RawMessage) string {
	var text string
	switch string(value) {
	case "null":
		return ""
	case "true":
		return "yes"
	case "false":
		return "no"
	}
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// vocabulary finds attributes by names as people spell them.
type vocabulary struct {
	names []string // with their groups
	index dataset.NameIndex
	loose []string // folded spellings without the "has" of the group, or without the group
}

// newVocabulary takes the groups of attributes from names such as
// "has_wing_color::olive", or from groups if a name has none.
func newVocabulary(attributes []dataset.Attribute, groups []string) *vocabulary {
	v := &vocabulary{names: make([]string, len(attributes))}
	seen := make(map[string]bool)
	for m, a := range attributes {
		group, name, found := strings.Cut(a.Name, "::")
		if !found {
			group, name = "", a.Name
			if a.Group >= 0 && a.Group < len(groups) && groups[a.Group] != a.Name {
				group = groups[a.Group]
			}
		}
		v.names[m] = name
		if group != "" {
			v.names[m] = group + "::" + name
		}
		folded := dataset.FoldName(name)
		short := dataset.FoldName(withoutHas(group)) + folded
		v.index.Add(m, v.names[m], dataset.FoldName(group)+folded, short, folded)
		for _, key := range []string{short, folded} {
			if !seen[key] {
				seen[key] = true
				v.loose = append(v.loose, key)
			}
		}
	}
	return v
}

// withoutHas returns "wing_color" for the group "has_wing_color".
func withoutHas(group string) string {
	words := strings.FieldsFunc(group, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) })
	if len(words) > 1 && strings.EqualFold(words[0], "has") {
		return strings.Join(words[1:], "_")
	}
	return group
}

// find returns the attributes that a name may mean.
func (v *vocabulary) find(name string) []int {
	folded := dataset.FoldName(name)
	return v.index.Find(name, folded, folded, folded)
}

// hint says what a name that means none or several attributes may be.
func (v *vocabulary) hint(name string) string {
	if hits := v.find(name); len(hits) > 0 {
		return "It may mean " + v.list(hits) + "."
	}
	var near []int
	seen := make(map[int]bool)
	for _, key := range invalid.Nearest(dataset.FoldName(name), v.loose) {
		for _, m := range v.find(key) {
			if !seen[m] {
				seen[m] = true
				near = append(near, m)
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

package descriptions

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Read reads the classes that a file describes, and their descriptions, classes x
// attributes in [0, 1], NaN for what the file leaves out. attributes and groups are
// those of a data set.
//
// The file ends in .csv or .json:
//
//	class,has_wing_color::olive,bill length   a row a class, an empty cell is
//	olive warbler,often,0.2                   not described
//
//	class,attribute,value                     a row a value
//	olive warbler,wing color: olive,often
//
//	{"olive warbler": {"wing color: olive": "often", "bill length": 0.2}}
//
// Values are as in Value; JSON may have true, false and null as well. An attribute
// may go without its group, or without the "has" of the group, where one alone is
// meant; case, spaces and punctuation don't matter.
//
// The error joins all that is wrong with the file, a *invalid.Error each with its
// line; of many of a kind it has the first few and counts the others.
func Read(path string, attributes []dataset.Attribute, groups []string) (classes []string, u dataset.Matrix[float64], err error) {
	read := readCSV
	switch ending := strings.ToLower(filepath.Ext(path)); ending {
	case ".csv":
	case ".json":
		read = readJSON
	default:
		return nil, u, &invalid.Error{Where: path, Want: "a file that ends in .csv or .json"}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, u, err
	}
	f := newFile(path, newVocabulary(attributes, groups))
	read(f, text)
	return f.finish()
}

// file is one that is being read.
type file struct {
	path       string
	vocabulary *vocabulary
	classes    []class
	place      map[string]int // of a class, by its folded name
	attributes map[string]int // what names mean that were met; -1 for those that were reported

	mistakes invalid.List
}

// class is one of the file.
type class struct {
	name  string
	line  int             // where it is first named
	lines map[int]int     // of the attributes it describes or leaves out
	u     map[int]float64 // of the attributes it describes
}

func newFile(path string, v *vocabulary) *file {
	return &file{path: path, vocabulary: v, place: map[string]int{}, attributes: map[string]int{}}
}

// class returns the class of a name, new or not, nil where the name won't do.
func (f *file) class(line int, name string) *class {
	name = strings.TrimSpace(name)
	key := fold(name)
	if key == "" {
		f.wrong("name", line, "class", "a name", quote(name))
		return nil
	}
	i, known := f.place[key]
	if !known {
		i = len(f.classes)
		f.place[key] = i
		f.classes = append(f.classes, class{name: name, line: line, lines: map[int]int{}, u: map[int]float64{}})
	}
	c := &f.classes[i]
	if c.name != name {
		f.wrong("spelling", line, "class", fmt.Sprintf("%s, as in line %d, or another name", quote(c.name), c.line), quote(name))
		return nil
	}
	return c
}

// newClass is class where a class may be named but once.
func (f *file) newClass(line int, name string) *class {
	before := len(f.classes)
	c := f.class(line, name)
	if c != nil && len(f.classes) == before {
		f.wrong("class", line, "class", "each class once", fmt.Sprintf("%s, which is in line %d as well", quote(c.name), c.line))
		return nil
	}
	return c
}

// unknown is the kind of mistake of names that mean no attribute, or several.
const unknown = "attribute"

// attribute returns the attribute that a name means, -1 where that is none or
// several. A wrong name is reported where it is first met.
func (f *file) attribute(line int, name string) int {
	name = strings.TrimSpace(name)
	m, known := f.attributes[name]
	if known {
		return m
	}
	m = -1
	if hits := f.vocabulary.find(name); len(hits) == 1 {
		m = hits[0]
	} else {
		found := quote(name)
		if !f.mistakes.Full(unknown, f.path) { // else it takes time that nobody sees anything of
			found = f.vocabulary.found(name)
		}
		f.wrong(unknown, line, "attribute", "the name of one attribute of the data set", found)
	}
	f.attributes[name] = m
	return m
}

// describe gives an attribute of a class its value.
func (f *file) describe(line int, c *class, m int, value string) {
	name := f.vocabulary.names[m]
	if other, taken := c.lines[m]; taken {
		f.wrong("twice", line, "class "+quote(c.name), "each attribute once", fmt.Sprintf("%q, which is in line %d as well", name, other))
		return
	}
	c.lines[m] = line
	v, err := Value(value)
	if wrong := (*invalid.Error)(nil); errors.As(err, &wrong) {
		f.wrong("value", line, fmt.Sprintf("class %s, %q", quote(c.name), name), wrong.Want, wrong.Got)
		return
	}
	if !math.IsNaN(v) {
		c.u[m] = v
	}
}

// wrong notes a mistake in a line, counted from 1, or in the whole file, line 0.
func (f *file) wrong(kind string, line int, field, want, got string) {
	if line > 0 {
		at := fmt.Sprintf("line %d", line)
		if field != "" {
			at += ", " + field
		}
		field = at
	}
	f.mistakes.Add(kind, &invalid.Error{Where: f.path, Field: field, Want: want, Got: got})
}

// finish returns what was read, or all that is wrong with it.
func (f *file) finish() ([]string, dataset.Matrix[float64], error) {
	if f.mistakes.Len() == 0 {
		if len(f.classes) == 0 {
			f.wrong("none", 0, "", "at least one class", "none")
		}
		for _, c := range f.classes {
			if len(c.u) == 0 {
				f.wrong("described", c.line, "class "+quote(c.name), "at least one attribute described", "none")
			}
		}
	}
	if err := f.mistakes.Err(); err != nil {
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

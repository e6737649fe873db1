package glyphs

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

//go:embed letters.txt
var lettersText string

// letters is the table of letters.txt.
var letters = sync.OnceValues(func() (*table, error) { return parseTable(lettersText) })

// A table says what every class looks like.
type table struct {
	groups  []string // the columns, as in "foot"
	classes []letter
}

type letter struct {
	name  string // one character
	part  string // train, val or test
	cells []cell // one a group
}

// A cell is the value of a group, which may depend on the face.
type cell struct {
	value      string // "" for none
	exceptions []exception
}

type exception struct {
	trait trait
	value string
}

// in returns the value in a face: that of the last exception that holds there.
func (c cell) in(f face) string {
	value := c.value
	for _, e := range c.exceptions {
		if f.has(e.trait) {
			value = e.value
		}
	}
	return value
}

// parseTable reads lines of cells between white space, of which the first names
// the columns: class, part, and the groups. Empty lines and lines that start with
// # do not count.
func parseTable(text string) (*table, error) {
	var t *table
	line := 0
	for s := range strings.Lines(text) {
		line++
		fields := strings.Fields(s)
		if len(fields) == 0 || strings.HasPrefix(s, "#") {
			continue
		}
		if t == nil {
			if len(fields) < 3 {
				return nil, tableError(line, "the names of the columns", s)
			}
			t = &table{groups: fields[2:]}
			continue
		}
		l, err := parseLetter(line, fields, len(t.groups))
		if err != nil {
			return nil, err
		}
		t.classes = append(t.classes, l)
	}
	if t == nil {
		return nil, tableError(line, "the names of the columns", "the end")
	}
	return t, nil
}

func parseLetter(line int, fields []string, groups int) (letter, error) {
	if len(fields) != 2+groups {
		return letter{}, tableError(line, fmt.Sprintf("%d columns", 2+groups), fmt.Sprint(len(fields)))
	}
	l := letter{name: fields[0], part: fields[1]}
	if !slices.Contains([]string{"train", "val", "test"}, l.part) {
		return letter{}, tableError(line, "train, val or test", l.part)
	}
	for _, f := range fields[2:] {
		value, rest, _ := strings.Cut(f, ",")
		c := cell{value: valueOf(value)}
		for e := range strings.SplitSeq(rest, ",") {
			if e == "" {
				continue
			}
			name, value, ok := strings.Cut(e, ":")
			if !ok || !slices.Contains(traits, trait(name)) {
				return letter{}, tableError(line, "trait:value", e)
			}
			c.exceptions = append(c.exceptions, exception{trait(name), valueOf(value)})
		}
		l.cells = append(l.cells, c)
	}
	return l, nil
}

func valueOf(s string) string {
	if s == "-" {
		return ""
	}
	return s
}

func tableError(line int, want, got string) error {
	return &invalid.Error{Where: "letters.txt", Field: fmt.Sprintf("line %d", line), Want: want, Got: strings.TrimSpace(got)}
}

// attributes lists the values of each group, in the order in which the classes
// show them.
func (t *table) attributes() []dataset.Attribute {
	var all []dataset.Attribute
	for k, group := range t.groups {
		for _, l := range t.classes {
			for _, f := range faces {
				value := l.cells[k].in(f)
				a := dataset.Attribute{Name: group + "::" + value, Group: k}
				if value != "" && !slices.Contains(all, a) {
					all = append(all, a)
				}
			}
		}
	}
	return all
}

// descriptions returns classes x attributes: of the faces, the part in which the
// class has the attribute.
func (t *table) descriptions(attributes []dataset.Attribute) dataset.Matrix[float64] {
	column := make(map[string]int, len(attributes))
	for m, a := range attributes {
		column[a.Name] = m
	}
	u := dataset.NewMatrix[float64](len(t.classes), len(attributes))
	for z, l := range t.classes {
		for k, group := range t.groups {
			counts := map[string]int{}
			for _, f := range faces {
				counts[l.cells[k].in(f)]++
			}
			delete(counts, "")
			for value, n := range counts {
				u.Row(z)[column[group+"::"+value]] = float64(n) / float64(len(faces))
			}
		}
	}
	return u
}

// split returns the classes of each part, ascending.
func (t *table) split() dataset.Split {
	var s dataset.Split
	for z, l := range t.classes {
		switch l.part {
		case "train":
			s.Train = append(s.Train, z)
		case "val":
			s.Val = append(s.Val, z)
		case "test":
			s.Test = append(s.Test, z)
		}
	}
	return s
}

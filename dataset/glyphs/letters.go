package glyphs

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
)

//go:embed letters.txt
var lettersText string

var letters = parseTable(lettersText)

// table has the shapes of all classes.
type table struct {
	groups  []string // the columns, as in "foot"
	classes []letter
}

type letter struct {
	name  string // one character
	part  string // train, val or test
	cells []cell // one per group
}

// cell is the value of a group, which may depend on the face.
type cell struct {
	value      string // "" for none
	exceptions []exception
}

type exception struct {
	trait trait
	value string
}

// in returns the value in a face: that of the last exception that applies.
func (c cell) in(f face) string {
	value := c.value
	for _, e := range c.exceptions {
		if f.has(e.trait) {
			value = e.value
		}
	}
	return value
}

// parseTable reads lines of cells separated by white space. The first names the columns:
// class, part and the groups. Empty lines and lines that start with # are ignored. The
// table is part of the program, so mistakes panic.
func parseTable(text string) table {
	var t table
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || strings.HasPrefix(line, "#"):
		case t.groups == nil:
			t.groups = fields[2:]
		case len(fields) != 2+len(t.groups):
			panic("letters.txt: another number of columns: " + line)
		default:
			l := letter{name: fields[0], part: fields[1]}
			for _, f := range fields[2:] {
				l.cells = append(l.cells, parseCell(f))
			}
			t.classes = append(t.classes, l)
		}
	}
	return t
}

// parseCell reads "value" or "value,trait:value,...", where "-" is no value.
func parseCell(text string) cell {
	valueOf := func(s string) string {
		if s == "-" {
			return ""
		}
		return s
	}
	value, rest, _ := strings.Cut(text, ",")
	c := cell{value: valueOf(value)}
	for e := range strings.SplitSeq(rest, ",") {
		if e == "" {
			continue
		}
		name, value, found := strings.Cut(e, ":")
		if !found || !slices.Contains(traits, trait(name)) {
			panic("letters.txt: not trait:value: " + text)
		}
		c.exceptions = append(c.exceptions, exception{trait(name), valueOf(value)})
	}
	return c
}

// attributes returns the values of each group, in the order in which classes first have
// them.
func (t table) attributes() []dataset.Attribute {
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

// descriptions returns classes x attributes: the share of the faces in which a class has
// an attribute.
func (t table) descriptions(attributes []dataset.Attribute) dataset.Matrix[float64] {
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

func (t table) split() dataset.Split {
	var s dataset.Split
	subsets := map[string]*[]int{"train": &s.Train, "val": &s.Val, "test": &s.Test}
	for z, l := range t.classes {
		*subsets[l.part] = append(*subsets[l.part], z)
	}
	return s
}

package descriptions

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Reading says what AddTraits took the parts of a table for.
type Reading struct {
	Layout string // where the classes and the traits are
	Traits []Trait
	Notes  []string // what was ignored
}

// Trait is a column of a table of traits, or the lines of one trait. Its JSON keys are stable.
type Trait struct {
	Column string `json:"column"`
	Kind   string `json:"kind"`
	// the most frequent first; of numbers in thirds also the least and the most
	Values []ValueCount `json:"values"`
	Alike  []string     `json:"alike"` // pairs of words that may be two spellings of one
}

// ValueCount is a value of a trait with the number of classes that have it.
type ValueCount struct {
	Value   string `json:"value"`
	Classes int    `json:"classes"`
}

// AddTraits adds to t what a table of traits says, whatever its layout: a line for each class or sample, a
// line for each trait of a class (class, trait and value, or class and trait alone), or a column for each
// class. The cells decide which column names the classes of t, as Finder does, also with authors behind the
// names. Without classes in t it is the header.
//
// A column of words is a group, and each of its words an attribute, such as diet::meat. A cell may list
// several, each with a word of table.Probability in parentheses, or none, and attributes that it does not
// list are no. A column of words and numbers of table.Probability is one attribute. Measurements become
// small, medium and large. Where t has the group, or an attribute of that name, the column describes it.
// Columns of ids and of sentences are left out. Of several lines of a class the means count. In a text with
// code fences, as of an answer to Prompts, only what is between them is read: one or more tables.
//
// Only classes of t are described, unless it has none or all is set, which adds the others. Cells
// of t that are filled in are kept; the others become drafts. The error joins all problems, each an
// *invalid.Error.
func (t *Table) AddTraits(ctx context.Context, path string, all bool) (*Reading, error) {
	text, err := fileio.ReadFile(ctx, path, maxSize)
	if err != nil {
		return nil, err
	}
	r := &traitReader{table: t, all: all || len(t.Classes) == 0}
	var tables []*table.Table
	blocks := blocksOf(text)
	if len(blocks) > maxBlocks {
		return nil, &invalid.Error{
			Where: path, Want: fmt.Sprintf("at most %d code blocks", maxBlocks), Got: fmt.Sprint(len(blocks)),
			Hint: "Save each answer as a file.",
		}
	}
	for _, part := range blocks {
		if err := otherFormat(path, part.text); err != nil {
			return nil, err
		}
		if file := table.ParseAfter(part.before, path, bytes.NewReader(part.text), &r.problems, nil,
			table.Any); file != nil {
			tables = append(tables, file)
		}
	}
	for _, file := range tables {
		if r.problems.Len() == 0 {
			r.add(file)
		}
	}
	for e := range r.notes.All() {
		r.Notes = append(r.Notes, e.Error())
	}
	return &r.Reading, r.problems.Err()
}

const maxBlocks = 1000 // of one answer

// block is a part of a text, behind a number of lines.
type block struct {
	before int
	text   []byte
}

// blocksOf returns what is between the code fences of a text, or the whole text if it has none.
func blocksOf(text []byte) (blocks []block) {
	fence := []byte("```")
	if !bytes.Contains(text, fence) {
		return []block{{0, text}}
	}
	line, start, at, inside := 0, 0, 0, false
	for part := range bytes.Lines(text) {
		if line++; bytes.HasPrefix(bytes.TrimSpace(part), fence) {
			if inside {
				blocks[len(blocks)-1].text = text[start:at]
			} else {
				start = at + len(part)
				blocks = append(blocks, block{line, text[start:]}) // to the end if the answer was cut off
			}
			inside = !inside
		}
		at += len(part)
	}
	return blocks
}

// traitReader adds tables of traits to a table of descriptions.
type traitReader struct {
	Reading
	table           *Table
	all             bool             // classes that the table lacks are added
	known           *vocabulary      // of the attributes of the table
	groups          map[string]Group // of the table by their short names
	problems, notes invalid.List
}

// described is an attribute with what cells say of it.
type described struct {
	Attribute
	sum   map[int]float64 // of probabilities, by class
	cells map[int]int     // that say something of the attribute, by class; one map for the whole column
	extra map[int]int     // further ones that describe this attribute alone
}

func (d *described) mean(class int) (p float64, ok bool) {
	n := d.cells[class] + d.extra[class]
	return d.sum[class] / float64(n), n > 0
}

func (r *traitReader) add(file *table.Table) {
	l := r.layout(file)
	if l == nil {
		return
	}
	r.indexAttributes()
	r.Layout = l.text
	var all []*described
	for _, c := range l.columns {
		all = append(all, r.read(l, c)...)
	}
	if r.problems.Len() > 0 {
		return
	}
	t := r.table
	if n := (len(t.Classes) + len(l.names)) * (len(t.Attributes) + len(all)); n > MaxEntries {
		r.problems.AddError(&invalid.Error{
			Where: file.File, Want: fmt.Sprintf("at most %d classes x attributes", MaxEntries),
			Got: fmt.Sprint(n), Hint: "Leave out columns that photographs do not show.",
		})
		return
	}
	words := slices.ContainsFunc(all, func(d *described) bool {
		return d.Group != d.Name && t.Attribute(d.Name) < 0
	})
	switch ungrouped := len(t.Attributes) > 0 && t.Attributes[0].Group == ""; {
	case ungrouped && words:
		r.problems.AddError(&invalid.Error{
			Where: file.File,
			Want:  "new columns of numbers alone, since the attributes of the data set have no groups",
			Got:   "words",
		})
		return
	case ungrouped, len(t.Attributes) == 0 && !words:
		for _, d := range all {
			d.Group = ""
		}
	}
	r.apply(l, all)
}

func (r *traitReader) indexAttributes() {
	r.known, r.groups = newVocabulary(r.table.Attributes), map[string]Group{}
	for _, g := range slices.Backward(r.table.Groups()) {
		r.groups[shortName(g.column())] = g
	}
}

// shortName is a name of a group without the "has" that some begin with.
func shortName(name string) string { return strings.TrimPrefix(foldName(name), "has") }

// apply writes what a table says into cells that are empty.
func (r *traitReader) apply(l *layout, all []*described) {
	t := r.table
	t.Added.Classes += t.AddClasses(l.names)
	t.ownDrafts()
	scale := t.Scale()
	index := make(map[string]int, len(t.Classes))
	for z, name := range t.Classes {
		index[name] = z
	}
	attributes := make([]Attribute, len(all))
	for i, d := range all {
		attributes[i] = d.Attribute
	}
	t.Added.Attributes += t.AddAttributes(attributes)
	place := make(map[string]int, len(t.Attributes))
	for m, a := range slices.Backward(t.Attributes) {
		place[a.Name] = m
	}
	for _, d := range all {
		m := place[d.Name]
		for class, name := range l.names {
			z := index[name]
			p, ok := d.mean(class)
			if ok && t.Cells[z][m] == "" {
				t.Cells[z][m] = cellOf(p, scale)
				t.Drafts[Draft{Class: name, Group: t.Attributes[m].Group}] = true
			}
		}
	}
}

// cellOf is the text of a probability: a word, or a number in the scale of the table.
func cellOf(p float64, scale func(p float64) string) string {
	if word := nearestWord(p); value(word) == p {
		return word
	}
	if text := scale(p); strings.HasSuffix(text, "%") {
		return text
	}
	return strconv.FormatFloat(math.Abs(p), 'g', 6, 64) // no -0
}

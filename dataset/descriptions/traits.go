package descriptions

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/invalid"
)

// MaxEntries is the largest number of classes x attributes, of a table and of all candidates together.
// One takes about 140 bytes while missing entries are imputed. MaxAttributes bounds the words of a table.
const MaxEntries, MaxAttributes = 1 << 23, 1 << 16

// Form is that of the tables that AddTraits and Read take.
const Form = "one line per class, with its name in the first column and a trait in each other one, or one " +
	"line per class and trait, with the columns class, trait (or attribute) and value; a trait is in " +
	"words, such as red; grey (often), or in yes and no, numbers from 0 to 1 or percentages"

// Reading says what AddTraits took the parts of a table for.
type Reading struct {
	Layout string
	Traits []Trait
}

// Trait is a column of a table of traits, or the lines of one trait. Its JSON keys are stable.
type Trait struct {
	Column string       `json:"column"`
	Kind   string       `json:"kind"`
	Values []ValueCount `json:"values"` // the most frequent first
}

// ValueCount is a value of a trait with the number of classes that have it.
type ValueCount struct {
	Value   string `json:"value"`
	Classes int    `json:"classes"`
}

// AddTraits adds to t what a table of traits of Form says.
//
// A trait in words is a group, and each of its words an attribute, such as diet::meat. A cell may list
// several, each with a word of table.Probability in parentheses, or none, and attributes that it does not
// list are no. Another trait is one attribute. Where t has the group, or an attribute of that name, the
// column describes it.
//
// Classes that t does not have are refused, unless it has none or all is set, which adds them. Cells of t
// that are filled in are kept; the others become drafts if the table is one. The error joins all problems,
// each an *invalid.Error.
func (t *Table) AddTraits(ctx context.Context, path string, all, draft bool) (*Reading, error) {
	r := newTraitReader(t)
	r.all, r.draft = all || len(t.Classes) == 0, draft
	r.add(ctx, path)
	return &r.Reading, r.problems.Err()
}

// Read returns the classes that a file of Form describes by the attributes of a data set. What the file
// leaves out is not described.
//
// An attribute may be written without its group, or without the "has" of the group, if that is unambiguous.
// Case, spaces and punctuation are ignored.
//
// The error joins all problems of the file, each an *invalid.Error with its line.
func Read(ctx context.Context, path string, attributes []Attribute) (*Table, error) {
	t := &Table{Attributes: attributes}
	r := newTraitReader(t)
	r.all, r.fixed = true, true
	r.add(ctx, path)
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

type traitReader struct {
	Reading
	file  *table.Table
	table *Table
	all   bool // classes that the table lacks are added
	draft bool // what it fills in is to be checked
	fixed bool // attributes that the table lacks are refused

	classes  *Index           // of the table
	known    *vocabulary      // of the attributes of the table
	groups   map[string]Group // of the table by their short names
	names    []string         // of the classes of the file
	places   map[string]int   // of the names
	size     [2]int           // classes and attributes of the table with those of the file
	full     bool             // these are too many
	scale    scale
	problems invalid.List
}

func newTraitReader(t *Table) *traitReader {
	r := &traitReader{
		table: t, classes: t.Index(), known: newVocabulary(t.Attributes), groups: map[string]Group{},
		places: map[string]int{}, size: [2]int{len(t.Classes), len(t.Attributes)},
	}
	for _, g := range slices.Backward(t.Groups()) {
		r.groups[shortName(g.column())] = g
	}
	return r
}

// shortName is a name of a group without the "has" that some begin with.
func shortName(name string) string { return strings.TrimPrefix(FoldName(name), "has") }

type column struct {
	name   string
	line   int // that names it first
	cells  []cell
	places map[int]int // of the cells of the classes
}

type cell struct {
	class, line int
	text        string
}

type described struct {
	Attribute
	p map[int]float64
}

func (r *traitReader) add(ctx context.Context, path string) {
	r.file = table.Read(ctx, path, &r.problems, nil, table.Any)
	if r.file == nil {
		return
	}
	var columns []*column
	if len(r.file.Columns) > 1 {
		columns = r.columns()
	}
	if len(columns) == 0 && r.problems.Len() == 0 {
		r.problems.AddError(&invalid.Error{Where: path, Want: Form, Got: "the columns " + r.file.Header()})
	}
	if r.problems.Len() > 0 || !r.fits(0) {
		return
	}
	var all []*described
	for _, c := range columns {
		all = append(all, r.read(c)...)
	}
	t := r.table
	words := slices.ContainsFunc(all, func(d *described) bool {
		return d.Group != d.Name && t.Attribute(d.Name) < 0
	})
	switch ungrouped := len(t.Attributes) > 0 && t.Attributes[0].Group == ""; {
	case ungrouped && words:
		r.problems.AddError(&invalid.Error{
			Where: path,
			Want:  "new columns of numbers alone, since the attributes of the data set have no groups",
			Got:   "words",
		})
	case ungrouped, len(t.Attributes) == 0 && !words:
		for _, d := range all {
			d.Group = ""
		}
	}
	if r.problems.Len() == 0 {
		r.apply(all)
	}
}

func (r *traitReader) columns() (columns []*column) {
	header := r.file.Columns
	if r.classes.Find(header[0]) >= 0 {
		r.file.Report("header", 1, "", `a header: "class" and the names of traits`,
			"the class "+invalid.Quote(header[0]))
		return nil
	}
	byMeaning := map[string]*column{} // of their names
	columnOf := func(line int, name string) *column {
		key := FoldName(name)
		if m := r.attribute(name); m >= 0 {
			key = r.table.Attributes[m].Name
		}
		c, known := byMeaning[key]
		if !known {
			if _, want := dataset.CheckName(name); want != "" {
				r.file.Report("trait", line, "", want+" for a trait", invalid.Quote(name))
			}
			c = &column{name: name, line: line, places: map[int]int{}}
			byMeaning[key], columns = c, append(columns, c)
		}
		return c
	}
	if len(header) > 2 && slices.Contains([]string{"trait", "attribute"}, strings.ToLower(header[1])) &&
		strings.EqualFold(header[2], "value") {
		if len(header) > 3 {
			r.file.Report("column", 1, "", "only the columns class, "+header[1]+", value", r.file.Header())
		}
		r.Layout = "a line per class and trait"
		for _, row := range r.file.Rows {
			columnOf(row.Line, row.Cells[1]).add(cell{r.class(row, false), row.Line, row.Cells[2]})
		}
		return columns
	}
	r.Layout = "a line per class"
	for j, name := range header[1:] {
		if columnOf(1, name); len(columns) == j {
			r.file.Report("repeated", 1, "", "each attribute once", invalid.Quote(name)+" again")
			return nil
		}
	}
	for _, row := range r.file.Rows {
		z := r.class(row, true)
		for j, c := range columns {
			c.add(cell{z, row.Line, row.Cells[1+j]})
		}
	}
	return columns
}

// add adds a cell unless it is missing. Further cells of a class list further words.
func (c *column) add(entry cell) {
	if entry.class < 0 || isMissing(entry.text) {
		return
	}
	if i, known := c.places[entry.class]; known {
		c.cells[i].text += "; " + entry.text
		return
	}
	c.places[entry.class] = len(c.cells)
	c.cells = append(c.cells, entry)
}

// class returns the place of the class of a line among names, -1 after a problem.
func (r *traitReader) class(row table.Row, once bool) int {
	name, want := dataset.CheckName(row.Cells[0])
	key, z, got, hint := FoldName(name), r.classes.Find(name), invalid.Quote(name), ""
	if z >= 0 {
		name = r.table.Classes[z]
		key = name
	}
	i, known := r.places[key]
	switch {
	case want != "":
	case key == "":
		want = "a name"
	case z < 0 && !r.all:
		want = "a class of the data set in the first column"
		if !r.problems.Full("class", r.file.File) {
			hint = strings.TrimSpace(invalid.DidYouMean(name, r.table.Classes) +
				" --all adds classes that the data set does not have.")
		}
	case known && r.names[i] != name:
		want = fmt.Sprintf("%s, as before, or another name", invalid.Quote(r.names[i]))
	case known && once:
		want, got = "one line per class", "a second one of "+got
	case known:
		return i
	default:
		i = len(r.names)
		r.places[key] = i
		if z < 0 {
			r.size[0]++
		}
		r.names = append(r.names, name)
		return i
	}
	r.file.Report("class", row.Line, r.file.Columns[0], want, got, hint)
	return -1
}

func (r *traitReader) attribute(name string) int {
	if hits := r.known.find(name); len(hits) == 1 {
		return hits[0]
	}
	return -1
}

func isOther(entry cell) bool {
	_, err := table.Number(entry.text, 64)
	return err != nil && !isProbability(entry.text)
}

// read returns the attributes of a column and adds what it was taken for to the report.
func (r *traitReader) read(c *column) []*described {
	probabilities := !slices.ContainsFunc(c.cells, isOther)
	m := r.attribute(c.name)
	group, known := r.groups[shortName(c.name)]
	switch {
	case known && (m < 0 || !probabilities):
		return r.words(c, &group)
	case m >= 0:
		return r.probabilities(c, r.table.Attributes[m])
	case r.fixed:
		hint := ""
		if len(r.known.find(c.name)) == 0 && !r.problems.Full("attribute", r.file.File) {
			hint = invalid.DidYouMean(c.name, r.known.names)
		}
		r.file.Report("attribute", c.line, "", "the name of one attribute of the data set",
			invalid.Quote(c.name), hint)
		return nil
	case len(c.cells) == 0:
		r.file.Report("empty", 1, c.name, "a value in a line", "none", "Leave the column out.")
		return nil
	case probabilities:
		if !r.fits(1) {
			return nil
		}
		group, _, _ := strings.Cut(c.name, "::")
		return r.probabilities(c, Attribute{c.name, group})
	}
	return r.words(c, nil)
}

// fits reports whether the table has room for the classes of the file and for more attributes. That it has
// none is reported once.
func (r *traitReader) fits(attributes int) bool {
	r.size[1] += attributes
	if err := tooMany(r.file.File, r.size[0], r.size[1]); err != nil && !r.full {
		r.full = true
		r.problems.AddError(err)
	}
	return !r.full
}

func tooMany(file string, classes, attributes int) error {
	e := &invalid.Error{Where: file, Hint: "Leave out columns that photographs do not show."}
	switch n := classes * attributes; {
	case attributes > MaxAttributes:
		e.Want, e.Got = fmt.Sprintf("at most %d attributes", MaxAttributes), "more"
	case n > MaxEntries:
		e.Want, e.Got = fmt.Sprintf("at most %d classes x attributes", MaxEntries), fmt.Sprint(n)
	default:
		return nil
	}
	return e
}

func (r *traitReader) probabilities(c *column, a Attribute) []*described {
	d := &described{a, map[int]float64{}}
	counts, trait := map[string]int{}, Trait{Column: c.name, Kind: "yes or no"}
	for _, entry := range c.cells {
		r.scale.line = entry.line
		p, wrong := r.scale.probability(entry.text)
		if wrong != nil {
			r.file.Report("probability", entry.line, c.name, wrong.Want, wrong.Got, wrong.Hint)
			continue
		}
		d.p[entry.class] = p
		if counts[nearestWord(p)]++; p != 0 && p != 1 {
			trait.Kind = "from no to yes"
		}
	}
	for _, word := range slices.Sorted(maps.Keys(counts)) {
		trait.Values = append(trait.Values, ValueCount{word, counts[word]})
	}
	r.took(trait)
	return []*described{d}
}

func (r *traitReader) took(t Trait) {
	slices.SortFunc(t.Values, func(a, b ValueCount) int {
		return cmp.Or(b.Classes-a.Classes, strings.Compare(a.Value, b.Value))
	})
	r.Traits = append(r.Traits, t)
}

func (r *traitReader) apply(all []*described) {
	t := r.table
	t.Added.Classes += t.AddClasses(r.names...)
	t.ownDrafts()
	write := t.Scale()
	index := make(map[string]int, len(t.Classes))
	for z, name := range t.Classes {
		index[name] = z
	}
	attributes := make([]Attribute, len(all))
	for i, d := range all {
		attributes[i] = d.Attribute
	}
	t.Added.Attributes += t.AddAttributes(attributes...)
	place := make(map[string]int, len(t.Attributes))
	for m, a := range slices.Backward(t.Attributes) {
		place[a.Name] = m
	}
	for _, d := range all {
		m := place[d.Name]
		for class, p := range d.p {
			name := r.names[class]
			if z := index[name]; t.Cells[z][m] == "" {
				t.Cells[z][m] = cellOf(p, write)
				if r.draft {
					t.Drafts[Draft{Class: name, Group: t.Attributes[m].Group}] = true
				}
			}
		}
	}
}

// cellOf is the text of a probability: a word, or a number in the scale of the table.
func cellOf(p float64, write func(p float64) string) string {
	if word := nearestWord(p); value(word) == p {
		return word
	}
	if text := write(p); strings.HasSuffix(text, "%") {
		return text
	}
	return strconv.FormatFloat(math.Abs(p), 'g', -1, 64) // no -0
}

package descriptions

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

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
	Alike  []string     `json:"alike"`  // pairs of words that may be two spellings of one
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
// that are filled in are kept; the others become drafts. The error joins all problems, each an
// *invalid.Error.
func (t *Table) AddTraits(ctx context.Context, path string, all bool) (*Reading, error) {
	text, err := fileio.ReadFile(ctx, path, maxSize)
	if err != nil {
		return nil, err
	}
	r := newTraitReader(t, path)
	r.all = all || len(t.Classes) == 0
	r.add(text)
	return &r.Reading, r.problems.Err()
}

// traitReader adds a table of traits to a table of descriptions.
type traitReader struct {
	Reading
	path  string
	table *Table
	all   bool // classes that the table lacks are added
	fixed bool // attributes that the table lacks are refused

	classes  *Index           // of the table
	known    *vocabulary      // of the attributes of the table
	groups   map[string]Group // of the table by their short names
	names    []string         // of the classes of the file
	places   map[string]int   // of the names
	scale    table.Scale
	problems invalid.List
}

func newTraitReader(t *Table, path string) *traitReader {
	r := &traitReader{
		path: path, table: t, classes: t.Index(), known: newVocabulary(t.Attributes),
		groups: map[string]Group{}, places: map[string]int{},
	}
	for _, g := range slices.Backward(t.Groups()) {
		r.groups[shortName(g.column())] = g
	}
	return r
}

// shortName is a name of a group without the "has" that some begin with.
func shortName(name string) string { return strings.TrimPrefix(foldName(name), "has") }

// column is one trait.
type column struct {
	name  string
	line  int // that names it first
	cells []cell
	at    map[int]int // cells by class
}

type cell struct {
	class, line int
	text        string
}

// described is an attribute with its probability for each class.
type described struct {
	Attribute
	p map[int]float64
}

func (r *traitReader) report(kind string, line int, column, want, got, hint string) {
	field := fmt.Sprintf("line %d", line)
	if column != "" {
		field += ", column " + column
	}
	r.problems.Add(kind, &invalid.Error{Where: r.path, Field: field, Want: want, Got: got, Hint: hint})
}

func (r *traitReader) add(text []byte) {
	var problems invalid.List
	file := table.Parse(r.path, bytes.NewReader(text), &problems)
	var columns []*column
	if file != nil && file.HasColumns(nil, table.Any) && problems.Len() == 0 && len(file.Columns) > 1 {
		columns = r.columns(file)
	}
	r.problems.AddError(problems.Err())
	if file == nil { // the problems say why
		return
	}
	if len(columns) == 0 || r.problems.Len() > 0 {
		r.problems.AddError(&invalid.Error{Where: r.path, Want: Form, Got: "the columns " + file.Header()})
		return
	}
	var all []*described
	for _, c := range columns {
		all = append(all, r.read(c)...)
	}
	t := r.table
	if n := (len(t.Classes) + len(r.names)) * (len(t.Attributes) + len(all)); n > MaxEntries {
		r.problems.AddError(&invalid.Error{
			Where: r.path, Want: fmt.Sprintf("at most %d classes x attributes", MaxEntries),
			Got: fmt.Sprint(n), Hint: "Leave out columns that photographs do not show.",
		})
	}
	words := slices.ContainsFunc(all, func(d *described) bool {
		return d.Group != d.Name && t.Attribute(d.Name) < 0
	})
	switch ungrouped := len(t.Attributes) > 0 && t.Attributes[0].Group == ""; {
	case ungrouped && words:
		r.problems.AddError(&invalid.Error{
			Where: r.path,
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

// columns returns the traits of a file, whose classes it puts into names.
func (r *traitReader) columns(file *table.Table) (columns []*column) {
	header := file.Columns
	if r.classes.Find(header[0]) >= 0 {
		r.report("header", 1, "", `a header: "class" and the names of traits`,
			"the class "+invalid.Quote(header[0]), "")
		return nil
	}
	of := map[string]*column{} // by what names mean
	trait := func(line int, name string) (c *column, isNew bool) {
		key := foldName(name)
		if m := r.attribute(name); m >= 0 {
			key = r.table.Attributes[m].Name
		}
		c = of[key]
		if isNew = c == nil; isNew {
			if _, want := dataset.CheckName(name); want != "" {
				r.report("trait", line, "", want+" for a trait", invalid.Quote(name), "")
			}
			c = &column{name: name, line: line, at: map[int]int{}}
			of[key], columns = c, append(columns, c)
		}
		return c, isNew
	}
	if len(header) > 2 && slices.Contains([]string{"trait", "attribute"}, strings.ToLower(header[1])) &&
		strings.EqualFold(header[2], "value") {
		for _, name := range header[3:] {
			r.report("column", 1, "", "only the columns class, "+header[1]+", value", invalid.Quote(name), "")
		}
		r.Layout = "a line per class and trait"
		for _, row := range file.Rows {
			c, _ := trait(row.Line, row.Cells[1])
			c.add(cell{r.class(file, row, false), row.Line, row.Cells[2]})
		}
		return columns
	}
	r.Layout = "a line per class"
	for _, name := range header[1:] {
		if _, isNew := trait(1, name); !isNew {
			r.report("repeated", 1, "", "each attribute once", invalid.Quote(name)+" for the second time", "")
			return nil
		}
	}
	for _, row := range file.Rows {
		z := r.class(file, row, true)
		for j, c := range columns {
			c.add(cell{z, row.Line, row.Cells[1+j]})
		}
	}
	return columns
}

// add adds a cell unless it is missing. Further cells of a class list further words.
func (c *column) add(of cell) {
	if of.class < 0 || isMissing(of.text) {
		return
	}
	if i, known := c.at[of.class]; known {
		c.cells[i].text += "; " + of.text
		return
	}
	c.at[of.class] = len(c.cells)
	c.cells = append(c.cells, of)
}

// class returns the place of the class of a line among names, -1 after a problem.
func (r *traitReader) class(file *table.Table, row table.Row, once bool) int {
	name, want := dataset.CheckName(row.Cells[0])
	key, z, got, hint := foldName(name), r.classes.Find(name), invalid.Quote(name), ""
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
		want = "a class of the data set"
		if !r.problems.Full("class", r.path) {
			hint = r.hintOfClass(file, name)
		}
	case known && r.names[i] != name:
		want = fmt.Sprintf("%s, as before, or another name", invalid.Quote(r.names[i]))
	case known && once:
		want, got = "one line per class", "a second one of "+got
		hint = `In pandas: df.groupby("class").mean() of numbers; of lines for each trait ` +
			`df.to_csv("traits.csv", columns=[...], header=["class", "trait", "value"], index=False).`
	case known:
		return i
	default:
		i = len(r.names)
		r.places[key] = i
		r.names = append(r.names, name)
		return i
	}
	r.report("class", row.Line, file.Columns[0], want, got, hint)
	return -1
}

func (r *traitReader) hintOfClass(file *table.Table, name string) string {
	if slices.ContainsFunc(file.Columns[1:], func(name string) bool { return r.classes.Find(name) >= 0 }) {
		return `Of a table with a column per class, in pandas: pandas.read_csv("traits.csv", ` +
			`index_col=0).T.to_csv("turned.csv").`
	}
	near := invalid.DidYouMean(name, r.table.Classes)
	switch {
	case near != "":
	case file.Columns[0] == "":
		near = "Numbers of rows? Write the file without: to_csv(index=False)."
	default:
		near = "The first column has the classes."
	}
	return near + " --all adds classes that the data set does not have."
}

// attribute returns the attribute of the data set that a name means, or -1.
func (r *traitReader) attribute(name string) int {
	if hits := r.known.find(name); len(hits) == 1 {
		return hits[0]
	}
	return -1
}

// read returns the attributes of a column and adds what it was taken for to the report.
func (r *traitReader) read(c *column) []*described {
	c.readMarks()
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
		if !r.problems.Full("attribute", r.path) {
			hint = r.known.hint(c.name, r.known.find(c.name))
		}
		r.report("attribute", c.line, "", "the name of one attribute of the data set", invalid.Quote(c.name),
			hint)
		return nil
	case len(c.cells) == 0:
		r.report("empty", 1, c.name, "a value in a line", "none", "Leave the column out.")
		return nil
	case probabilities:
		group, _, _ := strings.Cut(c.name, "::")
		return r.probabilities(c, Attribute{c.name, group})
	}
	return r.words(c, nil)
}

// probabilities returns the one attribute of a column of probabilities.
func (r *traitReader) probabilities(c *column, a Attribute) []*described {
	d := &described{a, map[int]float64{}}
	counts, trait := map[string]int{}, Trait{Column: c.name, Kind: "yes or no"}
	for _, of := range c.cells {
		p, err := r.scale.Probability(of.text)
		if e := (*invalid.Error)(nil); errors.As(err, &e) {
			r.report(c.name, of.line, c.name, e.Want, e.Got, e.Hint)
			continue
		}
		d.p[of.class] = p
		if counts[nearestWord(p)]++; p != 0 && p != 1 {
			trait.Kind = "shares"
		}
	}
	for word, classes := range counts {
		trait.Values = append(trait.Values, ValueCount{word, classes})
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

// apply writes what a table says into cells that are empty.
func (r *traitReader) apply(all []*described) {
	t := r.table
	t.Added.Classes += t.AddClasses(r.names)
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
		for class, p := range d.p {
			name := r.names[class]
			if z := index[name]; t.Cells[z][m] == "" {
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
	return strconv.FormatFloat(math.Abs(p), 'g', -1, 64) // no -0
}

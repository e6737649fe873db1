package openlayout

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/invalid"
)

// readAttributes returns the attributes and their groups. Groups are nil if no attribute
// has one, and attributes if the file is no table.
func (r *reader) readAttributes() (attributes []dataset.Attribute, groups []string) {
	t := r.table(attributesFile, []string{"name"}, "group")
	if t == nil {
		return nil, nil
	}
	names := t.Names("name")
	known := make(map[string]int)
	for i, row := range t.Rows {
		a := dataset.Attribute{Name: names[i], Group: -1}
		switch group := t.Cell(row, "group"); {
		case group == "":
		case invalid.HasControl(group):
			t.Report("group", row.Line, "group", "a name without control characters", invalid.Quote(group))
		default:
			k, seen := known[group]
			if !seen {
				k = len(groups)
				known[group] = k
				groups = append(groups, group)
			}
			a.Group = k
		}
		attributes = append(attributes, a)
	}
	ungrouped := slices.IndexFunc(t.Rows, func(row table.Row) bool { return t.Cell(row, "group") == "" })
	if groups != nil && ungrouped >= 0 {
		row := t.Rows[ungrouped]
		t.Report("group", row.Line, "group", "a group for every attribute, or for none", "none for "+invalid.Quote(t.Cell(row, "name")))
	}
	return attributes, groups
}

// classes are the classes of a folder and their descriptions.
type classes struct {
	names        []string // empty if the name was reported as a problem
	source       string   // of the names, for errors
	index        map[string]int
	descriptions dataset.Matrix[float64]
}

// readClasses returns nil if the file is no table.
func (r *reader) readClasses(attributes []dataset.Attribute) *classes {
	t := r.table(classesFile, []string{classColumn})
	if t == nil {
		return nil
	}
	c := namedClasses(t.Names(classColumn), classesFile)
	if attributes == nil { // reported
		return c
	}
	c.descriptions = dataset.NewMatrix[float64](len(c.names), len(attributes))
	for m, j := range attributeColumns(t, attributes) {
		for z, row := range t.Rows {
			c.descriptions.Row(z)[m] = math.NaN()
			if j >= 0 {
				c.descriptions.Row(z)[m] = t.Probability(row, j)
			}
		}
	}
	return c
}

// namedClasses returns classes of which only the names are known.
func namedClasses(names []string, source string) *classes {
	c := &classes{names: names, source: source, index: make(map[string]int, len(names))}
	for z, name := range names {
		if name != "" {
			c.index[name] = z
		}
	}
	return c
}

// attributeColumns returns the column of each attribute, or -1.
func attributeColumns(t *table.Table, attributes []dataset.Attribute) []int {
	names := make([]string, len(attributes))
	columns := make([]int, len(attributes))
	index := make(map[string]int, len(attributes))
	for m, a := range attributes {
		names[m], columns[m], index[a.Name] = a.Name, -1, m
	}
	for j, name := range t.Columns {
		if name == classColumn {
			continue
		}
		if m, known := index[name]; known && name != "" {
			columns[m] = j
			continue
		}
		t.ReportUnknown("column", 1, fmt.Sprint(j+1), "the name of an attribute of "+attributesFile, name, names)
	}
	for m, j := range columns {
		if j < 0 && names[m] != "" {
			t.Report("missing", 1, "", "a column for every attribute of "+attributesFile, "none for "+invalid.Quote(names[m]))
		}
	}
	return columns
}

// find returns the class that a row of another table names, or -1.
func (c *classes) find(t *table.Table, row table.Row) int {
	name := t.Cell(row, classColumn)
	if z, known := c.index[name]; known {
		return z
	}
	t.ReportUnknown("class", row.Line, classColumn, fmt.Sprintf("one of the %d classes of %s", len(c.names), c.source), name, c.names)
	return -1
}

// labels are the columns of labels.csv.
type labels struct {
	classes []int    // of each sample; -1 if the class is unknown
	ids     []string // names of the samples, nil if there is no such column
	held    []int    // samples held out for generalised zero-shot learning, ascending
	table   *table.Table
}

// readLabels returns nil if the file is no table.
func (r *reader) readLabels(c *classes) *labels {
	t := r.table(labelsFile, []string{classColumn}, idColumn, testSeenColumn)
	if t == nil {
		return nil
	}
	l := &labels{table: t}
	if t.Column(idColumn) >= 0 {
		l.ids = t.Names(idColumn)
	}
	for i, row := range t.Rows {
		z := -1
		if c != nil {
			z = c.find(t, row)
		}
		l.classes = append(l.classes, z)
		switch cell := t.Cell(row, testSeenColumn); strings.ToLower(cell) {
		case "yes", "true", "1":
			l.held = append(l.held, i)
		case "no", "false", "0", "":
		default:
			t.Report("test_seen", row.Line, testSeenColumn, "yes or no (true or false, 1 or 0; empty means no)", invalid.Quote(cell))
		}
	}
	return l
}

// checkHeld checks that the samples held out are of seen classes. These are the same in
// all splits, of which partOf has the column of one for each class.
func (l *labels) checkHeld(c *classes, partOf []string) {
	for _, i := range l.held {
		z := l.classes[i]
		if z < 0 || isSeen(partOf[z]) || partOf[z] == misspelt {
			continue
		}
		l.table.Report("held", l.table.Rows[i].Line, testSeenColumn, "no, except for samples of train and val classes",
			fmt.Sprintf("yes for a sample of %s, whose part is %q", invalid.Quote(c.names[z]), partOf[z]))
	}
}

// The subsets of a split, as splits.csv names them.
const (
	train = "train"
	val   = "val"
	test  = "test"

	// misspelt replaces a name that was reported, so that its consequences are not
	// reported too.
	misspelt = "?"
)

// partColumns are the columns of the three splits.
var partColumns = []string{"part", "part2", "part3"}

func isSeen(part string) bool { return part == train || part == val }

// splits are the splits of the classes.
type splits struct {
	partOf [][]string // for each of the first partColumns, the subset of each class
	table  *table.Table
}

// readSplits returns nil if the file is no table.
func (r *reader) readSplits(name string, c *classes) *splits {
	t := r.table(name, []string{classColumn, partColumns[0]}, partColumns[1:]...)
	if t == nil || c == nil {
		return nil
	}
	s := &splits{table: t}
	for n, column := range partColumns {
		if t.Column(column) < 0 {
			continue
		}
		if n != len(s.partOf) {
			t.Report("column", 1, "", "a column "+partColumns[n-1]+" before "+column, t.Header())
			return nil
		}
		s.partOf = append(s.partOf, make([]string, len(c.names)))
	}
	lineOf := make(map[int]int)
	for _, row := range t.Rows {
		z := c.find(t, row)
		if z < 0 {
			continue
		}
		if other, repeated := lineOf[z]; repeated {
			t.Report("repeated", row.Line, classColumn, "every class once", fmt.Sprintf("%s, which is also on line %d", invalid.Quote(c.names[z]), other))
			continue
		}
		lineOf[z] = row.Line
		first := t.Cell(row, partColumns[0])
		for n, of := range s.partOf {
			column := partColumns[n]
			of[z] = t.Cell(row, column)
			switch known := []string{train, val, test}; {
			case of[z] != "" && !slices.Contains(known, of[z]):
				t.ReportUnknown(column, row.Line, column, "train, val or test, or nothing for a class that is left out", of[z], known)
				of[z] = misspelt
			case s.partOf[0][z] == misspelt || of[z] == first || isSeen(of[z]) && isSeen(first):
			case isSeen(first): // the splits of a class differ only in train and val
				t.Report("unseen", row.Line, column, "train or val, as in part", fmt.Sprintf("%q", of[z]))
			default:
				t.Report("unseen", row.Line, column, fmt.Sprintf("%q, as in part", first), fmt.Sprintf("%q", of[z]))
			}
		}
	}
	for z, name := range c.names {
		if _, listed := lineOf[z]; !listed && name != "" {
			r.problems.Add("unlisted", &invalid.Error{
				Where: t.File, Field: "class " + invalid.Quote(name),
				Want: "a line for every class of " + c.source + ", with an empty part for a class that is left out", Got: "none",
			})
		}
	}
	for n, of := range s.partOf {
		for _, part := range []string{train, val, test} {
			if !slices.Contains(of, part) && !slices.Contains(of, misspelt) {
				r.problems.AddError(&invalid.Error{Where: t.File, Field: "column " + partColumns[n], Want: "at least one " + part + " class", Got: "none"})
			}
		}
	}
	return s
}

// all returns the splits, at least one.
func (s *splits) all() []dataset.Split {
	all := make([]dataset.Split, len(s.partOf))
	for n := range all {
		into := map[string]*[]int{train: &all[n].Train, val: &all[n].Val, test: &all[n].Test}
		for z, part := range s.partOf[n] {
			if classes := into[part]; classes != nil {
				*classes = append(*classes, z)
			}
		}
	}
	return all
}

// ReadSplits reads a file in the form of splits.csv for the given classes. It returns one
// split for each of the columns part, part2 and part3 that the file has. The error joins
// all problems, each an *invalid.Error.
func ReadSplits(ctx context.Context, path string, classes []string) ([]dataset.Split, error) {
	r := &reader{ctx: ctx, dir: filepath.Dir(path)}
	s := r.readSplits(filepath.Base(path), namedClasses(classes, "the data set"))
	if err := r.problems.Err(); err != nil {
		return nil, err
	}
	return s.all(), nil
}

package openlayout

import (
	"fmt"
	"math"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/invalid"
)

// readAttributes returns the attributes and their groups. Groups are nil if no attribute
// has one, and attributes if the file is no table.
func (r *reader) readAttributes() (attributes []dataset.Attribute, groups []string) {
	t := r.table(attributesFile)
	if t == nil {
		return nil, nil
	}
	if ok := t.Require("name"); !t.Allow("name", "group") || !ok {
		return nil, nil
	}
	names := t.Names("name")
	known := make(map[string]int)
	ungrouped := -1 // row
	for i, row := range t.Rows {
		a := dataset.Attribute{Name: names[i], Group: -1}
		group := t.Cell(row, "group")
		switch {
		case group == "":
			if ungrouped < 0 {
				ungrouped = i
			}
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
	t := r.table(classesFile)
	if t == nil || !t.Require(classColumn) {
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
	t := r.table(labelsFile)
	if t == nil {
		return nil
	}
	if ok := t.Require(classColumn); !t.Allow(classColumn, idColumn, testSeenColumn) || !ok {
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
		what := "is in no part"
		if partOf[z] != "" {
			what = "is a " + partOf[z] + " class"
		}
		l.table.Report("held", l.table.Rows[i].Line, testSeenColumn, "no, except for samples of train and val classes",
			fmt.Sprintf("yes for a sample of %s, which %s", invalid.Quote(c.names[z]), what))
	}
}

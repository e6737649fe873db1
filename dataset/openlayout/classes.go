package openlayout

import (
	"errors"
	"fmt"
	"math"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/internal/invalid"
)

// classes are the classes of a folder and their descriptions.
type classes struct {
	names        []string
	source       string         // of the names, for errors
	index        map[string]int // of each name
	descriptions dataset.Matrix[float64]
	table        *table
}

// readClasses returns nil where the file is no table.
func (r *reader) readClasses(attributes []dataset.Attribute) *classes {
	t := r.table(classesFile, []string{classColumn}, nil, true)
	if t == nil {
		return nil
	}
	names, _ := t.names(classColumn)
	c := namedClasses(names, classesFile)
	c.table = t
	if attributes == nil { // told already
		return c
	}
	c.descriptions = dataset.NewMatrix[float64](len(c.names), len(attributes))
	for m, j := range t.attributeColumns(attributes) {
		for z, row := range t.rows {
			c.descriptions.Row(z)[m] = math.NaN()
			if j >= 0 {
				c.descriptions.Row(z)[m] = t.probability(row, j)
			}
		}
	}
	return c
}

// namedClasses are classes of which no more than the names are known; an empty one
// is of a class whose name was told to be wrong.
func namedClasses(names []string, source string) *classes {
	c := &classes{names: names, source: source, index: make(map[string]int)}
	for z, name := range names {
		if name != "" {
			c.index[name] = z
		}
	}
	return c
}

// attributeColumns returns the column of each attribute, -1 where there is none.
func (t *table) attributeColumns(attributes []dataset.Attribute) []int {
	names := make([]string, len(attributes))
	columns := make([]int, len(attributes))
	known := make(map[string]int)
	for m, a := range attributes {
		names[m], columns[m], known[a.Name] = a.Name, -1, m
	}
	header := row{line: 1}
	for j, name := range t.columns {
		if name == classColumn {
			continue
		}
		if m, is := known[name]; is && name != "" {
			columns[m] = j
			continue
		}
		t.wrong("column", header, fmt.Sprint(j+1), "the name of an attribute of "+attributesFile, unknown(name, names))
	}
	for m, j := range columns {
		if j < 0 && names[m] != "" {
			t.wrong("missing", header, "", "a column for every attribute of "+attributesFile, fmt.Sprintf("none for %q", names[m]))
		}
	}
	return columns
}

// probability reads a cell of a description.
func (t *table) probability(row row, column int) float64 {
	p, err := descriptions.Value(row.cells[column])
	var wrong *invalid.Error
	if errors.As(err, &wrong) {
		t.wrong("value", row, t.columns[column], wrong.Want, wrong.Got)
	}
	return p
}

// find returns the class that a cell of another table names, -1 for none.
func (c *classes) find(t *table, row row) int {
	name := t.cell(row, classColumn)
	z, known := c.index[name]
	if known {
		return z
	}
	got := fmt.Sprintf("%q", name)
	if !t.bad.Full("class", t.file) { // where many are wrong, to look for the nearest takes long
		got = unknown(name, c.names)
	}
	t.wrong("class", row, classColumn, fmt.Sprintf("one of the %d classes of %s", len(c.names), c.source), got)
	return -1
}

// checkUse checks that the classes of a split have samples and are described.
func (c *classes) checkUse(s dataset.Split, labels []int) {
	samples := make([]int, len(c.names))
	for _, z := range labels {
		if z >= 0 {
			samples[z]++
		}
	}
	for _, part := range s.Subsets() {
		for _, z := range part.Classes {
			row := c.table.rows[z]
			if labels != nil && samples[z] == 0 {
				c.table.wrong("samples", row, "", fmt.Sprintf("a %s class to have samples in %s", part.Name, labelsFile), fmt.Sprintf("none of %q", c.names[z]))
			}
			if c.descriptions.Rows > 0 && !describes(c.descriptions.Row(z)) {
				c.table.wrong("described", row, "", fmt.Sprintf("at least one attribute of a %s class described", part.Name), "none")
			}
		}
	}
}

func describes(u []float64) bool {
	for _, p := range u {
		if !math.IsNaN(p) {
			return true
		}
	}
	return false
}

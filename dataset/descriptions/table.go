// Package descriptions has the table of class descriptions: a cell for each class and attribute,
// with a probability or a word such as "often", or nothing where the class is not described.
// The files attributes.csv and classes.csv of a folder hold one, which ReadFolder reads and Save writes.
// AddTraits adds to a table what a file of Form says, and Read reads new classes from such a file.
//
// It does not read whole data sets: see packages openlayout and xlsa17.
package descriptions

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/internal/table"
)

// Table is the descriptions of classes as people write them: cells are kept as text.
type Table struct {
	Attributes []Attribute
	Classes    []string
	Cells      [][]string // classes x attributes; empty is not described

	// Added counts what the files of a folder lacked: classes of its samples, and attributes that
	// are columns of one file alone.
	Added struct{ Classes, Attributes int }

	Drafts map[Draft]bool // those of AddTraits among them; the first change of a clone replaces the map

	ownsDrafts bool    // no other table has the map
	stored     *stored // of the folder that it was read from, shared by clones; nil for none
}

// Attribute is an attribute with the name of its group, "" without groups.
type Attribute struct {
	Name  string `json:"name"`
	Group string `json:"group"`
}

// Draft is that of a data set.
type Draft = dataset.Draft

// SetDraft says whether a group of a class is a draft. It leaves the drafts of clones as they are.
func (t *Table) SetDraft(d Draft, is bool) {
	if t.Drafts[d] != is {
		t.ownDrafts()
		if t.Drafts[d] = true; !is {
			delete(t.Drafts, d)
		}
	}
}

// ownDrafts replaces the drafts by a copy unless no clone shares them.
func (t *Table) ownDrafts() {
	if t.ownsDrafts {
		return
	}
	if t.Drafts = maps.Clone(t.Drafts); t.Drafts == nil {
		t.Drafts = map[Draft]bool{}
	}
	t.ownsDrafts = true
}

// AttributesOf returns the attributes of a data set.
func AttributesOf(d *dataset.Dataset) []Attribute {
	list := make([]Attribute, len(d.Attributes))
	for m, a := range d.Attributes {
		list[m].Name = a.Name
		if a.Group >= 0 && a.Group < len(d.Groups) {
			list[m].Group = d.Groups[a.Group]
		}
	}
	return list
}

// TableOf returns the descriptions of a data set.
func TableOf(d *dataset.Dataset) *Table {
	t := &Table{Attributes: AttributesOf(d), Classes: d.Classes, Drafts: d.Drafts}
	for z := range d.Classes {
		cells := make([]string, len(d.Attributes))
		for m, p := range d.Descriptions.Row(z) {
			if !math.IsNaN(p) {
				cells[m] = strconv.FormatFloat(p, 'g', -1, 64)
			}
		}
		t.Cells = append(t.Cells, cells)
	}
	return t
}

// SetTo sets the classes, attributes, groups and descriptions of a data set. Groups are in the
// order in which attributes first name them.
func (t *Table) SetTo(d *dataset.Dataset) {
	groups := map[string]int{"": -1}
	for _, a := range t.Attributes {
		k, known := groups[a.Group]
		if !known {
			k = len(d.Groups)
			groups[a.Group], d.Groups = k, append(d.Groups, a.Group)
		}
		d.Attributes = append(d.Attributes, dataset.Attribute{Name: a.Name, Group: k})
	}
	d.Classes, d.Descriptions, d.Drafts = t.Classes, t.Values(), t.Drafts
}

func lacking[T any](known, list []T, name func(T) string) (added []T) {
	seen := make(map[string]bool, len(known))
	for _, item := range known {
		seen[name(item)] = true
	}
	for _, item := range list {
		if !seen[name(item)] {
			seen[name(item)] = true
			added = append(added, item)
		}
	}
	return added
}

// AddAttributes adds those of some attributes whose names are new, which describe no class yet, and returns
// their number.
func (t *Table) AddAttributes(list ...Attribute) int {
	added := lacking(t.Attributes, list, func(a Attribute) string { return a.Name })
	t.Attributes = append(t.Attributes, added...)
	for z := range t.Cells {
		t.Cells[z] = append(t.Cells[z], make([]string, len(added))...)
	}
	return len(added)
}

// AddClasses adds those of some classes that are new, without values, and returns their number.
func (t *Table) AddClasses(names ...string) int {
	added := lacking(t.Classes, names, func(name string) string { return name })
	t.Classes = append(t.Classes, added...)
	for range added {
		t.Cells = append(t.Cells, make([]string, len(t.Attributes)))
	}
	return len(added)
}

// Attribute returns the index of the attribute of a name, or -1.
func (t *Table) Attribute(name string) int {
	return slices.IndexFunc(t.Attributes, func(a Attribute) bool { return a.Name == name })
}

// Set sets a cell. It leaves those of clones as they are.
func (t *Table) Set(z, m int, cell string) {
	t.Cells[z] = slices.Clone(t.Cells[z])
	t.Cells[z][m] = cell
}

// RenameClass gives a class another name, or removes it if that is empty.
func (t *Table) RenameClass(z int, name string) {
	old := t.Classes[z]
	for d := range t.Drafts {
		if d.Class == old && name != old {
			t.SetDraft(d, false)
			t.SetDraft(Draft{Class: name, Group: d.Group}, name != "")
		}
	}
	if t.Classes[z] = name; name == "" {
		t.Classes, t.Cells = slices.Delete(t.Classes, z, z+1), slices.Delete(t.Cells, z, z+1)
	}
}

// Clone returns a copy to be changed in place of t. It shares rows and drafts, which are replaced when they
// change.
func (t *Table) Clone() *Table {
	c := *t
	c.ownsDrafts = false
	c.Attributes, c.Classes, c.Cells = slices.Clone(t.Attributes), slices.Clone(t.Classes),
		slices.Clone(t.Cells)
	for z, row := range c.Cells {
		c.Cells[z] = slices.Clip(row)
	}
	return &c
}

// Values returns the descriptions as numbers, NaN where nothing is described.
func (t *Table) Values() dataset.Matrix[float64] {
	u := dataset.NewMatrix[float64](len(t.Classes), len(t.Attributes))
	for z, row := range t.Cells {
		for m, cell := range row {
			u.Row(z)[m] = value(cell)
		}
	}
	return u
}

// Scale returns what writes probabilities in the scale of the cells: as numbers or percentages or, if
// there are no numbers, as the nearest words. NaN is an empty cell.
func (t *Table) Scale() func(p float64) string {
	numbers, percent := false, false
	for _, row := range t.Cells {
		for _, cell := range row {
			_, err := table.Number(cell, 64)
			numbers, percent = numbers || err == nil, percent || strings.HasSuffix(cell, "%")
		}
	}
	return func(p float64) string {
		switch {
		case math.IsNaN(p):
			return ""
		case percent:
			return strconv.FormatFloat(100*p, 'g', 6, 64) + "%"
		case numbers:
			return strconv.FormatFloat(p, 'g', -1, 64)
		}
		return nearestWord(p)
	}
}

// Group is the attributes with the name of one group, "" for those of a data set without groups.
type Group struct {
	Name    string
	Members []int // indices of attributes
}

// Groups returns the groups in the order in which attributes first name them.
func (t *Table) Groups() (list []Group) {
	index := map[string]int{}
	for m, a := range t.Attributes {
		k, known := index[a.Group]
		if !known {
			k = len(list)
			index[a.Group], list = k, append(list, Group{Name: a.Group})
		}
		list[k].Members = append(list[k].Members, m)
	}
	return list
}

// column is the name of the group in a table of traits.
func (g Group) column() string { return cmp.Or(g.Name, "attributes") }

func (g Group) words(attributes []Attribute) (words []string) {
	for _, m := range g.Members {
		words = append(words, strings.TrimPrefix(attributes[m].Name, g.Name+"::"))
	}
	return words
}

// Empty says what empty cells of a table mean.
type Empty string

// The meanings.
const (
	EmptyUnknown Empty = "unknown"
	EmptyNo      Empty = "no" // in each group in which the class has a yes
)

// Empties lists the meanings.
var Empties = []Empty{EmptyUnknown, EmptyNo}

// FillEmpty writes no into the empty cells of each group of which a class has an attribute, with one half or
// more; with all, into the empty cells of every class that has any value. It returns their number.
func (t *Table) FillEmpty(all bool) (filled int) {
	u, no, groups := t.Values(), t.Scale()(0), t.Groups()
	for z := range t.Classes {
		row := u.Row(z)
		for _, g := range groups {
			has := all && dataset.Described(row) > 0 ||
				slices.ContainsFunc(g.Members, func(m int) bool { return row[m] >= 0.5 })
			for _, m := range g.Members {
				if has && math.IsNaN(row[m]) {
					t.Set(z, m, no)
					filled++
				}
			}
		}
	}
	return filled
}

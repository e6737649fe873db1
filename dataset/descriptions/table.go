// Package descriptions has the table of class descriptions: a cell for each class and attribute,
// with a probability or a word such as "often", or nothing where the class is not described.
// Attributes.csv and classes.csv of a folder hold one, which ReadFolder reads and Write writes,
// and so does a file of new classes, which Read reads by the attributes of a data set.
//
// It does not read whole data sets: see packages openlayout and xlsa17.
package descriptions

import (
	"cmp"
	"maps"
	"math"
	"regexp"
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

	Drafts map[Draft]bool // those of AddTraits among them; a change replaces the map

	stored *stored // of the folder that it was read from, shared by clones; nil for none
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

// ownDrafts replaces the drafts by a copy, which no clone shares.
func (t *Table) ownDrafts() {
	if t.Drafts = maps.Clone(t.Drafts); t.Drafts == nil {
		t.Drafts = map[Draft]bool{}
	}
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

// Of returns the descriptions of a data set.
func Of(d *dataset.Dataset) *Table {
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

// AddAttribute adds an attribute that no class is described by. It reports false for the name of another one.
func (t *Table) AddAttribute(a Attribute) bool {
	return t.Attribute(a.Name) < 0 && t.AddAttributes([]Attribute{a}) == 1
}

// AddAttributes adds those of some attributes whose names are new, and returns their number.
func (t *Table) AddAttributes(list []Attribute) (added int) {
	known := make(map[string]bool, len(t.Attributes))
	for _, a := range t.Attributes {
		known[a.Name] = true
	}
	for _, a := range list {
		if !known[a.Name] {
			known[a.Name] = true
			t.Attributes = append(t.Attributes, a)
			added++
		}
	}
	for z := range t.Cells {
		t.Cells[z] = append(t.Cells[z], make([]string, added)...)
	}
	return added
}

// Attribute returns the index of the attribute of a name, or -1.
func (t *Table) Attribute(name string) int {
	return slices.IndexFunc(t.Attributes, func(a Attribute) bool { return a.Name == name })
}

// AddClasses adds those of some classes that are new, without values, and returns their number.
func (t *Table) AddClasses(names []string) (added int) {
	known := make(map[string]bool, len(t.Classes))
	for _, name := range t.Classes {
		known[name] = true
	}
	for _, name := range names {
		if !known[name] {
			known[name] = true
			t.Classes, t.Cells = append(t.Classes, name), append(t.Cells, make([]string, len(t.Attributes)))
			added++
		}
	}
	return added
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
		if d.Class == old {
			t.SetDraft(d, false)
			t.SetDraft(Draft{Class: name, Group: d.Group}, name != "")
		}
	}
	if t.Classes[z] = name; name == "" {
		t.Classes, t.Cells = slices.Delete(t.Classes, z, z+1), slices.Delete(t.Cells, z, z+1)
	}
}

// Index finds the class that a name means: in any case, with other spaces and punctuation, or without the
// number before one such as 016.Painted_Bunting.
type Index struct{ exact, folded, bare map[string]int }

// Index returns that of the classes. It does not follow later changes.
func (t *Table) Index() *Index {
	x := &Index{map[string]int{}, map[string]int{}, map[string]int{}}
	for z, name := range slices.Backward(t.Classes) { // of equal names the first counts
		x.Add(name, z)
	}
	return x
}

// Add adds the name of a class, before those that it equals.
func (x *Index) Add(name string, z int) {
	x.exact[name], x.folded[foldName(name)], x.bare[foldName(withoutNumber(name))] = z, z, z
}

// Find returns the class, -1 for another name.
func (x *Index) Find(name string) int {
	for _, try := range []struct {
		of   map[string]int
		name string
	}{{x.exact, name}, {x.folded, foldName(name)}, {x.bare, foldName(withoutNumber(name))}} {
		if z, known := try.of[try.name]; known && try.name != "" { // some names are punctuation alone
			return z
		}
	}
	return -1
}

var numbered = regexp.MustCompile(`^\d+[^\pL\d]+(.*\pL.*)`)

func withoutNumber(name string) string { return numbered.ReplaceAllString(name, "$1") }

// Clone returns a copy. It shares rows and drafts, which are replaced when they change.
func (t *Table) Clone() *Table {
	c := *t
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

// value returns the probability that a cell means, NaN for an empty one.
func value(cell string) float64 {
	p, _ := table.Probability(cell) // cells were read without a problem
	return p
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

func nearestWord(p float64) string {
	return slices.MinFunc(Words, func(a, b string) int {
		return int(math.Copysign(1, math.Abs(value(a)-p)-math.Abs(value(b)-p)))
	})
}

// Words are the words for probabilities, each a different one, from 0 to 1.
var Words = []string{"no", "rarely", "sometimes", "often", "yes"}

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

// within returns the name of an attribute without that of the group.
func (g Group) within(attribute string) string { return strings.TrimPrefix(attribute, g.Name+"::") }

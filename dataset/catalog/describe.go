package catalog

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
)

// Described says what Describe wrote. Its JSON keys are stable.
type Described struct {
	Name            string `json:"name"`
	Dir             string `json:"dir"`
	Classes         int    `json:"classes"`    // of classes.csv now
	Attributes      int    `json:"attributes"` // of attributes.csv now
	AddedClasses    int    `json:"added_classes"`
	AddedAttributes int    `json:"added_attributes"`
	Missing         int    `json:"missing"` // empty cells of classes.csv
}

// Folder returns the folder of a data set in the open layout, whose descriptions can be written; "" for
// another one.
func Folder(name string, o Options) (string, error) {
	l, err := find(name, o)
	if l.layout != openLayout {
		l.place = ""
	}
	return l.place, err
}

// Describe completes attributes.csv and classes.csv of a data set in the open layout: the classes of
// its samples and, unless like is empty, the attributes of that data set are added without values.
// What is described is kept.
func Describe(ctx context.Context, name, like string, o Options) (r Described, err error) {
	dir, err := Folder(name, o)
	if err == nil && dir == "" {
		err = &invalid.Error{
			Where: "data set " + invalid.Quote(name), Want: "a folder of CSV files (the open layout)", Got: "another layout or generated data",
			Hint: "lago-train dataset convert writes it in that layout.",
		}
	}
	if err != nil {
		return r, err
	}
	d, err := openlayout.ReadDescriptions(ctx, dir)
	if err != nil {
		return r, err
	}
	if like != "" {
		o.WithoutSplit = true
		other, err := Open(ctx, like, o)
		if err != nil {
			return r, err
		}
		if own, others := slices.ContainsFunc(d.Attributes, hasGroup), other.Groups != nil; len(d.Attributes) > 0 && own != others {
			of := map[bool]string{true: "with groups", false: "without groups"}
			return r, &invalid.Error{Where: "--like", Want: "a data set whose attributes are " + of[own] + ", as those of " + name, Got: invalid.Quote(like) + ", " + of[others]}
		}
		for _, a := range descriptions.AttributesOf(other) {
			if d.AddAttribute(a) {
				d.Added.Attributes++
			}
		}
	}
	if len(d.Attributes) == 0 {
		return r, &invalid.Error{
			Where: "data set " + invalid.Quote(name), Want: "attributes in attributes.csv or --like", Got: "none",
			Hint: "--like NAME takes those of another data set. Or write attributes.csv, with the columns name,group and a line for each attribute, or add them on the page of lago-train serve.",
		}
	}
	if len(d.Classes) == 0 {
		return r, &invalid.Error{Where: dir, Want: "classes in labels.csv or classes.csv", Got: "none"}
	}
	r = Described{
		Name: NameOf(name), Dir: dir, Classes: len(d.Classes), Attributes: len(d.Attributes), AddedClasses: d.Added.Classes, AddedAttributes: d.Added.Attributes,
		Missing: newMissing(d.Classes, d.Values(), nil).Entries,
	}
	return r, d.Save()
}

func hasGroup(a descriptions.Attribute) bool { return a.Group != "" }

// Tables say what was written, and the next step.
func (r Described) Tables() []*table.Table {
	t := table.New(fmt.Sprintf("%s: %s described by %s, in %s", r.Name, format.Count(r.Classes, "class"), format.Count(r.Attributes, "attribute"), r.Dir))
	t.Note("added: %s, %s", format.Count(r.AddedClasses, "class"), format.Count(r.AddedAttributes, "attribute"))
	t.Note("empty: %d of %d entries of classes.csv", r.Missing, r.Classes*r.Attributes)
	return []*table.Table{t.Note("next: describe the classes, in classes.csv or by lago-train serve %s; then dataset split, dataset check and run", r.Name)}
}

// Missing counts the entries that are missing in the descriptions. Its JSON keys are stable.
type Missing struct {
	Entries    int     `json:"entries"`
	Of         int     `json:"of"`         // classes times attributes
	Classes    []Count `json:"classes"`    // those with missing entries, the most first
	Attributes []Count `json:"attributes"` // those with missing entries, the most first
}

// Count is a number of missing entries.
type Count struct {
	Name    string `json:"name"`
	Entries int    `json:"entries"`
}

func newMissing(classes []string, u dataset.Matrix[float64], attributes []dataset.Attribute) Missing {
	byClass, byAttribute := make([]Count, u.Rows), make([]Count, u.Cols)
	m := Missing{Of: len(u.Data)}
	for i, p := range u.Data {
		if math.IsNaN(p) {
			byClass[i/u.Cols].Entries++
			byAttribute[i%u.Cols].Entries++
			m.Entries++
		}
	}
	for z := range byClass {
		byClass[z].Name = classes[z]
	}
	for a, attribute := range attributes {
		byAttribute[a].Name = attribute.Name
	}
	most := func(list []Count) []Count {
		list = slices.DeleteFunc(list, func(c Count) bool { return c.Entries == 0 })
		slices.SortStableFunc(list, func(a, b Count) int { return b.Entries - a.Entries })
		return append([]Count{}, list...)
	}
	m.Classes, m.Attributes = most(byClass), most(byAttribute)
	return m
}

// note says how many entries are missing, and where most.
func (m Missing) note() string {
	if m.Entries == 0 {
		return fmt.Sprintf("descriptions: all %d entries are filled in", m.Of)
	}
	const most = 3
	s := fmt.Sprintf("descriptions: %d of %d entries are empty", m.Entries, m.Of)
	for _, of := range [][]Count{m.Classes, m.Attributes} {
		s += "; most:"
		for i, c := range of[:min(len(of), most)] {
			s += fmt.Sprintf("%s %s (%d)", map[bool]string{true: ",", false: ""}[i > 0], format.Printable(c.Name), c.Entries)
		}
	}
	return s
}

const comparedClasses = 5000 // at most, whose pairs are compared; equal descriptions are found among any number

// confusable reports pairs of classes that the descriptions hardly distinguish, but for those that
// are the same, and the entry that would separate most of them.
func confusable(d *dataset.Dataset) error {
	if len(d.Classes) > comparedClasses {
		return nil
	}
	var list invalid.List
	pairs, _ := dataset.Confusable(d.Descriptions)
	for _, p := range pairs {
		if fmt.Sprint(d.Descriptions.Row(p.A)) == fmt.Sprint(d.Descriptions.Row(p.B)) {
			continue // reported
		}
		e := &invalid.Error{
			Where: d.Name, Field: fmt.Sprintf("classes %s and %s", invalid.Quote(d.Classes[p.A]), invalid.Quote(d.Classes[p.B])),
			Want: fmt.Sprintf("a confusion below %s", format.Percent(dataset.LeastConfusion)), Got: format.Percent(p.Confusion), Hint: "Add an attribute on which they differ.",
		}
		if m, _ := dataset.Separating([]dataset.Pair{p}, len(d.Attributes)); m >= 0 {
			e.Hint = fmt.Sprintf("One or both lack %s.", format.Count(len(p.Missing), "attribute"))
		}
		list.Add("confusable", e)
	}
	if m, of := dataset.Separating(pairs, len(d.Attributes)); m >= 0 {
		list.AddError(&invalid.Error{
			Where: d.Name, Field: "attribute " + invalid.Quote(d.Attributes[m].Name), Want: fmt.Sprintf("entries for the %s of classes above that lack it", format.Count(of, "pair")), Got: "none",
			Hint: "Fill it in first: no other missing attribute could separate more of these pairs.",
		})
	}
	return list.Err()
}

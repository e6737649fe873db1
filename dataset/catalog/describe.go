package catalog

import (
	"context"
	"slices"

	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/internal/invalid"
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
		Missing: check.CountMissing(d).Entries,
	}
	return r, d.Save()
}

func hasGroup(a descriptions.Attribute) bool { return a.Group != "" }

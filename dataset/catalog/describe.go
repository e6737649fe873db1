package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/internal/format"
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
	// groups of classes that no person has checked since --from filled them in
	Drafts int    `json:"drafts"`
	Layout string `json:"layout"` // of the table of --from: a line per class, or per class and trait
	// classes that were added to splits.csv
	Notes  []string `json:"notes"`
	Filled int      `json:"filled"` // empty cells that --empty no wrote no into
	// file with classes.csv as it was before that; "" if nothing was filled
	Kept    string `json:"kept"`
	Written bool   `json:"written"` // false for --dry-run

	Traits []descriptions.Trait `json:"traits"` // of the table of --from: what each column was taken for
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

// Sources say where Describe takes attributes from; the zero value is none.
type Sources struct {
	Like string // a data set whose attributes and groups are added
	From string // a table of traits, see descriptions.Table.AddTraits

	All    bool // classes that the data set does not have are added
	DryRun bool // nothing is written

	// Empty says what empty cells mean: "" leaves them, no fills them in, see descriptions.Table.FillEmpty,
	// and unknown is recorded.
	Empty descriptions.Empty
}

// Order returns the order in which a class of a data set is best described.
func Order(ctx context.Context, name string, o Options) (q check.Questionnaire, err error) {
	dir, err := Folder(name, o)
	if err != nil {
		return q, err
	}
	if dir != "" {
		t, err := openlayout.ReadDescriptions(ctx, dir)
		if err != nil {
			return q, err
		}
		return check.NewQuestionnaire(t), nil
	}
	o.Undecided = true
	d, err := Open(ctx, name, o)
	if err != nil {
		return q, err
	}
	return check.NewQuestionnaire(descriptions.Of(d)), nil
}

func descriptionsFolder(name string, o Options) (string, error) {
	dir, err := Folder(name, o)
	if err == nil && dir == "" {
		err = &invalid.Error{
			Where: "data set " + invalid.Quote(name), Want: "a folder of CSV files (the open layout)",
			Got:  "another layout or generated data",
			Hint: "For .mat files, lago-train docs xlsa17 has the lines of Python that write them.",
		}
	}
	return dir, err
}

// Describe completes attributes.csv and classes.csv of a data set in the open layout: the classes of
// its samples, attributes without values, and traits are added. What is described is kept.
func Describe(ctx context.Context, name string, from Sources, o Options) (r Described, err error) {
	dir, err := descriptionsFolder(name, o)
	if err != nil {
		return r, err
	}
	unlock, err := descriptions.Lock(dir)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	d, err := openlayout.ReadDescriptions(ctx, dir)
	if err != nil {
		return r, err
	}
	if from.Like != "" {
		o.WithoutSplit = true
		other, err := Open(ctx, from.Like, o)
		if err != nil {
			return r, err
		}
		own, others := slices.ContainsFunc(d.Attributes, func(a descriptions.Attribute) bool {
			return a.Group != ""
		}), other.Groups != nil
		if len(d.Attributes) > 0 && own != others {
			of := map[bool]string{true: "with groups", false: "without groups"}
			return r, &invalid.Error{
				Field: "like", Want: "a data set whose attributes are " + of[own] + ", as those of " + name,
				Got: invalid.Quote(from.Like) + ", " + of[others],
			}
		}
		for _, a := range descriptions.AttributesOf(other) {
			if d.AddAttribute(a) {
				d.Added.Attributes++
			}
		}
	}
	if from.From != "" {
		reading, err := d.AddTraits(ctx, from.From, from.All)
		if err != nil {
			return r, err
		}
		r.Layout, r.Traits = reading.Layout, reading.Traits
	}
	if from.Empty == descriptions.EmptyNo {
		r.Filled = d.FillEmpty(from.All)
	}
	if len(d.Classes) == 0 {
		return r, &invalid.Error{Where: dir, Want: "classes in labels.csv or classes.csv", Got: "none"}
	}
	r.Name, r.Dir, r.Classes, r.Attributes = NameOf(name), dir, len(d.Classes), len(d.Attributes)
	r.AddedClasses, r.AddedAttributes = d.Added.Classes, d.Added.Attributes
	r.Missing = check.CountMissing(d).Entries
	r.Drafts, _ = check.Drafts(d.Drafts, d.Classes)
	if from.DryRun {
		return r, nil
	}
	r.Written = true
	if r.Filled > 0 {
		if r.Kept, err = d.KeepClasses(); err != nil {
			return r, err
		}
	}
	if from.Empty == descriptions.EmptyUnknown {
		if err = descriptions.KeepUnknown(dir); err != nil {
			return r, err
		}
	}
	if err = d.Save(); err != nil {
		return r, err
	}
	added, err := openlayout.ExtendSplits(ctx, dir)
	if len(added) > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%s: %s without a part added: %s. "+
			"Write train, val or test to use them", openlayout.SplitsFile, format.Count(len(added), "class"),
			strings.Join(added[:min(len(added), 5)], ", ")))
	}
	return r, err
}

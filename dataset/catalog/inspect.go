package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/dataset/simulate"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
)

// Report is the result of a check. Its JSON keys are stable.
type Report struct {
	OK       bool      `json:"ok"` // no errors; there may be warnings
	Errors   []Problem `json:"errors"`
	Warnings []Problem `json:"warnings"`          // that do not end the command with an error
	Missing  *Missing  `json:"missing,omitempty"` // entries of the descriptions that are missing; only if there are no errors

	// Data is the data set with the split that was asked for, and Splits the number of its
	// splits; nil and 0 if it cannot be read.
	Data   *dataset.Dataset `json:"-"`
	Splits int              `json:"-"`
	layout string
	next   string // command that writes files that are missing
}

// Problem is one problem of a data set. Its JSON keys are stable.
type Problem struct {
	File     string `json:"file"`     // path, or the name of the data set
	Field    string `json:"field"`    // line, column or variable; empty for a file as a whole
	Expected string `json:"expected"` // may be empty
	Found    string `json:"found"`    // what is there instead
	Hint     string `json:"hint"`     // may be empty
}

func (p Problem) String() string {
	return (&invalid.Error{Where: p.File, Field: p.Field, Want: p.Expected, Got: p.Found, Hint: p.Hint}).Error()
}

// Check checks the data set of a name or path. All splits of its classes are checked. The error
// is about finding the data set; problems with it are in the report.
func Check(ctx context.Context, name string, o Options) (Report, error) {
	r := Report{Errors: []Problem{}, Warnings: []Problem{}}
	l, err := find(name, o)
	if err != nil {
		return r, err
	}
	r.layout = l.layout
	d, err := l.open(ctx, o)
	if err == nil {
		r.Data, r.Splits = d, len(d.Splits())
		for n := 0; err == nil && n < r.Splits; n++ {
			other := *d
			other.Split = d.Splits()[n]
			err = dataset.Check(&other)
		}
	}
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	r.Errors = append(r.Errors, problems(err)...)
	if err != nil && l.layout == openLayout {
		r.next = nextStep(l.place, name)
	}
	if r.OK = len(r.Errors) == 0; r.OK {
		missing := newMissing(d.Classes, d.Descriptions, d.Attributes)
		r.Missing = &missing
		r.Warnings = slices.Concat(r.Warnings, problems(sameDescriptions(d)), problems(confusable(d)))
	}
	return r, nil
}

// nextStep returns the command that writes files that a folder lacks, "" if it has them.
func nextStep(dir, name string) string {
	lacks := func(file string) bool {
		_, err := os.Stat(filepath.Join(dir, file))
		return errors.Is(err, fs.ErrNotExist)
	}
	switch {
	case lacks(openlayout.ClassesFile) || lacks(openlayout.AttributesFile):
		return "lago-train dataset describe " + name
	case lacks(openlayout.SplitsFile):
		return "lago-train dataset split " + name + " --to " + filepath.Join(dir, openlayout.SplitsFile)
	}
	return ""
}

// sameDescriptions reports classes that no method can tell apart.
func sameDescriptions(d *dataset.Dataset) error {
	var list invalid.List
	first := make(map[string]string, len(d.Classes))
	for z, name := range d.Classes {
		key := fmt.Sprint(d.Descriptions.Row(z))
		other, repeated := first[key]
		if !repeated {
			first[key] = name
			continue
		}
		list.Add("description", &invalid.Error{
			Where: d.Name, Field: fmt.Sprintf("classes %s and %s", invalid.Quote(other), invalid.Quote(name)),
			Want: "different descriptions", Got: "the same", Hint: "No method can tell these classes apart.",
		})
	}
	return list.Err()
}

// problems lists the errors that err joins, in their order.
func problems(err error) []Problem {
	switch err := err.(type) {
	case nil:
		return nil
	case interface{ Unwrap() []error }:
		var all []Problem
		for _, e := range err.Unwrap() {
			all = append(all, problems(e)...)
		}
		return all
	case *invalid.Error:
		found, want := err.Got, err.Want
		if errors.Is(err.Err, fs.ErrNotExist) {
			want = cmp.Or(want, "a file that can be read")
		}
		if err.Err != nil {
			found = strings.TrimPrefix(found+": "+err.Err.Error(), ": ")
		}
		return []Problem{{err.Where, err.Field, want, found, err.Hint}}
	}
	return []Problem{{Found: err.Error()}}
}

// Tables has the problems one per line, and what was checked if there are none.
func (r Report) Tables() []*table.Table {
	t := table.New("")
	for _, p := range r.Errors {
		t.Note("%s", p)
	}
	for _, p := range r.Warnings {
		t.Note("warning: %s", p)
	}
	if r.next != "" {
		t.Note("next: %s", r.next)
	}
	if d := r.Data; r.OK {
		t.Note("%s: no problems found", d.Name)
		t.Note("checked: %s of %s, %s, %s, %s into train, val and test, %s of seen classes held out",
			format.Count(d.Features.Rows, "sample"), format.Count(d.Features.Cols, "feature"), format.Count(len(d.Classes), "class"),
			inGroups(len(d.Attributes), len(d.Groups)), format.Count(r.Splits, "split"), format.Count(len(d.TestSeen), "sample"))
		t.Note("%s", r.Missing.note())
	}
	return []*table.Table{t}
}

func inGroups(attributes, groups int) string {
	if groups == 0 {
		return format.Count(attributes, "attribute") + " without groups"
	}
	return format.Count(attributes, "attribute") + " in " + format.Count(groups, "group")
}

// Listing is the data sets that can be named. Its JSON keys are stable.
type Listing struct {
	DataDir  string  `json:"data_dir"`
	Datasets []Entry `json:"datasets"`
}

// Entry is a data set that the program generates, or a folder of the data directory. Sizes
// are 0 unless it is usable. Its JSON keys are stable.
type Entry struct {
	Name       string `json:"name"`
	Layout     string `json:"layout"`            // open or xlsa17; empty if generated or unknown
	Usable     bool   `json:"usable"`            // whether the check finds no problem
	Problem    string `json:"problem,omitempty"` // the first one
	Problems   int    `json:"problems"`          // 0 too for a folder with no file of a data set
	Samples    int    `json:"samples"`
	Dimensions int    `json:"dimensions"`
	Train      int    `json:"train_classes"`
	Val        int    `json:"val_classes"`
	Test       int    `json:"test_classes"`
	Attributes int    `json:"attributes"`
	Groups     int    `json:"groups"` // 0 if they are unknown
}

// List checks all data sets; onName is called before each folder is read.
func List(ctx context.Context, o Options, onName func(string)) (*Listing, error) {
	names, err := Names(o)
	if err != nil {
		return nil, err
	}
	l := &Listing{DataDir: DataDir(o.DataDir)}
	for i, name := range names {
		if s, ok := simulate.Preset(name); ok { // to generate it would take seconds
			l.Datasets = append(l.Datasets, Entry{
				Name: name, Usable: true, Samples: s.Samples, Dimensions: s.Dims, Attributes: s.Attributes, Groups: s.Groups,
				Train: s.TrainClasses, Val: s.ValClasses, Test: s.TestClasses,
			})
			continue
		}
		path := name
		if i >= len(generated()) {
			path = l.DataDir + "/" + name
			onName(name)
		}
		r, err := Check(ctx, path, o)
		e := Entry{Name: name, Usable: r.OK, Layout: r.layout}
		switch d := r.Data; {
		case err != nil && !errors.As(err, new(*invalid.Error)):
			return nil, err
		case err != nil && !errors.Is(err, errNoFiles):
			e.Problem, e.Problems = err.Error(), 1
		case r.OK:
			e.Samples, e.Dimensions, e.Attributes, e.Groups = d.Features.Rows, d.Features.Cols, len(d.Attributes), len(d.Groups)
			e.Train, e.Val, e.Test = len(d.Split.Train), len(d.Split.Val), len(d.Split.Test)
		case err == nil:
			e.Problem, e.Problems = r.Errors[0].String(), len(r.Errors)
		}
		l.Datasets = append(l.Datasets, e)
	}
	return l, nil
}

// Tables has one data set per line, and what is wrong with those that are not usable.
func (l *Listing) Tables() []*table.Table {
	t := table.New("", "data set", "layout", "samples x features", "train / val / test classes", "attributes / groups", "status").Right(3, 4, 5)
	for _, e := range l.Datasets {
		switch {
		case e.Usable:
			t.Row(e.Name, cmp.Or(e.Layout, "generated"), fmt.Sprintf("%d x %d", e.Samples, e.Dimensions),
				fmt.Sprintf("%d/%d/%d", e.Train, e.Val, e.Test), fmt.Sprintf("%d/%d", e.Attributes, e.Groups), "usable")
		case e.Problems == 0:
			t.Row(e.Name, "-", "-", "-", "-", "no data set")
		default:
			t.Row(e.Name, cmp.Or(e.Layout, "-"), "-", "-", "-", format.Count(e.Problems, "problem"))
			t.Note("%s: %s", e.Name, e.Problem)
		}
	}
	return []*table.Table{t.Note("Folders are in %s; others: lago-train dataset fetch cub, awa2 or sun.", l.DataDir)}
}

// Summary describes a data set. Its JSON keys are stable.
type Summary struct {
	Name        string   `json:"name"`
	Source      string   `json:"source"` // folder, or how it was generated
	Fingerprint string   `json:"fingerprint"`
	Samples     int      `json:"samples"`
	HeldOut     int      `json:"held_out"` // samples of seen classes, for generalised zero-shot learning
	Dimensions  int      `json:"dimensions"`
	Attributes  int      `json:"attributes"`
	Undescribed int      `json:"undescribed"` // entries of the descriptions that are missing
	Subsets     []Subset `json:"subsets"`     // train, val, test
	Groups      []Group  `json:"groups"`      // empty if groups are unknown
	Classes     []Class  `json:"classes"`
}

// Subset describes the train, val or test classes.
type Subset struct {
	Name    string  `json:"name"`
	Classes int     `json:"classes"`
	Samples int     `json:"samples"`
	Min     int     `json:"min"`    // samples of the class with fewest
	Median  float64 `json:"median"` // over classes
	Max     int     `json:"max"`    // of the class with most
}

// Group lists the attributes of one group.
type Group struct {
	Name       string   `json:"name"`
	Attributes []string `json:"attributes"`
}

// Class describes one class.
type Class struct {
	Name      string `json:"name"`
	Subset    string `json:"subset"` // train, val, test, or empty if the split leaves the class out
	Samples   int    `json:"samples"`
	Described int    `json:"described"` // attributes with a value
}

// Summarise describes d, which dataset.Check must have accepted.
func Summarise(d *dataset.Dataset) Summary {
	s := Summary{
		Name: d.Name, Source: d.Source, Fingerprint: d.Fingerprint(),
		Samples: d.Features.Rows, HeldOut: len(d.TestSeen), Dimensions: d.Features.Cols, Attributes: len(d.Attributes),
		Groups: make([]Group, len(d.Groups)), Classes: make([]Class, len(d.Classes)),
	}
	for k, name := range d.Groups {
		s.Groups[k].Name = name
	}
	for _, a := range d.Attributes {
		if a.Group >= 0 {
			s.Groups[a.Group].Attributes = append(s.Groups[a.Group].Attributes, a.Name)
		}
	}
	for z, n := range d.SamplesPerClass() {
		s.Classes[z] = Class{Name: d.Classes[z], Samples: n, Described: dataset.Described(d.Descriptions.Row(z))}
		s.Undescribed += s.Attributes - s.Classes[z].Described
	}
	for _, subset := range d.Split.Subsets() {
		sum := Subset{Name: subset.Name, Classes: len(subset.Classes)}
		n := make([]int, sum.Classes)
		for i, z := range subset.Classes {
			s.Classes[z].Subset = subset.Name
			n[i] = s.Classes[z].Samples
			sum.Samples += n[i]
		}
		slices.Sort(n)
		if last := len(n) - 1; last >= 0 {
			sum.Min, sum.Max = n[0], n[last]
			sum.Median = float64(n[last/2]+n[len(n)/2]) / 2
		}
		s.Subsets = append(s.Subsets, sum)
	}
	return s
}

// Tables has one table each of subsets, groups and classes.
func (s Summary) Tables() []*table.Table {
	subsets := table.New(strings.Join([]string{
		fmt.Sprintf("%s: %s of %s, %s each", s.Name, format.Count(s.Samples, "sample"), format.Count(len(s.Classes), "class"), format.Count(s.Dimensions, "feature")),
		"source: " + s.Source,
		"fingerprint: " + s.Fingerprint,
		fmt.Sprintf("descriptions: %s; %d missing", inGroups(s.Attributes, len(s.Groups)), s.Undescribed),
		fmt.Sprintf("held out for generalised zero-shot learning: %s of seen classes", format.Count(s.HeldOut, "sample")),
	}, "\n"), "subset", "classes", "samples", "min per class", "median", "max")
	for _, p := range s.Subsets {
		subsets.Row(p.Name, p.Classes, p.Samples, p.Min, p.Median, p.Max)
	}
	tables := []*table.Table{subsets}
	if len(s.Groups) > 0 {
		groups := table.New("", "group", "attributes", "names")
		for _, g := range s.Groups {
			names := slices.Clone(g.Attributes)
			for i, name := range names {
				names[i] = strings.TrimPrefix(name, g.Name+"::")
			}
			groups.Row(g.Name, len(names), strings.Join(names, ", "))
		}
		tables = append(tables, groups)
	}
	classes := table.New("", "class", "subset", "samples", "attributes described")
	for _, c := range s.Classes {
		classes.Row(c.Name, c.Subset, c.Samples, c.Described)
	}
	return append(tables, classes)
}

package inspect

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Report is the result of a check. Its JSON keys are stable.
type Report struct {
	OK       bool      `json:"ok"` // no errors; there may be warnings
	Errors   []Problem `json:"errors"`
	Warnings []Problem `json:"warnings"`

	// Data is the data set with the split that was asked for, and Splits the number of its
	// splits; nil and 0 if it cannot be read.
	Data   *dataset.Dataset `json:"-"`
	Splits int              `json:"-"`
}

// Problem is one problem of a data set. Its JSON keys are stable.
type Problem struct {
	File     string `json:"file"`     // path, or the name of the data set
	Field    string `json:"field"`    // line, column or variable; empty for a file as a whole
	Expected string `json:"expected"` // may be empty
	Found    string `json:"found"`
	Hint     string `json:"hint"` // may be empty
}

func (p Problem) String() string {
	return (&invalid.Error{Where: p.File, Field: p.Field, Want: p.Expected, Got: p.Found, Hint: p.Hint}).Error()
}

// Check checks the data set of a name, or in a folder if name is a path: "." or ".." or
// with a separator. All splits of its classes are checked. The error is about finding the
// data set; problems with it are in the report.
func Check(ctx context.Context, name string, o catalog.Options) (Report, error) {
	r := Report{Errors: []Problem{}, Warnings: []Problem{}}
	var err error
	if catalog.Generated(name) {
		r.Splits = 1
		r.Data, err = catalog.Open(ctx, name, o)
	} else {
		find := catalog.Find
		if strings.ContainsAny(name, "/"+string(filepath.Separator)) || slices.Contains([]string{".", ".."}, name) {
			find = func(string, catalog.Options) (catalog.Folder, error) { return catalog.FolderAt(name) }
		}
		var f catalog.Folder
		if f, err = find(name, o); err != nil {
			return r, err
		}
		err = r.checkFolder(ctx, f, o)
	}
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	r.Errors = append(r.Errors, problems(err)...)
	r.OK = len(r.Errors) == 0
	if r.OK {
		r.Warnings = append(r.Warnings, problems(sameDescriptions(r.Data))...)
	}
	return r, nil
}

// checkFolder returns the problems of the first split that has any.
func (r *Report) checkFolder(ctx context.Context, f catalog.Folder, o catalog.Options) error {
	d, err := f.Open(ctx, o)
	if err != nil {
		return err
	}
	splits := d.Splits()
	r.Data, r.Splits = d, len(splits)
	for n, split := range splits {
		if n+1 == max(o.DevSplit, 1) {
			continue // checked by Open
		}
		other := *d
		other.Split = split
		if err := dataset.Check(&other); err != nil {
			return err
		}
	}
	return nil
}

// sameDescriptions reports classes that no method can tell apart.
func sameDescriptions(d *dataset.Dataset) error {
	var list invalid.List
	first := make(map[string]int, len(d.Classes))
	for z, name := range d.Classes {
		key := fmt.Sprint(d.Descriptions.Row(z))
		other, repeated := first[key]
		if !repeated {
			first[key] = z
			continue
		}
		list.Add("description", &invalid.Error{
			Where: d.Name, Field: fmt.Sprintf("classes %s and %s", invalid.Quote(d.Classes[other]), invalid.Quote(name)),
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
		found := err.Got
		if err.Err != nil {
			found = strings.TrimPrefix(found+": "+err.Err.Error(), ": ")
		}
		return []Problem{{err.Where, err.Field, err.Want, found, err.Hint}}
	}
	return []Problem{{Found: err.Error()}}
}

// WriteText writes the problems one per line, and what was checked if there are none.
func (r Report) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, p := range r.Errors {
		fmt.Fprintln(&b, p)
	}
	for _, p := range r.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", p)
	}
	if d := r.Data; r.OK {
		groups := "without groups"
		if d.Groups != nil {
			groups = "in " + format.Count(len(d.Groups), "group")
		}
		fmt.Fprintf(&b, "%s: no problems found\n", format.Printable(d.Name))
		fmt.Fprintf(&b, "checked: %s of %s, %s, %s %s, %s into train, val and test, %s of seen classes held out\n",
			format.Count(d.Features.Rows, "sample"), format.Count(d.Features.Cols, "feature"), format.Count(len(d.Classes), "class"),
			format.Count(len(d.Attributes), "attribute"), groups, format.Count(r.Splits, "split"), format.Count(len(d.TestSeen), "sample"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

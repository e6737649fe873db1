package checkup

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
)

// Report is what a check of a data set gives. Its JSON keys are stable.
type Report struct {
	OK     bool      `json:"ok"`
	Errors []Problem `json:"errors"`

	// Data is the data set by the division that was asked for, and Divisions how many
	// there are; nil and 0 where it can't be read.
	Data      *dataset.Dataset `json:"-"`
	Divisions int              `json:"-"`
}

// Run checks the data set of a name, or in a folder where name is a path: with a
// separator in it, or "." or "..". All divisions of its classes are checked. An error
// is about finding the data set; what is wrong with it is in the report.
func Run(ctx context.Context, name string, o catalog.Options) (Report, error) {
	r := Report{Errors: []Problem{}}
	var err error
	if catalog.IsMade(name) {
		r.Divisions = 1
		r.Data, err = catalog.Open(ctx, name, o)
	} else {
		var f catalog.Folder
		if f, err = find(name, o); err != nil {
			return r, err
		}
		err = r.checkFolder(ctx, f, o)
	}
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	r.Errors = append(r.Errors, Problems(err)...)
	r.OK = len(r.Errors) == 0
	return r, nil
}

func find(name string, o catalog.Options) (catalog.Folder, error) {
	if strings.ContainsRune(name, filepath.Separator) || strings.ContainsRune(name, '/') || slices.Contains([]string{".", ".."}, name) {
		return catalog.FolderAt(name)
	}
	return catalog.Find(name, o)
}

// checkFolder returns what is wrong with a folder by the first division that has
// something wrong.
func (r *Report) checkFolder(ctx context.Context, f catalog.Folder, o catalog.Options) error {
	d, err := f.Open(ctx, o)
	if err != nil {
		return err
	}
	divisions, err := f.Splits(ctx, d)
	if err != nil {
		return err
	}
	r.Data, r.Divisions = d, len(divisions)
	for n, split := range divisions {
		if n+1 == max(o.DevSplit, 1) {
			continue // Open did
		}
		other := *d
		other.Split = split
		if err := dataset.Check(&other); err != nil {
			return err
		}
	}
	return nil
}

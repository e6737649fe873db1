package catalog

import (
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
	"github.com/lago-train/lago-train/dataset/xlsa17"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Layout is what the files of a folder are.
type Layout string

// The layouts that are read.
const (
	OpenLayout Layout = "open"   // package openlayout
	XLSA17     Layout = "xlsa17" // package xlsa17
)

// Folder is a data set of the user's.
type Folder struct {
	Dir    string // absolute
	Layout Layout
}

// FolderAt returns the data set in a folder. It is in the open layout if it has a
// labels.csv and in that of xlsa17 if it has an att_splits.mat; where it has neither,
// another file of a layout decides, so that the error of reading it says what is
// missing. A folder that has both, or nothing of either, is an error of type
// *invalid.Error.
func FolderAt(dir string) (Folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Folder{}, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		var system *fs.PathError
		if errors.As(err, &system) {
			err = system.Err
		}
		return Folder{}, &invalid.Error{Where: dir, Want: "the folder of a data set", Err: err}
	}
	const labels, attSplits = "labels.csv", "att_splits.mat"
	var hasLabels, hasAttSplits, hasOpen, hasMAT bool
	for _, e := range entries {
		hasLabels = hasLabels || e.Name() == labels
		hasAttSplits = hasAttSplits || e.Name() == attSplits
		hasOpen = hasOpen || slices.Contains(openlayout.Files(), e.Name())
		hasMAT = hasMAT || strings.EqualFold(filepath.Ext(e.Name()), ".mat")
	}
	switch {
	case hasLabels && hasAttSplits:
		return Folder{}, &invalid.Error{
			Where: dir, Want: "one data set", Got: fmt.Sprintf("%s of the open layout and %s of the xlsa17 layout: one of the two must go", labels, attSplits),
		}
	case hasLabels, hasOpen && !hasAttSplits:
		return Folder{dir, OpenLayout}, nil
	case hasAttSplits, hasMAT:
		return Folder{dir, XLSA17}, nil
	}
	return Folder{}, &invalid.Error{
		Where: dir,
		Want:  "a data set: " + strings.Join(openlayout.Files(), ", ") + " (the open layout), or res101.mat and att_splits.mat (the xlsa17 layout)",
		Got:   "none of these files",
	}
}

// Open reads the data set. It has passed dataset.Check, unless Options.WithoutSplit
// left it without parts that could be checked.
func (f Folder) Open(ctx context.Context, o Options) (*dataset.Dataset, error) {
	var d *dataset.Dataset
	var err error
	if f.Layout == OpenLayout {
		d, err = openlayout.Load(ctx, f.Dir, openlayout.Options{DevSplit: o.DevSplit, WithoutSplit: o.WithoutSplit})
	} else {
		d, err = xlsa17.Load(ctx, f.Dir, xlsa17.Options{DevSplit: o.DevSplit, CacheDir: o.CacheDir, NoCache: o.NoCache, Log: o.Log})
	}
	if err != nil || f.Layout == OpenLayout && o.WithoutSplit {
		return d, err
	}
	return d, dataset.Check(d)
}

// Splits returns all divisions of the classes of the data set, one to three, of which
// Open gives one. d is the data set.
func (f Folder) Splits(ctx context.Context, d *dataset.Dataset) ([]dataset.Split, error) {
	if f.Layout == OpenLayout {
		return openlayout.ReadSplits(ctx, filepath.Join(f.Dir, openlayout.SplitsFile), d.Classes)
	}
	return xlsa17.Splits(ctx, f.Dir, d.Labels)
}

package catalog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/dataset/xlsa17"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Layout is the layout of the files of a folder.
type Layout string

// The layouts that can be read.
const (
	OpenLayout Layout = "open"   // package openlayout
	XLSA17     Layout = "xlsa17" // package xlsa17
)

// Folder is the folder of a data set.
type Folder struct {
	Dir    string // absolute
	Layout Layout
}

// FolderAt returns the data set in a folder. A labels.csv means the open layout, an
// att_splits.mat that of xlsa17. With neither, another file of a layout decides, so that
// the error of reading it says what is missing. A folder with both, or with no file of
// either, is an *invalid.Error.
func FolderAt(dir string) (Folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Folder{}, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Folder{}, invalid.File(dir, err)
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
			Where: dir, Want: "one data set", Got: fmt.Sprintf("%s of the open layout and %s of the xlsa17 layout", labels, attSplits),
			Hint: "Move one of the two elsewhere.",
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

// Open reads the data set. It has passed dataset.Check, unless it is in the open layout
// and Options.WithoutSplit is set.
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

// Splits returns the one to three splits of the classes of the data set d, of which Open
// gives one.
func (f Folder) Splits(ctx context.Context, d *dataset.Dataset) ([]dataset.Split, error) {
	if f.Layout == OpenLayout {
		return openlayout.ReadSplits(ctx, filepath.Join(f.Dir, openlayout.SplitsFile), d.Classes)
	}
	return xlsa17.Splits(ctx, f.Dir, d.Labels)
}

package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/dataset/xlsa17"
)

// Result says what was written. Its JSON keys are stable.
type Result struct {
	Name   string         `json:"name"`
	Source string         `json:"source"` // a folder, or how the data set was made
	Layout catalog.Layout `json:"layout"`
	Dir    string         `json:"dir"`
	// Divisions of the seen classes into train and val, 1 to 3.
	Divisions int `json:"divisions"`
	// Fingerprint is that of the data set in Dir, by the first division.
	Fingerprint string `json:"fingerprint"`
	// Renamed says that the attributes got their groups into their names, for which
	// the xlsa17 layout has no other place. The fingerprint is that of the source
	// where it is false.
	Renamed bool `json:"renamed"`
}

// Convert writes the data set of a name, with all its divisions, as a folder of
// another layout. dir must be empty or not there; it appears when all of it was
// written, read again and found to be the same. Options.DevSplit is not looked at.
func Convert(ctx context.Context, name string, o catalog.Options, to catalog.Layout, dir string) (Result, error) {
	write, err := writer(to)
	if err != nil {
		return Result{}, err
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return Result{}, err
	}
	if err := vacant(dir); err != nil {
		return Result{}, err
	}
	d, divisions, err := read(ctx, name, o)
	if err != nil {
		return Result{}, err
	}
	r := Result{Name: d.Name, Source: d.Source, Layout: to, Dir: dir, Divisions: len(divisions)}
	if to == catalog.XLSA17 {
		named := xlsa17.NameGroups(d)
		d, r.Renamed = named, named != d
	}
	r.Fingerprint = d.Fingerprint()
	return r, whole(dir, func(dir string) error {
		if err := write(dir, d, divisions[1:]...); err != nil {
			return err
		}
		return same(ctx, d, divisions, dir, o)
	})
}

func writer(to catalog.Layout) (func(string, *dataset.Dataset, ...dataset.Split) error, error) {
	switch to {
	case catalog.OpenLayout:
		return openlayout.Write, nil
	case catalog.XLSA17:
		return xlsa17.Write, nil
	}
	return nil, fmt.Errorf("expected the layout %s or %s, found %q", catalog.OpenLayout, catalog.XLSA17, to)
}

// read returns a data set by its first division, and all of them.
func read(ctx context.Context, name string, o catalog.Options) (*dataset.Dataset, []dataset.Split, error) {
	o.DevSplit = 1
	d, err := catalog.Open(ctx, name, o)
	if err != nil {
		return nil, nil, err
	}
	divisions, err := catalog.Splits(ctx, name, d, o)
	return d, divisions, err
}

// vacant checks that there is room for a folder.
func vacant(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s: expected an empty folder, or none, found %d files in it", dir, len(entries))
	}
	return nil
}

// whole makes a folder that appears only if write gave no error.
func whole(dir string, write func(dir string) error) (err error) {
	above := filepath.Dir(dir)
	if err := os.MkdirAll(above, 0o777); err != nil {
		return err
	}
	// As atomicfile does; unlike os.MkdirTemp it leaves the permissions to the umask.
	hidden := filepath.Join(above, fmt.Sprintf(".%s.%016x.tmp", filepath.Base(dir), rand.Uint64()))
	if err := os.Mkdir(hidden, 0o777); err != nil {
		return err
	}
	// After the renaming there is nothing left to remove.
	defer func() { err = errors.Join(err, os.RemoveAll(hidden)) }()
	if err := write(hidden); err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // an empty one
		return err
	}
	return os.Rename(hidden, dir)
}

// same checks that a folder is read as the data set that was written, by each of its
// divisions.
func same(ctx context.Context, d *dataset.Dataset, divisions []dataset.Split, dir string, o catalog.Options) error {
	f, err := catalog.FolderAt(dir)
	if err != nil {
		return err
	}
	written, err := f.Open(ctx, catalog.Options{NoCache: true, Log: o.Log})
	if err != nil {
		return fmt.Errorf("what was written can't be read: %w", err)
	}
	again, err := f.Splits(ctx, written)
	if err != nil {
		return fmt.Errorf("what was written can't be read: %w", err)
	}
	if len(again) != len(divisions) {
		return fmt.Errorf("%d divisions were written, and %d are read", len(divisions), len(again))
	}
	wanted := *d
	wanted.FeaturesSum, written.FeaturesSum = dataset.SumFeatures(d.Features), dataset.SumFeatures(written.Features)
	for n := range divisions {
		wanted.Split, written.Split = divisions[n], again[n]
		if wanted.Fingerprint() != written.Fingerprint() {
			return fmt.Errorf("what was written is read as another data set by division %d: fingerprint %s, not %s", n+1, written.Fingerprint(), wanted.Fingerprint())
		}
	}
	return nil
}

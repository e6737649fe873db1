package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Result describes the folder that was written. Its JSON keys are stable.
type Result struct {
	Name        string `json:"name"`
	Source      string `json:"source"` // a folder, or how the data set was generated
	Dir         string `json:"dir"`
	Splits      int    `json:"splits"`      // of the seen classes into train and validation, 1 to 3
	Fingerprint string `json:"fingerprint"` // with the first split
}

// Convert writes the data set of a name, with all its splits, as a folder in the open
// layout. dir must be empty or missing; "" means NAME-open in the data directory.
// Options.DevSplit is ignored.
func Convert(ctx context.Context, name string, o catalog.Options, dir string) (Result, error) {
	if dir == "" {
		dir = filepath.Join(catalog.DataDir(o.DataDir), strings.ToLower(name)+"-open")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Result{}, invalid.File(dir, err)
	}
	if err := checkVacant(dir); err != nil {
		return Result{}, err
	}
	o.DevSplit = 1
	d, err := catalog.Open(ctx, name, o)
	if err != nil {
		return Result{}, err
	}
	splits := d.Splits()
	r := Result{Name: d.Name, Source: d.Source, Dir: dir, Splits: len(splits), Fingerprint: d.Fingerprint()}
	return r, writeFolder(dir, func(dir string) error {
		if err := openlayout.Write(dir, d, splits[1:]...); err != nil {
			return err
		}
		return verify(ctx, d, splits, dir, o)
	})
}

// checkVacant checks that dir is an empty folder or does not exist.
func checkVacant(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return invalid.File(dir, err)
	case len(entries) > 0:
		return &invalid.Error{Where: dir, Want: "an empty folder, or none", Got: format.Count(len(entries), "file") + " in it"}
	}
	return nil
}

// writeFolder makes a folder that appears only if write succeeds.
func writeFolder(dir string, write func(dir string) error) (err error) {
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return invalid.File(parent, err)
	}
	// Unlike os.MkdirTemp, which makes folders that only the user can read.
	hidden := filepath.Join(parent, fmt.Sprintf(".%s.%016x.tmp", filepath.Base(dir), rand.Uint64()))
	if err := os.Mkdir(hidden, 0o777); err != nil {
		return invalid.File(parent, err)
	}
	// After the renaming there is nothing left to remove.
	defer func() { err = errors.Join(err, os.RemoveAll(hidden)) }()
	if err := write(hidden); err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) { // an empty one
		return invalid.File(dir, err)
	}
	return invalid.File(dir, os.Rename(hidden, dir))
}

// verify checks that a folder is read as the data set that was written, in each of its
// splits.
func verify(ctx context.Context, d *dataset.Dataset, splits []dataset.Split, dir string, o catalog.Options) error {
	written, again, err := readBack(ctx, dir, o)
	if err != nil {
		return fmt.Errorf("the written folder cannot be read: %w", err)
	}
	if len(again) != len(splits) {
		return fmt.Errorf("%d splits were written, and %d are read", len(splits), len(again))
	}
	want := *d
	want.FeaturesSum, written.FeaturesSum = dataset.SumFeatures(d.Features), dataset.SumFeatures(written.Features)
	for n := range splits {
		want.Split, written.Split = splits[n], again[n]
		if want.Fingerprint() != written.Fingerprint() {
			return fmt.Errorf("split %d of the written folder differs: fingerprint %s, not %s", n+1, written.Fingerprint(), want.Fingerprint())
		}
	}
	return nil
}

func readBack(ctx context.Context, dir string, o catalog.Options) (*dataset.Dataset, []dataset.Split, error) {
	f, err := catalog.FolderAt(dir)
	if err != nil {
		return nil, nil, err
	}
	d, err := f.Open(ctx, catalog.Options{NoCache: true, Log: o.Log})
	if err != nil {
		return nil, nil, err
	}
	return d, d.Splits(), nil
}

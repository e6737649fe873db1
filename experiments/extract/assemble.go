package extract

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/internal/atomicfile"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/npy"
)

// assemble writes the files of the data set from the parts, and removes these.
func (w *work) assemble(ctx context.Context, record *openlayout.Extraction) (err error) {
	lock := flock.New(filepath.Join(w.parts, "lock"))
	if err := lock.Lock(); err != nil {
		return invalid.File(w.parts, err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if done, err := openlayout.ReadExtraction(ctx, w.Dir); done != nil || err != nil {
		return err // another shard has done it in the meantime
	}
	var paths, classes []string
	var skipped [][]string
	for part := range w.n {
		err := w.readPart(part, func(m images.Image, _ []float32, reason string) error {
			if reason == "" {
				paths = append(paths, m.ID)
				if m.Class != "" {
					classes = append(classes, m.Class)
				}
				return nil
			}
			skipped = append(skipped, []string{m.ID, reason})
			if !w.SkipBroken {
				return &invalid.Error{Err: errors.New(reason), Hint: "--skip-broken leaves such images out."}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if len(paths) == 0 {
		return &invalid.Error{Where: w.ImageDir, Want: "at least one image that can be decoded", Got: fmt.Sprintf("%d broken ones", len(skipped))}
	}
	if err := w.writeFeatures(len(paths)); err != nil {
		return err
	}
	if err := openlayout.WriteSamples(w.Dir, paths, classes); err != nil {
		return err
	}
	if skipped != nil {
		rows := append([][]string{{"path", "reason"}}, skipped...)
		if err := atomicfile.WriteCSV(filepath.Join(w.Dir, skippedFile), rows); err != nil {
			return err
		}
	}
	// The last file: with it the data set is finished.
	if err := openlayout.WriteExtraction(w.Dir, record); err != nil {
		return err
	}
	return invalid.File(w.parts, os.RemoveAll(w.parts))
}

// writeFeatures writes the features of the images that are not broken, part by part.
func (w *work) writeFeatures(samples int) error {
	return atomicfile.Write(filepath.Join(w.Dir, openlayout.FeaturesFile), func(to io.Writer) error {
		if err := npy.WriteHeader(to, samples, w.network.Dims); err != nil {
			return err
		}
		for part := range w.n {
			err := w.readPart(part, func(_ images.Image, x []float32, reason string) error {
				if reason != "" {
					return nil
				}
				return npy.WriteValues(to, x)
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// readSkipped reads skipped.csv; none if there is no such file.
func readSkipped(path string) ([]Skipped, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return []Skipped{}, nil
	}
	if err != nil {
		return nil, invalid.File(path, err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 1 || len(rows[0]) != 2 {
		return nil, &invalid.Error{Where: path, Want: "a table of paths and reasons", Err: err}
	}
	list := []Skipped{}
	for _, row := range rows[1:] {
		list = append(list, Skipped{row[0], row[1]})
	}
	return list, nil
}

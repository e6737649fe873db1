package extract

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/npy"
	"github.com/lago-train/lago-train/internal/safetensors"
)

// assemble writes the files of the data set from its earlier features and the parts, and removes these.
// The caller has the data set for itself.
func (w *work) assemble(ctx context.Context, record *openlayout.Extraction) error {
	done, err := openlayout.ReadExtraction(ctx, w.Dir)
	if err != nil || done != nil && done.ImagesSHA256 == record.ImagesSHA256 {
		return err // another shard has done it in the meantime
	}
	var earlier dataset.Matrix[float32]
	if w.earlier != nil {
		path := filepath.Join(w.Dir, openlayout.FeaturesFile)
		if earlier, err = features.ReadAll(ctx, path); err != nil {
			return err
		}
		if lines := len(w.earlier.Images) - 1; earlier.Rows != lines || earlier.Cols != w.dims {
			return invalid.At(path, invalid.Expected("", fmt.Sprintf("%d x %d", earlier.Rows, earlier.Cols),
				"%d x %d features, as were extracted", lines, w.dims))
		}
	}
	dir := filepath.Join(w.dir, newDir)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o777)); err != nil {
		return invalid.File(dir, err)
	}
	tables, skipped, err := w.tables()
	if err != nil {
		return err
	}
	if broken := len(skipped) - 1; broken > 0 {
		if len(tables.Images) == 1 {
			return invalid.At(w.ImageDir, invalid.Expected("", fmt.Sprintf("%d broken ones", broken),
				"at least one image that can be decoded"))
		}
		if err := fileio.WriteCSV(filepath.Join(dir, skippedFile), skipped); err != nil {
			return err
		}
	}
	if err := fileio.Write(filepath.Join(dir, openlayout.FeaturesFile), func(to io.Writer) error {
		if err := npy.WriteHeader(to, len(tables.Images)-1, w.dims); err != nil {
			return err
		}
		return w.stored(func(s sample, x []float32, broken string) error {
			switch {
			case broken != "":
				return nil
			case s.kept:
				x = earlier.Row(s.line - 1)
			}
			return matrix.Write(to, x)
		})
	}); err != nil {
		return err
	}
	if err := tables.Write(dir); err != nil {
		return err
	}
	if err := openlayout.WriteExtraction(dir, record); err != nil {
		return err
	}
	return w.install()
}

// install moves the files of an assembled data set to their place, extract.json last, and removes the
// parts. It goes on where a killed process was, and does nothing if no data set is assembled. While a
// page has the data set, whose samples it has read, that is an error, and the next call installs it.
func (w *work) install() (err error) {
	dir := filepath.Join(w.dir, newDir)
	there := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	}
	if !there(openlayout.ExtractFile) {
		return nil
	}
	unlock, err := descriptions.Lock(w.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if there(openlayout.FeaturesFile) && !there(skippedFile) { // which this data set has no more
		if err := os.Remove(filepath.Join(w.Dir, skippedFile)); err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
			return invalid.File(w.Dir, err)
		}
	}
	for _, name := range append(openlayout.SampleFiles(), skippedFile, openlayout.ExtractFile) {
		if there(name) {
			if err := fileio.Rename(filepath.Join(dir, name), filepath.Join(w.Dir, name)); err != nil {
				return invalid.File(filepath.Join(w.Dir, name), err)
			}
		}
	}
	return invalid.File(w.dir, os.RemoveAll(w.dir))
}

// tables are those of the samples and of the broken images. Samples of the earlier data set keep their
// labels, unless the list of images gives them another class than their folder.
func (w *work) tables() (t *openlayout.ImageTables, skipped [][]string, err error) {
	t, skipped = openlayout.NewImageTables(), [][]string{{"path", "reason"}}
	if w.earlier != nil {
		t.Labels = w.earlier.Labels[:1:1]
	}
	err = w.stored(func(s sample, _ []float32, broken string) error {
		m := w.Images[s.image]
		switch {
		case broken != "" && !w.SkipBroken:
			return &invalid.Error{Err: errors.New(broken), Hint: skipHint}
		case broken != "":
			skipped = append(skipped, []string{m.ID, broken})
			return nil
		}
		var label []string
		if s.line > 0 && strings.HasPrefix(m.ID, m.Class+"/") {
			label = w.earlier.Labels[s.line]
		}
		t.Add(m.ID, w.sums[s.image], m.Class, label)
		return nil
	})
	return t, skipped, err
}

// stored calls do with each sample, its features unless they are kept, and why its image is broken,
// "" if it is not.
func (w *work) stored(do func(s sample, x []float32, broken string) error) error {
	var x []float32
	var reasons []string
	part := -1
	for _, s := range w.samples {
		if s.kept {
			if err := do(s, nil, ""); err != nil {
				return err
			}
			continue
		}
		if len(reasons) == 0 {
			part++
			var err error
			if x, reasons, err = w.readPart(part); err != nil {
				return err
			}
		}
		if err := do(s, x[:w.dims], reasons[0]); err != nil {
			return err
		}
		x, reasons = x[w.dims:], reasons[1:]
	}
	return nil
}

func (w *work) readPart(part int) (x []float32, reasons []string, err error) {
	path, n := w.partFile(part), len(w.parts[part])
	f, err := safetensors.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	t, _ := f.Tensor("features")
	err = json.Unmarshal([]byte(f.Metadata["reasons"]), &reasons)
	if err != nil || !f.Checksummed || len(reasons) != n || len(t.F32) != n*w.dims {
		err = &invalid.Error{
			Where: path, Want: "the features of " + format.Count(n, "image"),
			Hint: "The file is damaged: remove it.",
		}
	}
	return t.F32, reasons, err
}

// lock locks the data set by a file beside its folder, see fileio.Lock: for this call alone or,
// shared, for all shards.
func (w *work) lock(ctx context.Context, shared bool) (*flock.Flock, error) {
	dir, name := filepath.Split(w.Dir)
	if err := os.MkdirAll(filepath.Clean(dir), 0o777); err != nil {
		return nil, invalid.Folder(dir, "a folder of data sets", err)
	}
	lock, err := fileio.Lock(ctx, filepath.Join(dir, "."+name+".extract.lock"), shared, func() {
		logrus.Info("waiting for another process that extracts " + w.Dir)
	})
	if err != nil && ctx.Err() == nil {
		err = invalid.File(w.Dir, err)
	}
	return lock, err
}

// record describes the extraction. Two that have the same record give the same features.
// classes is the number of different classes.
func (w *work) record(ctx context.Context) (r *openlayout.Extraction, classes int, err error) {
	sum, known := sha256.New(), make(map[string]bool)
	for _, m := range w.Images {
		content, err := sumOf(ctx, m.Path)
		if err != nil && w.SkipBroken && isBroken(err) { // a link to nothing
			content = "none"
		} else if err != nil {
			return nil, 0, cmp.Or(ctx.Err(), err)
		}
		// Earlier versions had a bounding box in place of nil: extractions without one are the same.
		line, _ := json.Marshal([]any{m.ID, m.Class, content, nil}) // texts always are JSON
		sum.Write(line)
		w.sums = append(w.sums, content)
		known[m.Class] = true
	}
	info := blas.Current()
	r = &openlayout.Extraction{
		Provenance: w.provenance, Images: len(w.Images), ImagesSHA256: hex.EncodeToString(sum.Sum(nil)),
		BLAS: strings.TrimSpace(info.Name + " " + info.Version), Versions: blas.Versions(),
	}
	r.SetImageDir(w.ImageDir, w.Dir)
	return r, len(known), nil
}

// sumOf returns the SHA-256 of an image's file, in hex, or the size of one that is too large to be
// decoded, whatever it holds.
func sumOf(ctx context.Context, path string) (string, error) {
	f, size, err := fileio.OpenRegular(ctx, path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // nothing was written
	if size > images.MaxBytes {
		return format.Count(int(size), "byte"), nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", invalid.File(path, err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func differ(there, now *openlayout.Extraction, dir, hint string) error {
	for _, f := range []struct {
		name       string
		there, now any
	}{
		{"weights (SHA-256)", there.WeightsSHA256, now.WeightsSHA256},
		{"architecture", there.Architecture, now.Architecture},
		{"stride in the 1x1 convolution", there.StrideIn1x1, now.StrideIn1x1},
		{"preprocessing", there.Provenance.Images, now.Provenance.Images},
		{"matrix products", there.BLAS, now.BLAS},
	} {
		if f.there != f.now {
			return &invalid.Error{
				Where: dir, Field: f.name,
				Want: fmt.Sprintf("%v, as in the extraction in this folder", f.there), Got: fmt.Sprint(f.now),
				Hint: hint,
			}
		}
	}
	return nil
}

package extract

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/internal/blas"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/version"
)

// lock locks the data set by a file beside its folder, see fileio.Lock: for this call alone or,
// shared, for all shards.
func (w *work) lock(ctx context.Context, shared bool) (*flock.Flock, error) {
	dir, name := filepath.Split(w.Dir)
	if err := os.MkdirAll(filepath.Clean(dir), 0o777); err != nil {
		return nil, invalid.File(dir, err)
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
// classes is the number of different classes, 0 if they are not known.
func (w *work) record(ctx context.Context) (r *openlayout.Extraction, classes int, err error) {
	if len(w.Images) >= manyImages {
		logrus.Infof("reading %d images to recognise those that change", len(w.Images))
	}
	sum := sha256.New()
	known := make(map[string]bool)
	for _, m := range w.Images {
		content, err := sumOf(ctx, m.Path)
		if err != nil {
			return nil, 0, cmp.Or(ctx.Err(), err)
		}
		line, err := json.Marshal([]any{m.ID, m.Class, content, m.Box})
		if err != nil {
			return nil, 0, err
		}
		sum.Write(line)
		if m.Box != nil {
			content = fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, content, *m.Box)))
		}
		w.sums = append(w.sums, content)
		known[m.Class] = true
	}
	delete(known, "")
	info := blas.Current()
	r = &openlayout.Extraction{
		Provenance: w.provenance, Images: len(w.Images), ImagesSHA256: hex.EncodeToString(sum.Sum(nil)),
		BLAS: strings.TrimSpace(info.Name + " " + info.Version), Versions: version.All(),
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

// differ returns an error unless two extractions give the same features of the same images, or of an
// image, if that is all that is asked.
func differ(there, now *openlayout.Extraction, ofImages bool, dir, hint string) error {
	for _, f := range []struct {
		name       string
		there, now any
		ofImages   bool
	}{
		{"images", there.Images, now.Images, true},
		{"names, classes, content or boxes of the images (SHA-256)", there.ImagesSHA256, now.ImagesSHA256, true},
		{"weights (SHA-256)", there.WeightsSHA256, now.WeightsSHA256, false},
		{"architecture", there.Architecture, now.Architecture, false},
		{"stride in the 1x1 convolution", there.StrideIn1x1, now.StrideIn1x1, false},
		{"preprocessing", there.Provenance.Images, now.Provenance.Images, false},
		{"matrix products", there.BLAS, now.BLAS, false},
	} {
		if f.there != f.now && (ofImages || !f.ofImages) {
			return &invalid.Error{
				Where: dir, Field: f.name, Want: fmt.Sprintf("%v, as in the extraction in this folder", f.there), Got: fmt.Sprint(f.now), Hint: hint,
			}
		}
	}
	return nil
}

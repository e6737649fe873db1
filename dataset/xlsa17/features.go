package xlsa17

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/matlab"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/npy"
)

const (
	varFeatures = "features"
	varLabels   = "labels"
	varImages   = "image_files"

	partSize = 1 << 18 // numbers of the cache that are read at once
)

// readFeatures reads the labels, and the features: from the cache if it has them. In the file
// they are D x N, which column by column are N rows of D.
func (f *folder) readFeatures(opts Options) error {
	file, err := findFeatures(f.Source)
	if err != nil {
		return err
	}
	var c *cache
	if !opts.NoCache {
		c = openCache(f.ctx, file)
	}
	required := []string{varLabels}
	if f.Features, f.FeaturesSum = c.load(f.ctx); f.FeaturesSum == "" {
		required = append(required, varFeatures)
	}
	vars, err := matlab.Open(f.ctx, file, required, varImages)
	if err != nil {
		return err
	}
	labels, a := vars[varLabels], vars[varFeatures]
	if n := labels.Count(); a != nil && (len(a.Dims) != 2 || a.Dims[1] != n || !a.Class.Numeric()) {
		return wrong(file, varFeatures,
			fmt.Sprintf("numbers for D dimensions x %d samples, one for each label", n), a.Size())
	}
	if f.Labels, err = f.indices(file, labels, len(f.Classes), "the number of classes"); err != nil {
		return err
	}
	if images := vars[varImages]; images != nil && images.Class == matlab.Cell &&
		images.Count() == len(f.Labels) {
		if err := images.Load(f.ctx); err != nil {
			return err
		}
		f.IDs = idsOf(images.Strings)
	}
	if a == nil { // it is cached
		return nil
	}
	f.FeaturesSum, err = c.store(f.ctx, a)
	f.Features = dataset.Matrix[float32]{Rows: a.Dims[1], Cols: a.Dims[0], Data: a.Float32}
	return err
}

// idsOf returns the paths of images below the folder of all, nil if they are not different names.
func idsOf(paths []string) []string {
	ids, same := make([]string, len(paths)), 0
	for i, path := range paths {
		ids[i] = strings.ReplaceAll(dataset.Name(path), `\`, "/")
	}
	first, last := slices.Min(ids), slices.Max(ids) // what they share, all do
	for same < min(len(first), len(last)) && first[same] == last[same] {
		same++
	}
	folder := strings.LastIndexByte(first[:same], '/') + 1
	for i := range ids {
		ids[i] = ids[i][folder:]
	}
	distinct := slices.Clone(ids)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	if len(distinct) < len(ids) || distinct[0] == "" || slices.ContainsFunc(ids, invalid.HasControl) {
		return nil
	}
	return ids
}

// findFeatures returns res101.mat, or the one .mat beside att_splits.mat.
func findFeatures(dir string) (string, error) {
	if file := firstFile(dir, "res101.mat"); file != "" {
		return file, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", invalid.File(dir, err)
	}
	var found []string
	for _, e := range entries {
		if strings.EqualFold(filepath.Ext(e.Name()), ".mat") && e.Name() != attSplitsFile {
			found = append(found, e.Name())
		}
	}
	if len(found) != 1 {
		return "", wrong(dir, "", "res101.mat, or one .mat with features beside "+attSplitsFile,
			cmp.Or(strings.Join(found, " and "), "none"))
	}
	return filepath.Join(dir, found[0]), nil
}

// newChecksum begins a checksum with some sizes. Computers have instructions for it: SHA-256 takes ten
// times as long. It tells what is damaged or replaced, not what is forged.
func newChecksum(sizes ...int) hash.Hash32 {
	c := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	_, _ = fmt.Fprint(c, sizes) // a hash takes everything
	return c
}

// cache holds the features of one file in an .npy, whose name has the checksums of the file and of the
// features, and their dataset.SumFeatures. Size and time of a file do not tell whether it was
// replaced. A nil cache holds nothing.
type cache struct {
	prefix string // of the path, for any content of the file
	state  string // what follows for its content
	log    *logrus.Entry
}

// openCache returns the cache of a file of features, nil where nothing is cached: without
// a cache folder, and if the file cannot be read, which the caller finds again.
func openCache(ctx context.Context, file string) *cache {
	user, err := os.UserCacheDir()
	if err != nil {
		logrus.WithError(err).Warn("features are not cached: there is no cache folder")
		return nil
	}
	opened, size, err := fileio.OpenRegular(ctx, file)
	if err != nil {
		return nil
	}
	defer func() { _ = opened.Close() }() // nothing was written
	content := newChecksum()
	// unlike the method of os.File, it ends with the context
	if _, err := io.CopyBuffer(content, struct{ io.Reader }{opened}, make([]byte, 1<<17)); err != nil {
		return nil
	}
	// The name is readable, and differs for files of the same name in different folders.
	sum := sha256.Sum256([]byte(file))
	name := fmt.Sprintf("%s-%s-%x", strings.ToLower(filepath.Base(filepath.Dir(file))), filepath.Base(file),
		sum[:6])
	return &cache{
		filepath.Join(user, "lago-train", name), fmt.Sprintf("-%x-%08x-", size, content.Sum32()),
		logrus.WithField("file", file),
	}
}

// load returns the features and their sum, or "" where they must be read from the file.
func (c *cache) load(ctx context.Context) (dataset.Matrix[float32], string) {
	if c == nil {
		return dataset.Matrix[float32]{}, ""
	}
	for _, path := range withPrefix(c.prefix + c.state) { // at most one
		sums := strings.TrimPrefix(strings.TrimSuffix(path, ".npy"), c.prefix+c.state)
		x, check, err := readChecked(ctx, path)
		if sum, sound := strings.CutPrefix(sums, fmt.Sprintf("%08x-", check)); err == nil && sound {
			c.log.Debug("features are read from the cache")
			return x, sum
		} else if err == nil {
			err = errors.New("the checksum differs")
		}
		if ctx.Err() == nil {
			c.log.WithError(err).WithField("cache", path).
				Info("the cached features cannot be used: reading the file again")
		}
	}
	return dataset.Matrix[float32]{}, ""
}

// readChecked reads cached features and computes their checksum.
func readChecked(ctx context.Context, path string) (x dataset.Matrix[float32], check uint32, err error) {
	m, err := npy.Open(ctx, path)
	if err != nil {
		return x, 0, err
	}
	defer func() { _ = m.Close() }() // nothing was written
	x = dataset.NewMatrix[float32](m.Rows, m.Cols)
	sum := newChecksum(m.Rows, m.Cols)
	for part := range slices.Chunk(x.Data, partSize) {
		if err := m.Read(part); err != nil {
			return x, 0, err
		}
		_ = matrix.Write(sum, part) // it takes everything
	}
	return x, sum.Sum32(), nil
}

// withPrefix returns the paths that begin with a prefix, none in a folder that cannot be read.
// Unlike filepath.Glob it takes every character as it is.
func withPrefix(prefix string) (paths []string) {
	entries, _ := os.ReadDir(filepath.Dir(prefix))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), filepath.Base(prefix)) {
			paths = append(paths, filepath.Join(filepath.Dir(prefix), e.Name()))
		}
	}
	return paths
}

// store loads features, and returns their dataset.SumFeatures. It writes them in place of those of
// another content and of the .npy and .json of earlier versions. A link is removed, not followed: what
// it leads to is not the cache's. Failing to is worth a warning only: the next start is slow.
func (c *cache) store(ctx context.Context, a *matlab.Array) (string, error) {
	rows, cols := a.Dims[1], a.Dims[0]
	sum, check := dataset.HashFeatures(rows, cols), newChecksum(rows, cols)
	to, written, unstored, failed := io.Discard, error(nil), error(nil), error(nil)
	a.Read = func(part []float32) { // while more is decompressed
		_, _ = matrix.Write(sum, part), matrix.Write(check, part) // these take everything
		if written == nil {
			written = matrix.Write(to, part)
		}
	}
	if c != nil {
		unstored = os.MkdirAll(filepath.Dir(c.prefix), 0o777)
		for _, path := range withPrefix(c.prefix) {
			_ = os.Remove(path) // it only takes space
		}
		if unstored == nil {
			unstored = fileio.WriteNamed(filepath.Dir(c.prefix), func(w io.Writer) (string, error) {
				to, written = w, npy.WriteHeader(w, rows, cols)
				failed = a.Load(ctx)
				return fmt.Sprintf("%s%s%08x-%x.npy", c.prefix, c.state, check.Sum32(), sum.Sum(nil)),
					cmp.Or(failed, written)
			})
		}
	}
	if failed == nil && a.Float32 == nil { // there is no cache, or no place for it
		failed = a.Load(ctx)
	}
	if failed == nil && unstored != nil {
		c.log.WithError(unstored).Warn("features are not cached")
	}
	return hex.EncodeToString(sum.Sum(nil)), failed
}

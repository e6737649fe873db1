package xlsa17

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/dataset/matlab"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

const (
	varFeatures = "features"
	varLabels   = "labels"
)

// readFeatures reads the labels, and the features: from the cache if it has them. In the file
// they are D x N, which column by column are N rows of D.
func (f *folder) readFeatures(opts Options) error {
	file, err := findFeatures(f.Source)
	if err != nil {
		return err
	}
	c := openCache(file, opts)
	required := []string{varLabels}
	if f.Features, f.FeaturesSum = c.load(f.ctx); f.FeaturesSum == "" {
		required = append(required, varFeatures)
	}
	vars, err := matlab.Read(f.ctx, file, required)
	if err != nil {
		return err
	}
	if f.Labels, err = indices(file, vars[varLabels]); err != nil {
		return err
	}
	if a := vars[varFeatures]; a != nil {
		if len(a.Dims) != 2 || a.Dims[1] != len(f.Labels) || len(a.Float32) != a.Dims[0]*a.Dims[1] {
			return wrong(file, varFeatures, fmt.Sprintf("numbers for D dimensions x %d samples, one for each label", len(f.Labels)), a.Size())
		}
		f.Features = dataset.Matrix[float32]{Rows: a.Dims[1], Cols: a.Dims[0], Data: a.Float32}
		f.FeaturesSum = dataset.SumFeatures(f.Features)
		c.store(f.Features, f.FeaturesSum)
	}
	return checkRange(file, varLabels, f.Labels, len(f.Classes), "the number of classes")
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
		return "", wrong(dir, "", "res101.mat, or one .mat with features beside "+attSplitsFile, cmp.Or(strings.Join(found, " and "), "none"))
	}
	return filepath.Join(dir, found[0]), nil
}

// cache holds the features of one file in an .npy, which is valid if the .json beside it
// says so. A nil cache holds nothing.
type cache struct {
	path   string // without extension
	source source
	log    logrus.FieldLogger
}

// source identifies the state of a file.
type source struct {
	Path    string `json:"path"` // absolute
	Size    int64  `json:"size"`
	ModTime int64  `json:"mod_time"` // nanoseconds since 1970
}

// entry is the .json.
type entry struct {
	Source      source `json:"source"`
	FeaturesSum string `json:"features_sum"` // dataset.SumFeatures
}

// openCache returns the cache of a file of features, nil where nothing is cached: without
// a cache folder, and if the file cannot be read, which the caller finds again.
func openCache(file string, opts Options) *cache {
	info, err := os.Stat(file)
	if opts.NoCache || err != nil {
		return nil
	}
	dir := opts.CacheDir
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			opts.Log.WithError(err).Warn("features are not cached: there is no cache folder")
			return nil
		}
		dir = filepath.Join(user, "lago-train")
	}
	// The name is readable, and differs for files of the same name in different folders.
	sum := sha256.Sum256([]byte(file))
	folder := strings.ToLower(filepath.Base(filepath.Dir(file)))
	path := filepath.Join(dir, fmt.Sprintf("%s-%s-%x", folder, filepath.Base(file), sum[:6]))
	return &cache{
		path: path, source: source{file, info.Size(), info.ModTime().UnixNano()},
		log: opts.Log.WithFields(logrus.Fields{"file": file, "cache": path + ".npy"}),
	}
}

// load returns the features and their sum, or "" where they must be read from the file.
func (c *cache) load(ctx context.Context) (x dataset.Matrix[float32], sum string) {
	if c == nil {
		return x, ""
	}
	x, sum, err := c.read(ctx)
	switch {
	case err == nil:
		c.log.Debug("features are read from the cache")
		return x, sum
	case !errors.Is(err, fs.ErrNotExist) && ctx.Err() == nil:
		c.log.WithError(err).Info("the cached features cannot be used: reading the file again")
	}
	return x, ""
}

func (c *cache) read(ctx context.Context) (x dataset.Matrix[float32], sum string, err error) {
	text, err := fileio.ReadRegular(ctx, c.path+".json", maxText)
	if err != nil {
		return x, "", err
	}
	var e entry
	if err := json.Unmarshal(text, &e); err != nil {
		return x, "", err
	}
	if e.Source != c.source {
		return x, "", errors.New("the file has changed")
	}
	if x, err = features.ReadAll(ctx, c.path+".npy"); err != nil {
		return x, "", err
	}
	if sum = dataset.SumFeatures(x); sum != e.FeaturesSum {
		return x, "", errors.New("the checksum differs")
	}
	return x, sum, nil
}

// store writes the features. Failing to is worth a warning only: the next start is slow.
func (c *cache) store(x dataset.Matrix[float32], sum string) {
	if c == nil {
		return
	}
	err := os.MkdirAll(filepath.Dir(c.path), 0o777)
	if err == nil {
		err = features.WriteNPY(c.path+".npy", x)
	}
	if err == nil {
		err = fileio.WriteJSON(c.path+".json", entry{c.source, sum})
	}
	if err != nil {
		c.log.WithError(err).Warn("features are not cached")
	}
}

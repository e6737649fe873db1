package xlsa17

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
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

// samples are the features of all samples, and their classes.
type samples struct {
	file   string
	values dataset.Matrix[float32] // samples x D
	labels []int                   // from 0
	sum    string                  // dataset.SumFeatures of values
}

// readFeatures reads the features of the data set in dir, from the cache if it has them.
func readFeatures(ctx context.Context, dir string, opts Options) (*samples, error) {
	file, err := findFeatures(ctx, dir)
	if err != nil {
		return nil, err
	}
	c := openCache(file, opts)
	if x := c.load(ctx); x != nil || ctx.Err() != nil {
		return x, ctx.Err()
	}
	x, err := parseFeatures(ctx, file)
	if err != nil {
		return nil, err
	}
	x.sum = dataset.SumFeatures(x.values)
	c.store(x)
	return x, nil
}

// findFeatures returns res101.mat, or the one .mat of the folder that has features.
func findFeatures(ctx context.Context, dir string) (string, error) {
	if file := firstFile(dir, "res101.mat"); file != "" {
		return file, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", invalid.File(dir, err)
	}
	var found []string
	var problem error
	for _, entry := range entries {
		if !strings.EqualFold(filepath.Ext(entry.Name()), ".mat") {
			continue
		}
		headers, err := matlab.List(ctx, filepath.Join(dir, entry.Name()))
		problem = cmp.Or(problem, err)
		if has(headers, varFeatures) {
			found = append(found, entry.Name())
		}
	}
	switch {
	case len(found) == 1:
		return filepath.Join(dir, found[0]), nil
	case len(found) == 0 && problem != nil:
		return "", problem
	}
	return "", wrong(dir, "", "res101.mat, or one .mat with a variable "+varFeatures, cmp.Or(strings.Join(found, " and "), "none"))
}

// parseFeatures reads D x N features, which column by column are N rows of D, and N
// labels.
func parseFeatures(ctx context.Context, file string) (*samples, error) {
	vars, err := matlab.Read(ctx, file, varFeatures, varLabels)
	if err != nil {
		return nil, err
	}
	labels, err := indices(file, vars[varLabels])
	if err != nil {
		return nil, err
	}
	a := vars[varFeatures]
	if len(a.Dims) != 2 || a.Dims[1] != len(labels) || len(a.Float32) != a.Dims[0]*a.Dims[1] {
		return nil, wrong(file, varFeatures, fmt.Sprintf("numbers for D dimensions x %d samples, one for each label", len(labels)), a.Size())
	}
	return &samples{
		file:   file,
		values: dataset.Matrix[float32]{Rows: a.Dims[1], Cols: a.Dims[0], Data: a.Float32},
		labels: labels,
	}, nil
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
	Labels      []int  `json:"labels"`       // from 0
	FeaturesSum string `json:"features_sum"` // dataset.SumFeatures
	CRC32       uint32 `json:"crc32"`        // of the rest of the entry
}

// checksum returns the CRC-32 of the other fields of an entry.
func (e entry) checksum() uint32 {
	e.CRC32 = 0
	text, _ := json.Marshal(e) // of numbers and text: it cannot fail
	return crc32.ChecksumIEEE(text)
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

// load returns the features, or nil where they must be read from the file.
func (c *cache) load(ctx context.Context) *samples {
	if c == nil {
		return nil
	}
	x, err := c.read(ctx)
	if err == nil {
		c.log.Debug("features are read from the cache")
	} else if !errors.Is(err, fs.ErrNotExist) && ctx.Err() == nil {
		c.log.WithError(err).Info("the cached features cannot be used: reading the file again")
	}
	return x
}

func (c *cache) read(ctx context.Context) (*samples, error) {
	text, err := fileio.ReadRegular(c.path + ".json")
	if err != nil {
		return nil, err
	}
	var e entry
	if err := json.Unmarshal(text, &e); err != nil {
		return nil, err
	}
	if e.Source != c.source {
		return nil, errors.New("the file has changed")
	}
	x := &samples{file: c.source.Path, labels: e.Labels}
	if x.values, err = features.ReadAll(ctx, c.path+".npy"); err != nil {
		return nil, err
	}
	x.sum = dataset.SumFeatures(x.values)
	if x.values.Rows != len(e.Labels) || x.sum != e.FeaturesSum || e.checksum() != e.CRC32 {
		return nil, errors.New("the checksum differs")
	}
	return x, nil
}

// store writes the features. Failing to is worth a warning only: the next start is slow.
func (c *cache) store(x *samples) {
	if c == nil {
		return
	}
	e := entry{Source: c.source, Labels: x.labels, FeaturesSum: x.sum}
	e.CRC32 = e.checksum()
	err := os.MkdirAll(filepath.Dir(c.path), 0o777)
	if err == nil {
		err = features.WriteNPY(c.path+".npy", x.values)
	}
	if err == nil {
		err = fileio.WriteJSON(c.path+".json", e)
	}
	if err != nil {
		c.log.WithError(err).Warn("features are not cached")
	}
}

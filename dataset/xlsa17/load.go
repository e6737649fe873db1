package xlsa17

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// maxDevSplit is the number of divisions of the seen classes in the release.
const maxDevSplit = 3

// Options say how a folder is read. The zero value is ready to use.
type Options struct {
	// DevSplit is the division of the seen classes into train and validation: 1, 2 or 3;
	// 0 means 1, to which the released locations belong.
	DevSplit int
	// CacheDir is the folder of cached features; "" means lago-train in the user's cache
	// folder.
	CacheDir string
	// NoCache neither reads nor writes cached features.
	NoCache bool
	// Log receives messages about the cache; nil means logrus's standard logger.
	Log logrus.FieldLogger
}

// Load reads the data set in dir. Its name is that of the folder in lower case.
// Descriptions are probabilities, NaN where the file has a negative value for "not
// described". Errors are *invalid.Error, or the context's.
func Load(ctx context.Context, dir string, opts Options) (*dataset.Dataset, error) {
	if opts.Log == nil {
		opts.Log = logrus.StandardLogger()
	}
	if opts.DevSplit < 0 || opts.DevSplit > maxDevSplit {
		return nil, wrong("--dev-split", "", "1, 2 or 3", fmt.Sprint(opts.DevSplit))
	}
	// Features last: they can take seconds, and mistakes elsewhere show at once.
	f, err := openFolder(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := f.readDescriptions(); err != nil {
		return nil, err
	}
	if err := f.readAttributes(opts.Log); err != nil {
		return nil, err
	}
	x, err := readFeatures(ctx, f.dir, opts)
	if err != nil {
		return nil, err
	}
	return f.dataset(x, opts.DevSplit)
}

// splits returns the divisions of the seen classes, one to three: the second and third
// exist where there is a list of their train classes.
func (f *folder) splits(labels []int) ([]dataset.Split, error) {
	var splits []dataset.Split
	for n := 1; n <= maxDevSplit; n++ {
		list := fmt.Sprintf("trainclasses%d.txt", n)
		path, err := firstFile(f.dir, list)
		if err != nil {
			return nil, err
		}
		if n > 1 && path == "" {
			continue
		}
		if n > 1+len(splits) {
			return nil, wrong(f.dir, "", fmt.Sprintf("trainclasses%d.txt before %s", n-1, list), "no such file")
		}
		s, err := f.split(n, labels)
		if err != nil {
			return nil, err
		}
		splits = append(splits, s)
	}
	return splits, nil
}

// folder is a data set without its features and labels.
type folder struct {
	ctx context.Context
	dir string // absolute

	*attSplits
	index        *classIndex // of the classes, once it is needed
	descriptions dataset.Matrix[float64]
	attributes   []dataset.Attribute
	groups       []string
}

func openFolder(ctx context.Context, dir string) (*folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, invalid.File(dir, err)
	}
	mat, err := readAttSplits(ctx, filepath.Join(dir, "att_splits.mat"))
	if err != nil {
		return nil, err
	}
	return &folder{ctx: ctx, dir: dir, attSplits: mat}, nil
}

// dataset joins the features and the rest of a folder.
func (f *folder) dataset(x *features, devSplit int) (*dataset.Dataset, error) {
	for i, z := range x.labels {
		if z >= len(f.classes) {
			return nil, wrong(x.file, fmt.Sprintf("labels, entry %d", i+1),
				fmt.Sprintf("a class from 1 to %d, the classes of %s", len(f.classes), f.mat), fmt.Sprint(z+1))
		}
	}
	split, err := f.split(devSplit, x.labels)
	if err != nil {
		return nil, err
	}
	all, err := f.splits(x.labels)
	if err != nil {
		return nil, err
	}
	return &dataset.Dataset{
		Name:         strings.ToLower(filepath.Base(f.dir)),
		Source:       f.dir,
		Features:     x.values,
		Labels:       x.labels,
		Classes:      f.classes,
		Attributes:   f.attributes,
		Groups:       f.groups,
		Descriptions: f.descriptions,
		Split:        split,
		DevSplits:    all,
		TestSeen:     f.testSeen(),
		FeaturesSum:  x.sum,
	}, nil
}

// wrong returns an error about a file.
func wrong(file, field, want, got string) *invalid.Error {
	return &invalid.Error{Where: file, Field: field, Want: want, Got: got}
}

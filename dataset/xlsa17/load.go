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

// Options say how a folder is read. The zero value is ready to use.
type Options struct {
	// DevSplit chooses among the three divisions of the seen classes into train
	// and val: 1, 2 or 3; 0 means 1, the one of the released locations.
	DevSplit int
	// CacheDir is where parsed features are kept; empty means the folder
	// lago-train in the user's cache folder.
	CacheDir string
	// NoCache neither reads nor writes parsed features.
	NoCache bool
	// Log receives what happens to the cache; nil means logrus's standard logger.
	Log logrus.FieldLogger
}

func (o Options) withDefaults() (Options, error) {
	if o.DevSplit == 0 {
		o.DevSplit = 1
	}
	if o.DevSplit < 1 || o.DevSplit > 3 {
		return o, fmt.Errorf("xlsa17: DevSplit is %d, not 1, 2 or 3", o.DevSplit)
	}
	if o.Log == nil {
		o.Log = logrus.StandardLogger()
	}
	return o, nil
}

// Load reads the data set in dir. Its name is that of the folder in lower case.
// Features are as the file has them, in the precision of float32; descriptions
// are probabilities, NaN where the source gives a negative value for "not
// described". Errors name the file and the variable or line: they are of type
// *matlab.Error where a MAT-file can't be decoded or lacks a variable that
// nothing can stand in for, and else of type *invalid.Error.
func Load(ctx context.Context, dir string, opts Options) (*dataset.Dataset, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	// Features last: they can take seconds, and mistakes elsewhere show at once.
	f, err := readFolder(ctx, dir, opts)
	if err != nil {
		return nil, err
	}
	x, err := readFeatures(ctx, dir, opts)
	if err != nil {
		return nil, err
	}
	return f.with(x)
}

// folder is all of a data set but its features and labels.
type folder struct {
	dir          string
	devSplit     int
	mat          *attSplits
	attributes   []dataset.Attribute
	groups       []string
	descriptions dataset.Matrix[float64]
}

func readFolder(ctx context.Context, dir string, opts Options) (*folder, error) {
	mat, err := readAttSplits(ctx, filepath.Join(dir, "att_splits.mat"))
	if err != nil {
		return nil, err
	}
	u, err := readDescriptions(dir, mat)
	if err != nil {
		return nil, err
	}
	attributes, groups, err := readAttributes(dir, u.values.Cols, opts.Log)
	if err != nil {
		return nil, err
	}
	if err := u.agreesWith(mat, attributes); err != nil {
		return nil, err
	}
	return &folder{
		dir:          dir,
		devSplit:     opts.DevSplit,
		mat:          mat,
		attributes:   attributes,
		groups:       groups,
		descriptions: u.values,
	}, nil
}

// with joins features to the rest of a folder, which gives a whole data set.
func (f *folder) with(x *features) (*dataset.Dataset, error) {
	for i, z := range x.labels {
		if z >= len(f.mat.classes) {
			return nil, &invalid.Error{
				Where: x.file,
				Field: fmt.Sprintf("labels, entry %d", i+1),
				Want:  fmt.Sprintf("a class from 1 to %d, the classes of %s", len(f.mat.classes), f.mat.file),
				Got:   fmt.Sprint(z + 1),
			}
		}
	}
	split, err := f.split(x.labels)
	if err != nil {
		return nil, err
	}
	return &dataset.Dataset{
		Name:         strings.ToLower(filepath.Base(f.dir)),
		Source:       f.dir,
		Features:     x.values,
		Labels:       x.labels,
		Classes:      f.mat.classes,
		Attributes:   f.attributes,
		Groups:       f.groups,
		Descriptions: f.descriptions,
		Split:        split,
		TestSeen:     f.testSeen(),
		FeaturesSum:  x.sum,
	}, nil
}

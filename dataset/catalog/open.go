package catalog

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/glyphs"
	"github.com/lago-train/lago-train/dataset/simulate"
	"github.com/lago-train/lago-train/internal/invalid"
)

// EnvDataDir is the environment variable that names the data dir where
// Options.DataDir is empty.
const EnvDataDir = "LAGO_DATA"

// defaultDataDir is where data sets are looked for without either.
const defaultDataDir = "data"

// Glyphs is the name of the data set of letters that the program draws.
const Glyphs = "glyphs"

// Options say where to look. The zero value is ready to use.
type Options struct {
	DataDir  string // holds the folders of data sets; empty means $LAGO_DATA, then ./data
	DevSplit int    // which of the three splits into train and val classes, 1 to 3; 0 means 1
	CacheDir string // of parsed features; empty means the user's cache folder
	NoCache  bool   // neither reads nor writes parsed features
	Log      logrus.FieldLogger
	// WithoutSplit takes a folder in the open layout as it is before its classes are
	// divided: without splits.csv, all classes in no part.
	WithoutSplit bool
}

// Open makes or reads the data set of a name: "glyphs", one of simulate.Presets, or
// that of a folder below the data dir, in any case and in either layout. A name that
// stands for nothing is a *Missing. The made ones have one split, and no data dir.
func Open(ctx context.Context, name string, o Options) (*dataset.Dataset, error) {
	if IsMade(name) {
		d, err := makeNamed(strings.ToLower(name))
		if err != nil {
			return nil, err
		}
		return d, dataset.Check(d)
	}
	f, err := Find(name, o)
	if err != nil {
		return nil, err
	}
	return f.Open(ctx, o)
}

// Splits returns all divisions of the classes of the data set of a name, which d is.
func Splits(ctx context.Context, name string, d *dataset.Dataset, o Options) ([]dataset.Split, error) {
	if IsMade(name) {
		return []dataset.Split{d.Split}, nil
	}
	f, err := Find(name, o)
	if err != nil {
		return nil, err
	}
	return f.Splits(ctx, d)
}

// IsMade reports whether a name is that of a data set which the program makes.
func IsMade(name string) bool {
	_, simulated := simulate.Preset(strings.ToLower(name))
	return simulated || strings.EqualFold(name, Glyphs)
}

func makeNamed(name string) (*dataset.Dataset, error) {
	if spec, ok := simulate.Preset(name); ok {
		return simulate.Make(spec)
	}
	return glyphs.Make(glyphs.Options{})
}

// Find returns the folder of the data set of a name, which is below the data dir and
// may be of any case. A name that stands for no folder is a *Missing.
func Find(name string, o Options) (Folder, error) {
	dir, err := find(strings.ToLower(name), DataDir(o.DataDir))
	if err != nil {
		return Folder{}, err
	}
	return FolderAt(dir)
}

// find returns the folder of a data set. Names on disk may be of any case; where
// several differ by case alone, the one that is spelt like name is meant.
func find(name, dataDir string) (string, error) {
	dataDir, err := filepath.Abs(dataDir)
	if err != nil {
		return "", err
	}
	missing := &Missing{Name: name, DataDir: dataDir}
	entries, err := os.ReadDir(dataDir)
	if err != nil {
		missing.Err = err
		return "", missing
	}
	var found []string
	for _, e := range entries {
		path := filepath.Join(dataDir, e.Name())
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			continue
		}
		switch {
		case e.Name() == name:
			return path, nil
		case strings.EqualFold(e.Name(), name):
			found = append(found, path)
		default:
			missing.Others = append(missing.Others, e.Name())
		}
	}
	switch len(found) {
	case 0:
		return "", missing
	case 1:
		return found[0], nil
	}
	return "", &invalid.Error{
		Where: dataDir, Field: name, Want: "one folder of this name, or one that is spelt in lower case",
		Got: strings.Join(found, " and "),
	}
}

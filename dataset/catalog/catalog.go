package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/glyphs"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/dataset/simulate"
	"github.com/lago-train/lago-train/dataset/xlsa17"
	"github.com/lago-train/lago-train/internal/invalid"
)

// EnvDataDir is the environment variable of the data directory.
const EnvDataDir = "LAGO_DATA"

const defaultDataDir = "data"

// Glyphs is the name of the data set of synthetic glyphs.
const Glyphs = "glyphs"

// Options say where to look. The zero value is ready to use.
type Options struct {
	DataDir  string // holds the folders of data sets; empty means $LAGO_DATA, then ./data
	DevSplit int    // which of the three splits into train and val classes, 1 to 3; 0 means 1
	NoCache  bool   // neither reads nor writes parsed features
	Log      logrus.FieldLogger
	// WithoutSplit ignores splits.csv of the open layout. The split is then empty and not
	// checked.
	WithoutSplit bool
}

// DataDir returns the data directory: dir, or $LAGO_DATA if dir is empty, or ./data.
func DataDir(dir string) string { return cmp.Or(dir, os.Getenv(EnvDataDir), defaultDataDir) }

// Open generates or reads the data set of a name: "glyphs", one of simulate.Presets, or
// a folder below the data directory. Upper and lower case are the same. An unknown name is
// an *invalid.Error that suggests the nearest ones.
func Open(ctx context.Context, name string, o Options) (*dataset.Dataset, error) {
	if !Generated(name) {
		f, err := Find(name, o)
		if err != nil {
			return nil, err
		}
		return f.Open(ctx, o)
	}
	if o.DevSplit > 1 {
		return nil, &invalid.Error{
			Where: "data set " + invalid.Quote(name), Field: "dev_split",
			Want: "1, since data that the program generates have one split", Got: fmt.Sprint(o.DevSplit),
		}
	}
	if spec, ok := simulate.Preset(strings.ToLower(name)); ok {
		d, err := simulate.Make(spec)
		return d, cmp.Or(err, ctx.Err())
	}
	return glyphs.Make(), ctx.Err()
}

// Generated reports whether a name is that of a data set that the program generates.
func Generated(name string) bool { return slices.Contains(generated(), strings.ToLower(name)) }

func generated() []string { return append([]string{Glyphs}, simulate.Presets()...) }

// Names lists the data sets that the program generates and the folders of the data
// directory, which need not hold data sets. A data directory that does not exist has none.
func Names(o Options) ([]string, error) {
	folders, err := folders(DataDir(o.DataDir))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	hidden := func(name string) bool { return strings.HasPrefix(name, ".") }
	return append(generated(), slices.DeleteFunc(folders, hidden)...), err
}

// folders lists the folders in a data directory, links to folders among them.
func folders(dataDir string) (names []string, err error) {
	entries, err := os.ReadDir(dataDir)
	if err != nil {
		return nil, invalid.File(dataDir, err)
	}
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(dataDir, e.Name())); err == nil && info.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Find returns the folder of a name below the data directory. Of several folders that
// differ only by case it takes the one that is spelt like the name, or else in lower case.
func Find(name string, o Options) (Folder, error) {
	dataDir, err := filepath.Abs(DataDir(o.DataDir))
	if err != nil {
		return Folder{}, err
	}
	folders, err := folders(dataDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Folder{}, err
	}
	var same []string
	for _, folder := range folders {
		if strings.EqualFold(folder, name) {
			same = append(same, folder)
		}
	}
	for _, spelling := range []string{name, strings.ToLower(name)} {
		if slices.Contains(same, spelling) {
			same = []string{spelling}
		}
	}
	switch len(same) {
	case 0:
		return Folder{}, unknown(name, dataDir, folders, err)
	case 1:
		return FolderAt(filepath.Join(dataDir, same[0]))
	}
	return Folder{}, &invalid.Error{
		Where: dataDir, Want: fmt.Sprintf("one folder %q", name), Got: strings.Join(same, " and "), Hint: "Spell the name like one of them.",
	}
}

// published are the names of the data sets that package fetch downloads.
var published = []string{"cub", "awa2", "sun"}

// unknown returns the error for a name that is no data set. err is that of reading the
// data directory, if it does not exist.
func unknown(name, dataDir string, folders []string, err error) error {
	e := &invalid.Error{
		Where: "data set " + invalid.Quote(name),
		Want:  fmt.Sprintf("%s, or a folder of this name in %s", strings.Join(generated(), ", "), dataDir),
		Got:   "none", Hint: invalid.DidYouMean(name, slices.Concat(folders, generated(), published)),
	}
	lower := strings.ToLower(name)
	switch {
	case slices.Contains(published, lower):
		e.Hint = "To download it: lago-train dataset fetch " + lower
		if dir, absErr := filepath.Abs(DataDir("")); absErr != nil || dir != dataDir {
			e.Hint = fmt.Sprintf("To download it: lago-train dataset fetch --data-dir %s %s", dataDir, lower)
		}
	case e.Hint != "":
	case err != nil:
		e.Hint = fmt.Sprintf("The folder %s does not exist; --data-dir or $%s names another.", dataDir, EnvDataDir)
	case len(folders) > 0:
		const most = 8
		e.Hint = "The folder has " + strings.Join(folders[:min(len(folders), most)], ", ")
		if more := len(folders) - most; more > 0 {
			e.Hint += fmt.Sprintf(" and %d more", more)
		}
		e.Hint += "."
	}
	return e
}

// Layout is the layout of the files of a folder.
type Layout string

// The layouts that can be read.
const (
	OpenLayout Layout = "open"   // package openlayout
	XLSA17     Layout = "xlsa17" // package xlsa17
)

// Folder is the folder of a data set.
type Folder struct {
	Dir    string // absolute
	Layout Layout
}

// ErrNoFiles is the cause of the error about a folder with no file of a data set.
var ErrNoFiles = errors.New("found none of these files")

// FolderAt returns the data set in a folder. A labels.csv means the open layout, an
// att_splits.mat that of xlsa17. With neither, another file of a layout decides, so that
// the error of reading it says what is missing. A folder with both, or with no file of
// either, is an *invalid.Error.
func FolderAt(dir string) (Folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Folder{}, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Folder{}, invalid.File(dir, err)
	}
	const labels, attSplits = "labels.csv", "att_splits.mat"
	var hasLabels, hasAttSplits, hasOpen, hasMAT bool
	for _, e := range entries {
		hasLabels = hasLabels || e.Name() == labels
		hasAttSplits = hasAttSplits || e.Name() == attSplits
		hasOpen = hasOpen || slices.Contains(openlayout.Files(), e.Name())
		hasMAT = hasMAT || strings.EqualFold(filepath.Ext(e.Name()), ".mat")
	}
	switch {
	case hasLabels && hasAttSplits:
		return Folder{}, &invalid.Error{
			Where: dir, Want: "one data set", Got: fmt.Sprintf("%s of the open layout and %s of the xlsa17 layout", labels, attSplits),
			Hint: "Move one of the two elsewhere.",
		}
	case hasLabels, hasOpen && !hasAttSplits:
		return Folder{dir, OpenLayout}, nil
	case hasAttSplits, hasMAT:
		return Folder{dir, XLSA17}, nil
	}
	return Folder{}, &invalid.Error{
		Where: dir,
		Want:  "a data set: " + strings.Join(openlayout.Files(), ", ") + " (the open layout), or res101.mat and att_splits.mat (the xlsa17 layout)",
		Err:   ErrNoFiles,
	}
}

// Open reads the data set. It has passed dataset.Check, unless it is in the open layout
// and Options.WithoutSplit is set.
func (f Folder) Open(ctx context.Context, o Options) (*dataset.Dataset, error) {
	var d *dataset.Dataset
	var err error
	if f.Layout == OpenLayout {
		d, err = openlayout.Load(ctx, f.Dir, openlayout.Options{DevSplit: o.DevSplit, WithoutSplit: o.WithoutSplit})
	} else {
		d, err = xlsa17.Load(ctx, f.Dir, xlsa17.Options{DevSplit: o.DevSplit, NoCache: o.NoCache, Log: o.Log})
	}
	if err != nil || f.Layout == OpenLayout && o.WithoutSplit {
		return d, err
	}
	return d, dataset.Check(d)
}

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
	"github.com/lago-train/lago-train/dataset/simulate"
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
	CacheDir string // of parsed features; empty means the user's cache folder
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
	if spec, ok := simulate.Preset(strings.ToLower(name)); ok {
		d, err := simulate.Make(spec)
		return d, cmp.Or(err, ctx.Err())
	}
	return glyphs.Make(glyphs.Options{}), ctx.Err()
}

// Splits returns all splits of the classes of a data set, of which Open gives one. d is
// the data set of that name.
func Splits(ctx context.Context, name string, d *dataset.Dataset, o Options) ([]dataset.Split, error) {
	if Generated(name) {
		return []dataset.Split{d.Split}, nil
	}
	f, err := Find(name, o)
	if err != nil {
		return nil, err
	}
	return f.Splits(ctx, d)
}

// Generated reports whether a name is that of a data set that the program generates.
func Generated(name string) bool { return slices.Contains(generated(), strings.ToLower(name)) }

func generated() []string { return append([]string{Glyphs}, simulate.Presets()...) }

// Find returns the folder of a name below the data directory. Of several folders that
// differ only by case it takes the one that is spelt like the name, or else in lower case.
func Find(name string, o Options) (Folder, error) {
	dataDir, err := filepath.Abs(DataDir(o.DataDir))
	if err != nil {
		return Folder{}, err
	}
	entries, err := os.ReadDir(dataDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Folder{}, invalid.File(dataDir, err)
	}
	var folders, same []string
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(dataDir, e.Name())); err != nil || !info.IsDir() {
			continue
		}
		folders = append(folders, e.Name())
		if strings.EqualFold(e.Name(), name) {
			same = append(same, e.Name())
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

// Package catalog finds a data set by its name: one that the program generates, or a folder below the data
// directory in either layout. Every data set that it opens satisfies check.Errors. It also lists the data
// sets, and reports what is wrong with one.
//
// The files of a folder are read by packages openlayout and xlsa17.
package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/check"
	"github.com/lago-train/lago-train/dataset/glyphs"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/dataset/openlayout"
	"github.com/lago-train/lago-train/dataset/xlsa17"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
)

const EnvDataDir = "LAGO_DATA"

// Options say where to look. The zero value is ready to use.
type Options struct {
	DataDir  string // holds the folders of data sets; empty means $LAGO_DATA, then ./data
	DevSplit int    // which of the three splits into train and val classes, 1 to 3; 0 means 1
	// WithoutSplit ignores splits.csv of the open layout. The split is then empty and not checked.
	WithoutSplit bool
	// Undecided also opens a data set of which it is not said what empty cells mean, see check.Empty.
	Undecided bool

	Missing []dataset.Code  // values that stand for missing features, see dataset.Dataset.SetAbsent
	Absent  *dataset.Absent // of a model, in place of Missing; nil for none
}

// DataDir returns the data directory: dir, or $LAGO_DATA if dir is empty, or ./data.
func DataDir(dir string) string { return cmp.Or(dir, os.Getenv(EnvDataDir), "data") }

// Open generates or reads the data set of a name: "glyphs", or a folder below the data
// directory. Upper and lower case are the same. A path names a folder anywhere, see IsPath. An unknown
// name is an *invalid.Error that suggests the nearest ones. The error of a folder that is not complete
// ends with the next step.
func Open(ctx context.Context, name string, o Options) (*dataset.Dataset, error) {
	l, err := find(name, o)
	if err != nil {
		return nil, WithNext(ctx, err, name, o)
	}
	d, err := l.open(ctx, o)
	if err != nil {
		err = WithNext(ctx, err, name, o)
	}
	return d, err
}

// IsPath reports whether a data set is named by the path of its folder: ".", "..", or with a separator.
func IsPath(name string) bool {
	return name == "." || name == ".." || strings.ContainsAny(name, "/"+string(filepath.Separator))
}

// Canonical returns a name in lower case, and a path as it is.
func Canonical(name string) string {
	if IsPath(name) {
		return name
	}
	return strings.ToLower(name)
}

// NameOf returns the name of a data set in results, in lower case: for a path that of its folder.
func NameOf(name string) string {
	if IsPath(name) {
		if dir, err := filepath.Abs(name); err == nil {
			name = filepath.Base(dir)
		}
	}
	return strings.ToLower(name)
}

// Generated reports whether a name is that of a data set that the program generates.
func Generated(name string) bool { return strings.EqualFold(name, glyphsName) }

const glyphsName = "glyphs"

// folders lists the folders in a data directory, links to folders among them, without hidden ones.
func folders(dataDir string) (names []string, err error) {
	entries, err := os.ReadDir(dataDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, invalid.Folder(dataDir, "a folder of data sets", err)
	}
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(dataDir, e.Name()))
		if err == nil && info.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// find returns the place of the data set of a name. Of several folders below the data directory
// that differ only by case, it takes the one that is spelt like the name.
func find(name string, o Options) (location, error) {
	switch {
	case Generated(name):
		return location{name, ""}, nil
	case IsPath(name):
		return folderAt(name)
	}
	dataDir := DataDir(o.DataDir)
	all, err := folders(dataDir)
	if err == nil {
		dataDir, err = filepath.Abs(dataDir)
	}
	if err != nil {
		return location{}, err
	}
	if !slices.Contains(all, name) {
		same := slices.DeleteFunc(slices.Clone(all), func(other string) bool {
			return !strings.EqualFold(dataset.Name(other), dataset.Name(name))
		})
		switch len(same) {
		case 0:
			return location{}, unknown(name, dataDir, all)
		case 1:
			name = same[0]
		default:
			return location{}, &invalid.Error{
				Where: dataDir, Want: "one folder " + invalid.Quote(name), Got: strings.Join(same, " and "),
			}
		}
	}
	return folderAt(filepath.Join(dataDir, name))
}

// Named is a data set as commands name it, with its folder of data sets.
func (o Options) Named(name string) string {
	if o.DataDir == "" {
		return format.ShellLine(name)
	}
	return format.ShellLine(name, "--data-dir", o.DataDir)
}

func unknown(name, dataDir string, folders []string) error {
	e := &invalid.Error{
		Where: "data set " + invalid.Quote(name),
		Want:  fmt.Sprintf("%s, a folder of this name in %s, or the path of a folder", glyphsName, dataDir),
		Got:   "none", Hint: invalid.DidYouMean(name, append(folders, glyphsName)),
	}
	if e.Hint == "" {
		e.Hint = "The command dataset list shows what is there, and dataset fetch downloads cub, awa2 and " +
			"sun; --data-dir or $" + EnvDataDir + " names another folder."
	}
	return e
}

// location is where a data set is: in a folder, as an absolute path, or, without a layout, in
// the program, under a name.
type location struct{ place, layout string }

const (
	openLayout = "open"
	matLayout  = "xlsa17"
)

var errNoFiles = errors.New("found none of their files")

// folderAt returns the data set in a folder. A labels.csv means the open layout, an att_splits.mat that of
// xlsa17. With neither, another file of a layout decides, so that the error of reading it says what is
// missing. A folder with both, or with no file of either, is an *invalid.Error.
func folderAt(dir string) (location, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return location{}, invalid.Folder(dir, "a folder of a data set", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return location{}, err
	}
	has := func(file func(name string) bool) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return file(e.Name()) })
	}
	hasSplits := has(func(name string) bool { return name == "att_splits.mat" })
	switch {
	case hasSplits && has(func(name string) bool { return name == "labels.csv" }):
		return location{}, &invalid.Error{
			Where: dir, Want: "one data set",
			Got:  "labels.csv of the open layout and att_splits.mat of the xlsa17 layout",
			Hint: "Move one of the two elsewhere.",
		}
	case !hasSplits && has(func(name string) bool { return slices.Contains(openlayout.Files(), name) }):
		return location{dir, openLayout}, nil
	case has(func(name string) bool { return strings.EqualFold(filepath.Ext(name), ".mat") }):
		return location{dir, matLayout}, nil
	}
	return location{}, &invalid.Error{
		Where: dir,
		Want:  "features and labels of samples, or the .mat files of the xlsa17 layout",
		Err:   errNoFiles,
		Hint:  "Photographs become features by lago-train dataset extract NAME --images DIR.",
	}
}

// open reads or generates the data set, and fills missing features. It has passed check.Errors, unless it is
// in the open layout and Options.WithoutSplit is set.
func (l location) open(ctx context.Context, o Options) (d *dataset.Dataset, err error) {
	if o.Absent != nil {
		o.Missing = o.Absent.Values
	}
	switch {
	case l.layout == matLayout:
		d, err = xlsa17.Load(ctx, l.place, o.DevSplit)
	case l.layout == openLayout:
		d, err = openlayout.Load(ctx, l.place, openlayout.Options{
			DevSplit: o.DevSplit, WithoutSplit: o.WithoutSplit, Missing: o.Missing,
		})
	case o.DevSplit > 1:
		err = invalid.At("data set "+invalid.Quote(l.place), invalid.Expected("dev_split", o.DevSplit,
			"1, since data that the program generates have one split"))
	default:
		d, err = glyphs.Make(), ctx.Err()
	}
	switch {
	case err != nil:
		return d, err
	case o.Absent != nil && len(o.Absent.Means) == d.Features.Cols: // the model refuses others
		d.FillAbsent(o.Absent)
	case o.Absent == nil && o.Missing != nil:
		d.SetAbsent(o.Missing)
	}
	if l.layout == "" || l.layout == openLayout && o.WithoutSplit {
		return d, nil
	}
	if err := check.Errors(d); err != nil {
		return d, err
	}
	if err := check.Empty(d); err != nil && !o.Undecided {
		return d, err
	}
	return d, nil
}

func hasGlyphs(d *dataset.Dataset) bool { return d.Source == glyphs.Source }

// HasPictures reports whether Picture finds pictures of samples.
func HasPictures(d *dataset.Dataset) bool { return hasGlyphs(d) || d.ImageDir != "" }

// Picture returns the picture of a sample, nil if there is none: the glyph, or the photograph scaled
// to a side in pixels.
func Picture(ctx context.Context, d *dataset.Dataset, row, side int) (image.Image, error) {
	if hasGlyphs(d) {
		return glyphs.Image(row), nil
	}
	path := d.ImageOf(row)
	if path == "" {
		return nil, nil
	}
	return images.Thumbnail(ctx, path, side)
}

// Listing is the data sets that can be named. Its JSON keys are stable.
type Listing struct {
	DataDir  string  `json:"data_dir"`
	Datasets []Entry `json:"datasets"`
	Next     string  `json:"-"` // command to type next
}

// Entry is a data set that the program generates, or a folder of the data directory. Sizes
// are 0 unless it is usable. Its JSON keys are stable.
type Entry struct {
	Name       string `json:"name"`
	Layout     string `json:"layout"`            // open or xlsa17; empty if generated or unknown
	Usable     bool   `json:"usable"`            // whether the check finds no problem
	Problem    string `json:"problem,omitempty"` // the first one
	Problems   int    `json:"problems"`          // 0 too for a folder with no file of a data set
	Samples    int    `json:"samples"`
	Dimensions int    `json:"dimensions"`
	Train      int    `json:"train_classes"`
	Val        int    `json:"val_classes"`
	Test       int    `json:"test_classes"`
	Attributes int    `json:"attributes"`
	Groups     int    `json:"groups"` // 0 if they are unknown
}

// List checks the data set that the program generates and the folders of the data directory, which need not
// hold data sets; onName is called before each folder is read. A data directory that does not exist has none.
func List(ctx context.Context, o Options, onName func(string)) (*Listing, error) {
	l := &Listing{DataDir: DataDir(o.DataDir), Next: "lago-train run"}
	names, err := folders(l.DataDir)
	if err != nil {
		return nil, err
	}
	for i, name := range append([]string{glyphsName}, names...) {
		path := name
		if i > 0 {
			path = l.DataDir + "/" + name
			onName(name)
		}
		r, err := findErrors(ctx, path, o)
		e := Entry{Name: name, Usable: r.OK, Layout: r.layout}
		switch d := r.Data; {
		case err != nil && !errors.As(err, new(*invalid.Error)):
			return nil, err
		case err != nil && !errors.Is(err, errNoFiles):
			e.Problem, e.Problems = err.Error(), 1
		case r.OK:
			e.Samples, e.Dimensions, e.Attributes, e.Groups = d.Features.Rows, d.Features.Cols,
				len(d.Attributes), len(d.Groups)
			e.Train, e.Val, e.Test = len(d.Split.Train), len(d.Split.Val), len(d.Split.Test)
		case err == nil:
			e.Problem, e.Problems = r.Errors[0].String(), len(r.Errors)
		}
		l.Datasets = append(l.Datasets, e)
		if i > 0 && r.layout != "" && l.Next == "lago-train run" {
			l.Next = Next(ctx, name, o, r.err, "run --dataset")
		}
	}
	return l, nil
}

// Tables has one data set per line, and what is wrong with those that are not usable.
func (l *Listing) Tables() []*table.Table {
	t := table.New("", "data set", "layout", "samples x features", "train / val / test classes",
		"attributes / groups", "status").Right(3, 4, 5)
	for _, e := range l.Datasets {
		switch {
		case e.Usable:
			t.Row(e.Name, cmp.Or(e.Layout, "generated"), fmt.Sprintf("%d x %d", e.Samples, e.Dimensions),
				fmt.Sprintf("%d/%d/%d", e.Train, e.Val, e.Test), fmt.Sprintf("%d/%d", e.Attributes, e.Groups),
				"usable")
		case e.Problems == 0:
			t.Row(e.Name, "-", "-", "-", "-", "no data set")
		default:
			t.Row(e.Name, cmp.Or(e.Layout, "-"), "-", "-", "-", format.Count(e.Problems, "problem"))
			t.Note("%s: %s", e.Name, e.Problem)
		}
	}
	t.Note("Folders are in %s; others: lago-train dataset fetch cub, awa2 or sun.", l.DataDir)
	return []*table.Table{t.Note("next: %s", l.Next)}
}

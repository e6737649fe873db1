package openlayout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/invalid"
)

// The files of the layout. Features are in one of two.
const (
	// FeaturesFile is the name of the file of features that Write writes.
	FeaturesFile   = "features.npy"
	featuresCSV    = "features.csv"
	labelsFile     = "labels.csv"
	imagesFile     = "images.csv"
	classesFile    = "classes.csv"
	attributesFile = "attributes.csv"
	// SplitsFile is the name of the file that splits the classes.
	SplitsFile = "splits.csv"
)

// Columns that more than one function reads or writes.
const (
	classColumn    = "class"
	idColumn       = "id"
	pathColumn     = "path"
	testSeenColumn = "test_seen"
)

// Files returns the names of the files of the layout. A folder has all of them, and one
// of the first two.
func Files() []string {
	return []string{FeaturesFile, featuresCSV, labelsFile, classesFile, attributesFile, SplitsFile}
}

// SampleFiles returns the names of the files with a line or row for each sample.
func SampleFiles() []string { return []string{FeaturesFile, featuresCSV, labelsFile, imagesFile} }

// Options say how a folder is read. The zero value is ready to use.
type Options struct {
	// DevSplit chooses among the splits of the seen classes into train and val: 1, 2 or 3,
	// the columns part, part2 and part3 of splits.csv; 0 means 1.
	DevSplit int
	// WithoutSplit ignores splits.csv, which need not exist. The split is then empty.
	WithoutSplit bool
}

// Load reads the data set in dir. Its name is that of the folder in lower case. The
// error joins all problems of the files, each an *invalid.Error. dataset.Check finds those
// of a data set in any layout, such as classes without samples.
func Load(ctx context.Context, dir string, opts Options) (*dataset.Dataset, error) {
	if opts.DevSplit == 0 {
		opts.DevSplit = 1
	}
	if opts.DevSplit < 1 || opts.DevSplit > len(partColumns) {
		return nil, &invalid.Error{Where: "--dev-split", Want: "1, 2 or 3", Got: fmt.Sprint(opts.DevSplit)}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r := &reader{ctx: ctx, dir: dir}
	d := r.load(opts)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := r.problems.Err(); err != nil {
		return nil, err
	}
	return d, nil
}

// reader reads the files of a folder and collects their problems.
type reader struct {
	ctx      context.Context
	dir      string
	problems invalid.List
}

func (r *reader) path(name string) string { return filepath.Join(r.dir, name) }

// table returns nil if the file is no table, or has lines of another width.
func (r *reader) table(name string) *table.Table {
	t := table.Read(r.ctx, r.path(name), &r.problems)
	if t == nil || t.Ragged {
		return nil
	}
	return t
}

// load reads as much as it can, to report all problems at once. The result is a data set
// only if there are none.
func (r *reader) load(opts Options) *dataset.Dataset {
	d := &dataset.Dataset{Name: strings.ToLower(filepath.Base(r.dir)), Source: r.dir}
	d.Attributes, d.Groups = r.readAttributes()
	c := r.readClasses(d.Attributes)
	if c != nil {
		d.Classes, d.Descriptions = c.names, c.descriptions
	}
	l := r.readLabels(c)
	if l != nil {
		d.Labels, d.TestSeen, d.IDs = l.classes, l.held, l.ids
	}
	r.readImages(d)
	if !opts.WithoutSplit {
		d.DevSplits = r.readDevSplits(opts.DevSplit, c, l)
		if len(d.DevSplits) > 0 {
			d.Split = d.DevSplits[opts.DevSplit-1]
		}
	}
	d.Features = r.readFeatures(l)
	return d
}

// readDevSplits returns the splits, at least as many as devSplit, after checking the
// held-out samples against them; nil if there are problems.
func (r *reader) readDevSplits(devSplit int, c *classes, l *labels) []dataset.Split {
	s := r.readSplits(SplitsFile, c)
	if s == nil {
		return nil
	}
	if devSplit > len(s.columns) {
		s.table.Report("dev split", 1, "", fmt.Sprintf("a column %s for split %d", partColumns[devSplit-1], devSplit), s.table.Header())
		return nil
	}
	if l != nil {
		l.checkHeld(c, s.partOf[0])
	}
	return s.all()
}

// readFeatures returns the features of the samples, one for each label.
func (r *reader) readFeatures(l *labels) dataset.Matrix[float32] {
	path := r.featuresPath()
	if path == "" {
		return dataset.Matrix[float32]{}
	}
	x, err := features.ReadAll(r.ctx, path)
	r.problems.AddError(err)
	if l != nil && x.Rows > 0 && x.Rows != len(l.classes) {
		r.problems.AddError(&invalid.Error{
			Where: path, Want: fmt.Sprintf("%d samples, one for each line of %s", len(l.classes), labelsFile), Got: fmt.Sprint(x.Rows),
		})
	}
	return x
}

// featuresPath returns the path of the file of features, or "" if there is not just one.
func (r *reader) featuresPath() string {
	var found []string
	for _, name := range []string{FeaturesFile, featuresCSV} {
		switch _, err := os.Stat(r.path(name)); {
		case err == nil:
			found = append(found, name)
		case !errors.Is(err, fs.ErrNotExist):
			r.problems.AddError(invalid.File(r.path(name), err))
			return ""
		}
	}
	if len(found) == 1 {
		return r.path(found[0])
	}
	e := &invalid.Error{Where: r.dir, Want: FeaturesFile + " or " + featuresCSV, Got: "neither"}
	if len(found) > 1 {
		e.Got = "both"
	}
	r.problems.AddError(e)
	return ""
}

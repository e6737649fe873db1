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
	"github.com/lago-train/lago-train/internal/invalid"
)

// The files of the layout. Features are in one of two.
const (
	featuresNPY    = "features.npy"
	featuresCSV    = "features.csv"
	labelsFile     = "labels.csv"
	classesFile    = "classes.csv"
	attributesFile = "attributes.csv"
	// SplitsFile is the name of the file that divides the classes.
	SplitsFile = "splits.csv"
)

// Columns that more than one function reads or writes.
const (
	classColumn    = "class"
	idColumn       = "id"
	testSeenColumn = "test_seen"
)

// Files returns the names of the files of the layout. A folder of it has all of
// them, and one of the first two.
func Files() []string {
	return []string{featuresNPY, featuresCSV, labelsFile, classesFile, attributesFile, SplitsFile}
}

// Options say how a folder is read. The zero value is ready to use.
type Options struct {
	// DevSplit chooses among the divisions of the seen classes into train and val:
	// 1, 2 or 3, the columns part, part2 and part3 of splits.csv; 0 means 1.
	DevSplit int
	// WithoutSplit does not read splits.csv, for who is about to make one: all
	// classes are in no part then.
	WithoutSplit bool
}

// Load reads the data set in dir. Its name is that of the folder in lower case. The
// error joins all that is wrong with the folder, each a *invalid.Error with file,
// line and column; of many of a kind it has the first few and counts the others.
func Load(ctx context.Context, dir string, opts Options) (*dataset.Dataset, error) {
	if opts.DevSplit == 0 {
		opts.DevSplit = 1
	}
	if opts.DevSplit < 1 || opts.DevSplit > len(partColumns) {
		return nil, fmt.Errorf("openlayout: DevSplit is %d, not 1, 2 or 3", opts.DevSplit)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r := &reader{ctx: ctx, dir: dir}
	d := r.load(opts)
	if err := r.bad.Err(); err != nil {
		return nil, err
	}
	return d, nil
}

// load reads as much as it can, to tell all that is wrong; what it returns is a data
// set only if nothing is.
func (r *reader) load(opts Options) *dataset.Dataset {
	d := &dataset.Dataset{Name: strings.ToLower(filepath.Base(r.dir)), Source: r.dir}
	d.Attributes, d.Groups = r.readAttributes()
	c := r.readClasses(d.Attributes)
	l := r.readLabels(c)
	if c != nil {
		d.Classes, d.Descriptions = c.names, c.descriptions
	}
	if l != nil {
		d.Labels, d.TestSeen = l.classes, l.held
	}
	if !opts.WithoutSplit {
		d.Split = r.readSplit(opts.DevSplit, c, l)
	}
	d.Features = r.readFeatures(l)
	return d
}

// readSplit returns a division of the classes, and checks what the other files say
// against it.
func (r *reader) readSplit(division int, c *classes, l *labels) dataset.Split {
	s := r.readSplits(SplitsFile, c)
	if s == nil {
		return dataset.Split{}
	}
	if division > len(s.columns) {
		r.bad.AddError(&invalid.Error{
			Where: s.table.file, Field: "line 1", Want: fmt.Sprintf("a column %s, for division %d", partColumns[division-1], division), Got: list(s.table.columns),
		})
		return dataset.Split{}
	}
	split := s.divisions()[division-1]
	var labels []int
	if l != nil {
		labels = l.classes
		l.checkHeld(c, s.partOf[0])
	}
	c.checkUse(split, labels)
	return split
}

// readFeatures returns the features of the samples, one for each label.
func (r *reader) readFeatures(l *labels) dataset.Matrix[float32] {
	path := r.featuresPath()
	if path == "" {
		return dataset.Matrix[float32]{}
	}
	x, err := features.ReadAll(r.ctx, path)
	r.bad.AddError(err)
	if l != nil && x.Rows > 0 && x.Rows != len(l.table.rows) {
		r.bad.AddError(&invalid.Error{
			Where: path, Want: fmt.Sprintf("%d samples, one for each line of %s", len(l.table.rows), labelsFile), Got: fmt.Sprint(x.Rows),
		})
	}
	return x
}

// featuresPath returns the one file of features, or "" where that is not so.
func (r *reader) featuresPath() string {
	var found []string
	for _, name := range []string{featuresNPY, featuresCSV} {
		switch _, err := os.Stat(r.path(name)); {
		case err == nil:
			found = append(found, name)
		case !errors.Is(err, fs.ErrNotExist):
			r.bad.AddError(&invalid.Error{Where: r.path(name), Err: err})
			return ""
		}
	}
	if len(found) == 1 {
		return r.path(found[0])
	}
	e := &invalid.Error{Where: r.dir, Want: featuresNPY + " or " + featuresCSV, Got: "neither"}
	if len(found) > 1 {
		e.Got = "both"
	}
	r.bad.AddError(e)
	return ""
}

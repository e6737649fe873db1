package openlayout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/input"
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
	SplitsFile  = "splits.csv"
	extractFile = "extract.json"
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

func (r *reader) report(where, want, got string) {
	r.problems.AddError(&invalid.Error{Where: where, Want: want, Got: got})
}

// table returns nil if the file is no table, has lines of another width, or lacks a
// required column. The columns may be any if none is optional, otherwise only those given.
func (r *reader) table(name string, required []string, optional ...string) *table.Table {
	t := table.Read(r.ctx, r.path(name), &r.problems)
	if t == nil || t.Ragged {
		return nil
	}
	ok := t.Require(required...)
	if len(optional) > 0 && !t.Allow(append(required, optional...)...) || !ok {
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
	if devSplit > len(s.partOf) {
		s.table.Report("dev split", 1, "", fmt.Sprintf("a column %s for split %d", partColumns[devSplit-1], devSplit), s.table.Header())
		return nil
	}
	if l != nil {
		l.checkHeld(c, s.partOf[0])
	}
	return s.all()
}

// readFeatures returns the features of the samples, one for each label.
func (r *reader) readFeatures(l *labels) (x dataset.Matrix[float32]) {
	var found []string
	for _, name := range []string{FeaturesFile, featuresCSV} {
		switch _, err := os.Stat(r.path(name)); {
		case err == nil:
			found = append(found, r.path(name))
		case !errors.Is(err, fs.ErrNotExist):
			r.problems.AddError(invalid.File(r.path(name), err))
			return x
		}
	}
	if len(found) != 1 {
		r.report(r.dir, FeaturesFile+" or "+featuresCSV, []string{0: "neither", 2: "both"}[len(found)])
		return x
	}
	x, err := features.ReadAll(r.ctx, found[0])
	r.problems.AddError(err)
	if l != nil && x.Rows > 0 && x.Rows != len(l.classes) {
		r.report(found[0], fmt.Sprintf("%d samples, one for each line of %s", len(l.classes), labelsFile), fmt.Sprint(x.Rows))
	}
	return x
}

// Extraction is the content of extract.json: how the features were computed from images.
type Extraction struct {
	dataset.Provenance
	ImageDir     string `json:"image_dir,omitempty"`     // absolute
	Images       int    `json:"images,omitempty"`        // those left out included
	ImagesSHA256 string `json:"images_sha256,omitempty"` // of their names, classes, sizes and bounding boxes
	BLAS         string `json:"blas,omitempty"`

	Versions map[string]string `json:"versions,omitempty"` // of the program and its libraries
}

// maxExtraction is far above the size of extract.json in bytes.
const maxExtraction = 1 << 16

// ReadExtraction reads extract.json of a folder; nil if there is none.
func ReadExtraction(ctx context.Context, dir string) (*Extraction, error) {
	path := filepath.Join(dir, extractFile)
	text, err := input.ReadFile(ctx, path, maxExtraction)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	e := new(Extraction)
	err = json.Unmarshal(text, e)
	if p := e.Provenance.Images; err != nil || len(e.WeightsSHA256) != 64 || p.Size < 1 || p.Fit != dataset.Crop && p.Fit != dataset.Squash {
		return nil, &invalid.Error{Where: path, Want: "the record that dataset extract writes", Got: "another file", Err: err}
	}
	return e, nil
}

// readImages reads the optional files of features that were computed from images.
func (r *reader) readImages(d *dataset.Dataset) {
	e, err := ReadExtraction(r.ctx, r.dir)
	r.problems.AddError(err)
	if e != nil {
		d.Provenance, d.ImageDir = &e.Provenance, e.ImageDir
	}
	if _, err := os.Stat(r.path(imagesFile)); errors.Is(err, fs.ErrNotExist) || d.IDs != nil {
		return
	}
	t := r.table(imagesFile, []string{pathColumn}, pathColumn)
	if t == nil {
		return
	}
	d.IDs = t.Names(pathColumn)
	if d.Labels != nil && len(d.IDs) != len(d.Labels) {
		r.report(t.File, fmt.Sprintf("%d lines, one for each of %s", len(d.Labels), labelsFile), fmt.Sprint(len(d.IDs)))
	}
}

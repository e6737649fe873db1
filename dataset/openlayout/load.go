// Package openlayout reads data sets in the open layout: a folder of plain
// files that any program can write.
//
//	features.npy      or features.csv: samples x D numbers, see package features
//	labels.csv        see LabelsForm
//	classes.csv       class, and one column per attribute: one line per class, p(attribute|class)
//	attributes.csv    name[,group]: one line per attribute
//	drafts.csv        class,group: descriptions that nobody has checked; optional
//	empty.txt         the word unknown, if empty cells of classes.csv are not to be taken for no; optional
//	splits.csv        class,part[,part2][,part3]: train, val or test; one line per class
//	images.csv        path: one line per sample; optional
//	extract.json      how the features were computed from images; optional
//
// Classes are in the order of classes.csv, attributes in that of attributes.csv, and groups in the order in
// which attributes.csv first names them. Anything unexpected is an error, because a misspelt name that is
// ignored would change results silently. docs/files.md has the columns.
//
// All problems of a folder are reported together, with file, line and column.
package openlayout

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// The files of the layout. Features are in one of the first two.
const (
	FeaturesFile   = "features.npy"
	featuresCSV    = "features.csv"
	labelsFile     = "labels.csv"
	imagesFile     = "images.csv"
	ClassesFile    = descriptions.ClassesFile
	AttributesFile = descriptions.AttributesFile
	SplitsFile     = "splits.csv"
	ExtractFile    = "extract.json"
)

// Columns that more than one function reads or writes.
const (
	classColumn    = descriptions.ClassColumn
	idColumn       = "id"
	pathColumn     = "path"
	sumColumn      = "sha256"
	testSeenColumn = "test_seen"
	sourceColumn   = "source"
)

var labelColumns = []string{idColumn, testSeenColumn, sourceColumn}

// LabelsForm is that of labels.csv.
const LabelsForm = "one line per sample, in the order of the features, with the columns class and, " +
	"optionally, id, test_seen and source (the recording, specimen or subject of the sample)"

// Files returns the names of the files of the layout. A folder has all of them, and one of the first two.
func Files() []string {
	return []string{FeaturesFile, featuresCSV, labelsFile, ClassesFile, AttributesFile, SplitsFile}
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
	// Missing are the codes of missing features, which need not be finite.
	Missing []dataset.Code
}

// Load reads the data set in dir, an absolute path. Its name is that of the folder in lower
// case. The error joins all problems of the files, each an *invalid.Error. check.Errors finds
// those of a data set in any layout, such as classes without samples.
func Load(ctx context.Context, dir string, opts Options) (*dataset.Dataset, error) {
	r := &reader{ctx: ctx, dir: dir, source: ClassesFile, d: &dataset.Dataset{
		Name: strings.ToLower(filepath.Base(dir)), Source: dir,
	}}
	for _, name := range append(Files(), descriptions.DraftsFile, descriptions.EmptyFile, imagesFile,
		ExtractFile) {
		r.has(name)
	}
	if r.problems.Len() > 0 {
		return nil, r.problems.Err()
	}
	attributes := r.has(AttributesFile) && !r.isEmpty(AttributesFile)
	r.problems.AddError(r.lacks(attributes, !opts.WithoutSplit))
	described := attributes && r.has(ClassesFile)
	if described {
		r.readDescriptions()
	}
	unknown, err := descriptions.KeepsUnknown(dir)
	r.problems.AddError(err)
	r.d.EmptyUnknown = unknown
	if r.has(labelsFile) {
		r.readLabels()
	}
	r.readImages()
	if !opts.WithoutSplit && described && r.has(SplitsFile) {
		r.d.DevSplits = r.readSplits(r.path(SplitsFile))
		switch n, splits := cmp.Or(opts.DevSplit, 1), len(r.d.DevSplits); {
		case 0 < n && n <= splits:
			r.d.Split = r.d.DevSplits[n-1]
			used := map[int]bool{}
			for _, z := range slices.Concat(r.d.Split.Seen(), r.d.Split.Test) {
				used[z] = true
			}
			r.d.TestSeen = slices.DeleteFunc(r.d.TestSeen, func(i int) bool {
				return !used[r.d.Labels[i]] // of a class that is left out
			})
			r.checkSources()
		case splits > 0:
			r.problems.AddError(invalid.At(r.path(SplitsFile), invalid.Expected("dev_split", n,
				"1 to %d, from the columns %s", splits, strings.Join(partColumns[:splits], ", "))))
		}
	}
	if len(featuresIn(dir)) > 0 {
		r.readFeatures(opts.Missing)
	}
	if err := cmp.Or(ctx.Err(), r.problems.Err()); err != nil {
		return nil, err
	}
	return r.d, nil
}

type reader struct {
	ctx      context.Context
	dir      string
	d        *dataset.Dataset
	source   string         // of the names of the classes, for errors
	classes  map[string]int // by name; nil if they are not known
	lines    []int          // of the samples in labels.csv
	problems invalid.List
}

// lacks is the error of the first part of the folder that is not there; attributes: there are some.
func (r *reader) lacks(attributes, split bool) error {
	e := &invalid.Error{Where: r.dir}
	switch {
	case len(featuresIn(r.dir)) == 0:
		e.Want, e.Got = "the features of samples in "+FeaturesFile+" or "+featuresCSV, "neither"
	case !r.has(labelsFile):
		e.Want, e.Got = "the class of each sample in "+labelsFile, "no such file"
	case !r.has(AttributesFile) && !r.has(ClassesFile):
		e.Want, e.Got = "descriptions of the classes in "+AttributesFile+" and "+ClassesFile, "neither"
	case !attributes:
		e.Want, e.Got = "the attributes that describe classes in "+AttributesFile, "none"
	case !r.has(ClassesFile):
		e.Want, e.Got = "the descriptions of classes in "+ClassesFile, "no such file"
	case split && !r.has(SplitsFile):
		e.Want, e.Got = "train, val and test classes in "+SplitsFile, "no such file"
	default:
		return nil
	}
	return e
}

func (r *reader) isEmpty(file string) bool {
	text, err := os.ReadFile(r.path(file))
	return err == nil && bytes.Count(bytes.TrimSpace(text), []byte("\n")) == 0
}

func (r *reader) path(name string) string { return filepath.Join(r.dir, name) }

func (r *reader) report(where, want, got string) {
	r.problems.AddError(&invalid.Error{Where: where, Want: want, Got: got})
}

// FeaturesPath returns the path of the features of a folder, features.npy unless it has only the other file.
func FeaturesPath(dir string) string {
	return append(featuresIn(dir), filepath.Join(dir, FeaturesFile))[0]
}

// HasSamples reports whether a folder has features and their classes.
func HasSamples(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, labelsFile))
	return err == nil && len(featuresIn(dir)) > 0
}

func featuresIn(dir string) []string {
	paths := []string{filepath.Join(dir, FeaturesFile), filepath.Join(dir, featuresCSV)}
	return slices.DeleteFunc(paths, func(path string) bool {
		_, err := os.Stat(path)
		return err != nil
	})
}

func (r *reader) readFeatures(missing []dataset.Code) {
	paths := featuresIn(r.dir)
	if len(paths) > 1 {
		r.report(r.dir, FeaturesFile+" or "+featuresCSV, "both")
		return
	}
	x, names, err := features.ReadTable(r.ctx, paths[0], missing)
	r.problems.AddError(err)
	r.d.Features, r.d.Columns = x, names
	r.checkSamples(paths[0], x.Rows)
}

// checkSamples checks the number of samples of a file, unless it or that of the labels is unknown.
func (r *reader) checkSamples(path string, n int) {
	labels := len(r.d.Labels)
	if n > 0 && labels > 0 && n != labels {
		r.report(path, fmt.Sprintf("%s, one for each line of %s", format.Count(labels, "sample"), labelsFile),
			fmt.Sprint(n))
	}
}

// Extraction is the content of extract.json: how the features were computed from images.
type Extraction struct {
	dataset.Provenance
	ImageDir string `json:"image_dir,omitempty"` // absolute
	// the same from the folder of the data set, with slashes
	RelativeDir string `json:"relative_dir,omitempty"`
	Images      int    `json:"images,omitempty"` // those left out included
	// of their names, classes and content
	ImagesSHA256 string `json:"images_sha256,omitempty"`
	BLAS         string `json:"blas,omitempty"` // with version

	Versions map[string]string `json:"versions,omitempty"` // of the program and its libraries
}

// SetImageDir sets the folder of the images of a data set in a folder.
func (e *Extraction) SetImageDir(images, dir string) {
	e.ImageDir, e.RelativeDir = images, ""
	if dir, err := filepath.Abs(dir); err == nil && images != "" {
		if relative, err := filepath.Rel(dir, images); err == nil {
			e.RelativeDir = filepath.ToSlash(relative)
		}
	}
}

// ReadExtraction reads extract.json of a folder; nil if there is none.
func ReadExtraction(ctx context.Context, dir string) (*Extraction, error) {
	path := filepath.Join(dir, ExtractFile)
	text, err := fileio.ReadRegularFile(ctx, path, 1<<16) // far above its size in bytes
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	e := new(Extraction)
	err = json.Unmarshal(text, e)
	if err != nil || len(e.WeightsSHA256) != 64 || !e.Provenance.Images.Sound() {
		return nil, &invalid.Error{
			Where: path, Want: "the record that dataset extract writes", Got: "another file", Err: err,
		}
	}
	return e, nil
}

func (r *reader) readImages() {
	e, err := ReadExtraction(r.ctx, r.dir)
	r.problems.AddError(err)
	if e != nil {
		r.d.Provenance, r.d.ImageDir = &e.Provenance, e.ImageDir
		// Both folders may have been moved together.
		if relative := filepath.Join(r.dir, filepath.FromSlash(e.RelativeDir)); e.RelativeDir != "" &&
			!fileio.IsFolder(e.ImageDir) && fileio.IsFolder(relative) {
			r.d.ImageDir = relative
		}
	}
	r.readImageNames()
}

func (r *reader) readImageNames() {
	if !r.has(imagesFile) {
		return
	}
	t := table.Read(r.ctx, r.path(imagesFile), &r.problems, []string{pathColumn}, sumColumn)
	if t == nil {
		return
	}
	paths := t.Names(pathColumn)
	r.checkSamples(t.File, len(paths))
	if r.d.IDs == nil { // those of labels.csv come first
		r.d.IDs = paths
		return
	}
	line := make(map[string]int, len(paths))
	for i, path := range paths {
		line[path] = i
	}
	for i, id := range r.d.IDs {
		if other, known := line[id]; known && other != i {
			r.problems.Add("order", &invalid.Error{
				Where: r.path(labelsFile), Field: fmt.Sprintf("line %d, column %s", r.lines[i], idColumn),
				Want: "the samples in the order of " + imagesFile, Got: format.Printable(id),
				Hint: "Was the file sorted? Bring its lines back into the order of " + imagesFile +
					", that of the features.",
			})
		}
	}
}

package openlayout

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/descriptions"
	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

func (r *reader) readDescriptions() {
	t := descriptions.ReadFolder(r.ctx, r.dir, false, &r.problems)
	t.SetTo(r.d)
	if t.Classes != nil {
		r.indexClasses()
	}
}

func (r *reader) indexClasses() {
	r.classes = make(map[string]int, len(r.d.Classes))
	for z, name := range r.d.Classes {
		if name != "" {
			r.classes[name] = z
		}
	}
}

func (r *reader) find(t *table.Table, row table.Row) int {
	name := t.Cell(row, classColumn)
	if z, known := r.classes[name]; known {
		return z
	}
	if r.classes != nil {
		t.ReportUnknown("class", row.Line, classColumn,
			fmt.Sprintf("one of the %d classes of %s", len(r.d.Classes), r.source), name, r.d.Classes)
	}
	return -1
}

// readLabels reads the class of each sample, -1 if it is unknown, its name, its source, and whether it is
// held out.
func (r *reader) readLabels() {
	t := table.Read(r.ctx, r.path(labelsFile), &r.problems, []string{classColumn}, labelColumns...)
	if t == nil {
		return
	}
	if t.Column(idColumn) >= 0 {
		r.d.IDs = t.Names(idColumn)
	}
	for i, row := range t.Rows {
		r.d.Labels, r.lines = append(r.d.Labels, r.find(t, row)), append(r.lines, row.Line)
		if t.Column(sourceColumn) >= 0 {
			r.d.Sources = append(r.d.Sources, t.Cell(row, sourceColumn))
		}
		switch cell := t.Cell(row, testSeenColumn); strings.ToLower(cell) {
		case "yes", "true", "1":
			r.d.TestSeen = append(r.d.TestSeen, i)
		case "no", "false", "0", "":
		default:
			t.Report("test_seen", row.Line, testSeenColumn,
				"yes or no (true or false, 1 or 0; empty means no)", invalid.Quote(cell))
		}
	}
}

// checkSources reports sources of which some samples of seen classes are held out and others are not.
func (r *reader) checkSources() {
	seen, first := map[int]bool{}, map[string]int{}
	for _, z := range r.d.Split.Seen() {
		seen[z] = true
	}
	for i, source := range r.d.Sources {
		if source == "" || !seen[r.d.Labels[i]] {
			continue
		}
		before, known := first[source]
		if !known {
			first[source] = i
			continue
		}
		_, held := slices.BinarySearch(r.d.TestSeen, i)
		if _, other := slices.BinarySearch(r.d.TestSeen, before); held != other {
			r.problems.Add("source", &invalid.Error{
				Where: r.path(labelsFile), Field: fmt.Sprintf("lines %d and %d", r.lines[before], r.lines[i]),
				Want: "one test_seen for all samples of the source " + invalid.Quote(source),
				Got:  "yes and no",
				Hint: "Held-out samples are of sources that no model is trained on.",
			})
		}
	}
}

// has reports whether there is a regular file. Another one is a problem: reading a named pipe could wait
// without end, and a device need not end.
func (r *reader) has(file string) bool {
	_, err := fileio.SizeOfRegular(r.path(file))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.problems.AddError(err)
	}
	return err == nil
}

// classNames reads the class of each line of labels.csv or splits.csv, none without the file.
func (r *reader) classNames(file string, optional ...string) (names []string) {
	if !r.has(file) {
		return nil
	}
	t := table.Read(r.ctx, r.path(file), &r.problems, []string{classColumn}, optional...)
	if t == nil {
		return nil
	}
	for _, row := range t.Rows {
		name, want := dataset.CheckName(t.Cell(row, classColumn))
		if want != "" { // classes.csv with it could not be read
			t.Report("name", row.Line, classColumn, want, invalid.Quote(name))
		}
		names = append(names, name)
	}
	return names
}

// ReadDescriptions reads the descriptions in dir while people write them, to be saved again. Either file may
// be missing. Classes of labels.csv that classes.csv lacks are added without values, and so are attributes
// that only one of the files has. The error joins all problems of the files, each an *invalid.Error.
func ReadDescriptions(ctx context.Context, dir string) (*descriptions.Table, error) {
	r := &reader{ctx: ctx, dir: dir}
	t := descriptions.ReadFolder(ctx, dir, true, &r.problems)
	t.Added.Classes = t.AddClasses(slices.Sorted(slices.Values(r.classNames(labelsFile, labelColumns...)))...)
	return t, cmp.Or(ctx.Err(), r.problems.Err())
}

// ReadSamples returns the class of each sample of labels.csv, none without the file, and a data set
// that has only their ids and photographs.
func ReadSamples(ctx context.Context, dir string) (classes []string, d *dataset.Dataset, err error) {
	r := &reader{ctx: ctx, dir: dir, d: new(dataset.Dataset)}
	if classes = r.classNames(labelsFile, labelColumns...); classes != nil {
		r.d.Labels = make([]int, len(classes))
		r.readImages()
	}
	return classes, r.d, r.problems.Err()
}

// ReadImageNames returns the paths of images.csv in dir, nil without the file.
func ReadImageNames(ctx context.Context, dir string) ([]string, error) {
	r := &reader{ctx: ctx, dir: dir, d: new(dataset.Dataset)}
	r.readImageNames()
	return r.d.IDs, r.problems.Err()
}

// SplitClasses returns the classes of the lines of splits.csv in dir, none without the file.
func SplitClasses(ctx context.Context, dir string) ([]string, error) {
	r := &reader{ctx: ctx, dir: dir}
	names := r.classNames(SplitsFile, table.Any)
	return names, r.problems.Err()
}

// ExtendSplits adds the classes of labels.csv that splits.csv in dir lacks, with empty parts, and returns
// them. Without the file it does nothing.
func ExtendSplits(ctx context.Context, dir string) (added []string, err error) {
	r := &reader{ctx: ctx, dir: dir}
	labelled, listed := r.classNames(labelsFile, labelColumns...), r.classNames(SplitsFile, table.Any)
	for _, name := range slices.Compact(slices.Sorted(slices.Values(labelled))) {
		if !slices.Contains(listed, name) {
			added = append(added, name)
		}
	}
	if listed == nil || len(added) == 0 || r.problems.Len() > 0 {
		return nil, r.problems.Err()
	}
	t := table.Read(ctx, r.path(SplitsFile), &r.problems, []string{classColumn}, table.Any)
	rows := [][]string{t.Columns}
	for _, row := range t.Rows {
		rows = append(rows, row.Cells)
	}
	for _, name := range added {
		row := make([]string, len(t.Columns))
		row[t.Column(classColumn)] = name
		rows = append(rows, row)
	}
	return added, fileio.WriteCSV(r.path(SplitsFile), rows)
}

// partColumns are the columns of the three splits, and parts the subsets that they name, or none.
var (
	partColumns = []string{"part", "part2", "part3"}
	parts       = []string{"train", "val", "test", ""}
)

// readSplits returns the splits of the classes, one for each of the first partColumns that
// the file has; none if it is no table. A class without a line has no part.
func (r *reader) readSplits(path string) []dataset.Split {
	t := table.Read(r.ctx, path, &r.problems, []string{classColumn, partColumns[0]}, partColumns[1:]...)
	if t == nil || r.classes == nil {
		return nil
	}
	columns := slices.DeleteFunc(slices.Clone(partColumns), func(c string) bool { return t.Column(c) < 0 })
	if !slices.Equal(columns, partColumns[:len(columns)]) {
		t.Report("column", 1, "", "a column part2 before part3", t.Header())
		return nil
	}
	before, splits := r.problems.Len(), make([]dataset.Split, len(columns))
	for i, name := range t.Names(classColumn) {
		row, z := t.Rows[i], -1
		if name != "" { // otherwise it is reported
			z = r.find(t, row)
		}
		first := strings.ToLower(t.Cell(row, columns[0]))
		for n, column := range columns {
			part, s := strings.ToLower(t.Cell(row, column)), &splits[n]
			list, known := map[string]*[]int{"train": &s.Train, "val": &s.Val, "test": &s.Test, "": {}}[part]
			seen := slices.Contains(parts[:2], part) && slices.Contains(parts[:2], first)
			switch {
			case !known:
				t.ReportUnknown(column, row.Line, column,
					"train, val or test, or nothing for a class that is left out", part, parts[:3])
			case part != first && !seen && slices.Contains(parts, first):
				t.Report("unseen", row.Line, column, "what part has, or train and val exchanged",
					fmt.Sprintf("%q, where part has %q", part, first))
			case z >= 0:
				*list = append(*list, z)
			}
		}
	}
	if r.problems.Len() > before { // what follows from these is not worth reporting
		return nil
	}
	for n, column := range columns {
		for _, subset := range splits[n].Subsets() {
			slices.Sort(subset.Classes)
			if len(subset.Classes) == 0 && subset.Name != "val" { // parts of the train classes can be
				r.report(t.File, fmt.Sprintf("at least one %s class in column %s", subset.Name, column),
					"none")
			}
		}
	}
	return splits
}

// ReadSplits reads a file in the form of splits.csv for the classes of d. It returns one split for each of
// the columns part, part2 and part3 that the file has. The error joins all problems, each an *invalid.Error.
func ReadSplits(ctx context.Context, path string, d *dataset.Dataset) ([]dataset.Split, error) {
	r := &reader{ctx: ctx, d: d, source: "the data set"}
	r.indexClasses()
	splits := r.readSplits(path)
	return splits, r.problems.Err()
}

// WriteExtraction writes extract.json in a folder.
func WriteExtraction(dir string, e *Extraction) error {
	return fileio.WriteJSON(filepath.Join(dir, ExtractFile), e)
}

// ImageTables are images.csv and labels.csv of features that were computed from images, with
// their headers.
type ImageTables struct{ Images, Labels [][]string }

// NewImageTables returns the tables without samples. Images have a path and a checksum.
func NewImageTables() *ImageTables {
	return &ImageTables{
		Images: [][]string{{pathColumn, sumColumn}}, Labels: [][]string{{classColumn}},
	}
}

// ReadImageTables reads the tables of a folder. Those of earlier versions have no checksums, which is an
// error, as is another number of labels than of images.
func ReadImageTables(dir string) (*ImageTables, error) {
	s := &ImageTables{}
	for _, f := range []struct {
		name string
		rows *[][]string
	}{{imagesFile, &s.Images}, {labelsFile, &s.Labels}} {
		path := filepath.Join(dir, f.name)
		text, err := fileio.ReadRegular(path)
		if err == nil {
			*f.rows, err = csv.NewReader(bytes.NewReader(text)).ReadAll()
		}
		if err != nil {
			return nil, invalid.File(path, err)
		}
	}
	if len(s.Images) == 0 || !slices.Equal(s.Images[0], []string{pathColumn, sumColumn}) {
		return nil, invalid.At(filepath.Join(dir, imagesFile),
			invalid.Expected("", "others", "columns path and sha256, as dataset extract writes"))
	}
	if len(s.Labels) != len(s.Images) || !slices.Contains(s.Labels[0], classColumn) {
		return nil, invalid.At(filepath.Join(dir, labelsFile),
			invalid.Expected("", "others", "a class for each line of %s", imagesFile))
	}
	return s, nil
}

// Add adds a sample. label is its line of labels.csv, nil for one of a new image, of which the path,
// the checksum and the class are known.
func (s *ImageTables) Add(path, sum, class string, label []string) {
	s.Images = append(s.Images, []string{path, sum})
	if label == nil {
		label = make([]string, len(s.Labels[0]))
		for i, column := range s.Labels[0] {
			label[i] = map[string]string{classColumn: class, idColumn: path}[column]
		}
	}
	s.Labels = append(s.Labels, label)
}

// Write writes the tables.
func (s *ImageTables) Write(dir string) error {
	return errors.Join(fileio.WriteCSV(filepath.Join(dir, imagesFile), s.Images),
		fileio.WriteCSV(filepath.Join(dir, labelsFile), s.Labels))
}

// WriteSplit writes a split of the classes that have samples in the form of splits.csv, into a new file.
func WriteSplit(path string, d *dataset.Dataset, split dataset.Split) error {
	samples, part := d.SamplesPerClass(), make([]string, len(d.Classes))
	for _, subset := range split.Subsets() {
		for _, z := range subset.Classes {
			part[z] = subset.Name
		}
	}
	rows := [][]string{{classColumn, partColumns[0]}}
	for z, name := range d.Classes {
		if samples[z] > 0 { // others may be renamed or deleted later
			rows = append(rows, []string{name, part[z]})
		}
	}
	return fileio.WriteNew(path, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows) })
}

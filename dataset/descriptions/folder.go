package descriptions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

// The files of a folder, and the column of the classes.
const (
	AttributesFile = "attributes.csv"
	ClassesFile    = "classes.csv"
	DraftsFile     = "drafts.csv" // class and group of each Draft
	ClassColumn    = "class"
)

// The forms of the files.
const (
	AttributesForm = "one line per attribute, with the columns name and, for all attributes or none, group"
	ClassesForm    = "one line per class, with the columns class and one for each attribute of attributes.csv"
)

// ReadFolder reads attributes.csv and classes.csv in dir, and reports what is wrong with them to problems.
// With complete, what one of the files lacks is added: the columns of attributes without values, and the
// attributes of a file that does not exist. Classes are nil if they cannot be read.
func ReadFolder(ctx context.Context, dir string, complete bool, problems *invalid.List) *Table {
	read := func(name string) ([]byte, error) { return contentOf(ctx, filepath.Join(dir, name)) }
	return readFolder(dir, read, complete, problems)
}

func readFolder(dir string, content func(name string) ([]byte, error), complete bool,
	problems *invalid.List,
) *Table {
	r := &folderReader{
		Table:   &Table{stored: &stored{dir: dir, sums: map[string][sha256.Size]byte{}}},
		content: content, complete: complete, problems: problems,
	}
	r.readAttributes()
	r.readDrafts()
	r.readClasses()
	return r.Table
}

type folderReader struct {
	*Table
	content  func(name string) ([]byte, error) // of a file; nil for one that does not exist
	complete bool                              // files need not exist or have lines
	problems *invalid.List
}

// read returns a file with a column and an optional one; nil for a problem, or for nothing to read.
func (r *folderReader) read(name, column, optional string) *table.Table {
	path := filepath.Join(r.stored.dir, name)
	text, err := r.content(name)
	r.stored.sums[name] = sumOf(text)
	if r.complete || name == DraftsFile {
		switch string(bytes.TrimSpace(text)) {
		case "", column, column + "," + optional:
			r.problems.AddError(err)
			return nil
		}
	} else if text == nil && err == nil {
		_, err = fileio.SizeOfRegular(path) // it does not exist
	}
	if err != nil {
		r.problems.AddError(err)
		return nil
	}
	return table.Parse(path, text, r.problems, []string{column}, optional)
}

// fits reports classes x attributes that are too many.
func (r *folderReader) fits(file *table.Table, classes, attributes int) bool {
	err := tooMany(file.File, classes, attributes)
	r.problems.AddError(err)
	return err == nil
}

func (r *folderReader) readAttributes() {
	file := r.read(AttributesFile, "name", "group")
	if file == nil || !r.fits(file, 1, len(file.Rows)) {
		return
	}
	for i, name := range file.Names("name") {
		a := Attribute{name, file.Cell(file.Rows[i], "group")}
		if i > 0 && (a.Group == "") != (r.Attributes[0].Group == "") {
			file.Report("group", file.Rows[i].Line, "group", AttributesForm, invalid.Quote(a.Group))
		}
		r.Attributes = append(r.Attributes, a)
	}
	r.stored.attributes = len(r.Attributes)
}

func (r *folderReader) readDrafts() {
	file := r.read(DraftsFile, ClassColumn, "group")
	if file == nil {
		return
	}
	r.ownDrafts()
	for _, row := range file.Rows {
		r.Drafts[Draft{Class: file.Cell(row, ClassColumn), Group: file.Cell(row, "group")}] = true
	}
	r.stored.drafts, r.ownsDrafts = r.Drafts, false
}

func (r *folderReader) readClasses() {
	file := r.read(ClassesFile, ClassColumn, table.Any)
	if file == nil || !r.fits(file, len(file.Rows), max(len(r.Attributes), len(file.Columns)-1)) {
		return
	}
	r.Classes = file.Names(ClassColumn)
	r.Cells = make([][]string, len(r.Classes))
	if r.complete && len(r.Attributes) == 0 {
		var columns []Attribute
		for _, name := range file.Columns {
			if name, want := dataset.CheckName(name); want == "" && name != ClassColumn {
				columns = append(columns, Attribute{Name: name})
			}
		}
		r.AddAttributes(columns...)
	}
	if r.Attributes != nil { // otherwise the error is reported
		r.readCells(file)
	}
}

// readCells takes the cells of the attributes from the columns of classes.csv. An attribute without a
// column is described for no class, unless a column without an attribute may be meant for it.
func (r *folderReader) readCells(file *table.Table) {
	names, index := make([]string, len(r.Attributes)), make(map[string]int)
	for m, a := range r.Attributes {
		names[m], index[a.Name] = a.Name, m
	}
	other := slices.ContainsFunc(file.Columns, func(name string) bool {
		_, known := index[name]
		return !known && name != ClassColumn
	})
	for _, name := range names {
		switch lacks := file.Column(name) < 0; {
		case name == "": // reported
		case lacks && other, name == ClassColumn:
			file.Report("missing", 1, "", "a column for every attribute of "+AttributesFile,
				"none for "+invalid.Quote(name))
		case lacks:
			r.Added.Attributes++
		}
	}
	for z := range r.Cells {
		r.Cells[z] = make([]string, len(names))
	}
	var numbers scale
	for j, name := range file.Columns {
		m, known := index[name]
		switch {
		case name == ClassColumn:
		case !known || name == "":
			file.ReportUnknown("column", 1, fmt.Sprint(j+1), "the name of an attribute of "+AttributesFile,
				name, names)
		default:
			for z, row := range file.Rows {
				cell := row.Cells[j]
				numbers.line = row.Line
				if _, wrong := numbers.probability(cell); wrong != nil {
					file.Report("probability", row.Line, name, wrong.Want, wrong.Got, wrong.Hint)
				}
				if !table.Missing(cell) {
					r.Cells[z][m] = cell
				}
			}
		}
	}
}

var missing [sha256.Size]byte // in place of the sum of a file that does not exist

func sumOf(text []byte) [sha256.Size]byte {
	if text == nil {
		return missing
	}
	return sha256.Sum256(text)
}

func contentOf(ctx context.Context, path string) ([]byte, error) {
	text, err := fileio.ReadRegularFile(ctx, path, table.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

type stored struct {
	dir        string
	sums       map[string][sha256.Size]byte // of the files when they were read or written
	attributes int                          // of attributes.csv
	drafts     map[Draft]bool               // of drafts.csv
}

// The causes of errors of Lock and Save.
var (
	ErrLocked  = errors.New("another process has it open for writing")
	ErrChanged = errors.New("it was changed by another program")
)

// Lock keeps other processes from writing the descriptions in a folder, until unlock is called or
// the process ends. It does not wait for one that writes.
func Lock(dir string) (unlock func() error, err error) {
	path := filepath.Join(dir, ".lock")
	if _, err := fileio.SizeOfRegular(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err // opening a named pipe would block
	}
	lock := flock.New(path, flock.SetPermissions(0o666)) // less the umask
	switch held, err := lock.TryLock(); {
	case err != nil:
		return nil, invalid.Folder(dir, "a folder to write to", err)
	case !held:
		return nil, &invalid.Error{
			Where: dir, Err: ErrLocked, Hint: "A page of lago-train serve has it until it ends.",
		}
	}
	return lock.Unlock, nil
}

// Save writes attributes.csv, classes.csv and drafts.csv, if there are drafts, in the folder that ReadFolder
// completed, which the caller has locked. If one was changed since it was read or saved, that is an error,
// and nothing is written.
//
// A kill between two files must lose nothing. The drafts of before and after are written before anything
// that they mark, and those of before alone are taken out at the end. The file of fewer attributes is
// written when the other has them: attributes without a column are described for no class.
func (t *Table) Save() error {
	s := t.stored
	for _, name := range []string{AttributesFile, ClassesFile, DraftsFile} {
		path := filepath.Join(s.dir, name)
		text, err := contentOf(context.Background(), path)
		if err == nil && sumOf(text) != s.sums[name] {
			err = &invalid.Error{
				Where: path, Err: ErrChanged, Hint: "Nothing was overwritten. Read it again.",
			}
		}
		if err != nil {
			return err
		}
	}
	texts, drafts, err := t.texts()
	if err != nil {
		return err
	}
	files := []string{DraftsFile, AttributesFile, ClassesFile}
	if len(t.Attributes) < s.attributes {
		files = []string{DraftsFile, ClassesFile, AttributesFile}
	}
	for _, name := range files {
		if err := s.write(name, texts[name]); err != nil {
			return err
		}
		s.drafts = drafts // in the first of the files
	}
	s.attributes = len(t.Attributes)
	if err = s.write(DraftsFile, draftsText(t.Drafts)); err == nil {
		s.drafts, t.ownsDrafts = t.Drafts, false
	}
	return err
}

// Check returns an error if what Save would write could not be read again.
func (t *Table) Check() error {
	_, _, err := t.texts()
	return err
}

// texts returns the files of the table by their names, and the drafts in them, with those of before. What
// could not be read again is an error.
func (t *Table) texts() (texts map[string][]byte, drafts map[Draft]bool, err error) {
	attributes, classes := [][]string{{"name", "group"}}, [][]string{{ClassColumn}}
	for _, a := range t.Attributes {
		attributes = append(attributes, []string{a.Name, a.Group})
		classes[0] = append(classes[0], a.Name)
	}
	for z, name := range t.Classes {
		classes = append(classes, append([]string{name}, t.Cells[z]...))
	}
	drafts = map[Draft]bool{}
	maps.Copy(drafts, t.stored.drafts)
	maps.Copy(drafts, t.Drafts)
	texts = map[string][]byte{
		AttributesFile: csvOf(attributes), ClassesFile: csvOf(classes), DraftsFile: draftsText(drafts),
	}
	var problems invalid.List
	readFolder(t.stored.dir, func(name string) ([]byte, error) { return texts[name], nil }, true, &problems)
	return texts, drafts, problems.Err()
}

func draftsText(drafts map[Draft]bool) []byte {
	if len(drafts) == 0 {
		return nil
	}
	rows := make([][]string, 0, len(drafts)+1)
	for d := range drafts {
		rows = append(rows, []string{d.Class, d.Group})
	}
	slices.SortFunc(rows, slices.Compare)
	return csvOf(slices.Insert(rows, 0, []string{ClassColumn, "group"}))
}

// csvOf writes rows so that commas alone can be taken for what separates the cells.
func csvOf(rows [][]string) []byte {
	var text bytes.Buffer
	for _, row := range rows {
		for j, cell := range row {
			if strings.ContainsAny(cell, ",;\t\"\r\n") {
				cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
			}
			text.WriteString(strings.Repeat(",", min(j, 1)) + cell)
		}
		text.WriteByte('\n')
	}
	return text.Bytes()
}

// write writes a file unless it has this content. nil removes it.
func (s *stored) write(name string, text []byte) error {
	path, sum := filepath.Join(s.dir, name), sumOf(text)
	if s.sums[name] == sum {
		return nil
	}
	if text == nil {
		s.sums[name] = sum
		return errors.Join(os.Remove(path), fileio.SyncFolder(s.dir))
	}
	err := fileio.Write(path, func(w io.Writer) error { _, err := w.Write(text); return err })
	if err == nil {
		s.sums[name] = sum
	}
	return err
}

// EmptyFile is the file of a folder in which it is recorded that empty cells are unknown.
const EmptyFile = "empty.txt"

// KeepUnknown records in a folder that its empty cells are unknown.
func KeepUnknown(dir string) error {
	path := filepath.Join(dir, EmptyFile)
	if _, err := fileio.SizeOfRegular(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // writing to a named pipe would block
	}
	return fileio.Write(path, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, EmptyUnknown)
		return err
	})
}

// KeepsUnknown reports whether that is recorded in a folder.
func KeepsUnknown(dir string) (bool, error) {
	path := filepath.Join(dir, EmptyFile)
	text, err := contentOf(context.Background(), path)
	if err != nil || text == nil {
		return false, err
	}
	if got := strings.TrimSpace(string(text)); got != string(EmptyUnknown) {
		return false, &invalid.Error{
			Where: path, Want: "the word " + string(EmptyUnknown), Got: invalid.Quote(got),
		}
	}
	return true, nil
}

// KeepClasses copies classes.csv of the folder to a file beside it, and returns its path.
func (t *Table) KeepClasses() (string, error) {
	text, err := fileio.ReadRegular(filepath.Join(t.stored.dir, ClassesFile))
	if err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		path := filepath.Join(t.stored.dir, fmt.Sprintf("classes-before-%d.csv", n))
		err := fileio.WriteNew(path, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
		if !errors.Is(err, fs.ErrExist) {
			return path, err
		}
	}
}

package descriptions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/csv"
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
	r := &folderReader{
		Table: &Table{stored: &stored{dir: dir, sums: map[string][sha256.Size]byte{}}},
		ctx:   ctx, complete: complete, problems: problems,
	}
	r.readAttributes()
	r.readDrafts()
	r.readClasses()
	return r.Table
}

// folderReader reads the files of a folder into a table.
type folderReader struct {
	*Table
	ctx      context.Context
	complete bool // files need not exist or have lines
	problems *invalid.List
}

// read returns a file with a column and an optional one; nil for a problem, or for nothing to read.
func (r *folderReader) read(name, column, optional string) *table.Table {
	path := filepath.Join(r.stored.dir, name)
	if r.complete || name == DraftsFile {
		text, sum, err := contentOf(path)
		r.problems.AddError(err)
		r.stored.sums[name] = sum
		header := strings.TrimSpace(string(text))
		if err != nil || sum == missing || header == "" || header == column || header == column+","+optional {
			return nil
		}
	}
	return table.Read(r.ctx, path, r.problems, []string{column}, optional)
}

// fits reports classes x attributes that are too many.
func (r *folderReader) fits(file *table.Table, classes, attributes int) bool {
	if classes*attributes > MaxEntries {
		r.problems.AddError(&invalid.Error{
			Where: file.File, Want: fmt.Sprintf("at most %d classes x attributes", MaxEntries),
			Got: fmt.Sprint(classes * attributes),
		})
	}
	return classes*attributes <= MaxEntries
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
	r.stored.drafts = r.Drafts
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

func contentOf(path string) ([]byte, [sha256.Size]byte, error) {
	text, err := fileio.ReadRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing, nil
	}
	return text, sha256.Sum256(text), err
}

// stored is what Tables of the same folder know of its files.
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
		return nil, invalid.File(dir, err)
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
		_, sum, err := contentOf(path)
		if err == nil && sum != s.sums[name] {
			err = &invalid.Error{
				Where: path, Err: ErrChanged, Hint: "Nothing was overwritten. Read it again.",
			}
		}
		if err != nil {
			return err
		}
	}
	rows := map[string][][]string{AttributesFile: {{"name", "group"}}, ClassesFile: {{ClassColumn}}}
	for _, a := range t.Attributes {
		rows[AttributesFile] = append(rows[AttributesFile], []string{a.Name, a.Group})
		rows[ClassesFile][0] = append(rows[ClassesFile][0], a.Name)
	}
	for z, name := range t.Classes {
		rows[ClassesFile] = append(rows[ClassesFile], append([]string{name}, t.Cells[z]...))
	}
	files := []string{AttributesFile, ClassesFile}
	if len(t.Attributes) < s.attributes {
		slices.Reverse(files)
	}
	for _, name := range files {
		if err := s.checkNames(name, rows[name]); err != nil {
			return err
		}
	}
	all := map[Draft]bool{}
	maps.Copy(all, s.drafts)
	maps.Copy(all, t.Drafts)
	if err := s.writeDrafts(all); err != nil {
		return err
	}
	for _, name := range files {
		if err := s.write(name, rows[name]); err != nil {
			return err
		}
	}
	s.attributes = len(t.Attributes)
	return s.writeDrafts(t.Drafts)
}

// checkNames returns an error for rows with which a file could not be read again.
func (s *stored) checkNames(file string, rows [][]string) error {
	known := map[string]bool{ClassColumn: file == AttributesFile}
	for i, row := range rows[1:] {
		name, want := dataset.CheckName(row[0])
		if want == "" && known[name] {
			want = "a new name"
		}
		known[name] = true
		if group := row[len(row)-1]; file == AttributesFile && want == "" && group != "" {
			name = group
			_, want = dataset.CheckName(group)
		}
		if file == AttributesFile && (row[1] == "") != (rows[1][1] == "") {
			want = "a group for all attributes or for none"
		}
		if want != "" {
			return &invalid.Error{
				Where: filepath.Join(s.dir, file), Field: fmt.Sprintf("line %d", i+2), Want: want,
				Got: invalid.Quote(name),
			}
		}
	}
	return nil
}

func (s *stored) writeDrafts(drafts map[Draft]bool) error {
	rows := make([][]string, 0, len(drafts)+1)
	for d := range drafts {
		rows = append(rows, []string{d.Class, d.Group})
	}
	slices.SortFunc(rows, slices.Compare)
	err := s.write(DraftsFile, slices.Insert(rows, 0, []string{ClassColumn, "group"}))
	if err == nil {
		s.drafts = drafts
	}
	return err
}

// write writes a file unless it has this content. There is no file of no drafts.
func (s *stored) write(name string, rows [][]string) error {
	path := filepath.Join(s.dir, name)
	if name == DraftsFile && len(rows) == 1 {
		if s.sums[name] == missing {
			return nil
		}
		s.sums[name] = missing
		return errors.Join(os.Remove(path), fileio.SyncFolder(s.dir))
	}
	var text bytes.Buffer
	_ = csv.NewWriter(&text).WriteAll(rows) // a buffer takes everything
	sum := sha256.Sum256(text.Bytes())
	if s.sums[name] == sum {
		return nil
	}
	err := fileio.Write(path, func(w io.Writer) error { _, err := text.WriteTo(w); return err })
	if err == nil {
		s.sums[name] = sum
	}
	return err
}

// EmptyFile is the file of a folder in which it is recorded that empty cells are unknown.
const EmptyFile = "empty.txt"

// KeepUnknown records in a folder that its empty cells are unknown.
func KeepUnknown(dir string) error {
	return fileio.Write(filepath.Join(dir, EmptyFile), func(w io.Writer) error {
		_, err := fmt.Fprintln(w, EmptyUnknown)
		return err
	})
}

// KeepsUnknown reports whether that is recorded in a folder.
func KeepsUnknown(dir string) (bool, error) {
	path := filepath.Join(dir, EmptyFile)
	text, sum, err := contentOf(path)
	if err != nil || sum == missing {
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

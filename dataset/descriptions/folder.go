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
	t := &Table{stored: &stored{dir: dir, sums: map[string][sha256.Size]byte{}}}
	read := func(name, column, optional string) *table.Table {
		path := filepath.Join(dir, name)
		if complete || name == DraftsFile {
			text, sum, err := contentOf(path)
			problems.AddError(err)
			t.stored.sums[name] = sum
			if empty := strings.TrimSpace(string(text)); err != nil || sum == missing || empty == column ||
				empty == column+","+optional {
				return nil
			}
		}
		return table.Read(ctx, path, problems, []string{column}, optional)
	}
	atMost := func(file *table.Table, n, most int, of string) bool { // or it is reported
		if n > most {
			problems.AddError(&invalid.Error{
				Where: file.File, Want: fmt.Sprintf("at most %d %s", most, of), Got: fmt.Sprint(n),
			})
		}
		return n <= most
	}
	if file := read(AttributesFile, "name", "group"); file != nil &&
		atMost(file, len(file.Rows), maxAttributes, "attributes") {
		for i, name := range file.Names("name") {
			a := Attribute{name, file.Cell(file.Rows[i], "group")}
			if i > 0 && (a.Group == "") != (t.Attributes[0].Group == "") {
				file.Report("group", file.Rows[i].Line, "group", AttributesForm,
					invalid.Quote(a.Group))
			}
			t.Attributes = append(t.Attributes, a)
		}
		t.stored.attributes = len(t.Attributes)
	}
	if file := read(DraftsFile, ClassColumn, "group"); file != nil {
		t.ownDrafts()
		for _, row := range file.Rows {
			t.Drafts[Draft{Class: file.Cell(row, ClassColumn), Group: file.Cell(row, "group")}] = true
		}
		t.stored.drafts = t.Drafts
	}
	file := read(ClassesFile, ClassColumn, table.Any)
	if file == nil {
		return t
	}
	if !atMost(file, len(file.Rows)*max(len(t.Attributes), len(file.Columns)-1), MaxEntries,
		"classes x attributes") {
		return t
	}
	t.Classes = file.Names(ClassColumn)
	t.Cells = make([][]string, len(t.Classes))
	if complete && len(t.Attributes) == 0 {
		for _, name := range file.Columns {
			if name, want := dataset.CheckName(name); want == "" && name != ClassColumn {
				t.AddAttribute(Attribute{Name: name})
			}
		}
	}
	if t.Attributes != nil { // otherwise the error is reported
		t.describe(file)
	}
	return t
}

// describe takes the cells of the attributes from the columns of classes.csv. An attribute without a
// column is described for no class, unless a column without an attribute may be meant for it.
func (t *Table) describe(file *table.Table) {
	names, index := make([]string, len(t.Attributes)), make(map[string]int)
	for m, a := range t.Attributes {
		names[m], index[a.Name] = a.Name, m
	}
	known := func(name string) bool { _, known := index[name]; return known }
	if len(file.Columns) > 1 && !slices.ContainsFunc(file.Columns, known) {
		file.Report("header", 1, "", ClassesForm, "none of them: "+file.Header())
		return
	}
	other := slices.ContainsFunc(file.Columns, func(name string) bool {
		return !known(name) && name != ClassColumn
	})
	for _, a := range t.Attributes {
		switch lacks := file.Column(a.Name) < 0; {
		case a.Name == "": // reported
		case lacks && other, a.Name == ClassColumn:
			file.Report("missing", 1, "", "a column for every attribute of "+AttributesFile,
				"none for "+invalid.Quote(a.Name))
		case lacks:
			t.Added.Attributes++
		}
	}
	for z := range t.Cells {
		t.Cells[z] = make([]string, len(names))
	}
	for j, name := range file.Columns {
		m, known := index[name]
		switch {
		case name == ClassColumn:
		case !known || name == "":
			file.ReportUnknown("column", 1, fmt.Sprint(j+1), "the name of an attribute of "+AttributesFile,
				name, names)
		default:
			for z, row := range file.Rows {
				file.Probability(row, j)
				if !table.Missing(row.Cells[j]) {
					t.Cells[z][m] = row.Cells[j]
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
	if err := t.checkNames(); err != nil {
		return err
	}
	attributes, classes := [][]string{{"name", "group"}}, [][]string{{ClassColumn}}
	for _, a := range t.Attributes {
		attributes = append(attributes, []string{a.Name, a.Group})
		classes[0] = append(classes[0], a.Name)
	}
	for z, name := range t.Classes {
		classes = append(classes, append([]string{name}, t.Cells[z]...))
	}
	all := map[Draft]bool{}
	maps.Copy(all, s.drafts)
	maps.Copy(all, t.Drafts)
	if err := s.writeDrafts(all); err != nil {
		return err
	}
	files := []func() error{
		func() error { return s.write(AttributesFile, attributes) },
		func() error { return s.write(ClassesFile, classes) },
	}
	if len(t.Attributes) < s.attributes {
		slices.Reverse(files)
	}
	for _, write := range files {
		if err := write(); err != nil {
			return err
		}
	}
	s.attributes = len(t.Attributes)
	return s.writeDrafts(t.Drafts)
}

// checkNames returns an error for a name with which the files could not be read again.
func (t *Table) checkNames() error {
	var names []string
	refuse := func(file, field, want, got string) error {
		return &invalid.Error{
			Where: filepath.Join(t.stored.dir, file), Field: field, Want: want, Got: invalid.Quote(got),
		}
	}
	for _, a := range t.Attributes {
		names = append(names, a.Name)
		if _, want := dataset.CheckName(a.Group); a.Group != "" && want != "" {
			return refuse(AttributesFile, "group", want, a.Group)
		}
	}
	for _, of := range []struct {
		file  string
		names []string
	}{{AttributesFile, names}, {ClassesFile, t.Classes}} {
		known := map[string]bool{}
		for i, text := range of.names {
			name, want := dataset.CheckName(text)
			switch {
			case want != "":
			case known[name]:
				want = "different names"
			case name == ClassColumn && of.file == AttributesFile:
				want = "another name than that of the first column of " + ClassesFile
			}
			if known[name] = true; want != "" {
				return refuse(of.file, fmt.Sprintf("line %d", i+2), want, text)
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

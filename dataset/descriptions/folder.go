package descriptions

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

// The files of a folder, and the column of the classes.
const (
	AttributesFile = "attributes.csv"
	ClassesFile    = "classes.csv"
	DraftsFile     = "drafts.csv" // class and group of each Draft; other programs ignore it
	ClassColumn    = "class"
)

// ReadFolder reads attributes.csv and classes.csv in dir, and reports what is wrong with them to problems.
// With complete, what one of the files lacks is added: the columns of attributes without values, and the
// attributes of a file that does not exist. Classes are nil if they cannot be read.
func ReadFolder(ctx context.Context, dir string, complete bool, problems *invalid.List) *Table {
	t := &Table{stored: &stored{dir: dir, sums: map[string][sha256.Size]byte{}}}
	read := func(name, column, optional string) *table.Table {
		path := filepath.Join(dir, name)
		if complete {
			text, sum, err := contentOf(path)
			problems.AddError(err)
			t.stored.sums[name] = sum
			if empty := strings.TrimSpace(string(text)); err != nil || sum == missing || empty == column || empty == column+","+optional {
				return nil
			}
		}
		return table.Read(ctx, path, problems, []string{column}, optional)
	}
	if file := read(AttributesFile, "name", "group"); file != nil {
		for i, name := range file.Names("name") {
			a := Attribute{name, file.Cell(file.Rows[i], "group")}
			if i > 0 && (a.Group == "") != (t.Attributes[0].Group == "") {
				file.Report("group", file.Rows[i].Line, "group", "a group for every attribute, or for none", invalid.Quote(a.Group))
			}
			t.Attributes = append(t.Attributes, a)
		}
		t.stored.attributes = len(t.Attributes)
	}
	if complete {
		if file := read(DraftsFile, ClassColumn, "group"); file != nil {
			t.ownDrafts()
			for _, row := range file.Rows {
				t.Drafts[Draft{file.Cell(row, ClassColumn), file.Cell(row, "group")}] = true
			}
		}
	}
	file := read(ClassesFile, ClassColumn, table.Any)
	if file == nil {
		return t
	}
	t.Classes = file.Names(ClassColumn)
	t.Cells = make([][]string, len(t.Classes))
	if complete && len(t.Attributes) == 0 {
		for _, name := range file.Columns {
			if name != "" && name != ClassColumn && !invalid.HasControl(name) {
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
		file.Report("header", 1, "", "a line per class, and columns with the names of the attributes of "+AttributesFile, "none of them: "+file.Header())
		return
	}
	other := slices.ContainsFunc(file.Columns, func(name string) bool { return !known(name) && name != ClassColumn })
	for _, a := range t.Attributes {
		switch lacks := file.Column(a.Name) < 0; {
		case a.Name == "": // reported
		case lacks && other, a.Name == ClassColumn:
			file.Report("missing", 1, "", "a column for every attribute of "+AttributesFile, "none for "+invalid.Quote(a.Name))
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
			file.ReportUnknown("column", 1, fmt.Sprint(j+1), "the name of an attribute of "+AttributesFile, name, names)
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
}

// The causes of errors of Lock and Save.
var (
	ErrLocked  = errors.New("another process has it open for writing")
	ErrChanged = errors.New("it was changed by another program")
)

// Lock keeps other processes from writing the descriptions in a folder, until unlock is called or
// the process ends. It does not wait for one that writes.
func Lock(dir string) (unlock func() error, err error) {
	lock := flock.New(filepath.Join(dir, ".lock"), flock.SetPermissions(0o666)) // less the umask
	switch held, err := lock.TryLock(); {
	case err != nil:
		return nil, invalid.File(dir, err)
	case !held:
		return nil, &invalid.Error{Where: dir, Err: ErrLocked, Hint: "A page of lago-train serve has it until it ends."}
	}
	return lock.Unlock, nil
}

// Save writes the files of the folder that ReadFolder completed, which the caller has locked. If one
// was changed since it was read or saved, that is an error, and nothing is written.
func (t *Table) Save() error {
	for _, name := range []string{AttributesFile, ClassesFile, DraftsFile} {
		path := filepath.Join(t.stored.dir, name)
		_, sum, err := contentOf(path)
		if err == nil && sum != t.stored.sums[name] {
			err = &invalid.Error{Where: path, Err: ErrChanged, Hint: "Nothing was overwritten. Read it again."}
		}
		if err != nil {
			return err
		}
	}
	return t.Write(t.stored.dir)
}

// Write writes attributes.csv, classes.csv and drafts.csv, if there are drafts, in dir, and replaces
// those that are there. The file of fewer attributes is written when the other has them, so that a
// kill between the two leaves attributes without a column, which are described for no class.
func (t *Table) Write(dir string) error {
	attributes, classes, drafts := [][]string{{"name", "group"}}, [][]string{{ClassColumn}}, [][]string{{ClassColumn, "group"}}
	for _, a := range t.Attributes {
		attributes = append(attributes, []string{a.Name, a.Group})
		classes[0] = append(classes[0], a.Name)
	}
	for z, name := range t.Classes {
		classes = append(classes, append([]string{name}, t.Cells[z]...))
	}
	for d := range t.Drafts {
		drafts = append(drafts, []string{d.Class, d.Group})
	}
	slices.SortFunc(drafts[1:], slices.Compare)
	type file struct {
		name string
		rows [][]string
	}
	files := []file{{AttributesFile, attributes}, {ClassesFile, classes}}
	if t.stored != nil && len(t.Attributes) < t.stored.attributes {
		slices.Reverse(files)
	}
	for _, f := range append(files, file{DraftsFile, drafts}) {
		path := filepath.Join(dir, f.name)
		var err error
		if f.name != DraftsFile || len(drafts) > 1 {
			err = fileio.WriteCSV(path, f.rows)
		} else if t.stored != nil && t.stored.sums[DraftsFile] != missing {
			err = errors.Join(os.Remove(path), fileio.SyncFolder(dir))
		}
		if err == nil && t.stored != nil {
			_, t.stored.sums[f.name], err = contentOf(path)
		}
		if err != nil {
			return err
		}
	}
	if t.stored != nil {
		t.stored.attributes = len(t.Attributes)
	}
	return nil
}

package descriptions

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/lago-train/lago-train/dataset/internal/table"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

// The files of a folder, and the column of the classes.
const (
	AttributesFile = "attributes.csv"
	ClassesFile    = "classes.csv"
	ClassColumn    = "class"
)

// ReadFolder reads attributes.csv and classes.csv in dir, and reports what is wrong with them to
// problems. With complete, what one of the files lacks is added: the columns of attributes
// without values, and the attributes of a file that does not exist. Classes are nil if they cannot
// be read.
func ReadFolder(ctx context.Context, dir string, complete bool, problems *invalid.List) *Table {
	t := &Table{dir: dir, sums: map[string][sha256.Size]byte{}}
	read := func(name, column, optional string) *table.Table {
		path := filepath.Join(dir, name)
		if complete {
			sum, err := sumOf(path)
			problems.AddError(err)
			if t.sums[name] = sum; err != nil || sum == missing {
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
	}
	file := read(ClassesFile, ClassColumn, table.Any)
	if file == nil {
		return t
	}
	t.Classes = file.Names(ClassColumn)
	t.Cells = make([][]string, len(t.Classes))
	if complete && t.sums[AttributesFile] == missing {
		for _, name := range file.Columns {
			if name != "" && name != ClassColumn && !invalid.HasControl(name) {
				t.AddAttribute(Attribute{Name: name})
			}
		}
	}
	if t.Attributes != nil { // otherwise the error is reported
		t.describe(file, complete)
	}
	return t
}

// describe takes the cells of the attributes from the columns of classes.csv.
func (t *Table) describe(file *table.Table, complete bool) {
	names, index := make([]string, len(t.Attributes)), make(map[string]int)
	for m, a := range t.Attributes {
		names[m], index[a.Name] = a.Name, m
		switch lacks := file.Column(a.Name) < 0; {
		case a.Name == "": // reported
		case lacks && complete:
			t.Added.Attributes++
		case lacks || a.Name == ClassColumn:
			file.Report("missing", 1, "", "a column for every attribute of "+AttributesFile, "none for "+invalid.Quote(a.Name))
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

func sumOf(path string) ([sha256.Size]byte, error) {
	text, err := fileio.ReadRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return missing, nil
	}
	return sha256.Sum256(text), err
}

// ErrChanged is the cause of the error of Save if another program has changed a file.
var ErrChanged = errors.New("it was changed by another program")

// Save writes the files of the folder that ReadFolder completed. If one was changed since it was
// read or saved, that is an error, and nothing is written.
func (t *Table) Save() error {
	for _, name := range []string{AttributesFile, ClassesFile} {
		path := filepath.Join(t.dir, name)
		sum, err := sumOf(path)
		if err == nil && sum != t.sums[name] {
			err = &invalid.Error{Where: path, Err: ErrChanged, Hint: "Nothing was overwritten. Read it again."}
		}
		if err != nil {
			return err
		}
	}
	return t.Write(t.dir)
}

// Write writes attributes.csv and classes.csv in dir, and replaces those that are there.
// Attributes are written first: ReadFolder completes a classes.csv that was not written any more.
func (t *Table) Write(dir string) error {
	attributes := [][]string{{"name", "group"}}
	classes := [][]string{{ClassColumn}}
	for _, a := range t.Attributes {
		attributes = append(attributes, []string{a.Name, a.Group})
		classes[0] = append(classes[0], a.Name)
	}
	for z, name := range t.Classes {
		classes = append(classes, append([]string{name}, t.Cells[z]...))
	}
	for _, f := range []struct {
		name string
		rows [][]string
	}{{AttributesFile, attributes}, {ClassesFile, classes}} {
		if len(f.rows) == 1 { // a file without lines could not be read
			continue
		}
		path := filepath.Join(dir, f.name)
		if err := fileio.WriteCSV(path, f.rows); err != nil {
			return err
		}
		if t.sums != nil {
			sum, err := sumOf(path)
			if err != nil {
				return err
			}
			t.sums[f.name] = sum
		}
	}
	return nil
}

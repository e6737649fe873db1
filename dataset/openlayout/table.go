package openlayout

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
)

// reader reads the files of a folder and gathers what is wrong with them.
type reader struct {
	ctx context.Context
	dir string
	bad invalid.List
}

func (r *reader) path(name string) string { return filepath.Join(r.dir, name) }

// maxTable is the largest size of a CSV file in bytes, far above that of any data set.
const maxTable = 1 << 28

// table is a CSV file whose columns have names.
type table struct {
	*reader
	file    string // path
	columns []string
	rows    []row
}

// row is a line of a table, with a cell for each column.
type row struct {
	line  int // from 1
	cells []string
}

var byteOrderMark = []byte("\ufeff")

// table reads a file that must have the required columns and may have the optional
// ones; others are for the caller to judge, unless it passes none at all for them.
// It is nil where the file is no table.
func (r *reader) table(name string, required, optional []string, others bool) *table {
	t := &table{reader: r, file: r.path(name)}
	text, err := input.ReadFile(r.ctx, t.file, maxTable)
	if err != nil {
		r.bad.AddError(err)
		return nil
	}
	text = bytes.TrimPrefix(text, byteOrderMark)
	if !utf8.Valid(text) {
		r.bad.AddError(&invalid.Error{Where: t.file, Want: "text in UTF-8", Got: "another encoding"})
		return nil
	}
	if !t.parse(text) || !t.header(required, optional, others) {
		return nil
	}
	return t
}

// parse parts the text into lines and cells.
func (t *table) parse(text []byte) bool {
	c := csv.NewReader(bytes.NewReader(text))
	c.FieldsPerRecord = -1 // told by errors of our own
	c.TrimLeadingSpace = true
	for {
		cells, err := c.Read()
		if err == io.EOF {
			return true
		}
		if err != nil {
			e := &invalid.Error{Where: t.file, Err: err}
			if wrong := (*csv.ParseError)(nil); errors.As(err, &wrong) {
				e.Field, e.Err = fmt.Sprintf("line %d, character %d", wrong.Line, wrong.Column), wrong.Err
			}
			t.bad.AddError(e)
			return false
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		line, _ := c.FieldPos(0)
		if t.columns == nil {
			t.columns = cells
			continue
		}
		t.rows = append(t.rows, row{line, cells})
	}
}

// header checks the names of the columns, and that there is a cell for each.
func (t *table) header(required, optional []string, others bool) bool {
	known := slices.Concat(required, optional)
	fail := func(want, got string) {
		t.bad.AddError(&invalid.Error{Where: t.file, Field: "line 1", Want: want, Got: got})
	}
	sound := true
	if len(t.columns) == 1 && strings.ContainsAny(t.columns[0], ";\t") {
		fail("names of columns, parted by commas", strconv.Quote(t.columns[0]))
		return false
	}
	for _, name := range required {
		if !slices.Contains(t.columns, name) {
			fail("a column "+name, list(t.columns))
			sound = false
		}
	}
	seen := make(map[string]bool)
	for _, name := range t.columns {
		if seen[name] {
			fail("every column once", fmt.Sprintf("%q again", name))
			sound = false
		}
		seen[name] = true
		if !others && !slices.Contains(known, name) {
			fail("no columns but "+strings.Join(known, ", "), strconv.Quote(name))
			sound = false
		}
	}
	return sound && t.sameWidth()
}

func (t *table) sameWidth() bool {
	sound := true
	for _, row := range t.rows {
		if len(row.cells) != len(t.columns) {
			t.wrong("width", row, "", fmt.Sprintf("%d cells, one for each column", len(t.columns)), fmt.Sprint(len(row.cells)))
			sound = false
		}
	}
	if len(t.rows) == 0 {
		t.bad.AddError(&invalid.Error{Where: t.file, Want: "at least one line below the names of the columns", Got: "none"})
		sound = false
	}
	return sound
}

// column returns where a column is, -1 for nowhere.
func (t *table) column(name string) int { return slices.Index(t.columns, name) }

// cell returns the text of a column, "" where there is no such column.
func (t *table) cell(row row, name string) string {
	if j := t.column(name); j >= 0 {
		return row.cells[j]
	}
	return ""
}

// wrong tells of a line, and a column where one is to blame.
func (t *table) wrong(kind string, row row, column, want, got string) {
	field := fmt.Sprintf("line %d", row.line)
	if column != "" {
		field += ", column " + column
	}
	t.bad.Add(kind, &invalid.Error{Where: t.file, Field: field, Want: want, Got: got})
}

// names returns the cells of a column, each of which must be a name of its own, and
// the lines on which they are. A name that is not is left empty.
func (t *table) names(column string) (names []string, lineOf map[string]int) {
	names = make([]string, len(t.rows))
	lineOf = make(map[string]int, len(names))
	for i, row := range t.rows {
		name := t.cell(row, column)
		other, taken := lineOf[name]
		switch {
		case name == "":
			t.wrong("name", row, column, "a name", "an empty cell")
		case taken:
			t.wrong("name", row, column, "a name of its own", fmt.Sprintf("%q, which is in line %d as well", name, other))
		default:
			lineOf[name] = row.line
			names[i] = name
		}
	}
	return names, lineOf
}

func list(names []string) string {
	if len(names) == 0 {
		return "an empty file"
	}
	const most = 8
	if len(names) > most {
		return fmt.Sprintf("%s and %d others", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

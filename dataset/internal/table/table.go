package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
)

// The largest sizes of tables in bytes, far above those of any data set. A pipe may never
// end, and short lines take many times their size in memory.
const (
	maxSize = 1 << 28
	maxPipe = 1 << 22
)

// Table is a CSV file whose first line names the columns.
type Table struct {
	File    string // path
	Columns []string
	Rows    []Row
	// Ragged is set if lines have more or fewer cells than there are columns. They are
	// reported and not in Rows.
	Ragged bool

	problems *invalid.List
}

// Row is a line below the header, with a cell for each column.
type Row struct {
	Line  int // counted from 1
	Cells []string
}

// Read reads the file at path. It reports what is wrong with it to problems, and returns
// nil if there is no table with a header and at least one line.
func Read(ctx context.Context, path string, problems *invalid.List) *Table {
	f, err := input.Open(ctx, path)
	if err != nil {
		problems.AddError(err)
		return nil
	}
	defer func() { _ = f.Close() }() // nothing was written
	limit := int64(maxSize)
	if !f.Regular() {
		limit = maxPipe
	}
	limited := &io.LimitedReader{R: f, N: limit + 1}
	t := Parse(path, limited, problems)
	if limited.N <= 0 {
		problems.AddError(&invalid.Error{Where: path, Want: "at most " + format.Bytes(limit), Got: "more"})
		return nil
	}
	return t
}

// Parse is Read of text; file is its name in errors.
func Parse(file string, text io.Reader, problems *invalid.List) *Table {
	t := &Table{File: file, problems: problems}
	for r := NewReader(file, text); ; {
		cells, err := r.Read()
		if err == io.EOF {
			break
		}
		if slices.ContainsFunc(cells, func(cell string) bool { return !utf8.ValidString(cell) }) {
			err = &invalid.Error{Where: file, Field: fmt.Sprintf("line %d", r.Line()), Want: "text in UTF-8", Got: "another encoding"}
		}
		if err != nil {
			problems.AddError(err)
			return nil
		}
		cells = slices.Clone(cells)
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case t.Columns == nil:
			t.Columns = cells
		case len(cells) != len(t.Columns):
			t.Ragged = true
			t.Report("cells", r.Line(), "", fmt.Sprintf("%d cells, one for each column", len(t.Columns)), fmt.Sprint(len(cells)))
		default:
			t.Rows = append(t.Rows, Row{r.Line(), cells})
		}
	}
	e := &invalid.Error{Where: file}
	switch {
	case t.Columns == nil:
		e.Want, e.Got = "a header with the names of the columns", "an empty file"
	case len(t.Columns) == 1 && strings.ContainsAny(t.Columns[0], ";\t"):
		e.Field, e.Want, e.Got = "line 1", "names of columns separated by commas", invalid.Quote(t.Columns[0])
	case len(t.Rows) == 0 && !t.Ragged:
		e.Want, e.Got = "at least one line below the header", "none"
	default:
		return t
	}
	problems.AddError(e)
	return nil
}

// Require reports columns that the header lacks or has twice.
func (t *Table) Require(columns ...string) bool {
	ok := true
	for _, name := range columns {
		if !slices.Contains(t.Columns, name) {
			t.Report("required", 1, "", "a column "+name, t.Header())
			ok = false
		}
	}
	seen := make(map[string]bool, len(t.Columns))
	for _, name := range t.Columns {
		if seen[name] {
			t.Report("repeated", 1, "", "each column once", invalid.Quote(name)+" twice")
			ok = false
		}
		seen[name] = true
	}
	return ok
}

// Allow reports columns other than those given.
func (t *Table) Allow(columns ...string) bool {
	ok := true
	for _, name := range t.Columns {
		if !slices.Contains(columns, name) {
			t.ReportUnknown("column", 1, "", "only the columns "+strings.Join(columns, ", "), name, columns)
			ok = false
		}
	}
	return ok
}

// Header returns the names of the columns as an error shows them.
func (t *Table) Header() string { return invalid.Quote(strings.Join(t.Columns, ",")) }

// Column returns the index of a column, or -1.
func (t *Table) Column(name string) int { return slices.Index(t.Columns, name) }

// Cell returns the text of a row in a column, or "" if there is no such column.
func (t *Table) Cell(row Row, column string) string {
	if j := t.Column(column); j >= 0 {
		return row.Cells[j]
	}
	return ""
}

// Report adds a problem of a line, and of a column unless that is empty. kind is that of
// invalid.List.Add.
func (t *Table) Report(kind string, line int, column, want, got string) {
	t.problems.Add(kind, &invalid.Error{Where: t.File, Field: place(line, column), Want: want, Got: got})
}

// ReportUnknown reports a name that is none of the known ones, and suggests the nearest.
// Where further problems of the kind are only counted it does not look for them.
func (t *Table) ReportUnknown(kind string, line int, column, want, name string, known []string) {
	e := &invalid.Error{Where: t.File, Field: place(line, column), Want: want, Got: invalid.Quote(name)}
	if name == "" {
		e.Got = "an empty cell"
	} else if !t.problems.Full(kind, t.File) {
		e.Hint = invalid.DidYouMean(name, known)
	}
	t.problems.Add(kind, e)
}

func place(line int, column string) string {
	switch {
	case column == "":
		return fmt.Sprintf("line %d", line)
	case invalid.HasControl(column) || len(column) > 100:
		column = invalid.Quote(column)
	}
	return fmt.Sprintf("line %d, column %s", line, column)
}

// Names returns the cells of a column that must hold different names. A name that is
// empty, repeated or has control characters is reported and left empty.
func (t *Table) Names(column string) []string {
	names := make([]string, len(t.Rows))
	lineOf := make(map[string]int, len(names))
	for i, row := range t.Rows {
		name := t.Cell(row, column)
		other, repeated := lineOf[name]
		switch {
		case name == "":
			t.Report("name", row.Line, column, "a name", "an empty cell")
		case invalid.HasControl(name):
			t.Report("name", row.Line, column, "a name without control characters", invalid.Quote(name))
		case repeated:
			t.Report("name", row.Line, column, "a different name on each line", fmt.Sprintf("%s, which is also on line %d", invalid.Quote(name), other))
		default:
			lineOf[name] = row.Line
			names[i] = name
		}
	}
	return names
}

// Probability returns the probability in a cell of a column, as the function Probability
// does; what is not one is reported.
func (t *Table) Probability(row Row, column int) float64 {
	p, err := Probability(row.Cells[column])
	if e := (*invalid.Error)(nil); errors.As(err, &e) {
		t.Report("probability", row.Line, t.Columns[column], e.Want, e.Got)
	}
	return p
}

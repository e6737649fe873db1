// Package table reads CSV files: those of data sets, of class descriptions and of features. Reader returns
// one record at a time; Table holds a whole file whose first line names the columns, and reports each problem
// with its file, line and column to an invalid.List.
//
// The form is dataset.FormOfTables: the header has most of the commas, semicolons or tabs that separate its
// cells. Windows line ends, blank lines, empty columns at the right and space around cells are ignored.
// Another text or file is refused with what to write. The length of a line is bounded, so that no input
// claims memory without end.
package table

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// maxRecord bounds the bytes of a line, or of the lines that one quoted cell spans. A cell takes up to 50
// times the memory of its comma.
const maxRecord = 4 << 20

// Reader reads the records of a CSV file.
type Reader struct {
	Line int // on which the last record begins, counted from 1

	file   string
	csv    *csv.Reader
	text   *io.LimitedReader // what is read for one record; what is read ahead is in a buffer
	width  int               // cells of the first record, without empty ones at the right
	signs  map[byte]string   // a number with a decimal comma, and one with a point
	asText bool              // numbers stay as they are
	other  fileio.Format     // of a file that is no CSV
}

// NewReader returns a reader of text; file is its name in errors.
func NewReader(file string, text io.Reader) *Reader {
	const byteOrderMark = "\ufeff"
	limited := &io.LimitedReader{R: text, N: maxRecord}
	lines := bufio.NewReaderSize(limited, 1<<16)
	if mark, _ := lines.Peek(len(byteOrderMark)); string(mark) == byteOrderMark { // a shorter text has none
		_, _ = lines.Discard(len(mark)) // it is in the buffer
	}
	line := firstLine(lines)
	r := &Reader{
		file: file, csv: csv.NewReader(lines), text: limited, signs: map[byte]string{},
		other: fileio.FormatOf([]byte(line)),
	}
	r.csv.Comma = separatorOf(line)
	r.csv.FieldsPerRecord = -1 // callers report the lines with another number of cells
	r.csv.ReuseRecord = true
	r.csv.TrimLeadingSpace = r.csv.Comma != '\t'
	return r
}

// firstLine returns the first line that is not blank, as far as it fits into the buffer, and waits
// for no more than it.
func firstLine(lines *bufio.Reader) string {
	for n := 1; ; n = lines.Buffered() + 1 {
		_, err := lines.Peek(min(n, lines.Size()))
		read, _ := lines.Peek(lines.Buffered())
		line, _, ended := strings.Cut(strings.TrimLeft(string(read), " \r\n"), "\n")
		if ended || err != nil || n > lines.Size() {
			return line
		}
	}
}

var (
	quoted        = regexp.MustCompile(`"[^"]*"`)
	commaInNumber = regexp.MustCompile(`\d,\d`)
	decimal       = regexp.MustCompile(`^\s*[-+]?\d*([.,])\d+([eE][-+]?\d+)?\s*%?\s*$`)
)

// separatorOf returns the most frequent of comma, semicolon and tab in a line, without those in quotes and
// in numbers.
func separatorOf(line string) rune {
	line = commaInNumber.ReplaceAllString(quoted.ReplaceAllString(line, ""), "")
	separator := ','
	for _, other := range ";\t" {
		if strings.Count(line, string(other)) > strings.Count(line, string(separator)) {
			separator = other
		}
	}
	return separator
}

// refuse returns the error of a file that is not in the form of tables.
func (r *Reader) refuse(line int, got string) *invalid.Error {
	e := &invalid.Error{
		Where: r.file, Want: dataset.FormOfTables, Got: got, Hint: `Save a spreadsheet as "CSV UTF-8"; in ` +
			`pandas, to_csv("table.csv", index=False); in R, write.csv(x, "table.csv", row.names = FALSE).`,
	}
	if line > 0 {
		e.Field = place(line, "")
	}
	return e
}

// Read returns the cells of the next record that has any, which are valid until the next call. The error is
// io.EOF at the end, and otherwise an *invalid.Error after which nothing more can be read.
func (r *Reader) Read() ([]string, error) {
	if r.other.Name != "" {
		e := r.refuse(0, r.other.Name)
		e.Hint = cmp.Or(r.other.Hint, e.Hint)
		return nil, e
	}
	for {
		cells, err := r.record()
		if err != nil {
			return nil, err
		}
		n := len(cells)
		for n > r.width && strings.TrimSpace(cells[n-1]) == "" {
			n--
		}
		if r.width == 0 {
			r.width = n
		}
		cells = cells[:n]
		if !slices.ContainsFunc(cells, func(cell string) bool { return strings.TrimSpace(cell) != "" }) {
			continue // a blank line
		}
		for i, cell := range cells {
			if r.csv.Comma == ',' || r.asText {
				break
			}
			if cells[i], err = r.withPoint(cell); err != nil {
				return nil, err
			}
		}
		return cells, nil
	}
}

func (r *Reader) record() ([]string, error) {
	r.text.N = maxRecord
	cells, err := r.csv.Read()
	switch parse := (*csv.ParseError)(nil); {
	case r.text.N <= 0:
		want := "lines of at most " + format.Bytes(maxRecord)
		return nil, &invalid.Error{Where: r.file, Field: place(r.Line+1, ""), Want: want, Got: "a longer one"}
	case err == nil:
		r.Line, _ = r.csv.FieldPos(0)
		return cells, nil
	case errors.As(err, &parse):
		e := r.refuse(parse.Line, "a quote within a cell")
		if e.Hint = `Write "" for it, and quotes around the cell. ` + e.Hint; r.csv.Comma == '\t' {
			e.Hint = `Text between tabs without quoting, as GBIF exports it, becomes CSV in pandas: ` +
				`read_csv("table.txt", sep="\t", quoting=3).to_csv("table.csv", index=False)`
		}
		return nil, e
	case err == io.EOF:
		return nil, err
	}
	return nil, invalid.File(r.file, err)
}

// withPoint returns a cell with a point in place of a decimal comma. A file has one of both: with the other,
// it separates thousands.
func (r *Reader) withPoint(cell string) (string, error) {
	at := decimal.FindStringSubmatchIndex(cell)
	if at == nil {
		return cell, nil
	}
	r.signs[cell[at[2]]] = strings.TrimSpace(cell)
	if len(r.signs) > 1 {
		return "", r.refuse(r.Line, r.signs[',']+" and "+r.signs['.'])
	}
	return strings.Replace(cell, ",", ".", 1), nil
}

// Number returns the number in a cell, with the precision of float32 (32 bits) or float64 (64):
// a decimal number as every program reads it, NaN or an infinity. Error is that of
// strconv.ParseFloat, whose underscores and hexadecimal numbers, as in Go's source, are refused.
func Number(cell string, bits int) (float64, error) {
	cell = strings.TrimSpace(cell)
	if strings.ContainsAny(cell, "_xXpP") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(cell, bits)
}

// MaxSize is the largest size of a table in bytes, far above those of any data set. A pipe may never end.
const MaxSize = 1 << 28

// maxTable is the largest number of cells, each of which takes about 40 bytes. A line takes as many as
// perLine further ones.
const maxTable, perLine = 1 << 24, 8

// Table is a CSV file whose first line names the columns.
type Table struct {
	File    string // path
	Columns []string
	Rows    []Row

	index    map[string]int // of the columns
	problems *invalid.List
}

// Row is a line below the header, with a cell for each column.
type Row struct {
	Line  int // counted from 1
	Cells []string
}

// Read reads the file at path. It reports what is wrong with it to problems, and returns nil if there is no
// table with a header and at least one line, if lines have another width than the header, or if that lacks
// required columns or has others than these and the optional ones.
func Read(ctx context.Context, path string, problems *invalid.List, required []string,
	optional ...string,
) *Table {
	text, err := fileio.ReadFile(ctx, path, MaxSize)
	if err != nil {
		problems.AddError(err)
		return nil
	}
	return Parse(path, text, problems, required, optional...)
}

// Parse is Read of a file with this text.
func Parse(path string, text []byte, problems *invalid.List, required []string, optional ...string) *Table {
	t := parse(NewReader(path, bytes.NewReader(text)), problems)
	if t == nil || !t.HasColumns(required, optional...) {
		return nil
	}
	return t
}

// ReadText is Read of a table of names and paths, with any columns: its numbers are text.
func ReadText(ctx context.Context, path string, problems *invalid.List) *Table {
	text, err := fileio.ReadFile(ctx, path, MaxSize)
	if err != nil {
		problems.AddError(err)
		return nil
	}
	r := NewReader(path, bytes.NewReader(text))
	r.asText = true
	return parse(r, problems)
}

func parse(r *Reader, problems *invalid.List) *Table {
	t, cells, before := &Table{File: r.file, problems: problems}, 0, problems.Len()
	for {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		if slices.ContainsFunc(record, func(cell string) bool { return !utf8.ValidString(cell) }) {
			err = r.refuse(r.Line, "another encoding")
		}
		if cells += len(record) + perLine; cells > maxTable {
			err = &invalid.Error{
				Where: r.file, Got: "more",
				Want: fmt.Sprintf("at most %d cells, of which a line counts %d more", maxTable, perLine),
				Hint: "Leave out lines and columns that are not needed.",
			}
		}
		if err != nil {
			problems.AddError(err)
			return nil
		}
		names := make([]string, len(record))
		for i, cell := range record {
			names[i] = dataset.Name(cell)
		}
		if t.Columns == nil {
			t.setColumns(names)
		} else if t.Rows = append(t.Rows, Row{r.Line, names}); len(names) != r.width {
			hint := map[bool]string{true: withoutRowNames}[len(names) == r.width+1]
			t.Report("cells", r.Line, "", fmt.Sprintf("%d cells, one for each column", r.width),
				fmt.Sprint(len(names)), hint)
		}
	}
	if t.Rows == nil {
		lines := format.Count(min(len(t.Columns), 1), "line")
		problems.AddError(invalid.At(r.file, invalid.Expected("", lines,
			"a header with the names of the columns, and at least one line below it")))
	}
	if problems.Len() > before {
		return nil
	}
	return t
}

const withoutRowNames = "Names of rows? Write the file without: to_csv(index=False), or row.names = FALSE " +
	"in R."

// Any is an optional column that stands for all others.
const Any = "*"

// HasColumns reports columns that the header lacks or has twice, and those that are neither
// required nor optional. Their names may be in another case.
func (t *Table) HasColumns(required []string, optional ...string) bool {
	before, all := t.problems.Len(), slices.Concat(required, optional)
	for _, name := range all {
		if j := slices.IndexFunc(t.Columns, func(column string) bool {
			return strings.EqualFold(column, name)
		}); t.Column(name) < 0 && j >= 0 {
			t.Columns[j] = name
			t.setColumns(t.Columns)
		}
	}
	missing := slices.Clone(required)
	missing = slices.DeleteFunc(missing, func(name string) bool { return t.Column(name) >= 0 })
	if len(missing) > 0 { // others may be meant for them
		t.Report("header", 1, "", "a column "+format.List(missing, "and a column"), t.Header())
		return false
	}
	for j, name := range t.Columns {
		if t.Column(name) != j {
			t.Report("repeated", 1, "", "each column once", invalid.Quote(name)+" twice")
		} else if !slices.Contains(all, Any) && !slices.Contains(all, name) {
			t.ReportUnknown("column", 1, "", "only the columns "+strings.Join(all, ", "), name, all)
		}
	}
	return t.problems.Len() == before
}

// Header returns the names of the columns as an error shows them.
func (t *Table) Header() string { return invalid.Quote(strings.Join(t.Columns, ",")) }

func (t *Table) setColumns(names []string) {
	t.Columns, t.index = names, make(map[string]int, len(names))
	for j, name := range slices.Backward(names) { // of equal names the first counts
		t.index[name] = j
	}
}

// Column returns the index of a column, or -1.
func (t *Table) Column(name string) int {
	if j, known := t.index[name]; known {
		return j
	}
	return -1
}

// Cell returns the text of a row in a column, or "" if there is no such column.
func (t *Table) Cell(row Row, column string) string {
	if j := t.Column(column); j >= 0 {
		return row.Cells[j]
	}
	return ""
}

// Report adds a problem of a line, and of a column unless that is empty. kind is that of invalid.List.Add.
func (t *Table) Report(kind string, line int, column, want, got string, hint ...string) {
	t.problems.Add(kind, &invalid.Error{
		Where: t.File, Field: place(line, column), Want: want, Got: got, Hint: strings.Join(hint, " "),
	})
}

// ReportUnknown reports a name that is none of the known ones, and suggests the nearest.
// Where further problems of the kind are only counted it does not look for them.
func (t *Table) ReportUnknown(kind string, line int, column, want, name string, known []string) {
	got, hint := invalid.Quote(name), ""
	switch {
	case name == "" && line == 1: // in the header
		got, hint = "an empty cell", withoutRowNames
	case name == "":
		got = "an empty cell"
	case !t.problems.Full(kind, t.File):
		hint = invalid.DidYouMean(name, known)
	}
	t.Report(kind, line, column, want, got, hint)
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
// empty, repeated or refused by dataset.CheckName is reported and left empty.
func (t *Table) Names(column string) []string {
	names := make([]string, len(t.Rows))
	lineOf := make(map[string]int, len(names))
	for i, row := range t.Rows {
		name, want := dataset.CheckName(t.Cell(row, column))
		switch other, repeated := lineOf[name]; {
		case name == "":
			t.Report("name", row.Line, column, want, "an empty cell")
		case want != "":
			t.Report("name", row.Line, column, want, invalid.Quote(name))
		case repeated:
			t.Report("name", row.Line, column, "a different name on each line",
				fmt.Sprintf("%s, which is also on line %d", invalid.Quote(name), other))
		default:
			lineOf[name] = row.Line
			names[i] = name
		}
	}
	return names
}

// Missing reports whether a cell says that a value is not known, as spreadsheets, R and pandas do.
func Missing(cell string) bool {
	return slices.Contains([]string{
		"", "na", "n/a", "n.a.", "nd", "n.d.", "nan", "<na>", "null", "?", "#n/a", "#nv",
	}, strings.ToLower(strings.TrimSpace(cell)))
}

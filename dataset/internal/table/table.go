// Package table reads CSV files: those of data sets, of class descriptions and of features. Reader returns
// one record at a time; Table holds a whole file whose first line names the columns, and reports each problem
// with its file, line and column to an invalid.List. Probability reads one entry of a class description.
//
// The form is dataset.FormOfTables. Windows line ends, blank lines, empty columns at the right and space
// around cells are ignored. The length of a line is bounded, so that no input claims memory without end.
package table

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// maxSize is the largest size of a table in bytes, far above those of any data set. A pipe may never end.
const maxSize = 1 << 28

// maxTable is the largest number of cells, each of which takes about 40 bytes. A line takes as many as
// perLine further ones.
const maxTable, perLine = 1 << 24, 8

// Table is a CSV file whose first line names the columns.
type Table struct {
	File    string // path
	Columns []string
	Rows    []Row

	index    map[string]int // of the columns
	ragged   bool           // some lines have another number of cells
	scale    Scale          // of Probability
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
	t := read(ctx, path, problems, false)
	if t == nil || !t.HasColumns(required, optional...) {
		return nil
	}
	return t
}

// ReadText is Read of a table of names and paths, with any columns: its numbers are text.
func ReadText(ctx context.Context, path string, problems *invalid.List) *Table {
	return read(ctx, path, problems, true)
}

func read(ctx context.Context, path string, problems *invalid.List, asText bool) *Table {
	text, err := fileio.ReadFile(ctx, path, maxSize)
	if err != nil {
		if e := (*invalid.Error)(nil); errors.Is(err, fs.ErrNotExist) && errors.As(err, &e) {
			for _, other := range []string{".xlsx", ".xls", ".ods", ".numbers"} {
				sheet := strings.TrimSuffix(path, filepath.Ext(path)) + other
				if _, err := os.Stat(sheet); err == nil {
					e.Hint = "Save " + filepath.Base(sheet) + " as CSV."
				}
			}
		}
		problems.AddError(err)
		return nil
	}
	r := NewReader(path, bytes.NewReader(text))
	r.asText = asText
	if t := parse(r, problems); t != nil && !t.ragged {
		return t
	}
	return nil
}

const asUTF8 = `In Excel, save it as "CSV UTF-8".`

// Parse is Read of text with any columns; file is its name in errors. Lines with more or fewer
// cells than there are columns are reported and not in Rows.
func Parse(file string, text io.Reader, problems *invalid.List) *Table {
	return parse(NewReader(file, text), problems)
}

func parse(r *Reader, problems *invalid.List) *Table {
	file, all := r.file, 0
	t := &Table{File: file, problems: problems}
	for {
		cells, err := r.Read()
		if err == io.EOF {
			break
		}
		if slices.ContainsFunc(cells, func(cell string) bool { return !utf8.ValidString(cell) }) {
			err = &invalid.Error{
				Where: file, Field: fmt.Sprintf("line %d", r.Line), Want: dataset.FormOfTables,
				Got: "another encoding", Hint: asUTF8,
			}
		}
		if err != nil {
			problems.AddError(err)
			return nil
		}
		cells = slices.Clone(cells)
		for i := range cells {
			cells[i] = dataset.Name(cells[i])
		}
		if t.Columns == nil {
			t.setColumns(cells)
			continue
		}
		t.Rows = append(t.Rows, Row{r.Line, cells})
		if all += len(cells) + perLine; all > maxTable {
			problems.AddError(&invalid.Error{
				Where: file, Got: "more",
				Want: fmt.Sprintf("at most %d cells, of which a line counts %d more", maxTable, perLine),
				Hint: "Leave out lines and columns that are not needed.",
			})
			return nil
		}
	}
	switch {
	case t.Columns == nil:
		problems.AddError(&invalid.Error{
			Where: file, Want: "a header with the names of the columns", Got: "an empty file",
		})
	case len(t.Rows) == 0:
		problems.AddError(&invalid.Error{
			Where: file, Want: "at least one line below the header", Got: "none",
		})
	case len(t.Columns) == 1 && len(t.Rows[0].Cells) > 1:
		problems.AddError(&invalid.Error{
			Where: file, Field: place(1, ""), Want: "the names of the columns",
			Got:  invalid.Quote(t.Columns[0]) + " alone, as in a title",
			Hint: "Remove what is above the names, and name each column.",
		})
	default:
		t.Rows = slices.DeleteFunc(t.Rows, func(row Row) bool {
			n := len(row.Cells)
			if n != r.width {
				t.ragged = true
				e := &invalid.Error{
					Where: file, Field: place(row.Line, ""), Got: fmt.Sprint(n),
					Want: fmt.Sprintf("%d cells, one for each column", r.width),
				}
				if n == r.width+1 {
					e.Hint = "Names of rows? In R, row.names = FALSE writes the table without."
				}
				problems.Add("cells", e)
			}
			return n != r.width
		})
		return t
	}
	return nil
}

// Any is an optional column that stands for all others.
const Any = "*"

// HasColumns reports columns that the header lacks or has twice, and those that are neither
// required nor optional.
func (t *Table) HasColumns(required []string, optional ...string) bool {
	before, all := t.problems.Len(), append(required, optional...)
	var missing []string
	for i, name := range all {
		if j := slices.IndexFunc(t.Columns, func(column string) bool {
			return strings.EqualFold(column, name)
		}); t.Column(name) < 0 && j >= 0 {
			t.Columns[j] = name
			t.setColumns(t.Columns)
		}
		if i < len(required) && t.Column(name) < 0 {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 { // others may be meant for them
		e := &invalid.Error{
			Where: t.File, Field: place(1, ""), Want: "a column " + format.List(missing, "and a column"),
			Got: t.Header(),
		}
		switch {
		case t.Columns[0] == "":
			e.Hint = "If the first column, which has no name, is that one, name it " + missing[0] + "."
		case len(t.Columns) == 1 && strings.ContainsAny(t.Columns[0], "| "):
			e.Hint = "Write commas between cells."
		}
		t.problems.AddError(e)
		return false
	}
	seen := make(map[string]bool, len(t.Columns))
	for _, name := range t.Columns {
		if seen[name] {
			t.Report("repeated", 1, "", "each column once", invalid.Quote(name)+" twice")
		} else if !slices.Contains(all, Any) && !slices.Contains(all, name) {
			t.ReportUnknown("column", 1, "", "only the columns "+strings.Join(all, ", "), name, all)
		}
		seen[name] = true
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
func (t *Table) Report(kind string, line int, column, want, got string) {
	t.problems.Add(kind, &invalid.Error{Where: t.File, Field: place(line, column), Want: want, Got: got})
}

// ReportUnknown reports a name that is none of the known ones, and suggests the nearest.
// Where further problems of the kind are only counted it does not look for them.
func (t *Table) ReportUnknown(kind string, line int, column, want, name string, known []string) {
	e := &invalid.Error{Where: t.File, Field: place(line, column), Want: want, Got: invalid.Quote(name)}
	if name == "" {
		e.Got = "an empty cell"
		if line == 1 { // the header
			e.Hint = "Numbers of rows? Write the file without: to_csv(index=False), or " +
				"row.names = FALSE in R."
		}
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
// empty, repeated or refused by dataset.CheckName is reported and left empty.
func (t *Table) Names(column string) []string {
	names := make([]string, len(t.Rows))
	lineOf := make(map[string]int, len(names))
	for i, row := range t.Rows {
		name, want := dataset.CheckName(t.Cell(row, column))
		other, repeated := lineOf[name]
		switch {
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

// Probability returns the probability in a cell of a column, as the function Probability
// does; what is not one is reported.
func (t *Table) Probability(row Row, column int) float64 {
	p, err := t.scale.Probability(row.Cells[column])
	if e := (*invalid.Error)(nil); errors.As(err, &e) {
		e.Where, e.Field = t.File, place(row.Line, t.Columns[column])
		t.problems.Add("probability", e)
	}
	return p
}

// Words for p(a|z) that people may write instead of numbers, as wantProbability lists them.
var words = map[string]float64{
	"never": 0, "no": 0, "n": 0, "false": 0, "absent": 0, "rarely": 0.1, "sometimes": 0.5, "often": 0.75,
	"always": 1, "yes": 1, "y": 1, "true": 1, "present": 1,
}

// Missing reports whether a cell says that a value is not known, as spreadsheets, R and pandas do.
func Missing(cell string) bool {
	return slices.Contains([]string{
		"", "na", "n/a", "n.a.", "nd", "n.d.", "nan", "<na>", "null", "?", "#n/a", "#nv",
	}, strings.ToLower(strings.TrimSpace(cell)))
}

const wantProbability = "a number from 0 to 1, a percentage, one of never, no, rarely, sometimes, often, " +
	"always, yes, or nothing if it is not described"

// Scale is that of the numbers of one file: from 0 to 1, or percentages. The zero value is ready to use.
type Scale struct{ number, percentage string } // the first of each, "" for none; 0 is on both scales

// Probability is the function Probability for one value after another of a file, whose numbers must
// be on one scale: in a file of percentages, 1 may mean either 1 % or always.
func (s *Scale) Probability(text string) (float64, error) {
	p, err := Probability(text)
	text = strings.TrimSpace(text)
	switch _, number := Number(text, 64); {
	case err != nil:
	case strings.HasSuffix(text, "%"):
		s.percentage = cmp.Or(s.percentage, text)
	case number == nil && p > 0:
		s.number = cmp.Or(s.number, text)
	}
	if err == nil && s.number != "" && s.percentage != "" {
		return 0, &invalid.Error{
			Want: "numbers from 0 to 1 or percentages, one of the two in a file",
			Got:  s.number + " and " + s.percentage,
		}
	}
	return p, err
}

// Probability reads p(a|z): a number from 0 to 1, a percentage such as 75%, or a word in any case.
// never, no and false are 0, rarely is 0.1, sometimes 0.5, often 0.75, always, yes and true are 1. What
// is Missing is NaN, not described. The error is an *invalid.Error without a place.
func Probability(text string) (float64, error) {
	text = strings.TrimSpace(text)
	p, wrong := probability(text)
	if wrong == "" {
		return p, nil
	}
	found := invalid.Quote(text) + strings.TrimPrefix(wrong, noNumber)
	hint := invalid.DidYouMean(text,
		slices.DeleteFunc(slices.Sorted(maps.Keys(words)), func(word string) bool { return len(word) == 1 }))
	switch {
	case slices.Contains([]string{"-", "–", "—", "none"}, strings.ToLower(text)): // unknown or absent
		hint = "Leave the cell empty if it is not known, and write no if the class does not have it."
	case commaInNumber.MatchString(text):
		hint = "Write a decimal point."
	}
	return 0, &invalid.Error{Want: wantProbability, Got: found, Hint: hint}
}

// IsProbability reports whether a cell says how probable an attribute is.
func IsProbability(text string) bool {
	p, wrong := probability(strings.TrimSpace(text))
	return wrong == "" && !math.IsNaN(p)
}

const noNumber = "no number"

// probability returns what Probability does, or what is wrong with the text.
func probability(text string) (p float64, wrong string) {
	if Missing(text) {
		return math.NaN(), ""
	}
	if v, known := words[strings.ToLower(text)]; known {
		return v, ""
	}
	number, percent := strings.CutSuffix(text, "%")
	v, err := Number(number, 64)
	switch {
	case err == nil && v < 0:
		return 0, ", which is below 0: write 0 for no, and leave the cell empty if it is not known; scale " +
			"vectors, such as those of a text encoder, as (x - x.min(0)) / (x.max(0) - x.min(0))"
	case err != nil || !(v >= 0 && v <= math.MaxFloat64):
		return 0, noNumber
	case percent && v <= 100:
		return v / 100, ""
	case !percent && v <= 1:
		return v, ""
	case percent:
		return 0, ", which is above 100"
	}
	return 0, ", which is above 1: write % behind percentages, and divide values of another " +
		"scale by its largest value"
}

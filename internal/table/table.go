// Package table has the one kind of table that results are shown in: as text, as HTML and as CSV.
package table

import (
	"fmt"
	"html"
	"io"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"

	"github.com/lago-train/lago-train/internal/format"
)

// Table is a title, rows and notes. Without header and rows it is prose: title and notes.
// Numbers are aligned to the right. Control characters are replaced, see format.Printable;
// only in the title and in notes, line breaks stay.
type Table struct {
	Title  string
	Header []string
	Rows   [][]any
	Notes  []string

	lines   []int // by the number of rows above
	columns []pretty.ColumnConfig
}

// New returns a table with one header cell per column.
func New(title string, header ...string) *Table { return &Table{Title: title, Header: header} }

// Row adds a row. It may have fewer cells than the header.
func (t *Table) Row(cells ...any) *Table {
	t.Rows = append(t.Rows, cells)
	return t
}

// Line draws a line below the last row.
func (t *Table) Line() *Table {
	t.lines = append(t.lines, len(t.Rows))
	return t
}

// OmitEmpty removes the columns whose cells are all format.Missing.
func (t *Table) OmitEmpty() *Table {
	for i := len(t.Header) - 1; i >= 0; i-- {
		if slices.ContainsFunc(t.Rows, func(r []any) bool { return len(r) > i && r[i] != format.Missing }) {
			continue
		}
		t.Header = slices.Delete(slices.Clone(t.Header), i, i+1)
		t.Rows = slices.Clone(t.Rows)
		for j, r := range t.Rows {
			if len(r) > i {
				t.Rows[j] = slices.Delete(slices.Clone(r), i, i+1)
			}
		}
		if i < len(t.columns) {
			t.columns = slices.Delete(t.columns, i, i+1)
			for j := range t.columns {
				t.columns[j].Number = j + 1
			}
		}
	}
	return t
}

// Note adds a sentence below the table.
func (t *Table) Note(format string, args ...any) *Table {
	t.Notes = append(t.Notes, fmt.Sprintf(format, args...))
	return t
}

// Right aligns columns, counted from 1, to the right: those whose cells are strings such as percentages.
func (t *Table) Right(columns ...int) *Table {
	for _, c := range columns {
		t.column(c).Align = right
	}
	return t
}

// column returns the configuration of a column, counted from 1.
func (t *Table) column(number int) *pretty.ColumnConfig {
	for len(t.columns) < number {
		t.columns = append(t.columns, pretty.ColumnConfig{Number: len(t.columns) + 1})
	}
	return &t.columns[number-1]
}

const right = text.AlignRight

func columnsOf(s string) int { return text.StringWidth(s) }

// prose reports whether there is nothing but a title and notes.
func (t *Table) prose() bool { return len(t.Header)+len(t.Rows) == 0 }

// Text returns the title, the table in a box of at most width characters, in which long cells are
// wrapped, and the notes, in lines of at most line characters unless it is 0.
func (t *Table) Text(width, line int) string {
	var b strings.Builder
	if t.Title != "" {
		b.WriteString(format.WrapLines(t.Title, line, 0) + "\n")
	}
	if !t.prose() {
		b.WriteString(t.box(width) + "\n")
	}
	for _, n := range t.Notes {
		b.WriteString(format.WrapLines(n, line, 2) + "\n")
	}
	return b.String()
}

// box renders the table. If it is wider, its columns are narrowed. Cells from right to left are isolated.
func (t *Table) box(width int) string {
	w := t.writer()
	lines := w.Render()
	if text.LongestLineLen(lines) > width {
		w.SetColumnConfigs(t.narrowed(width))
		lines = w.Render()
	}
	const border = "│"
	parts := strings.Split(strings.TrimRight(lines, "\n"), border)
	for i, cell := range parts { // once they have their widths
		parts[i] = format.Isolate(cell)
	}
	return strings.Join(parts, border)
}

// widths returns for each column the widths of its longest cell with the header, of its longest cell or word
// of the header, and of its longest word. Cells that are aligned to the right are one word.
func (t *Table) widths() (whole, cell, word []int) {
	for n, row := range slices.Concat([][]any{cells(t.Header)}, t.Rows) {
		for i, c := range cells(row) {
			if i == len(whole) {
				whole, cell, word = append(whole, 0), append(cell, 1), append(word, 1)
			}
			text, words := fmt.Sprint(c), strings.Fields(fmt.Sprint(c))
			if n > 0 && i < len(t.columns) && t.columns[i].Align == right {
				words = []string{text}
			}
			for _, w := range words {
				word[i] = max(word[i], columnsOf(w))
			}
			if whole[i], cell[i] = max(whole[i], columnsOf(text)), max(cell[i], word[i]); n > 0 {
				cell[i] = max(cell[i], columnsOf(text))
			}
		}
	}
	return whole, cell, word
}

// narrowed returns the columns of a narrow box. The widest is narrowed first: as far as its header
// can be wrapped, then down to its longest word, or its longest cell if these are numbers, and
// further only if all columns are that narrow.
func (t *Table) narrowed(width int) []pretty.ColumnConfig {
	narrow := Table{columns: slices.Clone(t.columns)}
	widths, cell, word := t.widths()
	over := 1 - width
	for _, w := range widths {
		over += w + 3
	}
	for ; over > 0; over-- {
		widest, most := 0, math.MinInt
		for i, w := range widths {
			for _, limit := range []int{cell[i], word[i]} {
				if widths[i] <= limit {
					w -= math.MaxInt32 // comes later
				}
			}
			if w > most {
				widest, most = i, w
			}
		}
		widths[widest] = max(widths[widest]-1, 1)
	}
	for i, w := range widths {
		config := narrow.column(i + 1)
		config.WidthMax, config.WidthMaxEnforcer = w, text.WrapSoft
	}
	return narrow.columns
}

// HTML returns a table element with the title as its caption, and a paragraph of class "note"
// for each note. Cells that are aligned to the right have class "number".
func (t *Table) HTML() string {
	var b strings.Builder
	switch {
	case t.prose() && t.Title != "":
		fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(format.PrintableLines(t.Title)))
	case !t.prose():
		w := t.writer()
		w.SetTitle("%s", format.PrintableLines(t.Title))
		// A quotation mark of the text is escaped, so that this is an attribute.
		b.WriteString(strings.NewReplacer(` align="right"`, ` class="number"`, "<th>&nbsp;</th>", "<td></td>").
			Replace(w.RenderHTML()) + "\n")
	}
	for _, n := range t.Notes {
		fmt.Fprintf(&b, "<p class=\"note\">%s</p>\n", html.EscapeString(format.PrintableLines(n)))
	}
	return b.String()
}

// CSV returns the header and the rows.
func (t *Table) CSV() string {
	if t.prose() {
		return ""
	}
	plain := Table{Header: t.Header, Rows: t.Rows}
	return plain.writer().RenderCSV() + "\n"
}

// WriteCSV writes the table as CSV.
func (t *Table) WriteCSV(w io.Writer) error {
	_, err := io.WriteString(w, t.CSV())
	return err
}

// writer returns the cells as go-pretty renders them.
func (t *Table) writer() pretty.Writer {
	w := pretty.NewWriter()
	style := pretty.StyleLight
	style.Format.Header = text.FormatDefault
	style.HTML = pretty.HTMLOptions{CSSClass: "table", EscapeText: true, Newline: "<br/>"}
	w.SetStyle(style)
	if len(t.Header) > 0 {
		w.AppendHeader(cells(t.Header))
	}
	for i, r := range t.Rows {
		w.AppendRow(cells(r))
		if slices.Contains(t.lines, i+1) {
			w.AppendSeparator()
		}
	}
	w.SetColumnConfigs(t.columns)
	return w
}

func cells[T any](values []T) pretty.Row {
	row := make(pretty.Row, len(values))
	for i, c := range values {
		row[i] = c
		if reflect.ValueOf(row[i]).Kind() == reflect.String {
			row[i] = format.Printable(fmt.Sprint(c))
		}
	}
	return row
}

// WriteText writes tables with an empty line between them, as wide as the terminal, and leaves out nil
// tables. Elsewhere boxes have 80 columns, and sentences are not wrapped, so that they can be searched.
func WriteText(w io.Writer, tables ...*Table) error {
	width, line := 80, 0
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n >= width {
		width = n
	}
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			width, line = columns, columns
		}
	}
	var parts []string
	for _, t := range tables {
		if t != nil {
			parts = append(parts, t.Text(width, line))
		}
	}
	all := strings.Join(parts, "\n")
	if Colours(w) {
		all = coloured(all)
	}
	_, err := io.WriteString(w, all)
	return err
}

// Colours reports whether a writer is a terminal that shows colours.
func Colours(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// The escape sequences of a terminal. The colours are those of its theme.
const (
	Warning = "\x1b[33m"
	Failure = "\x1b[31m"
	Bold    = "\x1b[1m"
	Plain   = "\x1b[0m"
	higher  = "\x1b[34m"
)

var inColour = []struct {
	part *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`(?m)^(warning:|doubtful:)`), Warning + "$1" + Plain},
	{regexp.MustCompile(`(?m)^((?:next|then): [^#\n]*[^# \n])`), Bold + "$1" + Plain},
	{regexp.MustCompile(`(█+)│`), Warning + "$1" + Plain + "│"},
	{regexp.MustCompile(`│(█+)`), "│" + higher + "$1" + Plain},
}

// coloured marks warnings, the next command, and bars by their direction.
func coloured(text string) string {
	for _, c := range inColour {
		text = c.part.ReplaceAllString(text, c.as)
	}
	return text
}

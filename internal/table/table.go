// Package table has the one kind of table that results are shown in: as text, as HTML and as
// CSV.
package table

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
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

	spans   [][]string
	footers [][]any
	lines   []int // by the number of rows above
	columns []pretty.ColumnConfig
}

// New returns a table with one header cell per column.
func New(title string, header ...string) *Table { return &Table{Title: title, Header: header} }

// Span adds a header line above Header. Equal neighbouring cells in these lines are drawn as
// one.
func (t *Table) Span(header ...string) *Table {
	t.spans = append(t.spans, header)
	return t
}

// Row adds a row. It may have fewer cells than the header.
func (t *Table) Row(cells ...any) *Table {
	t.Rows = append(t.Rows, cells)
	return t
}

// Footer adds a row below a line at the end. CSV leaves it out.
func (t *Table) Footer(cells ...any) *Table {
	t.footers = append(t.footers, cells)
	return t
}

// Line draws a line below the last row.
func (t *Table) Line() *Table {
	t.lines = append(t.lines, len(t.Rows))
	return t
}

// OmitEmpty removes the last column if all its cells are format.Missing.
func (t *Table) OmitEmpty() *Table {
	last := len(t.Header) - 1
	if !slices.ContainsFunc(t.Rows, func(r []any) bool { return len(r) > last && r[last] != format.Missing }) {
		t.Header = t.Header[:last]
		for i, r := range t.Rows {
			t.Rows[i] = r[:min(last, len(r))]
		}
	}
	return t
}

// Note adds a sentence below the table.
func (t *Table) Note(format string, args ...any) *Table {
	t.Notes = append(t.Notes, fmt.Sprintf(format, args...))
	return t
}

// Right aligns columns, counted from 1, to the right: those whose cells are strings such as
// percentages.
func (t *Table) Right(columns ...int) *Table {
	for _, c := range columns {
		config := t.column(c)
		config.Align, config.AlignFooter = text.AlignRight, text.AlignRight
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

// prose reports whether there is nothing but a title and notes.
func (t *Table) prose() bool { return len(t.Header)+len(t.Rows) == 0 }

// Text returns the title, the table in a box, and the notes, in lines of at most width characters.
// The cells of a table that is wider are wrapped.
func (t *Table) Text(width int) string {
	var b strings.Builder
	if t.Title != "" {
		b.WriteString(prose(t.Title, width, 0))
	}
	if !t.prose() {
		b.WriteString(t.box(width) + "\n")
	}
	for _, n := range t.Notes {
		b.WriteString(prose(n, width, 2))
	}
	return b.String()
}

// widestProse is the length of lines that are easy to read.
const widestProse = 100

// label is what stands before the text of a line, which is wrapped beside it: an indentation, or a
// word with at least two spaces behind it.
var label = regexp.MustCompile(`^ *(\S+ {2,})?`)

// prose wraps lines, the later ones after an indentation. Commands stay whole, to be copied.
func prose(lines string, width, indent int) string {
	var b strings.Builder
	for line := range strings.SplitSeq(lines, "\n") {
		line = format.Printable(line)
		before := label.FindString(line)
		if rest := line[len(before):]; text.StringWidth(line) > width && !strings.HasPrefix(rest, "lago-train ") {
			line = before + format.Wrap(rest, min(width, widestProse), cmp.Or(text.StringWidth(before), indent))
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// box renders the table, in lines of at most width characters as far as its columns allow.
func (t *Table) box(width int) string {
	w := t.writer()
	for room, before := width, ""; ; {
		lines := strings.TrimRight(w.Render(), "\n")
		excess := text.LongestLineLen(lines) - width
		if excess <= 0 || lines == before {
			return lines
		}
		if before != "" { // merged cells make columns wider
			room -= excess
		}
		before = lines
		w.SetColumnConfigs(t.narrowed(room))
	}
}

// narrowed returns the columns of a box of at most room characters. The widest column is narrowed
// first, down to its longest word, or its longest cell if these are numbers; further only if all
// are that narrow.
func (t *Table) narrowed(room int) []pretty.ColumnConfig {
	narrow := Table{columns: slices.Clone(t.columns)}
	var widths, least []int
	grow := func(row pretty.Row, isHeader bool) {
		for i, cell := range row {
			if i == len(widths) {
				widths, least = append(widths, 1), append(least, 1)
			}
			s := fmt.Sprint(cell)
			widths[i] = max(widths[i], text.LongestLineLen(s))
			if !isHeader && narrow.column(i+1).Align == text.AlignRight {
				least[i] = widths[i]
			}
			for word := range strings.FieldsSeq(s) {
				least[i] = max(least[i], text.StringWidth(word))
			}
		}
	}
	for _, r := range slices.Concat(t.Rows, t.footers) {
		grow(cells(r), false)
	}
	grow(cells(t.Header), true)
	for _, s := range t.spans {
		row := make(pretty.Row, len(s)) // with a word per line, since cells are wrapped before they are merged
		for i, cell := range s {
			row[i] = strings.ReplaceAll(cell, " ", "\n")
		}
		grow(row, true)
	}
	over := 1 - room
	for _, w := range widths {
		over += w + 3 // a line and two spaces
	}
	for over > 0 {
		widest := -1
		for i, w := range widths {
			if w > least[i] && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		switch {
		case widest >= 0:
			widths[widest]--
			over--
		case slices.Max(least) > 1:
			least = slices.Repeat([]int{1}, len(widths))
		default:
			over = 0 // no column can be narrower
		}
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
		b.WriteString(strings.ReplaceAll(w.RenderHTML(), ` align="right"`, ` class="number"`) + "\n")
	}
	for _, n := range t.Notes {
		fmt.Fprintf(&b, "<p class=\"note\">%s</p>\n", html.EscapeString(format.PrintableLines(n)))
	}
	return b.String()
}

// CSV returns the header and the rows. Where a span is above a column, its text comes before
// that of the header.
func (t *Table) CSV() string {
	if t.prose() {
		return ""
	}
	plain := Table{Rows: t.Rows, Header: make([]string, len(t.Header))}
	for i, h := range t.Header {
		for _, s := range t.spans {
			if i < len(s) {
				plain.Header[i] = strings.TrimSpace(plain.Header[i] + " " + s[i])
			}
		}
		plain.Header[i] = strings.TrimSpace(plain.Header[i] + " " + h)
	}
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
	style.Format.Header, style.Format.Footer = text.FormatDefault, text.FormatDefault
	style.HTML = pretty.HTMLOptions{CSSClass: "table", EscapeText: true, Newline: "<br/>"}
	w.SetStyle(style)
	for _, s := range t.spans {
		w.AppendHeader(cells(s), pretty.RowConfig{AutoMerge: true})
	}
	if len(t.Header) > 0 {
		w.AppendHeader(cells(t.Header), pretty.RowConfig{AutoMerge: len(t.spans) > 0})
	}
	for i, r := range t.Rows {
		w.AppendRow(cells(r))
		if slices.Contains(t.lines, i+1) {
			w.AppendSeparator()
		}
	}
	for _, f := range t.footers {
		w.AppendFooter(cells(f))
	}
	w.SetColumnConfigs(t.columns)
	return w
}

func cells[T any](of []T) pretty.Row {
	row := make(pretty.Row, len(of))
	for i, c := range of {
		row[i] = c
		if reflect.ValueOf(row[i]).Kind() == reflect.String {
			row[i] = format.Printable(fmt.Sprint(c))
		}
	}
	return row
}

// DefaultWidth is the width of text that is not written to a terminal.
const DefaultWidth = 80

// WriteText writes tables with an empty line between them, as wide as the terminal, and leaves out
// nil tables.
func WriteText(w io.Writer, tables ...*Table) error {
	width := DefaultWidth
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
			width = columns
		}
	}
	var parts []string
	for _, t := range tables {
		if t != nil {
			parts = append(parts, t.Text(width))
		}
	}
	_, err := io.WriteString(w, strings.Join(parts, "\n"))
	return err
}

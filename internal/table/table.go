// Package table has the one kind of table that results are shown in: as text, as HTML and as
// CSV.
package table

import (
	"fmt"
	"html"
	"io"
	"reflect"
	"slices"
	"strings"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

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

// Wrap breaks the cells of columns, counted from 1, into lines of at most width characters in
// text.
func (t *Table) Wrap(width int, columns ...int) *Table {
	for _, c := range columns {
		config := t.column(c)
		config.WidthMax, config.WidthMaxEnforcer = width, text.WrapSoft
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

// Text returns the lines of the title, the table in a box, and a line for each note.
func (t *Table) Text() string {
	var b strings.Builder
	if t.Title != "" {
		b.WriteString(format.PrintableLines(t.Title) + "\n")
	}
	if !t.prose() {
		b.WriteString(strings.TrimRight(t.writer().Render(), "\n") + "\n")
	}
	for _, n := range t.Notes {
		b.WriteString(format.PrintableLines(n) + "\n")
	}
	return b.String()
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

// WriteText writes tables with an empty line between them, and leaves out nil tables.
func WriteText(w io.Writer, tables ...*Table) error {
	var parts []string
	for _, t := range tables {
		if t != nil {
			parts = append(parts, t.Text())
		}
	}
	_, err := io.WriteString(w, strings.Join(parts, "\n"))
	return err
}

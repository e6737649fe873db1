package format

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Table collects the rows of a table. Numbers are aligned to the right.
type Table struct {
	w       table.Writer
	columns []table.ColumnConfig
}

// NewTable returns a table with one header cell per column.
func NewTable(header ...any) *Table {
	t := &Table{w: table.NewWriter()}
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	style.Format.Footer = text.FormatDefault
	t.w.SetStyle(style)
	if len(header) > 0 {
		t.w.AppendHeader(header)
	}
	return t
}

// Span adds a header line in which equal neighbouring cells are drawn as one.
func (t *Table) Span(header ...any) {
	t.w.AppendHeader(header, table.RowConfig{AutoMerge: true})
}

// Row adds a row.
func (t *Table) Row(cells ...any) { t.w.AppendRow(cells) }

// Line draws a line below the last row.
func (t *Table) Line() { t.w.AppendSeparator() }

// Right aligns columns, counted from 1, to the right: those whose cells are strings
// such as percentages.
func (t *Table) Right(columns ...int) {
	for _, c := range columns {
		t.columns = append(t.columns, table.ColumnConfig{Number: c, Align: text.AlignRight})
	}
	t.w.SetColumnConfigs(t.columns)
}

// String returns the table, which ends in a line break.
func (t *Table) String() string {
	return strings.TrimRight(t.w.Render(), "\n") + "\n"
}

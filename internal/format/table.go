package format

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Table collects the rows of a table. Numbers are aligned to the right. Control
// characters in cells are replaced, as by Printable.
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
		t.w.AppendHeader(printable(header))
	}
	return t
}

// Wrap breaks the cells of columns, counted from 1, into lines of at most width
// characters.
func (t *Table) Wrap(width int, columns ...int) {
	for _, c := range columns {
		config := t.column(c)
		config.WidthMax, config.WidthMaxEnforcer = width, text.WrapSoft
	}
}

// column returns the configuration of a column, counted from 1.
func (t *Table) column(number int) *table.ColumnConfig {
	for i := range t.columns {
		if t.columns[i].Number == number {
			return &t.columns[i]
		}
	}
	t.columns = append(t.columns, table.ColumnConfig{Number: number})
	return &t.columns[len(t.columns)-1]
}

// Span adds a header line in which equal neighbouring cells are drawn as one.
func (t *Table) Span(header ...any) {
	t.w.AppendHeader(printable(header), table.RowConfig{AutoMerge: true})
}

// Row adds a row.
func (t *Table) Row(cells ...any) { t.w.AppendRow(printable(cells)) }

// Footer adds a row below a line at the end.
func (t *Table) Footer(cells ...any) { t.w.AppendFooter(printable(cells)) }

func printable(cells []any) []any {
	for i, c := range cells {
		if s, ok := c.(string); ok {
			cells[i] = Printable(s)
		}
	}
	return cells
}

// Line draws a line below the last row.
func (t *Table) Line() { t.w.AppendSeparator() }

// Right aligns columns, counted from 1, to the right: those whose cells are strings
// such as percentages.
func (t *Table) Right(columns ...int) {
	for _, c := range columns {
		config := t.column(c)
		config.Align, config.AlignFooter = text.AlignRight, text.AlignRight
	}
}

// String returns the table, which ends in a line break.
func (t *Table) String() string {
	t.w.SetColumnConfigs(t.columns)
	return strings.TrimRight(t.w.Render(), "\n") + "\n"
}

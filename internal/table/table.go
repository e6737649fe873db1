// Package table has the one kind of table that results are shown in: as text, as HTML and as CSV.
package table

import (
	"fmt"
	"html"
	"io"
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

// visible returns the table with the columns hidden, but for the first, that have no value in any row.
func (t *Table) visible() *Table {
	c := &Table{Header: t.Header, Rows: t.Rows, lines: t.lines, columns: slices.Clone(t.columns)}
	for i := 1; i < len(t.Header) && len(t.Rows) > 0; i++ {
		c.column(i + 1).Hidden = !slices.ContainsFunc(t.Rows, func(r []any) bool {
			return len(r) > i && strings.Trim(fmt.Sprint(r[i]), " "+format.Missing) != ""
		})
	}
	return c
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

// Text returns the title, the table, of at most width characters, and the notes, in lines of at most line
// characters unless it is 0.
func (t *Table) Text(width, line int) string {
	var b strings.Builder
	if t.Title != "" {
		b.WriteString(format.WrapLines(t.Title, line, 0) + "\n")
	}
	if !t.prose() {
		b.WriteString(t.visible().grid(width) + "\n")
	}
	for _, n := range t.Notes {
		b.WriteString(format.WrapLines(n, line, 2) + "\n")
	}
	return b.String()
}

// gap is between columns without lines, and a space where no line ends. No cell has it, see format.Printable.
const gap = "\x1f"

// grid draws the table in the first way in which words, and cells aligned to the right, stay whole: in a box,
// in columns without lines between them, otherwise as records. Cells from right to left are isolated.
func (t *Table) grid(width int) string {
	box, open := pretty.StyleLight, pretty.StyleLight
	open.Options.DrawBorder = false
	open.Box.MiddleVertical, open.Box.MiddleSeparator = gap, "──"
	open.Box.PaddingLeft, open.Box.PaddingRight = "", ""
	for _, style := range []pretty.Style{box, open} {
		columns, fits := t.narrowed(width, style.Options.DrawBorder)
		if !fits {
			continue
		}
		w := t.writer(style)
		w.SetColumnConfigs(columns)
		lines := strings.Split(w.Render(), "\n")
		for i, line := range lines { // once the cells have their widths
			parts := strings.Split(line, style.Box.MiddleVertical)
			for j, cell := range parts {
				parts[j] = format.Isolate(cell)
			}
			line = strings.Join(parts, style.Box.MiddleVertical)
			lines[i] = strings.TrimRight(strings.ReplaceAll(line, gap, "  "), " ")
		}
		return strings.Join(lines, "\n")
	}
	return t.records(width)
}

// narrowed returns the columns of a table of at most so many characters, and whether it is that narrow. The
// widest is narrowed first: as far as its header can be wrapped, then down to its longest word.
func (t *Table) narrowed(width int, box bool) ([]pretty.ColumnConfig, bool) {
	widths, cell, word := t.widths()
	over, around := -2-width, 2
	if box {
		over, around = 1-width, 3
	}
	for _, w := range widths {
		if w > 0 {
			over += w + around
		}
	}
	for _, least := range [][]int{cell, word} {
		for widest := 0; over > 0 && widest >= 0; {
			widest = -1
			for i, w := range widths {
				if w > least[i] && (widest < 0 || w > widths[widest]) {
					widest = i
				}
			}
			if widest >= 0 {
				widths[widest]--
				over--
			}
		}
	}
	for i, w := range widths {
		config := t.column(i + 1)
		config.WidthMax, config.WidthMaxEnforcer = w, wrap
	}
	return t.columns, over <= 0
}

// wrap breaks a cell into lines with its indentation.
func wrap(cell string, width int) string {
	indent := indentOf(cell)
	lines := text.WrapSoft(cell[len(indent):], width-len(indent))
	return indent + strings.ReplaceAll(lines, "\n", "\n"+indent)
}

func indentOf(cell string) string { return cell[:len(cell)-len(strings.TrimLeft(cell, " "))] }

// widths returns for each column the widths of its longest cell with the header, of its longest cell or word
// of the header, and of its longest word. Cells that are aligned to the right are one word.
func (t *Table) widths() (whole, cell, word []int) {
	for n, row := range slices.Concat([][]any{cells(t.Header)}, t.Rows) {
		for i, c := range cells(row) {
			if i == len(whole) {
				whole, cell, word = append(whole, 0), append(cell, 1), append(word, 1)
			}
			text, words := fmt.Sprint(c), strings.Fields(fmt.Sprint(c))
			if i < len(t.columns) && t.columns[i].Hidden {
				continue
			}
			if n > 0 && i < len(t.columns) && t.columns[i].Align == right {
				words = []string{strings.TrimLeft(text, " ")}
			}
			for _, w := range words {
				word[i] = max(word[i], len(indentOf(text))+columnsOf(w))
			}
			if whole[i], cell[i] = max(whole[i], columnsOf(text)), max(cell[i], word[i]); n > 0 {
				cell[i] = max(cell[i], columnsOf(text))
			}
		}
	}
	return whole, cell, word
}

// records writes each row in lines: its first cell, then the others with their headers.
func (t *Table) records(width int) string {
	var lines []string
	for _, row := range t.Rows {
		values, indent := []string(nil), ""
		for i, c := range cells(row) {
			value := format.Isolate(strings.TrimSpace(fmt.Sprint(c)))
			if i == 0 {
				indent = indentOf(fmt.Sprint(c))
				lines = append(lines, indent+format.Wrap(value, width, len(indent)+2))
			} else if value != "" && value != format.Missing {
				if i < len(t.Header) {
					value = t.Header[i] + " " + value
				}
				values = append(values, value)
			}
		}
		if values != nil {
			text := strings.ReplaceAll(strings.Join(values, "; "), " %", gap+"%") // in one line
			text = indent + "  " + format.Wrap(text, width, len(indent)+2)
			lines = append(lines, strings.ReplaceAll(text, gap, " "))
		}
	}
	return strings.Join(lines, "\n")
}

// HTML returns a table element with the title as its caption, and a paragraph of class "note"
// for each note. Cells that are aligned to the right have class "number".
func (t *Table) HTML() string {
	var b strings.Builder
	switch {
	case t.prose() && t.Title != "":
		fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(format.PrintableLines(t.Title)))
	case !t.prose():
		style := pretty.StyleLight
		style.HTML = pretty.HTMLOptions{CSSClass: "table", EscapeText: true, Newline: "<br/>"}
		shown := t.visible()
		for i := range shown.columns {
			shown.columns[i].AlignHeader = shown.columns[i].Align
		}
		w := shown.writer(style)
		w.SetTitle("%s", format.PrintableLines(t.Title))
		// A quotation mark of the text is escaped, so that this is an attribute.
		marked := strings.NewReplacer(` align="right"`, ` class="number"`, "<th>&nbsp;</th>", "<td></td>")
		b.WriteString(marked.Replace(w.RenderHTML()) + "\n")
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
	w := (&Table{Header: t.Header, Rows: t.Rows}).writer(pretty.StyleLight)
	return w.RenderCSV() + "\n"
}

// WriteCSV writes the table as CSV.
func (t *Table) WriteCSV(w io.Writer) error {
	_, err := io.WriteString(w, t.CSV())
	return err
}

// writer returns the cells as go-pretty renders them.
func (t *Table) writer(style pretty.Style) pretty.Writer {
	w := pretty.NewWriter()
	style.Format.Header = text.FormatDefault
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
// tables. Elsewhere tables have 80 columns or $COLUMNS, and sentences are not wrapped, so that they can be
// searched.
func WriteText(w io.Writer, tables ...*Table) error {
	const least = 20
	width, line := 80, 0
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n >= least {
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
	{regexp.MustCompile(`(?m)^(next: [^#\n]*[^# \n])`), Bold + "$1" + Plain},
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

package summary

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// namesWidth is where the names of a group's attributes go on in the next line.
const namesWidth = 72

// WriteText writes s as plain text with tables.
func (s Summary) WriteText(w io.Writer) error {
	parts := []string{s.head(), s.partTable()}
	if len(s.Groups) > 0 {
		parts = append(parts, s.groupTable())
	}
	parts = append(parts, s.classTable())
	_, err := io.WriteString(w, strings.Join(parts, "\n")+"\n")
	return err
}

func (s Summary) head() string {
	groups := "whose groups are unknown"
	if len(s.Groups) > 0 {
		groups = fmt.Sprintf("in %d groups", len(s.Groups))
	}
	return fmt.Sprintf(`%s: %d samples of %d classes, %d features each
source: %s
fingerprint: %s
descriptions: by %d attributes, %s; entries not described: %d`,
		s.Name, s.Samples, len(s.Classes), s.Dimensions, s.Source, s.Fingerprint, s.Attributes, groups, s.Undescribed)
}

func (s Summary) partTable() string {
	t := newTable("part", "classes", "samples", "min per class", "median", "max")
	for _, p := range s.Parts {
		t.AppendRow(table.Row{p.Name, p.Classes, p.Samples, p.Min, p.Median, p.Max})
	}
	return t.Render()
}

func (s Summary) groupTable() string {
	t := newTable("group", "attributes", "names")
	t.SetColumnConfigs([]table.ColumnConfig{{Name: "names", WidthMax: namesWidth, WidthMaxEnforcer: text.WrapSoft}})
	for _, g := range s.Groups {
		names := make([]string, len(g.Attributes))
		for i, name := range g.Attributes {
			names[i] = strings.TrimPrefix(name, g.Name+"::")
		}
		t.AppendRow(table.Row{g.Name, len(names), strings.Join(names, ", ")})
	}
	return t.Render()
}

func (s Summary) classTable() string {
	t := newTable("class", "part", "samples", "attributes described")
	for _, c := range s.Classes {
		t.AppendRow(table.Row{c.Name, c.Part, c.Samples, c.Described})
	}
	return t.Render()
}

func newTable(header ...any) table.Writer {
	t := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.AppendHeader(header)
	return t
}

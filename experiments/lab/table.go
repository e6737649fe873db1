package lab

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/lago-train/lago-train/internal/format"
)

// newTable returns an empty table in the style of all that this package prints.
func NewTable(header ...any) table.Writer {
	t := table.NewWriter()
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.AppendHeader(header)
	return t
}

// points is a figure of s in percent, as the paper's tables print it; a dash where s
// is of no values.
func Points(s Summary, figure float64) string {
	if len(s.Values) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", 100*figure)
}

// writeMissing lists the trials that a table does without.
func WriteMissing(b *strings.Builder, list []Missing) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "%s missing:\n", format.Count(len(list), "trial"))
	for _, m := range list {
		fmt.Fprintf(b, "  %s: %s\n", m.Dir, m.Why)
	}
}

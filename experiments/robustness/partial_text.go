package robustness

import (
	"fmt"
	"io"
	"strings"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
)

// WriteText writes a table of accuracy, a row for each share.
func (p *PartialResult) WriteText(w io.Writer) error {
	var b strings.Builder
	which := "any"
	if p.Given == Strongest {
		which = "the strongest"
	}
	fmt.Fprintf(&b, "%s: test accuracy by a part of each class's attributes, %s of them, mean and s.e.m. over %s of the mask\n\n",
		p.Dataset, which, format.Count(p.MaskSeeds, "seed"))
	t := distortedTable("given", p.Shares, p.Methods, func(m Method) []lab.Summary { return m.Accuracy })
	t.AppendSeparator()
	t.AppendRow(startRow("all", p.Methods))
	fmt.Fprintln(&b, t.Render())
	lab.WriteMissing(&b, p.Missing)
	_, err := io.WriteString(w, b.String())
	return err
}

package robustness

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
)

// WriteText writes the curves of the figure as two tables, a row for each ratio:
// accuracy against that without noise, and accuracy.
func (r *NoiseResult) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: test accuracy by descriptions with salt and pepper noise, mean and s.e.m. over %s of the noise\n\n",
		r.Dataset, format.Count(r.NoiseSeeds, "seed"))
	fmt.Fprintln(&b, "relative to the same model without noise")
	tableOf := func(of func(Method) []lab.Summary) table.Writer {
		return distortedTable("noise", r.Ratios, r.Methods, of)
	}
	fmt.Fprintln(&b, tableOf(func(m Method) []lab.Summary { return m.Relative }).Render())
	fmt.Fprintln(&b, "\nper-class accuracy")
	t := tableOf(func(m Method) []lab.Summary { return m.Accuracy })
	t.AppendSeparator()
	t.AppendRow(startRow("no noise", r.Methods))
	fmt.Fprintln(&b, t.Render())
	lab.WriteMissing(&b, r.Missing)
	_, err := io.WriteString(w, b.String())
	return err
}

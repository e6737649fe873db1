package experiments

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// WriteText writes the curves of the figure as two tables, a row for each ratio:
// accuracy against that without noise, and accuracy.
func (r *Robustness) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: test accuracy by descriptions with salt and pepper noise, mean and s.e.m. over %s of the noise\n\n",
		r.Dataset, plural(r.NoiseSeeds, "seed"))
	fmt.Fprintln(&b, "relative to the same model without noise")
	fmt.Fprintln(&b, r.table(func(m NoiseMethod) []Summary { return m.Relative }).Render())
	fmt.Fprintln(&b, "\nper-class accuracy")
	t := r.table(func(m NoiseMethod) []Summary { return m.Accuracy })
	footer := table.Row{"no noise"}
	for _, m := range r.Methods {
		footer = append(footer, fmt.Sprintf("%s, %s", percent(m.Start.Mean), plural(len(m.Start.Values), "seed")))
	}
	t.AppendSeparator()
	t.AppendRow(footer)
	fmt.Fprintln(&b, t.Render())
	writeMissing(&b, r.Missing)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Robustness) table(of func(NoiseMethod) []Summary) table.Writer {
	header := []any{"noise"}
	for _, m := range r.Methods {
		header = append(header, m.Method)
	}
	t := newTable(header...)
	for i, ratio := range r.Ratios {
		row := table.Row{percent(ratio)}
		for _, m := range r.Methods {
			row = append(row, withError(of(m)[i]))
		}
		t.AppendRow(row)
	}
	return t
}

// withError is the mean of a summary and its s.e.m., in percent.
func withError(s Summary) string {
	return fmt.Sprintf("%.1f ± %.1f %%", 100*s.Mean, 100*s.SEM)
}

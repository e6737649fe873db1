package reproduction

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/lago-train/lago-train/experiments/lab"
)

// WriteText writes table A.1, table 1, and what they go without.
func (r *Result) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Table A.1 on %s: per-class accuracy (%%), for reference\n", r.Dataset)
	all := lab.NewTable("method", "val", "s.e.m.", "test", "s.e.m.", "published", "seeds")
	for _, row := range r.Table {
		all.AppendRow(table.Row{
			row.Method, lab.Points(row.Val, row.Val.Mean), lab.Points(row.Val, row.Val.SEM),
			lab.Points(row.Test, row.Test.Mean), lab.Points(row.Test, row.Test.SEM), publishedCell(row.Published), len(row.Test.Values),
		})
	}
	fmt.Fprintln(&b, all.Render())
	for _, o := range r.LeftOut {
		fmt.Fprintf(&b, "%s is left out: %s\n", o.Variant, o.Why)
	}
	lab.WriteMissing(&b, r.Missing)
	fmt.Fprintf(&b, "\nTable 1 on %s: test accuracy (%%)\n", r.Dataset)
	if r.Result == nil {
		fmt.Fprintln(&b, "none, while trials are missing")
	} else {
		result := lab.NewTable("method", "test", "s.e.m.", "published")
		result.AppendRow(table.Row{
			fmt.Sprintf("LAGO (%s)", r.Result.Variant), lab.Points(r.Result.Test, r.Result.Test.Mean),
			lab.Points(r.Result.Test, r.Result.Test.SEM), publishedCell(r.Result.Published),
		})
		fmt.Fprintln(&b, result.Render())
		fmt.Fprintf(&b, "%s was chosen by its val accuracy. This line alone is the result: the test\n"+
			"accuracies above are for reference, and to choose by them would be to choose on\nthe test classes.\n", r.Result.Variant)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// publishedCell has the one digit of the paper's table.
func publishedCell(accuracy *float64) string {
	if accuracy == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100**accuracy)
}

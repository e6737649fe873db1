package ablation

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/model"
)

// The words of the paper's table A.2.
var paperWords = map[string]string{
	string(model.Uniform):      "Uniform",
	string(model.PerAttribute): "Per-attribute",
	string(model.Const):        "Const",
	string(model.DeMorgan):     "DeMorgan",
	string(Implicit):           "Implicit",
	string(Explicit):           "Explicit",
}

// WriteText writes the table in the form of the paper's, in percent, what the paper
// found in its own, and the trials that are missing.
func (a *Result) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s: val accuracy (%%) by design, %s, alpha %g where explicit\n",
		a.Variant, a.Dataset, format.Count(len(a.Seeds), "seed"), a.Alpha)
	fmt.Fprintln(&b, a.table().Render())
	if len(a.Findings) > 0 {
		fmt.Fprintln(&b, "what the paper found on its data (table A.2), by means, here:")
	}
	for _, f := range a.Findings {
		verdict := "holds  "
		if !f.Holds {
			verdict = "differs"
		}
		fmt.Fprintf(&b, "  %s  %s\n", verdict, f.Text)
	}
	lab.WriteMissing(&b, a.Missing)
	_, err := io.WriteString(w, b.String())
	return err
}

func (a *Result) table() table.Writer {
	header := []any{"p(a_m)", "p(ac|x)", "attribute supervision", "accuracy", "s.e.m.", "seeds"}
	inPaper := a.Rows[0].Published != nil
	if inPaper {
		header = append(header, "published")
	}
	t := lab.NewTable(header...)
	for _, r := range a.Rows {
		row := table.Row{
			paperWords[string(r.Prior)], paperWords[string(r.Complement)], paperWords[string(r.Supervision)],
			lab.Points(r.Accuracy, r.Accuracy.Mean), lab.Points(r.Accuracy, r.Accuracy.SEM), len(r.Accuracy.Values),
		}
		if inPaper {
			row = append(row, fmt.Sprintf("%.2f", 100**r.Published))
		}
		t.AppendRow(row)
	}
	return t
}

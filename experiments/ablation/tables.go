package ablation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/engine"
	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/metrics"
)

// The words of the paper's table A.2.
var paperWords = map[string]string{
	string(model.Uniform):      "Uniform",
	string(model.PerAttribute): "Per-attribute",
	string(model.PerGroup):     "Per-group",
	string(model.Const):        "Const",
	string(model.DeMorgan):     "DeMorgan",
	string(Implicit):           "Implicit",
	string(Explicit):           "Explicit",
}

// Tables are the table in the form of the paper's, its findings, and the missing trials.
func (a *Result) Tables() []*table.Table {
	return []*table.Table{a.table(), a.findingsTable(), lab.MissingTable(a.Missing)}
}

func (a *Result) table() *table.Table {
	explicit := "alpha " + strings.Join(texts(a.Alphas), ", ") + " where explicit"
	if len(a.Alphas) > 1 {
		explicit = "explicit with the best alpha of " + strings.Join(texts(a.Alphas), ", ") + " by the same accuracy"
	}
	title := fmt.Sprintf("%s on %s: validation accuracy by design, %s, %s%s",
		a.Variant, a.Dataset, format.Count(len(a.Seeds), "seed"), explicit, engine.InParts("a validation class", a.Parts))
	t := table.New(title, "p(a_m)", "p(ac|x)", "supervision", "accuracy", "s.e.m. over seeds", "seeds", "difference", "p")
	inPaper := slices.ContainsFunc(a.Rows, func(r Row) bool { return r.Published != nil })
	if inPaper {
		t.Header = append(t.Header, "published")
	}
	t.Right(4, 5, 7, 8, 9)
	for _, r := range a.Rows {
		supervision := paperWords[string(r.Supervision)]
		if r.Supervision == Explicit && len(a.Alphas) > 1 {
			supervision += fmt.Sprintf(", alpha %v", r.Alpha)
		}
		difference, p := "-", "-"
		if d := r.Difference; d != nil {
			difference, p = points(*d), fmt.Sprintf("%.2g", d.P)
		}
		row := []any{
			paperWords[string(r.Prior)], paperWords[string(r.Complement)], supervision,
			r.Accuracy.MeanText(), r.Accuracy.SEMText(), len(r.Accuracy.Values), difference, p,
		}
		if inPaper && r.Published != nil {
			row = append(row, format.Percent(*r.Published))
		}
		t.Row(row...)
	}
	if slices.ContainsFunc(a.Rows, func(r Row) bool { return r.Difference != nil }) {
		t.Note("difference: points from uniform, const, implicit, with 95 %% interval over classes; p: by permutation, Holm")
	}
	return t
}

func (a *Result) findingsTable() *table.Table {
	if len(a.Findings) == 0 {
		return nil
	}
	t := table.New("findings of the paper (table A.2), each with the difference that it states to be above 0:")
	for _, f := range a.Findings {
		verdict, difference := "holds", ""
		if !f.Holds {
			verdict = "differs"
		}
		if d := f.Difference; d != nil {
			difference = fmt.Sprintf(": %s, p %.2g", points(*d), d.P)
			if d.P >= metrics.Significance {
				verdict = "unclear"
			}
		}
		t.Note("  %-7s  %s%s", verdict, f.Text, difference)
	}
	return t
}

// points returns a difference in percentage points.
func points(d metrics.Difference) string {
	return fmt.Sprintf("%s (%s)", format.Points(d.Mean), d.Interval)
}

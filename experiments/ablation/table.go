package ablation

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/train/metrics"
)

// Finding is a statement of the paper on its table A.2 (section 4.4).
type Finding struct {
	Text  string `json:"finding"`
	Holds bool   `json:"holds"` // by the means, whether or not the difference is clear
	// Difference is what the statement says is above 0, over the validation classes, with p
	// corrected by Holm over the findings. Which designs are best, worst, lower or higher is
	// taken from the means, so that p is too small where they are close. Null without
	// accuracies of each class.
	Difference *metrics.Difference `json:"difference"`
}

// compareRows sets the differences of the rows.
func compareRows(rows []Row) {
	reference := slices.IndexFunc(rows, func(r Row) bool { return r.Design == lago })
	var differences []*metrics.Difference
	for i := range rows {
		if i == reference || len(rows[i].classes) == 0 || len(rows[reference].classes) == 0 {
			continue
		}
		d := metrics.PairedDifference(rows[i].classes, rows[reference].classes)
		rows[i].Difference = &d
		differences = append(differences, &d)
	}
	correct(differences)
}

// correct replaces the p values of differences by those of Holm.
func correct(differences []*metrics.Difference) {
	p := make([]float64, len(differences))
	for i, d := range differences {
		p[i] = d.P
	}
	for i, adjusted := range metrics.Holm(p) {
		differences[i].P = adjusted
	}
}

// level is the accuracy of a design, the mean of several, or a difference.
type level struct {
	mean    float64
	classes []float64 // nil if not known
}

func levelOf(rows ...Row) level {
	l := level{classes: make([]float64, len(rows[0].classes))}
	for _, r := range rows {
		l.mean += r.Accuracy.Mean / float64(len(rows))
		if len(r.classes) != len(l.classes) {
			l.classes = nil
		}
		for z := range l.classes {
			l.classes[z] += r.classes[z] / float64(len(rows))
		}
	}
	return l
}

// gap is the best of some rows, in this order, minus the worst.
func gap(rows []Row) level {
	best, worst := levelOf(rows[0]), levelOf(rows[len(rows)-1])
	best.mean -= worst.mean
	if len(best.classes) != len(worst.classes) {
		best.classes = nil
	}
	for z := range best.classes {
		best.classes[z] -= worst.classes[z]
	}
	return best
}

// above is the finding that one level is above another.
func (l level) above(other level, text string) Finding {
	f := Finding{Text: text, Holds: l.mean > other.mean}
	if len(l.classes) > 0 && len(l.classes) == len(other.classes) {
		d := metrics.PairedDifference(l.classes, other.classes)
		f.Difference = &d
	}
	return f
}

// findings returns none if a row has no accuracy.
func findings(rows []Row) []Finding {
	row := map[Design]Row{}
	for _, r := range rows {
		if len(r.Accuracy.Values) == 0 && r.Design != perGroup {
			return []Finding{}
		}
		row[r.Design] = r
	}
	// of returns the rows of the paper's designs that have a property, best first.
	of := func(in func(Design) bool) []Row {
		var list []Row
		for _, d := range designs() {
			if in(d) {
				list = append(list, row[d])
			}
		}
		slices.SortStableFunc(list, byAccuracy)
		return list
	}
	others := of(func(d Design) bool { return d != lago })
	uniform := of(func(d Design) bool { return d.Prior == model.Uniform })
	perAttribute := of(func(d Design) bool { return d.Prior == model.PerAttribute })
	constant := of(func(d Design) bool { return d.Prior == model.Uniform && d.Complement == model.Const })
	deMorgan := of(func(d Design) bool { return d.Prior == model.Uniform && d.Complement == model.DeMorgan })
	list := []Finding{
		levelOf(row[lago]).above(levelOf(others[0]), "uniform, const and implicit, the design of LAGO, is the best of all"),
		levelOf(uniform...).above(levelOf(perAttribute...), "each design is better with a uniform prior than with a per-attribute one"),
		gap(perAttribute).above(gap(uniform), "best and worst are closer together with a uniform prior than with a per-attribute one"),
		levelOf(constant...).above(levelOf(deMorgan...), "with a uniform prior, const is above De-Morgan"),
		gap(deMorgan).above(gap(constant), "with a uniform prior, supervision changes less with const than with De-Morgan"),
	}
	for _, u := range uniform {
		other := row[Design{model.PerAttribute, u.Complement, u.Supervision}]
		list[1].Holds = list[1].Holds && u.Accuracy.Mean > other.Accuracy.Mean
	}
	list[3].Holds = constant[1].Accuracy.Mean > deMorgan[0].Accuracy.Mean
	var differences []*metrics.Difference
	for _, f := range list {
		if f.Difference != nil {
			differences = append(differences, f.Difference)
		}
	}
	correct(differences)
	return list
}

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

// WriteText writes the table in the form of the paper's, its findings, and the missing
// trials.
func (a *Result) WriteText(w io.Writer) error {
	var b strings.Builder
	explicit := "alpha " + strings.Join(texts(a.Alphas), ", ") + " where explicit"
	if len(a.Alphas) > 1 {
		explicit = "explicit with the best alpha of " + strings.Join(texts(a.Alphas), ", ") + " by the same accuracy"
	}
	fmt.Fprintf(&b, "%s on %s: validation accuracy by design, %s, %s%s\n", a.Variant, a.Dataset, format.Count(len(a.Seeds), "seed"), explicit, protocol.InParts("a validation class", a.Parts))
	b.WriteString(a.table().String())
	if slices.ContainsFunc(a.Rows, func(r Row) bool { return r.Difference != nil }) {
		fmt.Fprintln(&b, "difference: points from uniform, const, implicit, with 95 % interval over classes; p: by permutation, Holm")
	}
	if len(a.Findings) > 0 {
		fmt.Fprintln(&b, "findings of the paper (table A.2), each with the difference that it states to be above 0:")
	}
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
		fmt.Fprintf(&b, "  %-7s  %s%s\n", verdict, f.Text, difference)
	}
	b.WriteString(lab.MissingText(a.Missing))
	_, err := io.WriteString(w, b.String())
	return err
}

// points returns a difference in percentage points.
func points(d metrics.Difference) string {
	return fmt.Sprintf("%s (%s)", format.Points(d.Mean), d.Interval)
}

func texts(numbers []float64) []string {
	list := make([]string, len(numbers))
	for i, v := range numbers {
		list[i] = fmt.Sprint(v)
	}
	return list
}

func (a *Result) table() *format.Table {
	header := []any{"p(a_m)", "p(ac|x)", "supervision", "accuracy", "s.e.m. over seeds", "seeds", "difference", "p"}
	inPaper := slices.ContainsFunc(a.Rows, func(r Row) bool { return r.Published != nil })
	if inPaper {
		header = append(header, "published")
	}
	t := format.NewTable(header...)
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
	return t
}

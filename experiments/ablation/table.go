package ablation

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/model"
)

// Finding is a statement of the paper on its table A.2 (section 4.4), and whether it
// holds here.
type Finding struct {
	Text  string `json:"finding"`
	Holds bool   `json:"holds"`
}

// findings compares means; it does not test their differences. It returns none if a row
// has no accuracy.
func findings(rows []Row) []Finding {
	mean := map[Design]float64{}
	for _, r := range rows {
		if r.Design == perGroup {
			continue // not in the paper
		}
		if len(r.Accuracy.Values) == 0 {
			return []Finding{}
		}
		mean[r.Design] = r.Accuracy.Mean
	}
	// span returns the lowest and the highest mean of some designs.
	span := func(in func(Design) bool) (low, high float64) {
		low, high = math.Inf(1), math.Inf(-1)
		for d, m := range mean {
			if in(d) {
				low, high = min(low, m), max(high, m)
			}
		}
		return low, high
	}
	uniformAbove := true // in each pair of designs that differ only in the prior
	for d, m := range mean {
		if d.Prior == model.Uniform {
			uniformAbove = uniformAbove && m > mean[Design{model.PerAttribute, d.Complement, d.Supervision}]
		}
	}
	uniformLow, uniformHigh := span(func(d Design) bool { return d.Prior == model.Uniform })
	perAttributeLow, perAttributeHigh := span(func(d Design) bool { return d.Prior == model.PerAttribute })
	constLow, constHigh := span(func(d Design) bool { return d.Prior == model.Uniform && d.Complement == model.Const })
	deMorganLow, deMorganHigh := span(func(d Design) bool { return d.Prior == model.Uniform && d.Complement == model.DeMorgan })
	return []Finding{
		{
			"uniform, const and implicit, the design of LAGO, is the best of all",
			mean[Design{model.Uniform, model.Const, Implicit}] == uniformHigh && uniformHigh > perAttributeHigh,
		},
		{"each design is better with a uniform prior than with a per-attribute one", uniformAbove},
		{
			"best and worst are closer together with a uniform prior than with a per-attribute one",
			uniformHigh-uniformLow < perAttributeHigh-perAttributeLow,
		},
		{"with a uniform prior, const is above De-Morgan", constLow > deMorganHigh},
		{
			"with a uniform prior, supervision changes less with const than with De-Morgan",
			constHigh-constLow < deMorganHigh-deMorganLow,
		},
	}
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
	fmt.Fprintf(&b, "%s on %s: validation accuracy by design, %s, alpha %g where explicit\n",
		a.Variant, a.Dataset, format.Count(len(a.Seeds), "seed"), a.Alpha)
	b.WriteString(a.table().String())
	if len(a.Findings) > 0 {
		fmt.Fprintln(&b, "findings of the paper (table A.2), by the means above:")
	}
	for _, f := range a.Findings {
		verdict := "holds  "
		if !f.Holds {
			verdict = "differs"
		}
		fmt.Fprintf(&b, "  %s  %s\n", verdict, f.Text)
	}
	b.WriteString(lab.MissingText(a.Missing))
	_, err := io.WriteString(w, b.String())
	return err
}

func (a *Result) table() *format.Table {
	header := []any{"p(a_m)", "p(ac|x)", "attribute supervision", "accuracy", "s.e.m. over seeds", "seeds"}
	inPaper := slices.ContainsFunc(a.Rows, func(r Row) bool { return r.Published != nil })
	if inPaper {
		header = append(header, "published")
	}
	t := format.NewTable(header...)
	t.Right(4, 5, 7)
	for _, r := range a.Rows {
		row := []any{
			paperWords[string(r.Prior)], paperWords[string(r.Complement)], paperWords[string(r.Supervision)],
			r.Accuracy.MeanText(), r.Accuracy.SEMText(), len(r.Accuracy.Values),
		}
		switch {
		case r.Published != nil:
			row = append(row, format.Percent(*r.Published))
		case inPaper:
			row = append(row, "-")
		}
		t.Row(row...)
	}
	return t
}

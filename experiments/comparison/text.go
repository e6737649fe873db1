package comparison

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/train/metrics"
)

// WriteText writes the table, the differences, and the chosen settings.
func (r *Result) WriteText(w io.Writer) error {
	var b strings.Builder
	chosen := "settings chosen on the validation classes"
	if r.Folds > 1 {
		chosen = fmt.Sprintf("settings chosen over %d folds of the seen classes", r.Folds)
	}
	test := "test"
	if r.Parts > 1 {
		test = "unseen"
	}
	fmt.Fprintf(&b, "Methods on %s: per-class accuracy%s, %s\n", r.Dataset, protocol.InParts("unseen", r.Parts), chosen)
	header := []any{"method", "validation", test, "95 % over classes", "s.e.m. over seeds", "published", "seconds", "seeds", "tried"}
	t := format.NewTable(header...)
	t.Right(2, 3, 5, 6, 7, 8, 9)
	for _, m := range r.Methods {
		t.Row(
			m.Label(), m.Val.PerClass.MeanText(), m.Test.PerClass.MeanText(), m.Test.Interval, m.Test.PerClass.SEMText(),
			cmp.Or(m.Published, "-"), fmt.Sprintf("%.1f", m.Seconds), len(m.Test.PerClass.Values), m.Tried,
		)
	}
	b.WriteString(t.String())
	if len(r.Methods) > 0 && r.Methods[0].Adapted != nil {
		r.writeAdapted(&b)
	}
	for _, note := range r.PublishedNotes() {
		fmt.Fprintln(&b, note)
	}
	r.writeDifferences(&b)
	fmt.Fprintln(&b, "settings chosen:")
	for _, m := range r.Methods {
		for _, line := range m.Chosen() {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	for _, o := range r.LeftOut {
		fmt.Fprintf(&b, "%s is left out: %s\n", o.Variant, o.Why)
	}
	b.WriteString(lab.MissingText(r.Missing))
	_, err := io.WriteString(w, b.String())
	return err
}

// writeDifferences writes the differences and what may be concluded from them.
func (r *Result) writeDifferences(b *strings.Builder) {
	if len(r.Differences) == 0 {
		return
	}
	reference := r.Method(r.Differences[0].Reference).Label()
	fmt.Fprintf(b, "%s minus each method, over %d classes:\n", reference, len(r.Classes))
	t := format.NewTable("method", "difference (%)", "95 % over classes", "p", "p (Holm)")
	t.Right(2, 3, 4, 5)
	var more, less, undecided []string
	for _, d := range r.Differences {
		method := r.Method(d.Method).Label()
		t.Row(method, format.Points(d.Mean), d.Interval, fmt.Sprintf("%.2g", d.P), fmt.Sprintf("%.2g", d.Holm))
		switch {
		case d.Holm >= metrics.Significance:
			undecided = append(undecided, method)
		case d.Mean > 0:
			more = append(more, method)
		default:
			less = append(less, method)
		}
	}
	b.WriteString(t.String())
	list := func(names []string) string { return cmp.Or(strings.Join(names, ", "), "none") }
	fmt.Fprintf(b, "%s is more accurate than: %s; less accurate than: %s; cannot be ranked on these classes (p by Holm at least %g): %s\n",
		reference, list(more), list(less), metrics.Significance, list(undecided))
}

// PublishedNotes say how the published numbers differ from those beside them; there are
// none without published numbers.
func (r *Result) PublishedNotes() []string {
	if !slices.ContainsFunc(r.Methods, func(m tuning.Method) bool { return m.Published != "" }) {
		return nil
	}
	held := "with them"
	if r.HoldOut {
		held = "without them"
	}
	return []string{
		"published: table A.1 of the paper, on the data set's own test classes.",
		"Its baselines were trained without the held-out samples of seen classes (trainval_loc), its LAGO with them.",
		"Here every method is trained " + held + ".",
	}
}

// writeAdapted writes the effect of adaptation on the test classes.
func (r *Result) writeAdapted(b *strings.Builder) {
	fmt.Fprintf(b, "transductive (adapted to the unlabelled samples) minus inductive, over %d classes:\n", len(r.Classes))
	t := format.NewTable("method", "transductive", "95 % over classes", "difference (%)", "95 % over classes", "temperature, tau")
	t.Right(2, 4)
	for _, m := range r.Methods {
		var settings []string
		for _, s := range m.Adapted.Settings {
			if s.Tau == 0 {
				settings = append(settings, "off")
				continue
			}
			settings = append(settings, fmt.Sprintf("%.3g, %g", s.Temperature, s.Tau))
		}
		d := m.Adapted.Difference
		t.Row(m.Label(), format.Percent(m.Adapted.Test), m.Adapted.Interval, format.Points(d.Mean), d.Interval, strings.Join(settings, "; "))
	}
	b.WriteString(t.String())
}

package evaluation

import (
	"fmt"
	"io"
	"strings"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/train/metrics"
)

// WriteText writes accuracy, calibration, coverage and the most frequent mistakes as
// tables.
func (r *Result) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s of %s\n", r.Source.title(), format.Count(r.Samples, "sample"), format.Count(r.Classes, "class"))
	r.Source.writeModels(&b)
	fmt.Fprintf(&b, "\n%s", r.accuracyTable())
	if r.Adapted != nil {
		fmt.Fprintf(&b, "\n%s", r.Adapted)
	}
	if r.Calibrated != nil {
		fmt.Fprintf(&b, "\n%s", r.stackingTable())
	}
	if len(r.calibrations()) > 0 {
		fmt.Fprintf(&b, "\nCalibration of the probabilities\n%s", r.calibrationTable())
		fmt.Fprintf(&b, "\nPer-sample accuracy of the most confident samples\n%s", r.coverageTable())
	}
	if len(r.Mistakes) > 0 {
		t := format.NewTable("true class", "predicted", "samples", "of the class")
		for _, m := range r.Mistakes {
			t.Row(m.True, m.Predicted, m.Samples, format.Percent(m.Share))
		}
		t.Right(4)
		fmt.Fprintf(&b, "\nMost frequent mistakes\n%s", t)
	}
	if v := r.Validation; v != nil {
		fmt.Fprintf(&b, "\nValidated with %s of %s: %s\n", format.Count(v.Samples, "sample"), format.Count(v.Classes, "class"), strings.Join(v.Of, ", "))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "\nNote: %s.\n", format.Printable(note))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s Source) title() string {
	if s.Scores != "" {
		return s.Scores
	}
	return fmt.Sprintf("%s, %s", format.Printable(s.Dataset), s.Split)
}

func (s Source) writeModels(b *strings.Builder) {
	if len(s.Models) == 1 {
		fmt.Fprintf(b, "predicted by %s, seed %d, %s\n", s.Models[0].Method, s.Models[0].Seed, s.Models[0].Path)
		return
	}
	if len(s.Models) > 1 {
		fmt.Fprintln(b, "predicted by the mean probabilities of")
	}
	for _, m := range s.Models {
		fmt.Fprintf(b, "  %s, seed %d, alone %s per class (95 %% over classes: %s), %s\n", m.Method, m.Seed, format.Percent(m.PerClass), m.Interval, m.Path)
	}
}

func (r *Result) accuracyTable() *format.Table {
	t := format.NewTable("accuracy", "per class", "95 % over classes", "per sample")
	t.Right(2, 3, 4)
	t.Row("top 1", format.Percent(r.PerClass), r.Intervals.PerClass, format.Percent(r.PerSample))
	t.Row("top 5", format.Percent(r.Top5), r.Intervals.Top5, format.Percent(r.Top5PerSample))
	if r.Seen != nil {
		t.Row("unseen among unseen (zsl)", format.Percent(r.ZSL), r.Intervals.ZSL)
		t.Row("seen among all", format.Percent(*r.Seen), r.Intervals.Seen)
		t.Row("unseen among all", format.Percent(*r.Unseen), r.Intervals.Unseen)
		t.Row("harmonic mean", format.Percent(*r.HarmonicMean), r.Intervals.Mean)
		t.Row("area under the seen-unseen curve", fmt.Sprintf("%.4f", *r.AUSUC))
	}
	return t
}

func (r *Result) stackingTable() *format.Table {
	t := format.NewTable("(95 % over classes)", "seen", "unseen", "harmonic mean")
	t.Right(2, 3, 4)
	row := func(name string, a metrics.Generalised, i metrics.GeneralisedInterval) {
		cell := func(accuracy float64, i metrics.Interval) string {
			return fmt.Sprintf("%s (%s)", format.Percent(accuracy), i)
		}
		t.Row(name, cell(a.Seen, i.Seen), cell(a.Unseen, i.Unseen), cell(a.Mean, i.Mean))
	}
	row("as scored", metrics.Generalised{Seen: *r.Seen, Unseen: *r.Unseen, Mean: *r.HarmonicMean}, r.Intervals.GeneralisedInterval)
	row(fmt.Sprintf("calibrated, gamma %.4g", r.Calibrated.Gamma), r.Calibrated.Generalised, r.Calibrated.Intervals)
	return t
}

func (r *Result) calibrationTable() *format.Table {
	rows := [][]any{{""}, {"expected calibration error, " + format.Count(len(r.calibrations()[0].Reliability), "bin")}, {"negative log-likelihood"}, {"area under the risk-coverage curve"}}
	for _, c := range r.calibrations() {
		for i, cell := range []string{c.label, fmt.Sprintf("%.4f", *c.ECE), fmt.Sprintf("%.4f", *c.NLL), fmt.Sprintf("%.4f", *c.AURC)} {
			rows[i] = append(rows[i], cell)
		}
	}
	t := format.NewTable(rows[0]...)
	t.Right(2, 3)
	for _, row := range rows[1:] {
		t.Row(row...)
	}
	return t
}

func (r *Result) coverageTable() *format.Table {
	list := r.calibrations()
	header := []any{"coverage", "samples"}
	for _, c := range list {
		header = append(header, c.label)
	}
	t := format.NewTable(header...)
	t.Right(1, 3, 4)
	for i, p := range list[0].Coverage {
		cells := []any{fmt.Sprintf("%.0f %%", 100*p.Coverage), p.Samples}
		for _, c := range list {
			cells = append(cells, format.Percent(c.Coverage[i].Accuracy))
		}
		t.Row(cells...)
	}
	return t
}

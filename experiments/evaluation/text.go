package evaluation

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/lago-train/lago-train/experiments/lab"
	"github.com/lago-train/lago-train/internal/format"
)

// WriteText writes the figures as tables: accuracy, calibration, coverage, and the
// pairs of classes that are confused most.
func (e *Result) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s of %d classes\n", e.Source.title(), format.Count(e.Samples, "sample"), e.Classes)
	e.Source.list(&b)
	fmt.Fprintf(&b, "\n%s\n", e.accuracyTable().Render())
	if e.Calibrated != nil {
		fmt.Fprintf(&b, "\n%s\n", e.generalisedTable().Render())
	}
	if len(e.trusted()) > 0 {
		fmt.Fprintf(&b, "\nprobabilities\n%s\n", e.trustTable().Render())
		fmt.Fprintf(&b, "\naccuracy of the most confident samples, per sample\n%s\n", e.coverageTable().Render())
	}
	if len(e.Mistakes) > 0 {
		fmt.Fprintf(&b, "\nconfused most\n%s\n", e.mistakesTable().Render())
	}
	if v := e.Validation; v != nil {
		fmt.Fprintf(&b, "\nvalidated by %s of %d classes: %s\n", format.Count(v.Samples, "sample"), v.Classes, strings.Join(v.Of, ", "))
	}
	for _, note := range e.Notes {
		fmt.Fprintf(&b, "\nnote: %s\n", note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s Source) title() string {
	if s.Scores != "" {
		return s.Scores
	}
	return fmt.Sprintf("%s, %s", s.Dataset, s.Split)
}

// list names the models.
func (s Source) list(b *strings.Builder) {
	if len(s.Models) == 1 {
		fmt.Fprintf(b, "judged by %s, seed %d, %s\n", s.Models[0].Method, s.Models[0].Seed, s.Models[0].Path)
		return
	}
	if len(s.Models) > 1 {
		fmt.Fprintln(b, "judged by the mean probabilities of")
	}
	for _, m := range s.Models {
		fmt.Fprintf(b, "  %s, seed %d, alone %s per class, %s\n", m.Method, m.Seed, format.Percent(m.PerClass), m.Path)
	}
}

func (e *Result) accuracyTable() table.Writer {
	t := lab.NewTable("accuracy", "per class", "per sample")
	t.AppendRow(table.Row{"top 1", format.Percent(e.PerClass), format.Percent(e.PerSample)})
	t.AppendRow(table.Row{"top 5", format.Percent(e.Top5), format.Percent(e.Top5PerSample)})
	if e.Seen == nil {
		return t
	}
	t.AppendRow(table.Row{"unseen among unseen (zsl)", format.Percent(e.ZSL), ""})
	t.AppendRow(table.Row{"seen among all", format.Percent(*e.Seen), ""})
	t.AppendRow(table.Row{"unseen among all", format.Percent(*e.Unseen), ""})
	t.AppendRow(table.Row{"harmonic mean", format.Percent(*e.HarmonicMean), ""})
	t.AppendRow(table.Row{"area under the seen-unseen curve", fmt.Sprintf("%.4f", *e.AUSUC), ""})
	return t
}

func (e *Result) generalisedTable() table.Writer {
	t := lab.NewTable("", "seen", "unseen", "harmonic mean")
	t.AppendRow(table.Row{"as scored", format.Percent(*e.Seen), format.Percent(*e.Unseen), format.Percent(*e.HarmonicMean)})
	c := e.Calibrated
	t.AppendRow(table.Row{fmt.Sprintf("calibrated, gamma %.4g", c.Gamma), format.Percent(c.Seen), format.Percent(c.Unseen), format.Percent(c.Mean)})
	return t
}

func (e *Result) trustTable() table.Writer {
	trusted := e.trusted()
	header := []any{""}
	for _, t := range trusted {
		header = append(header, t.name)
	}
	t := lab.NewTable(header...)
	for _, figure := range []struct {
		name string
		of   func(*Trust) float64
	}{
		{fmt.Sprintf("expected calibration error, %d bins", len(trusted[0].Reliability)), func(t *Trust) float64 { return *t.ECE }},
		{"negative log-likelihood", func(t *Trust) float64 { return *t.NLL }},
		{"area under the risk-coverage curve", func(t *Trust) float64 { return *t.AURC }},
	} {
		row := table.Row{figure.name}
		for _, t := range trusted {
			row = append(row, fmt.Sprintf("%.4f", figure.of(t.Trust)))
		}
		t.AppendRow(row)
	}
	return t
}

func (e *Result) coverageTable() table.Writer {
	trusted := e.trusted()
	header := []any{"coverage", "samples"}
	for _, t := range trusted {
		header = append(header, t.name)
	}
	t := lab.NewTable(header...)
	for i, p := range trusted[0].Coverage {
		row := table.Row{fmt.Sprintf("%.0f %%", 100*p.Coverage), p.Samples}
		for _, t := range trusted {
			row = append(row, format.Percent(t.Coverage[i].Accuracy))
		}
		t.AppendRow(row)
	}
	return t
}

func (e *Result) mistakesTable() table.Writer {
	t := lab.NewTable("true class", "named", "samples", "of the class")
	for _, m := range e.Mistakes {
		t.AppendRow(table.Row{m.True, m.Named, m.Samples, format.Percent(m.Share)})
	}
	return t
}

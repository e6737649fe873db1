package evaluation

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/train/metrics"
)

// Tables shows accuracy, calibration and the most frequent mistakes.
func (r *Evaluation) Tables() []*table.Table {
	list := []*table.Table{r.sourceTable(), r.accuracyTable()}
	if r.Adapted != nil {
		list = append(list, r.Adapted.table())
	}
	if r.Seen != nil {
		list = append(list, r.generalisedTable())
	}
	if len(r.calibrations) > 0 {
		list = append(list, r.calibrationTable())
	}
	if len(r.Mistakes) > 0 {
		t := table.New("Most frequent mistakes", "true class", "predicted", "samples", "of the class").
			Right(4)
		for _, m := range r.Mistakes {
			t.Row(m.True, m.Predicted, m.Samples, format.Percent(m.Share))
		}
		list = append(list, t)
	}
	for _, note := range r.Notes {
		list = append(list, table.New("Note: "+note+"."))
	}
	return list
}

func (s Source) title() string {
	title := fmt.Sprintf("%s, %s", format.Printable(s.Dataset), s.Split)
	if s.Candidates != s.Split+" classes" {
		title += " among " + format.Printable(s.Candidates)
	}
	return title
}

// sourceTable says what was evaluated.
func (r *Evaluation) sourceTable() *table.Table {
	t := table.New(fmt.Sprintf("%s: %s of %s", r.Source.title(), format.Count(r.Samples, "sample"),
		format.Count(r.Classes, "class")))
	if seen := r.Classes - r.UnseenClasses; seen > 0 {
		t.Note("unseen: %s of %s; seen: %s of %s", format.Count(r.UnseenSamples, "sample"),
			format.Count(r.UnseenClasses, "class"),
			format.Count(r.Samples-r.UnseenSamples, "sample"), format.Count(seen, "class"))
	}
	return t.Note("predicted by %s, seed %d, %s", r.Source.Method, r.Source.Seed, r.Source.Model)
}

func (r *Evaluation) accuracyTable() *table.Table {
	over := "classes"
	if len(r.ByClass) == 1 { // see metrics.Tally
		over = "samples"
	}
	t := table.New("", "accuracy", "per class", "95 % over "+over, "per sample").Right(2, 3, 4)
	t.Row("top 1", format.Percent(r.PerClass), r.Intervals.PerClass, format.Percent(r.PerSample))
	if r.Seen != nil {
		t.Row("unseen among unseen (zsl)", format.Percent(r.ZSL), r.Intervals.ZSL)
	}
	return t
}

// table compares the predictions.
func (r *Transductive) table() *table.Table {
	title := fmt.Sprintf("Adapted to the unlabelled batch (transductive): temperature %.3g, "+
		"tau %g, %s, %s changed",
		r.Temperature, r.Tau, format.Count(r.Rounds, "round"), format.Count(r.Changed, "prediction"))
	t := table.New(title, "predictions", "per class", "95 % over classes", "per sample").Right(2, 3, 4)
	t.Row("inductive", format.Percent(r.inductive.PerClass), r.interval,
		format.Percent(r.inductive.PerSample))
	t.Row("transductive", format.Percent(r.PerClass), r.Interval, format.Percent(r.PerSample))
	t.Row("difference", format.Points(r.Difference.Mean), r.Difference.Interval,
		format.Points(r.PerSample-r.inductive.PerSample))
	t.Note("p = %.2g by paired permutation over classes", r.Difference.P)
	if r.Warning != "" {
		t.Note("Warning: %s.", r.Warning)
	}
	if r.Declined {
		t.Note("Not adapted: most of the candidate classes seem to be absent.")
	}
	return t
}

// StackingHeader has the columns of Stacking.Cells, which are numbers.
var StackingHeader = []string{"seen", "unseen", "harmonic mean", "95 % over classes", "AUSUC"}

// Cells are the accuracies in a row of a table.
func (s Stacking) Cells() []any {
	return []any{
		format.Percent(s.Seen), format.Percent(s.Unseen), format.Percent(s.Mean), s.Intervals.Mean,
		fmt.Sprintf("%.3f", s.AUSUC),
	}
}

// generalisedTable has the accuracies among seen and unseen classes, as scored, without correction and with
// calibrated stacking.
func (r *Evaluation) generalisedTable() *table.Table {
	t := table.New("seen and unseen classes as candidates", append([]string{""}, StackingHeader...)...).
		Right(2, 3, 4, 5, 6)
	row := func(name string, s Stacking) { t.Row(append([]any{name}, s.Cells()...)...) }
	row("as scored", r.asScored)
	if omega := r.asScored.Omega; omega > 0 {
		t.Note("as scored: corrected, omega %g, as predict and explain do", omega)
		row("raw: without correction", *r.Raw)
	}
	if c := r.Calibrated; c != nil {
		row(fmt.Sprintf("stacked: omega %g, gamma %.4g", c.Omega, c.Gamma), *c)
		t.Note("stacked: calibrated stacking (Chao et al. 2016) of corrected scores, no part of predictions")
	}
	return t.Note("AUSUC: area under the curve of seen against unseen, over all gammas")
}

func (r *Evaluation) calibrationTable() *table.Table {
	t := table.New("Calibration of the probabilities", "").Right(2, 3)
	t.Row("expected calibration error, " + format.Count(len(r.calibrations[0].Reliability), "bin"))
	t.Row("negative log-likelihood")
	for _, c := range r.calibrations {
		t.Header = append(t.Header, c.label)
		for i, v := range []*float64{c.ECE, c.NLL} {
			t.Rows[i] = append(t.Rows[i], fmt.Sprintf("%.4f", *v))
		}
	}
	if r.scored.temperature > 0 {
		t.Note("temperature %.4g: the probabilities that predict prints", r.scored.temperature)
	}
	return t
}

// WriteCSV writes samples.csv and classes.csv into a folder, which it creates if necessary. write writes
// a file as fileio.Write does.
func (r *Evaluation) WriteCSV(dir string, write func(path string, write func(io.Writer) error) error) error {
	classes := table.New("classes", "class", "unseen", "samples", "accuracy")
	for _, c := range r.ByClass {
		classes.Row(c.Class, c.Unseen, c.Samples, c.Accuracy)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return invalid.File(dir, err)
	}
	for _, t := range []*table.Table{r.sampleTable(), classes} {
		if err := write(filepath.Join(dir, t.Title+".csv"), t.WriteCSV); err != nil {
			return err
		}
	}
	return nil
}

func (r *Evaluation) sampleTable() *table.Table {
	s := r.scored
	t := table.New("samples", "row", "label", "true class", "predicted")
	for i, label := range s.labels {
		t.Row(s.rows[i], label, s.names[label], s.names[metrics.Argmax(s.scores.Row(i))])
	}
	for _, c := range r.calibrations {
		t.Header = append(t.Header, "confidence "+c.label)
		for i := range t.Rows {
			t.Rows[i] = append(t.Rows[i], c.confidence[i])
		}
	}
	if s.ids != nil {
		t.Header = append(t.Header, "id")
		for i, row := range s.rows {
			t.Rows[i] = append(t.Rows[i], s.ids[row])
		}
	}
	return t
}

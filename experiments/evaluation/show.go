package evaluation

import (
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/table"
	"github.com/lago-train/lago-train/train/metrics"
)

// Tables shows accuracy, calibration, coverage and the most frequent mistakes.
func (r *Result) Tables() []*table.Table {
	list := []*table.Table{r.Source.table(format.Count(r.Samples, "sample") + " of " + format.Count(r.Classes, "class")), r.accuracyTable()}
	if r.Adapted != nil {
		list = append(list, r.Adapted.Tables()...)
	}
	if r.Calibrated != nil {
		list = append(list, r.stackingTable())
	}
	if len(r.calibrations()) > 0 {
		list = append(list, r.calibrationTable(), r.coverageTable())
	}
	if len(r.Mistakes) > 0 {
		t := table.New("Most frequent mistakes", "true class", "predicted", "samples", "of the class").Right(4)
		for _, m := range r.Mistakes {
			t.Row(m.True, m.Predicted, m.Samples, format.Percent(m.Share))
		}
		list = append(list, t)
	}
	if v := r.Validation; v != nil {
		title := fmt.Sprintf("Validated with %s of %s: %s", format.Count(v.Samples, "sample"), format.Count(v.Classes, "class"), strings.Join(v.Of, ", "))
		list = append(list, table.New(title))
	}
	for _, note := range r.Notes {
		list = append(list, table.New("Note: "+note+"."))
	}
	return list
}

func (s Source) title() string {
	if s.Scores != "" {
		return s.Scores
	}
	return fmt.Sprintf("%s, %s", format.Printable(s.Dataset), s.Split)
}

// table says what was evaluated.
func (s Source) table(samples string) *table.Table {
	t := table.New(s.title() + ": " + samples)
	if len(s.Models) == 1 {
		m := s.Models[0]
		return t.Note("predicted by %s, seed %d, %s", m.Method, m.Seed, m.Path)
	}
	if len(s.Models) > 1 {
		t.Note("predicted by the mean probabilities of")
	}
	for _, m := range s.Models {
		t.Note("  %s, seed %d, alone %s per class (95 %% over classes: %s), %s", m.Method, m.Seed, format.Percent(m.PerClass), m.Interval, m.Path)
	}
	return t
}

func (r *Result) accuracyTable() *table.Table {
	t := table.New("", "accuracy", "per class", "95 % over classes", "per sample").Right(2, 3, 4)
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

func (r *Result) stackingTable() *table.Table {
	t := table.New("", "(95 % over classes)", "seen", "unseen", "harmonic mean").Right(2, 3, 4)
	cell := func(accuracy float64, i metrics.Interval) string {
		return fmt.Sprintf("%s (%s)", format.Percent(accuracy), i)
	}
	row := func(name string, a metrics.Generalised, i metrics.GeneralisedInterval) {
		t.Row(name, cell(a.Seen, i.Seen), cell(a.Unseen, i.Unseen), cell(a.Mean, i.Mean))
	}
	row("as scored", metrics.Generalised{Seen: *r.Seen, Unseen: *r.Unseen, Mean: *r.HarmonicMean}, r.Intervals.GeneralisedInterval)
	row(fmt.Sprintf("calibrated, gamma %.4g", r.Calibrated.Gamma), r.Calibrated.Generalised, r.Calibrated.Intervals)
	return t
}

func (r *Result) calibrationTable() *table.Table {
	list := r.calibrations()
	t := table.New("Calibration of the probabilities", "").Right(2, 3)
	ece := []any{"expected calibration error, " + format.Count(len(list[0].Reliability), "bin")}
	nll, aurc := []any{"negative log-likelihood"}, []any{"area under the risk-coverage curve"}
	for _, c := range list {
		t.Header = append(t.Header, c.label)
		ece, nll, aurc = append(ece, fmt.Sprintf("%.4f", *c.ECE)), append(nll, fmt.Sprintf("%.4f", *c.NLL)), append(aurc, fmt.Sprintf("%.4f", *c.AURC))
	}
	return t.Row(ece...).Row(nll...).Row(aurc...)
}

func (r *Result) coverageTable() *table.Table {
	list := r.calibrations()
	t := table.New("Per-sample accuracy of the most confident samples", "coverage", "samples").Right(1, 3, 4)
	for _, c := range list {
		t.Header = append(t.Header, c.label)
	}
	for i, p := range list[0].Coverage {
		row := []any{fmt.Sprintf("%.0f %%", 100*p.Coverage), p.Samples}
		for _, c := range list {
			row = append(row, format.Percent(c.Coverage[i].Accuracy))
		}
		t.Row(row...)
	}
	return t
}

// WriteFigures writes SVG files into a folder, which it creates if necessary, and
// returns their paths:
//
//	reliability.svg   accuracy against confidence
//	coverage.svg      accuracy of the most confident samples against their share
//	seen-unseen.svg   accuracy of seen against accuracy of unseen classes
//
// Figures without numbers are not written.
func (r *Result) WriteFigures(dir string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, invalid.File(dir, err)
	}
	return plot.WriteFiles(dir, plot.SVG, r.figures()...)
}

func (r *Result) figures() (list []plot.Figure) {
	add := func(name, title, caption string, l *plot.Lines) {
		caption = fmt.Sprintf("%s, %s (chance %s). %s", format.Count(r.Samples, "sample"), format.Count(r.Classes, "class"), format.Percent(1/float64(r.Classes)), caption)
		l.FromZero = true
		list = append(list, plot.Figure{Name: name, Title: title + ", " + r.Source.title(), Caption: caption, Picture: l})
	}
	method := "" // files of scores have none
	if len(r.Source.Models) > 0 {
		method = r.Source.Models[0].Method
	}
	series := func(name string, c plot.Condition) plot.Series {
		return plot.Series{Name: name, Look: plot.Look{Method: method, Condition: c}}
	}
	if len(r.calibrations()) > 0 {
		reliability := &plot.Lines{X: "confidence (%)", Y: "accuracy (%)"}
		coverage := &plot.Lines{X: "coverage (% of the samples, most confident first)", Y: "accuracy (%)"}
		for i, c := range r.calibrations() {
			s := series(c.label, plot.Condition(i))
			for _, p := range c.curve {
				s.Points = append(s.Points, percentPoint(p.Coverage, p.Accuracy, 0))
			}
			s.Points = thin(s.Points)
			coverage.Series = append(coverage.Series, s)
			s.Points, s.Measured = nil, true
			for _, b := range c.Reliability {
				if b.Samples > 0 {
					standardError := math.Sqrt(b.Accuracy * (1 - b.Accuracy) / float64(b.Samples))
					s.Points = append(s.Points, percentPoint(b.Confidence, b.Accuracy, standardError))
				}
			}
			reliability.Series = append(reliability.Series, s)
		}
		reliability.Series = append(reliability.Series, plot.Series{
			Name: "perfect calibration", Look: plot.Look{Condition: plot.Dotted}, Points: []plot.Point{percentPoint(0, 0, 0), percentPoint(1, 1, 0)},
		})
		add("reliability", "Reliability", "Per-sample accuracy by confidence; bars are one standard error over the samples of a bin.", reliability)
		add("coverage", "Accuracy by coverage", "Per-sample accuracy of the most confident samples.", coverage)
	}
	if r.curve != nil {
		l := &plot.Lines{X: "accuracy of unseen classes (%)", Y: "accuracy of seen classes (%)"}
		s := series("seen-unseen curve", plot.Solid)
		for _, p := range r.curve {
			s.Points = append(s.Points, percentPoint(p.Unseen, p.Seen, 0))
		}
		s.Points = thin(s.Points)
		l.Series = append(l.Series, s)
		point := func(name string, c plot.Condition, unseen, seen float64) {
			s := series(name, c)
			s.Measured, s.Points = true, []plot.Point{percentPoint(unseen, seen, 0)}
			l.Series = append(l.Series, s)
		}
		point("as scored", plot.Dashed, *r.Unseen, *r.Seen)
		if r.Calibrated != nil {
			point("calibrated", plot.Dotted, r.Calibrated.Unseen, r.Calibrated.Seen)
		}
		add("seen-unseen", "Accuracy of seen and unseen classes", "Per-class accuracy as a bias against seen classes varies.", l)
	}
	return list
}

// percentPoint returns a point of fractions in percent.
func percentPoint(x, y, standardError float64) plot.Point {
	return plot.Point{X: 100 * x, Y: 100 * y, Low: 100 * (y - standardError), High: 100 * (y + standardError)}
}

// thin leaves out points nearer to their predecessor than a fifth of a percent, which
// nobody would see. The ends stay.
func thin(points []plot.Point) []plot.Point {
	const near = 0.2
	var kept []plot.Point
	for i, p := range points {
		isEnd := i == 0 || i == len(points)-1
		if isEnd || math.Hypot(p.X-kept[len(kept)-1].X, p.Y-kept[len(kept)-1].Y) >= near {
			kept = append(kept, p)
		}
	}
	return kept
}

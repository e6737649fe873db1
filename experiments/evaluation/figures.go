package evaluation

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

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
	var paths []string
	for _, p := range []struct {
		name, title, caption string
		exists               bool
		draw                 func() *plot.Lines
	}{
		{
			"reliability.svg", "Reliability", "Per-sample accuracy by confidence; bars are one standard error over the samples of a bin.",
			len(r.calibrations()) > 0, r.reliabilityPicture,
		},
		{"coverage.svg", "Accuracy by coverage", "Per-sample accuracy of the most confident samples.", len(r.calibrations()) > 0, r.coveragePicture},
		{
			"seen-unseen.svg", "Accuracy of seen and unseen classes", "Per-class accuracy as a bias against seen classes varies.",
			r.curve != nil, r.curvePicture,
		},
	} {
		if !p.exists {
			continue
		}
		path := filepath.Join(dir, p.name)
		f := plot.Figure{Title: p.title + ", " + r.Source.title(), Picture: p.draw(), Caption: fmt.Sprintf("%s, %s (chance %s). %s",
			format.Count(r.Samples, "sample"), format.Count(r.Classes, "class"), format.Percent(1/float64(r.Classes)), p.caption)}
		if err := plot.WriteFile(path, f); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// look returns the hue of the method with a condition; files of scores have no method.
func (r *Result) look(c plot.Condition) plot.Look {
	if len(r.Source.Models) == 0 {
		return plot.Look{Condition: c}
	}
	return plot.Look{Method: r.Source.Models[0].Method, Condition: c}
}

func (r *Result) reliabilityPicture() *plot.Lines {
	l := &plot.Lines{X: "confidence (%)", Y: "accuracy (%)", FromZero: true}
	for i, c := range r.calibrations() {
		s := plot.Series{Name: c.label, Look: r.look(plot.Condition(i)), Measured: true}
		for _, b := range c.Reliability {
			if b.Samples > 0 {
				standardError := math.Sqrt(b.Accuracy * (1 - b.Accuracy) / float64(b.Samples))
				s.Points = append(s.Points, percentPoint(b.Confidence, b.Accuracy, standardError))
			}
		}
		l.Series = append(l.Series, s)
	}
	l.Series = append(l.Series, plot.Series{
		Name: "perfect calibration", Look: plot.Look{Condition: plot.Dotted}, Points: []plot.Point{percentPoint(0, 0, 0), percentPoint(1, 1, 0)},
	})
	return l
}

func (r *Result) coveragePicture() *plot.Lines {
	l := &plot.Lines{X: "coverage (% of the samples, most confident first)", Y: "accuracy (%)", FromZero: true}
	for i, c := range r.calibrations() {
		s := plot.Series{Name: c.label, Look: r.look(plot.Condition(i))}
		samples := c.coverage.Len()
		for n := 1; n <= samples; n++ {
			s.Points = append(s.Points, percentPoint(float64(n)/float64(samples), c.coverage.Accuracy(n), 0))
		}
		s.Points = thin(s.Points)
		l.Series = append(l.Series, s)
	}
	return l
}

func (r *Result) curvePicture() *plot.Lines {
	l := &plot.Lines{X: "accuracy of unseen classes (%)", Y: "accuracy of seen classes (%)", FromZero: true}
	s := plot.Series{Name: "seen-unseen curve", Look: r.look(plot.Solid)}
	for _, p := range r.curve {
		s.Points = append(s.Points, percentPoint(p.Unseen, p.Seen, 0))
	}
	s.Points = thin(s.Points)
	l.Series = append(l.Series, s, plot.Series{
		Name: "as scored", Look: r.look(plot.Dashed), Measured: true, Points: []plot.Point{percentPoint(*r.Unseen, *r.Seen, 0)},
	})
	if r.Calibrated != nil {
		l.Series = append(l.Series, plot.Series{
			Name: "calibrated", Look: r.look(plot.Dotted), Measured: true, Points: []plot.Point{percentPoint(r.Calibrated.Unseen, r.Calibrated.Seen, 0)},
		})
	}
	return l
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

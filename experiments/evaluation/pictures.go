package evaluation

import (
	"io"
	"math"
	"os"
	"path/filepath"

	"gonum.org/v1/plot/vg"

	"github.com/lago-train/lago-train/experiments/plot"
	"github.com/lago-train/lago-train/internal/atomicfile"
)

// WritePictures draws into a folder, which is made where there is none, as SVG:
//
//	reliability.svg   accuracy against confidence
//	coverage.svg      accuracy of the most confident samples against their share
//	seen-unseen.svg   accuracy of seen against that of unseen classes
//
// It returns the paths. What there are no numbers for is not drawn.
func (e *Result) WritePictures(dir string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var paths []string
	for _, p := range []struct {
		name, title string
		*plot.Lines
	}{
		{"reliability.svg", "Reliability", e.reliabilityPicture()},
		{"coverage.svg", "Accuracy against coverage", e.coveragePicture()},
		{"seen-unseen.svg", "Seen-unseen curve", e.curvePicture()},
	} {
		if p.Lines == nil {
			continue
		}
		path := filepath.Join(dir, p.name)
		err := atomicfile.Write(path, func(w io.Writer) error {
			return plot.WriteSVG(w, p, p.title+", "+e.Source.title())
		})
		if err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// newLines returns a picture without lines, nearly square as all of these compare two
// shares.
func newLines(x, y string) *plot.Lines {
	return &plot.Lines{X: x, Y: y, Width: 5.2 * vg.Inch, Height: 3.6 * vg.Inch, FromZero: true}
}

func (e *Result) reliabilityPicture() *plot.Lines {
	if len(e.trusted()) == 0 {
		return nil
	}
	l := newLines("confidence (%)", "accuracy (%)")
	for i, t := range e.trusted() {
		s := plot.Series{Name: t.name, Look: i, Measured: true}
		for _, b := range t.Reliability {
			if b.Samples > 0 {
				// One standard error of a share.
				within := math.Sqrt(b.Accuracy * (1 - b.Accuracy) / float64(b.Samples))
				s.Points = append(s.Points, percentPoint(b.Confidence, b.Accuracy, within))
			}
		}
		l.Series = append(l.Series, s)
	}
	l.Series = append(l.Series, plot.Series{
		Name: "as confident as right", Look: greyLook, Points: []plot.Point{percentPoint(0, 0, 0), percentPoint(1, 1, 0)},
	})
	return l
}

// greyLook is that of what is only there to compare with: black, by dots.
const greyLook = 5

func (e *Result) coveragePicture() *plot.Lines {
	if len(e.trusted()) == 0 {
		return nil
	}
	l := newLines("coverage (% of the samples, the most confident first)", "accuracy (%)")
	for i, t := range e.trusted() {
		s := plot.Series{Name: t.name, Look: i}
		samples := t.coverage.Len()
		for n := 1; n <= samples; n++ {
			s.Points = append(s.Points, percentPoint(float64(n)/float64(samples), t.coverage.Accuracy(n), 0))
		}
		s.Points = thin(s.Points)
		l.Series = append(l.Series, s)
	}
	return l
}

func (e *Result) curvePicture() *plot.Lines {
	if e.curve == nil {
		return nil
	}
	l := newLines("accuracy of unseen classes (%)", "accuracy of seen classes (%)")
	s := plot.Series{Name: "seen-unseen curve"}
	for _, p := range e.curve {
		s.Points = append(s.Points, percentPoint(p.Unseen, p.Seen, 0))
	}
	s.Points = thin(s.Points)
	l.Series = append(l.Series, s, plot.Series{
		Name: "as scored", Look: 1, Measured: true, Points: []plot.Point{percentPoint(*e.Unseen, *e.Seen, 0)},
	})
	if e.Calibrated != nil {
		l.Series = append(l.Series, plot.Series{
			Name: "calibrated", Look: 2, Measured: true, Points: []plot.Point{percentPoint(e.Calibrated.Unseen, e.Calibrated.Seen, 0)},
		})
	}
	return l
}

// percentPoint makes a point of fractions.
func percentPoint(x, y, within float64) plot.Point {
	return plot.Point{X: 100 * x, Y: 100 * y, Low: 100 * (y - within), High: 100 * (y + within)}
}

// thin leaves out points that nobody would see: those nearer to the one before than a
// fifth of a percent. The ends stay.
func thin(points []plot.Point) []plot.Point {
	const near = 0.2
	var kept []plot.Point
	for i, p := range points {
		if i > 0 && i+1 < len(points) {
			last := kept[len(kept)-1]
			if math.Hypot(p.X-last.X, p.Y-last.Y) < near {
				continue
			}
		}
		kept = append(kept, p)
	}
	return kept
}

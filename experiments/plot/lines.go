package plot

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/lago-train/lago-train/internal/table"
)

// Lines shows numbers against another one.
type Lines struct {
	X, Y     string // titles of the axes, with their units
	Series   []Series
	FromZero bool    // starts the Y axis at 0, so that heights can be compared
	Chance   float64 // a line in the unit of Y, 0 for none
}

// Series is one line.
type Series struct {
	Name   string
	Look   Look
	Points []Point // X ascending
	// Measured draws each point with an error bar from Low to High, otherwise the line
	// has a band.
	Measured bool
	Stop     float64 // X of a mark on the line, 0 for none
}

// Point is a mean with an interval.
type Point struct{ X, Y, Low, High float64 }

// PercentPoint returns a point with an error bar of a fraction, in percent.
func PercentPoint(x, fraction, standardError float64) Point {
	return Point{X: x, Y: 100 * fraction, Low: 100 * (fraction - standardError), High: 100 * (fraction + standardError)}
}

// linesHeight is the height of the area of the data.
const linesHeight vg.Length = 130

func (l *Lines) chart() *chart {
	c := newChart(l.X, l.Y)
	c.data = linesHeight
	c.Add(&plotter.Grid{Horizontal: gridLine})
	for _, s := range l.Series {
		if len(s.Points) > 0 {
			s.add(c)
		}
	}
	if l.Chance > 0 {
		end := max(c.X.Max, c.X.Min+1) // as far as an axis with one point reaches
		chance := &plotter.Line{XYs: plotter.XYs{{X: c.X.Min, Y: l.Chance}, {X: end, Y: l.Chance}}, LineStyle: thinLine}
		c.Add(chance)
		c.explain("chance", chance)
	}
	if l.FromZero {
		c.Y.Min = min(c.Y.Min, 0)
	}
	return c
}

func (s Series) add(c *chart) {
	mean, marks := &plotter.Line{LineStyle: s.Look.line()}, &plotter.Scatter{GlyphStyle: s.Look.glyph()}
	bars := &plotter.YErrorBars{LineStyle: s.Look.bar(), CapWidth: glyphSize}
	var high, low plotter.XYs
	for _, q := range s.Points {
		xy := plotter.XY{X: q.X, Y: q.Y}
		mean.XYs, bars.XYs = append(mean.XYs, xy), append(bars.XYs, xy)
		bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{q.Y - q.Low, q.High - q.Y})
		high, low = append(high, plotter.XY{X: q.X, Y: q.High}), append(low, plotter.XY{X: q.X, Y: q.Low})
		if s.Measured || len(s.Points) == 1 || s.Stop > 0 && q.X == s.Stop {
			marks.XYs = append(marks.XYs, xy)
		}
	}
	if s.Measured {
		c.Add(bars)
	} else {
		slices.Reverse(low)
		c.Add(&plotter.Polygon{XYs: []plotter.XYs{append(high, low...)}, Color: grey(0.12)})
	}
	samples := []plot.Thumbnailer{mean}
	if len(marks.XYs) > 0 {
		samples = append(samples, marks)
	}
	c.Add(mean, marks)
	c.explain(s.Name, samples...)
}

// Numbers implements Picture.
func (l *Lines) Numbers() *table.Table {
	t := table.New("", "series", l.X, l.Y, "low", "high")
	for _, s := range l.Series {
		for _, q := range s.Points {
			t.Row(s.Name, number(q.X), number(q.Y), number(q.Low), number(q.High))
		}
	}
	return t
}

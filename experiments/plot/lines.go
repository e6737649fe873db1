package plot

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/lago-train/lago-train/internal/table"
)

// Lines shows numbers against another one.
type Lines struct {
	X, Y    string // titles of the axes, with their units
	Series  []Series
	Percent bool    // Y is a percentage: its axis starts at 0 and ends at most at 100
	Log2    bool    // X has a logarithmic axis with ticks at powers of 2
	Chance  float64 // a line in the unit of Y, 0 for none
}

// Series is one line.
type Series struct {
	Name   string
	Look   Look
	Points []Point // X ascending
	// Measured draws each point with an error bar from Low to High, otherwise the line
	// has a band.
	Measured bool
}

// Point is a mean with an interval.
type Point struct{ X, Y, Low, High float64 }

// PercentPoint returns a point of a fraction, in percent, with its interval, which may be NaN.
func PercentPoint(x, fraction, low, high float64) Point {
	value, low, high := percent(fraction, low, high)
	return Point{X: x, Y: value, Low: max(low, 0), High: min(high, 100)}
}

// percent converts a fraction and its interval, which may be NaN as that of a single class.
func percent(fraction, low, high float64) (float64, float64, float64) {
	if math.IsNaN(low) {
		low, high = fraction, fraction
	}
	return 100 * fraction, 100 * low, 100 * high
}

// linesHeight is the height of the area of the data.
const linesHeight vg.Length = 130

func (l *Lines) chart() *chart {
	c := newChart(l.X, l.Y)
	c.data = linesHeight
	c.Add(&plotter.Grid{Horizontal: gridLine})
	x := func(q Point) float64 { return q.X }
	if l.Log2 {
		x = func(q Point) float64 { return math.Log2(q.X) }
		c.X.Tick.Marker = every(1, math.Exp2)
	}
	for i, s := range l.Series {
		if len(s.Points) == 0 {
			continue
		}
		s.Points = slices.Clone(s.Points)
		last := len(s.Points) - 1
		shift := (x(s.Points[last]) - x(s.Points[0])) * (float64(i) - float64(len(l.Series)-1)/2) / 120
		for j, q := range s.Points {
			if s.Points[j].X = x(q); s.Measured {
				s.Points[j].X += shift // so that bars do not hide each other
			}
		}
		s.add(c)
	}
	if l.Chance > 0 {
		end := max(c.X.Max, c.X.Min+1) // as far as an axis with one point reaches
		chance := &plotter.Line{XYs: plotter.XYs{{X: c.X.Min, Y: l.Chance}, {X: end, Y: l.Chance}}, LineStyle: thinLine}
		c.Add(chance)
		c.explain("chance", chance)
	}
	if l.Percent {
		c.Y.Min, c.Y.Max = 0, percentEnd(c.Y.Max)
		c.Y.Tick.Marker = every(20, math.Abs)
	}
	return c
}

// every has ticks at multiples of a number.
func every(by float64, label func(v float64) float64) plot.TickerFunc {
	return func(low, high float64) (list []plot.Tick) {
		for v := by * math.Ceil(low/by); v <= high; v += by {
			list = append(list, plot.Tick{Value: v, Label: number(label(v))})
		}
		return list
	}
}

func (s Series) add(c *chart) {
	mean, marks := &plotter.Line{LineStyle: s.Look.line()}, &plotter.Scatter{GlyphStyle: s.Look.glyph()}
	bars := &plotter.YErrorBars{LineStyle: s.Look.bar(), CapWidth: glyphSize}
	var high, low plotter.XYs
	for _, q := range s.Points {
		xy := plotter.XY{X: q.X, Y: q.Y}
		mean.XYs, bars.XYs = append(mean.XYs, xy), append(bars.XYs, xy)
		bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{q.Y - q.Low, q.High - q.Y})
		high, low = append(high, plotter.XY{X: xy.X, Y: q.High}), append(low, plotter.XY{X: xy.X, Y: q.Low})
		if s.Measured || len(s.Points) == 1 {
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

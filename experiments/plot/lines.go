package plot

import (
	"math"
	"slices"
	"strconv"

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
	return Point{X: x, Y: value, Low: low, High: high}
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
		c.X.Tick.Marker = plot.TickerFunc(powers)
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range l.Series {
		for _, q := range s.Points {
			low, high = min(low, x(q)), max(high, x(q))
		}
	}
	for i, s := range l.Series {
		if s.Points = slices.Clone(s.Points); l.Percent {
			for j, q := range s.Points {
				s.Points[j] = Point{q.X, within(q.Y), within(q.Low), within(q.High)}
			}
		}
		shift := 0.0
		if s.Measured && len(s.Points) > 1 { // so that bars do not hide each other
			shift = (high - low) * (float64(i) - float64(len(l.Series)-1)/2) / 120
		}
		if len(s.Points) > 0 {
			s.add(c, func(q Point) float64 { return x(q) + shift })
		}
	}
	if l.Chance > 0 {
		end := max(c.X.Max, c.X.Min+1) // as far as an axis with one point reaches
		chance := &plotter.Line{XYs: plotter.XYs{{X: c.X.Min, Y: l.Chance}, {X: end, Y: l.Chance}}, LineStyle: thinLine}
		c.Add(chance)
		c.explain("chance", chance)
	}
	if l.Percent {
		c.Y.Min, c.Y.Max = 0, percentEnd(c.Y.Max)
		c.Y.Tick.Marker = percentTicks
	}
	return c
}

// percentTicks are labelled at multiples of 20.
var percentTicks = plot.TickerFunc(func(_, high float64) (list []plot.Tick) {
	for v := 0; v <= int(high); v += 10 {
		list = append(list, plot.Tick{Value: float64(v)})
		if v%20 == 0 {
			list[v/10].Label = strconv.Itoa(v)
		}
	}
	return list
})

// powers are ticks of an axis of binary logarithms.
func powers(low, high float64) (list []plot.Tick) {
	for k := math.Ceil(low); k <= high; k++ {
		list = append(list, plot.Tick{Value: k, Label: strconv.FormatFloat(math.Exp2(k), 'g', 4, 64)})
	}
	return list
}

func (s Series) add(c *chart, x func(Point) float64) {
	mean, marks := &plotter.Line{LineStyle: s.Look.line()}, &plotter.Scatter{GlyphStyle: s.Look.glyph()}
	bars := &plotter.YErrorBars{LineStyle: s.Look.bar(), CapWidth: glyphSize}
	var high, low plotter.XYs
	for _, q := range s.Points {
		xy := plotter.XY{X: x(q), Y: q.Y}
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

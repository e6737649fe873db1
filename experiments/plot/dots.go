package plot

import (
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/lago-train/lago-train/internal/table"
)

// Dots shows numbers with error bars, one row per name. Unlike bars, dots allow an axis that
// does not start at 0.
type Dots struct {
	X      string // title of the axis, with its unit
	Rows   []Row  // from the top
	Series []DotSeries
}

// Row is one line of dots, in the hue of its method.
type Row struct {
	Name     string
	Method   string
	Emphatic bool // shaded
}

// DotSeries has a number for some of the rows, each with the marker of the condition. Without
// any it is not shown.
type DotSeries struct {
	Name      string
	Condition Condition
	Dots      []Dot
}

// Dot is one number with the ends of its error bar.
type Dot struct {
	Row              int
	Value, Low, High float64
}

// PercentDot returns a fraction in percent with its interval, which may be NaN.
func PercentDot(row int, fraction, low, high float64) Dot {
	if math.IsNaN(low) { // as of a single class
		low, high = fraction, fraction
	}
	return Dot{row, 100 * fraction, 100 * low, 100 * high}
}

func (d *Dots) chart() *chart {
	c := newChart(d.X, "")
	var names []string
	for _, r := range d.Rows {
		names = append(names, r.Name)
	}
	series := slices.DeleteFunc(slices.Clone(d.Series), func(s DotSeries) bool { return len(s.Dots) == 0 })
	lane := 1 / (float64(len(series)) + 0.5) // distance of dots if that of rows is 1
	c.nameRows(names)
	c.data = line * vg.Length(float64(len(d.Rows))/lane)
	c.Add(&plotter.Grid{Vertical: gridLine})
	for i, s := range series {
		for _, dot := range s.Dots {
			look := Look{d.Rows[dot.Row].Method, s.Condition}
			at := plotter.XYs{{X: dot.Value, Y: lane*(float64(len(series)-1)/2-float64(i)) - float64(dot.Row)}}
			ends := plotter.XErrors{{Low: dot.Value - dot.Low, High: dot.High - dot.Value}}
			c.Add(&plotter.XErrorBars{XYs: at, XErrors: ends, LineStyle: look.bar()}, &plotter.Scatter{XYs: at, GlyphStyle: look.glyph()})
		}
		if len(series) > 1 { // otherwise the caption suffices
			c.explain(s.Name, &plotter.Scatter{GlyphStyle: Look{Condition: s.Condition}.glyph()})
		}
	}
	if c.X.Min < 0 { // differences
		c.Add(&plotter.Line{XYs: plotter.XYs{{X: 0, Y: c.Y.Min}, {X: 0, Y: c.Y.Max}}, LineStyle: thinLine})
	}
	space := (c.X.Max - c.X.Min) / 40 // for the ends of bars
	c.X.Min, c.X.Max = c.X.Min-space, c.X.Max+space
	for i, r := range d.Rows {
		if y := -float64(i); r.Emphatic {
			row := plotter.XYs{{X: c.X.Min, Y: y - 0.5}, {X: c.X.Max, Y: y - 0.5}, {X: c.X.Max, Y: y + 0.5}, {X: c.X.Min, Y: y + 0.5}}
			c.Add(&plotter.Polygon{XYs: []plotter.XYs{row}, Color: grey(0.07)})
		}
	}
	return c
}

// Numbers implements Picture.
func (d *Dots) Numbers() *table.Table {
	t := table.New("", "row", "series", "value", "low", "high")
	for _, s := range d.Series {
		for _, dot := range s.Dots {
			t.Row(d.Rows[dot.Row].Name, s.Name, number(dot.Value), number(dot.Low), number(dot.High))
		}
	}
	return t
}

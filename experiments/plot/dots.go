package plot

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Dots shows numbers with error bars, one row per name. Unlike bars, dots allow an axis
// that does not start at 0.
type Dots struct {
	X      string   // title of the axis, with its unit
	Rows   []string // from the top
	Series []DotSeries
}

// DotSeries has a number for some of the rows.
type DotSeries struct {
	Name string
	Look int
	Dots []Dot
}

// Dot is one number.
type Dot struct {
	Row          int
	Value        float64
	Below, Above float64 // lengths of the error bar
	Text         string  // written beside it
}

const (
	dotsWidth   vg.Length = 480
	rowHeight   vg.Length = 22
	axisHeight  vg.Length = 40
	seriesShare           = 0.85 // share of a row's height that its series use
)

// Size implements Picture.
func (d *Dots) Size() (width, height vg.Length) {
	lines := max(len(d.Rows)*max(len(d.Series), 2)/2, 2)
	return dotsWidth, vg.Length(lines)*rowHeight + axisHeight + 2*margin
}

// Draw implements Picture.
func (d *Dots) Draw(c draw.Canvas) {
	p, legend := newPlot(d.X, ""), newLegend()
	p.Add(&plotter.Grid{Vertical: gridLine})
	low, high := math.Inf(1), math.Inf(-1)
	for i, s := range d.Series {
		shift := seriesShare / float64(max(len(d.Series), 2)) * (float64(len(d.Series)-1)/2 - float64(i))
		s.draw(p, &legend, len(d.Rows), shift)
		for _, dot := range s.Dots {
			low, high = min(low, dot.Value-dot.Below), max(high, dot.Value+dot.Above)
		}
	}
	if low < 0 { // differences
		high = max(high, 0)
		p.Add(&plotter.Line{
			XYs:       plotter.XYs{{X: 0, Y: -0.6}, {X: 0, Y: float64(len(d.Rows)) - 0.4}},
			LineStyle: draw.LineStyle{Color: ink, Width: 0.5},
		})
	}
	scale(&p.X, low, high, 5, 0)
	p.Y.Min, p.Y.Max = -0.6, float64(len(d.Rows))-0.4
	p.Y.Tick.Length = 0
	names := make(plot.ConstantTicks, len(d.Rows))
	for i, name := range d.Rows {
		names[i] = plot.Tick{Value: place(i, len(d.Rows)), Label: name}
	}
	p.Y.Tick.Marker = names
	if len(d.Series) == 1 { // the axis title suffices
		legend = newLegend()
	}
	drawBeside(c, p, &legend)
}

// place returns the height of a row, counted from the top.
func place(row, rows int) float64 { return float64(rows - 1 - row) }

func (s DotSeries) draw(p *plot.Plot, legend *plot.Legend, rows int, shift float64) {
	look := lookOf(s.Look)
	dots := &plotter.Scatter{GlyphStyle: look.glyph()}
	bars := &plotter.XErrorBars{LineStyle: draw.LineStyle{Color: look.color, Width: 1}, CapWidth: 2 * glyphSize}
	texts := &plotter.Labels{Offset: vg.Point{X: 5, Y: 1}} // the middle of digits is above that of text
	for _, dot := range s.Dots {
		y := place(dot.Row, rows) + shift
		dots.XYs = append(dots.XYs, plotter.XY{X: dot.Value, Y: y})
		if dot.Below+dot.Above > 0 {
			bars.XYs = append(bars.XYs, plotter.XY{X: dot.Value, Y: y})
			bars.XErrors = append(bars.XErrors, struct{ Low, High float64 }{dot.Below, dot.Above})
		}
		texts.XYs = append(texts.XYs, plotter.XY{X: dot.Value + dot.Above, Y: y})
		texts.Labels = append(texts.Labels, dot.Text)
		texts.TextStyle = append(texts.TextStyle, textStyle(smallSize, draw.XLeft, draw.YCenter))
	}
	if len(bars.XYs) > 0 {
		p.Add(bars)
	}
	p.Add(dots, texts)
	legend.Add(s.Name, dots)
}

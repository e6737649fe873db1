package plot

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Lines shows numbers against another one.
type Lines struct {
	X, Y          string // titles of the axes, with their units
	Series        []Series
	Width, Height vg.Length
	// FromZero starts the Y axis at 0, so that heights can be compared.
	FromZero bool
}

// Series is one line.
type Series struct {
	Name   string
	Look   int     // colour, shape and dashes
	Points []Point // X ascending
	// Measured draws each point with an error bar from Low to High, otherwise the line
	// has a band.
	Measured bool
	Stop     float64 // X of a mark on the line, 0 for none
}

// Point is a mean with an interval.
type Point struct{ X, Y, Low, High float64 }

// Size implements Picture.
func (l *Lines) Size() (width, height vg.Length) { return l.Width, l.Height }

// Draw implements Picture.
func (l *Lines) Draw(c draw.Canvas) {
	p, legend := newPlot(l.X, l.Y), newLegend()
	p.Add(&plotter.Grid{Horizontal: gridLine})
	for _, s := range l.Series {
		s.spread(p)
	}
	for _, s := range l.Series {
		s.line(p, &legend)
	}
	l.scale(p)
	for _, s := range l.Series { // a line from the mark down to the axis
		for _, q := range s.Points {
			if s.Stop > 0 && q.X == s.Stop {
				p.Add(&plotter.Line{
					XYs:       plotter.XYs{{X: q.X, Y: p.Y.Min}, {X: q.X, Y: q.Y}},
					LineStyle: draw.LineStyle{Color: lookOf(s.Look).color, Width: thinWidth, Dashes: []vg.Length{2, 2}},
				})
			}
		}
	}
	drawBeside(c, p, &legend)
}

// scale fits the axes to the data.
func (l *Lines) scale(p *plot.Plot) {
	x := [2]float64{math.Inf(1), math.Inf(-1)}
	y := x
	if l.FromZero {
		y[0] = 0
	}
	least := 1.0 // where X counts something there is no half of it on the axis
	for _, s := range l.Series {
		for _, q := range s.Points {
			x[0], x[1] = min(x[0], q.X), max(x[1], q.X)
			y[0], y[1] = min(y[0], q.Low), max(y[1], q.High)
			if q.X != math.Trunc(q.X) {
				least = 0
			}
		}
	}
	scale(&p.X, x[0], x[1], 5, least)
	// Whole steps would leave the sides empty.
	p.X.Min, p.X.Max = x[0], max(x[1], x[0]+1)
	p.X.Padding = glyphSize
	scale(&p.Y, y[0], y[1], 5, 0)
}

// spread draws the band or the error bars.
func (s Series) spread(p *plot.Plot) {
	look := lookOf(s.Look)
	if s.Measured {
		bars := &plotter.YErrorBars{LineStyle: draw.LineStyle{Color: look.color, Width: 1}, CapWidth: 2 * glyphSize}
		for _, q := range s.Points {
			if q.Low == q.High {
				continue
			}
			bars.XYs = append(bars.XYs, plotter.XY{X: q.X, Y: q.Y})
			bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{q.Y - q.Low, q.High - q.Y})
		}
		p.Add(bars)
		return
	}
	var edge plotter.XYs
	for _, q := range s.Points {
		edge = append(edge, plotter.XY{X: q.X, Y: q.High})
	}
	for i := len(s.Points) - 1; i >= 0; i-- {
		edge = append(edge, plotter.XY{X: s.Points[i].X, Y: s.Points[i].Low})
	}
	p.Add(&plotter.Polygon{XYs: []plotter.XYs{edge}, Color: look.shade()})
}

// line draws the means and the mark, and says what they are.
func (s Series) line(p *plot.Plot, legend *plot.Legend) {
	look := lookOf(s.Look)
	line := &plotter.Line{LineStyle: look.line()}
	mark := &plotter.Scatter{GlyphStyle: look.glyph()}
	for _, q := range s.Points {
		xy := plotter.XY{X: q.X, Y: q.Y}
		line.XYs = append(line.XYs, xy)
		if s.Measured || s.Stop > 0 && q.X == s.Stop {
			mark.XYs = append(mark.XYs, xy)
		}
	}
	thumbs := []plot.Thumbnailer{line}
	p.Add(line)
	if len(mark.XYs) > 0 {
		p.Add(mark)
		thumbs = append(thumbs, mark)
	}
	legend.Add(s.Name, thumbs...)
}

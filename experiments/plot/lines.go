package plot

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Lines shows numbers against another one. Each line is labelled at its end.
type Lines struct {
	X, Y   string // titles of the axes, with their units
	Series []Series
	// FromZero starts the Y axis at 0, so that heights can be compared.
	FromZero bool
	// DataTicks has ticks at the points of measured series.
	DataTicks bool
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

// AddChance adds the accuracy of random predictions, a fraction, over the range of all series.
func (l *Lines) AddChance(fraction float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range l.Series {
		for _, q := range s.Points {
			low, high = min(low, q.X), max(high, q.X)
		}
	}
	high = max(high, low+1) // as far as an axis with one point reaches
	l.Series = append(l.Series, Series{
		Name: "chance", Look: Look{Condition: Dotted}, Points: []Point{PercentPoint(low, fraction, 0), PercentPoint(high, fraction, 0)},
	})
}

const (
	linesHeight vg.Length = 150 // at least; more if the labels need it
	sampleWidth vg.Length = 12  // of a line beside its label
	labelWidth  vg.Length = 64  // above which labels are wrapped
)

// Size implements Picture.
func (l *Lines) Size() (width, height vg.Length) {
	for _, one := range l.labels() {
		height += one.height()
	}
	return column, max(linesHeight, height)
}

// Draw implements Picture.
func (l *Lines) Draw(c draw.Canvas) {
	p := newPlot(l.X, l.Y)
	labels := l.labels()
	var right vg.Length
	for _, one := range labels {
		right = max(right, widest(nameStyle, one.lines...)+sampleWidth+2*gap)
	}
	left := draw.Crop(c, gap/2, -right, 0, -gap) // browsers count the ascent of the turned title
	l.scale(p, left.Max.X-left.Min.X-20)         // without the ticks of Y
	p.Add(&plotter.Grid{Horizontal: gridLine})
	for _, s := range l.Series {
		s.addSpread(p)
	}
	for _, s := range l.Series {
		s.addLine(p)
	}
	p.Draw(left)
	data := p.DataCanvas(left)
	_, y := p.Transforms(&data)
	for i, one := range labels {
		labels[i].y = y(one.series.Points[len(one.series.Points)-1].Y)
	}
	spread(labels, c.Min.Y, c.Max.Y)
	for _, one := range labels {
		one.draw(c, left.Max.X+gap)
	}
}

// label is the name of a series beside the end of its line.
type label struct {
	series Series
	lines  []string
	y      vg.Length // of the middle
}

func (l *Lines) labels() (list []label) {
	for _, s := range l.Series {
		if len(s.Points) > 0 {
			list = append(list, label{series: s, lines: wrap(nameStyle, s.Name, labelWidth)})
		}
	}
	return list
}

func (l label) height() vg.Length { return tightLine * vg.Length(len(l.lines)) }

// spread sorts labels from the top and moves them apart, within the given bounds if there
// is room.
func spread(list []label, bottom, top vg.Length) {
	slices.SortStableFunc(list, func(a, b label) int { return cmp.Compare(b.y, a.y) })
	for i, one := range list {
		list[i].y = min(one.y, top-one.height()/2)
		top = list[i].y - one.height()/2
	}
	for i, one := range slices.Backward(list) {
		list[i].y = max(list[i].y, bottom+one.height()/2)
		bottom = list[i].y + one.height()/2
	}
}

// draw draws a piece of the line with its name.
func (l label) draw(c draw.Canvas, x vg.Length) {
	s := l.series
	if s.hasBand() {
		fill(c, s.Look.shade(), x, l.y-glyphSize, sampleWidth, 2*glyphSize)
	}
	c.StrokeLine2(s.Look.line(), x, l.y, x+sampleWidth, l.y)
	if s.Stop > 0 || s.marked() {
		c.DrawGlyph(s.Look.glyph(), vg.Point{X: x + sampleWidth/2, Y: l.y})
	}
	write(c, nameStyle, x+sampleWidth+gap/2, l.y, l.lines...)
}

// scale fits the axes to the data.
func (l *Lines) scale(p *plot.Plot, width vg.Length) {
	left, right := math.Inf(1), math.Inf(-1)
	low, high := left, right
	if l.FromZero {
		low = 0
	}
	var measured []float64
	for _, s := range l.Series {
		for _, q := range s.Points {
			left, right = min(left, q.X), max(right, q.X)
			low, high = min(low, q.Low), max(high, q.High)
			if s.Measured {
				measured = append(measured, q.X)
			}
		}
	}
	scale(&p.X, left, right, 1) // epochs and percent have no need of halves
	// Whole steps would leave the sides empty.
	p.X.Min, p.X.Max = left, max(right, left+1)
	p.X.Padding = glyphSize
	scale(&p.Y, low, high, 0)
	if l.DataTicks && len(measured) > 0 {
		p.X.Tick.Marker = dataTicks(measured, float64(width)/(p.X.Max-p.X.Min))
	}
}

func (s Series) hasBand() bool {
	return !s.Measured && slices.ContainsFunc(s.Points, func(p Point) bool { return p.Low != p.High })
}

// marked reports whether all points are drawn, as of a series without a line.
func (s Series) marked() bool { return s.Measured || len(s.Points) == 1 }

// addSpread adds the band or the error bars.
func (s Series) addSpread(p *plot.Plot) {
	bars := &plotter.YErrorBars{LineStyle: s.Look.bar(), CapWidth: glyphSize}
	band := make(plotter.XYs, 2*len(s.Points)) // there along the upper edge, and back
	for i, q := range s.Points {
		band[i], band[len(band)-1-i] = plotter.XY{X: q.X, Y: q.High}, plotter.XY{X: q.X, Y: q.Low}
		if q.Low != q.High {
			bars.XYs = append(bars.XYs, plotter.XY{X: q.X, Y: q.Y})
			bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{q.Y - q.Low, q.High - q.Y})
		}
	}
	switch {
	case s.Measured:
		p.Add(bars)
	case s.hasBand():
		p.Add(&plotter.Polygon{XYs: []plotter.XYs{band}, Color: s.Look.shade()})
	}
}

// addLine adds the means and the mark, with a line down to the axis.
func (s Series) addLine(p *plot.Plot) {
	mean := &plotter.Line{LineStyle: s.Look.line()}
	marks := &plotter.Scatter{GlyphStyle: s.Look.glyph()}
	for _, q := range s.Points {
		xy := plotter.XY{X: q.X, Y: q.Y}
		mean.XYs = append(mean.XYs, xy)
		isStop := s.Stop > 0 && q.X == s.Stop
		if isStop {
			down := draw.LineStyle{Color: s.Look.color(), Width: thinWidth, Dashes: thinLine.Dashes}
			p.Add(&plotter.Line{XYs: plotter.XYs{{X: q.X, Y: p.Y.Min}, xy}, LineStyle: down})
		}
		if isStop || s.marked() {
			marks.XYs = append(marks.XYs, xy)
		}
	}
	p.Add(mean, marks)
}

// Numbers implements Picture.
func (l *Lines) Numbers() [][]string {
	table := [][]string{{"series", l.X, l.Y, "low", "high"}}
	for _, s := range l.Series {
		for _, q := range s.Points {
			table = append(table, []string{s.Name, number(q.X), number(q.Y), number(q.Low), number(q.High)})
		}
	}
	return table
}

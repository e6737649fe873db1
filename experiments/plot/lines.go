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

const (
	linesHeight vg.Length = 150 // at least; more if the labels need it
	sampleWidth vg.Length = 12  // of a line beside its label
	labelWidth  vg.Length = 64  // above which labels are wrapped
)

// Size implements Picture.
func (l *Lines) Size() (width, height vg.Length) {
	var names vg.Length
	for _, words := range l.labels() {
		names += laneHeight * vg.Length(len(words))
	}
	return column, max(linesHeight, names)
}

// labels returns the lines of each label.
func (l *Lines) labels() [][]string {
	labels := make([][]string, len(l.Series))
	for i, s := range l.Series {
		labels[i] = wrap(nameStyle, s.Name, labelWidth)
	}
	return labels
}

// Draw implements Picture.
func (l *Lines) Draw(c draw.Canvas) {
	p := newPlot(l.X, l.Y)
	labels := l.labels()
	var right vg.Length
	for _, words := range labels {
		right = max(right, widest(nameStyle, words...)+sampleWidth+2*gap)
	}
	left := draw.Crop(c, gap/2, -right, 0, -gap) // browsers count the ascent of the turned title
	l.scale(p, left.Max.X-left.Min.X-20)         // without the ticks of Y
	p.Add(&plotter.Grid{Horizontal: gridLine})
	for _, s := range l.Series {
		s.drawSpread(p)
	}
	for _, s := range l.Series {
		s.line(p)
	}
	p.Draw(left)
	data := p.DataCanvas(left)
	_, y := p.Transforms(&data)
	l.drawLabels(c, left.Max.X+gap, labels, y)
}

// label is the name of a series beside the end of its line.
type label struct {
	series int
	y      vg.Length // of the middle
	height vg.Length
}

// spread sorts labels from the top and moves them apart, within the given bounds if there
// is room.
func spread(list []label, bottom, top vg.Length) {
	slices.SortStableFunc(list, func(a, b label) int { return cmp.Compare(b.y, a.y) })
	for i := range list {
		list[i].y = min(list[i].y, top-list[i].height/2)
		top = list[i].y - list[i].height/2
	}
	for i := range slices.Backward(list) {
		list[i].y = max(list[i].y, bottom+list[i].height/2)
		bottom = list[i].y + list[i].height/2
	}
}

// drawLabels writes the name of each line beside its end, or as near as there is room.
func (l *Lines) drawLabels(c draw.Canvas, x vg.Length, labels [][]string, y func(float64) vg.Length) {
	var order []label
	for i, s := range l.Series {
		if len(s.Points) > 0 {
			order = append(order, label{i, y(s.Points[len(s.Points)-1].Y), laneHeight * vg.Length(len(labels[i]))})
		}
	}
	spread(order, c.Min.Y, c.Max.Y)
	for _, o := range order {
		s := l.Series[o.series]
		if s.hasBand() {
			fill(c, s.Look.shade(), x, o.y-glyphSize, sampleWidth, 2*glyphSize)
		}
		c.StrokeLine2(s.Look.line(), x, o.y, x+sampleWidth, o.y)
		if s.Stop > 0 || s.marked() {
			c.DrawGlyph(s.Look.glyph(), vg.Point{X: x + sampleWidth/2, Y: o.y})
		}
		top := o.y + laneHeight*vg.Length(len(labels[o.series])-1)/2
		for i, words := range labels[o.series] {
			write(c, nameStyle, x+sampleWidth+gap/2, top-laneHeight*vg.Length(i), words)
		}
	}
}

// scale fits the axes to the data.
func (l *Lines) scale(p *plot.Plot, width vg.Length) {
	x := [2]float64{math.Inf(1), math.Inf(-1)}
	y := x
	if l.FromZero {
		y[0] = 0
	}
	least := 1.0 // where X counts something there is no half of it on the axis
	var measured []float64
	for _, s := range l.Series {
		for _, q := range s.Points {
			x[0], x[1] = min(x[0], q.X), max(x[1], q.X)
			y[0], y[1] = min(y[0], q.Low), max(y[1], q.High)
			if q.X != math.Trunc(q.X) {
				least = 0
			}
			if s.Measured {
				measured = append(measured, q.X)
			}
		}
	}
	scale(&p.X, x[0], x[1], 5, least)
	// Whole steps would leave the sides empty.
	p.X.Min, p.X.Max = x[0], max(x[1], x[0]+1)
	p.X.Padding = glyphSize
	scale(&p.Y, y[0], y[1], 5, 0)
	if l.DataTicks && len(measured) > 0 {
		p.X.Tick.Marker = dataTicks(measured, float64(width)/(p.X.Max-p.X.Min))
	}
}

func (s Series) hasBand() bool {
	return !s.Measured && slices.ContainsFunc(s.Points, func(p Point) bool { return p.Low != p.High })
}

// drawSpread draws the band or the error bars.
func (s Series) drawSpread(p *plot.Plot) {
	if s.Measured {
		bars := &plotter.YErrorBars{LineStyle: s.Look.bar(), CapWidth: glyphSize}
		for _, q := range s.Points {
			if q.Low == q.High {
				continue
			}
			bars.XYs = append(bars.XYs, plotter.XY{X: q.X, Y: q.Y})
			bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{q.Y - q.Low, q.High - q.Y})
		}
		p.Add(bars)
	}
	if !s.hasBand() {
		return
	}
	var edge plotter.XYs
	for _, q := range s.Points {
		edge = append(edge, plotter.XY{X: q.X, Y: q.High})
	}
	for _, q := range slices.Backward(s.Points) {
		edge = append(edge, plotter.XY{X: q.X, Y: q.Low})
	}
	p.Add(&plotter.Polygon{XYs: []plotter.XYs{edge}, Color: s.Look.shade()})
}

// marked reports whether all points are drawn, as of a series without a line.
func (s Series) marked() bool { return s.Measured || len(s.Points) == 1 }

// line draws the means and the mark, with a line down to the axis.
func (s Series) line(p *plot.Plot) {
	line := &plotter.Line{LineStyle: s.Look.line()}
	mark := &plotter.Scatter{GlyphStyle: s.Look.glyph()}
	for _, q := range s.Points {
		xy := plotter.XY{X: q.X, Y: q.Y}
		line.XYs = append(line.XYs, xy)
		isStop := s.Stop > 0 && q.X == s.Stop
		if isStop {
			p.Add(&plotter.Line{
				XYs:       plotter.XYs{{X: q.X, Y: p.Y.Min}, xy},
				LineStyle: draw.LineStyle{Color: s.Look.color(), Width: thinWidth, Dashes: thinLine.Dashes},
			})
		}
		if isStop || s.marked() {
			mark.XYs = append(mark.XYs, xy)
		}
	}
	p.Add(line, mark)
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

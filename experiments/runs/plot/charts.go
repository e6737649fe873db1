package plot

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Lines shows numbers against another one, whose axis starts at 0.
type Lines struct {
	X, Y    string // titles of the axes, with their units
	Series  []Series
	Percent bool    // Y is a percentage: its axis starts at 0 and ends at most at 100
	Chance  float64 // a line in the unit of Y, 0 for none
}

// Series is one line.
type Series struct {
	Name   string
	Look   Look
	Points []Point // X ascending
	// Measured draws each point with an error bar from Low to High, otherwise the line has a band.
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
	for i, s := range l.Series {
		if len(s.Points) == 0 {
			continue
		}
		s.Points = slices.Clone(s.Points)
		last := len(s.Points) - 1
		shift := (s.Points[last].X - s.Points[0].X) * (float64(i) - float64(len(l.Series)-1)/2) / 120
		for j := range s.Points {
			if s.Measured { // bars do not hide each other
				s.Points[j].X += shift
			}
		}
		s.add(c)
	}
	if c.X.Min < c.X.Max {
		c.X.Min = min(c.X.Min, 0)
	}
	if l.Chance > 0 {
		end := max(c.X.Max, c.X.Min+1) // as far as an axis with one point reaches
		chance := &plotter.Line{
			XYs: plotter.XYs{{X: c.X.Min, Y: l.Chance}, {X: end, Y: l.Chance}}, LineStyle: thinLine,
		}
		c.Add(chance)
		c.explain("chance", chance)
	}
	if l.Percent {
		c.Y.Min, c.Y.Max = 0, percentEnd(c.Y.Max)
		c.Y.Tick.Marker = plot.TickerFunc(percentTicks)
	}
	return c
}

// percentTicks has ticks at multiples of 20 from 0.
func percentTicks(_, high float64) (list []plot.Tick) {
	for v := 0.0; v <= high; v += 20 {
		list = append(list, plot.Tick{Value: v, Label: fmt.Sprint(v)})
	}
	return list
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

// Dots shows numbers with error bars, one row per name, in panels side by side, which have the
// same axis: validation and test results are not mixed. The legend has the series after the first
// of the last panel; the caption says what the others are, and that the dashed line is chance.
type Dots struct {
	X       string // title of the axis, with its unit
	Percent bool   // the axis starts at 0 and ends at most at 100
	Rows    []Row  // from the top
	Panels  []Panel
}

// Row is one line of dots.
type Row struct {
	Name  string
	Focus bool // coloured and shaded, others are grey
}

// Panel has numbers for all rows.
type Panel struct {
	Title  string
	Chance float64 // a line in the unit of X, 0 for none
	Series []DotSeries
}

// DotSeries has numbers for some of the rows, each with the marker of the condition. Without
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
	value, low, high := percent(fraction, low, high)
	return Dot{row, value, low, high}
}

// panelGap is the space between panels, if their width is 1.
const panelGap = 0.15

// ends returns the ends of the axis.
func (d *Dots) ends() (low, high float64) {
	for _, p := range d.Panels {
		high = max(high, p.Chance)
		for _, s := range p.Series {
			for _, dot := range s.Dots {
				low, high = min(low, dot.Value, dot.Low), max(high, dot.Value, dot.High)
			}
		}
	}
	if d.Percent {
		return 0, percentEnd(high)
	}
	space := max(high-low, math.SmallestNonzeroFloat64) / 40 // for the ends of bars
	return low - space, high + space
}

func (d *Dots) chart() *chart {
	c := newChart(d.X, "")
	var names []string
	for _, r := range d.Rows {
		names = append(names, r.Name)
	}
	c.nameRows(names)
	bottom, top := c.Y.Min, c.Y.Max
	panels, lanes := slices.Clone(d.Panels), 1
	for i, p := range panels {
		panels[i].Series = slices.DeleteFunc(slices.Clone(p.Series), func(s DotSeries) bool {
			return len(s.Dots) == 0
		})
		lanes = max(lanes, len(panels[i].Series))
	}
	lane := 1 / (float64(lanes) + 0.5) // distance of dots if that of rows is 1
	if d.Panels[0].Title != "" {
		c.Y.Max += 1.5 * lane
	}
	c.data = line * vg.Length((c.Y.Max-bottom)/lane)
	low, high := d.ends()
	var marks plot.ConstantTicks
	for k, p := range panels {
		at := func(x float64) float64 { // within the panel, whatever a damaged file holds
			return (min(max(x, low), high)-low)/(high-low) + float64(k)*(1+panelGap)
		}
		vertical := func(x float64, style draw.LineStyle) {
			c.Add(&plotter.Line{
				XYs: plotter.XYs{{X: at(x), Y: bottom}, {X: at(x), Y: top}}, LineStyle: style,
			})
		}
		for i, r := range d.Rows {
			if y := -float64(i); r.Focus {
				row := plotter.XYs{
					{X: at(low), Y: y - 0.5},
					{X: at(high), Y: y - 0.5},
					{X: at(high), Y: y + 0.5},
					{X: at(low), Y: y + 0.5},
				}
				c.Add(&plotter.Polygon{XYs: []plotter.XYs{row}, Color: grey(0.07)})
			}
		}
		for _, t := range ticks(low, high) {
			if !t.IsMinor() {
				vertical(t.Value, gridLine)
				marks = append(marks, plot.Tick{Value: at(t.Value), Label: t.Label})
			}
		}
		if low < 0 { // differences
			vertical(0, thinLine)
		}
		if p.Chance > 0 {
			vertical(p.Chance, thinLine)
		}
		c.Add(&plotter.Labels{
			XYs: plotter.XYs{{X: at(low), Y: c.Y.Max}}, Labels: []string{p.Title},
			TextStyle: []text.Style{textStyle},
		})
		for i, s := range p.Series {
			y := lane * (float64(len(p.Series)-1)/2 - float64(i))
			if i > 0 && k == len(panels)-1 {
				c.explain(s.Name, &plotter.Scatter{GlyphStyle: Look{Condition: s.Condition}.glyph()})
			}
			for _, dot := range s.Dots {
				look := Look{Condition: s.Condition}
				if d.Rows[dot.Row].Focus {
					look.Method = Focus
				}
				xy := plotter.XYs{{X: at(dot.Value), Y: y - float64(dot.Row)}}
				ends := plotter.XErrors{
					{Low: at(dot.Value) - at(dot.Low), High: at(dot.High) - at(dot.Value)},
				}
				c.Add(&plotter.XErrorBars{
					XYs: xy, XErrors: ends, LineStyle: look.bar(),
				}, &plotter.Scatter{XYs: xy, GlyphStyle: look.glyph()})
			}
		}
	}
	c.X.Min, c.X.Max = 0, 1+float64(len(panels)-1)*(1+panelGap) // exactly at the last label, which needs room
	c.X.Tick.Marker, c.X.LineStyle.Width = marks, 0
	return c
}

// Heat is a matrix of numbers from 0 to 1 drawn as shades of grey. It is as wide as a
// column, or as a page if the names of columns need it.
type Heat struct {
	Rows               []string // names, from the top
	Cols               []string // names, from the left
	RowTitle, ColTitle string
	Unit               string // of the numbers, which are written in percent
	Values             [][]float64
}

// Sizes of cells, in points. Names of rows fit into the height of a cell.
const (
	leastCell vg.Length = 8.2
	roomyCell vg.Length = 13 // from which there is room for a number

	scaleWidth = 3 * sampleWidth // of the legend
)

func (h *Heat) chart() *chart {
	c := newChart(h.ColTitle, h.RowTitle)
	c.nameRows(h.Rows)
	cols := len(h.Cols)
	c.X.Min, c.X.Max = -0.5, float64(cols)-0.5
	var ticks plot.ConstantTicks
	var widest vg.Length
	for k, name := range h.Cols {
		ticks = append(ticks, plot.Tick{Value: float64(k), Label: name})
		widest = max(widest, textStyle.Width(name))
	}
	c.X.Tick.Marker = ticks
	names := c.frame().X
	if need := names + leastCell*vg.Length(cols); need > c.width {
		c.width = max(page, need)
	}
	cell := (c.width - names) / vg.Length(cols)
	if widest > cell-2 {
		c.X.Tick.Label.Rotation, c.X.Tick.Label.XAlign, c.X.Tick.Label.YAlign = math.Pi/2, draw.XRight, draw.YCenter
	}
	height := min(max(cell, leastCell), roomyCell)
	c.data = max(height*vg.Length(len(h.Rows)), textStyle.Width(h.RowTitle))
	c.Add(h)
	c.legend[0].ThumbnailWidth = scaleWidth
	c.explain(fmt.Sprintf("0 to %.0f, %s", 100*h.most(), h.Unit), scale{h})
	return c
}

// scale is the legend of a heat map: its shades, from 0 to the number drawn as black.
type scale struct{ *Heat }

// Thumbnail implements plot.Thumbnailer.
func (s scale) Thumbnail(c *draw.Canvas) {
	const shades = 16
	for i := range shades {
		c.SetColor(s.shade(s.most() * float64(i) / (shades - 1)))
		left, width := c.Min.X, c.Size().X/shades
		c.Fill(vg.Rectangle{Min: vg.Point{X: left + vg.Length(i)*width, Y: c.Min.Y}, Max: vg.Point{
			X: left + vg.Length(i+1)*width, Y: c.Max.Y,
		}}.Path())
	}
	c.StrokeLines(gridLine, []vg.Point{
		c.Min, {X: c.Min.X, Y: c.Max.Y}, c.Max, {X: c.Max.X, Y: c.Min.Y}, c.Min,
	})
}

// Plot implements plot.Plotter: a cell for each number, which is written if there is room.
func (h *Heat) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	numbered := x(1)-x(0) >= roomyCell
	style := textStyle
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	for i, row := range h.Values {
		for k, v := range row {
			left, low, right, high := x(float64(k)-0.5), y(-float64(i)-0.5), x(float64(k)+
				0.5), y(0.5-float64(i))
			if shade := h.shade(v); shade.A > 0 {
				c.SetColor(shade)
				c.Fill(vg.Rectangle{Min: vg.Point{X: left, Y: low}, Max: vg.Point{X: right, Y: high}}.Path())
			}
			if style.Color = ink; v > h.most()/2 {
				style.Color = white
			}
			if number := fmt.Sprintf("%.0f", 100*v); numbered && number != "0" {
				c.FillText(style, vg.Point{
					X: (left + right) / 2, Y: (low+high)/2 + style.FontExtents().Descent/2,
				}, number)
			}
		}
	}
}

// shade is the colour of a number.
func (h *Heat) shade(v float64) color.NRGBA { return grey(min(max(v/h.most(), 0), 1)) }

// most is the number drawn as black: the largest, rounded up to a tenth.
func (h *Heat) most() float64 {
	most := 0.1
	for _, row := range h.Values {
		most = max(most, math.Ceil(10*slices.Max(row)-1e-6)/10)
	}
	return most
}

package plot

import (
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Dots shows numbers with error bars, one row per name, with the numbers in a column to the
// right. Unlike bars, dots allow an axis that does not start at 0.
type Dots struct {
	X       string   // title of the axis, with its unit
	Factors []string // above the marks of the rows, in place of their names
	Rows    []Row    // from the top
	Series  []DotSeries
	Chance  float64 // marked if it is on the axis
}

// Row is one line of dots, in the hue of its method.
type Row struct {
	Name     string
	Method   string
	Marks    []Condition // one per factor
	Emphatic bool
}

// DotSeries has a number for some of the rows, each with the marker of the condition.
type DotSeries struct {
	Name      string
	Condition Condition
	Dots      []Dot
}

// Dot is one number.
type Dot struct {
	Row          int
	Value        float64
	Below, Above float64 // lengths of the error bar
	Text         string
}

// PercentDot returns a fraction in percent with its interval, which may be NaN.
func PercentDot(row int, fraction, low, high float64, text string) Dot {
	d := Dot{Row: row, Value: 100 * fraction, Text: text}
	if !math.IsNaN(low) { // as of a single class
		d.Below, d.Above = 100*(fraction-low), 100*(high-fraction)
	}
	return d
}

const (
	rowGap     vg.Length = 4
	axisHeight vg.Length = 24
	nameWidth  vg.Length = 96 // above which names are wrapped
)

// dotsLayout has the sizes of the parts.
type dotsLayout struct {
	left, right vg.Length   // of names or marks, and of numbers
	factors     []vg.Length // middles of the columns of marks
	head        vg.Length   // of what is above the rows: the legend and the names of factors
	row         vg.Length   // height of one
}

func (d *Dots) layout() dotsLayout {
	l := dotsLayout{head: gap}
	if len(d.Series) > 1 { // otherwise the caption suffices
		l.head += line
	}
	if len(d.Factors) > 0 {
		l.head += 2 * line
		l.left = -gap / 2
	}
	for _, f := range d.Factors {
		width := widest(cellStyle, strings.Fields(f)...) + gap
		l.factors = append(l.factors, l.left+width/2)
		l.left += width
	}
	for _, r := range d.Rows {
		l.left = max(l.left, min(bold(nameStyle).Width(r.Name), nameWidth))
	}
	lanes := len(d.Series)
	for _, r := range d.Rows {
		lanes = max(lanes, len(wrap(bold(nameStyle), r.Name, l.left)))
	}
	l.row = tightLine*vg.Length(lanes) + rowGap
	for _, s := range d.Series {
		for _, dot := range s.Dots {
			l.right = max(l.right, numberStyle.Width(dot.Text))
		}
	}
	return l
}

// Size implements Picture.
func (d *Dots) Size() (width, height vg.Length) {
	l := d.layout()
	return column, l.head + l.row*vg.Length(len(d.Rows)) + axisHeight
}

// Draw implements Picture.
func (d *Dots) Draw(c draw.Canvas) {
	l, p := d.layout(), d.axis()
	middle := draw.Crop(c, l.left+gap, -l.right-2*gap, 0, -l.head)
	p.Draw(middle)
	data := p.DataCanvas(middle)
	x, y := p.Transforms(&data)
	for i, r := range d.Rows {
		d.drawRow(c, r, l, y(float64(-i)), y(1)-y(0))
	}
	for i, s := range d.Series {
		for _, dot := range s.Dots {
			at := vg.Point{X: x(dot.Value), Y: y(float64(-dot.Row)) + tightLine*(vg.Length(len(d.Series)-1)/2-vg.Length(i))}
			look := Look{d.Rows[dot.Row].Method, s.Condition}
			c.StrokeLine2(look.bar(), x(dot.Value-dot.Below), at.Y, x(dot.Value+dot.Above), at.Y)
			c.DrawGlyph(look.glyph(), at)
			write(c, numberStyle, c.Max.X-gap/2, at.Y, dot.Text)
		}
	}
	for k, f := range d.Factors {
		lines := strings.Fields(f)
		write(c, cellStyle, c.Min.X+l.factors[k], c.Max.Y-l.head+gap/2+tightLine*vg.Length(len(lines))/2, lines...)
	}
	if len(d.Series) > 1 {
		d.drawLegend(c, c.Min.X+l.left+gap, c.Max.Y-line/2, d.Chance != 0 && p.X.Min < d.Chance && d.Chance <= p.X.Max)
	}
}

// axis returns a plot of the axis and the grid; row i is at Y = -i.
func (d *Dots) axis() *plot.Plot {
	p := newPlot(d.X, "")
	p.HideY()
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range d.Series {
		for _, dot := range s.Dots {
			low, high = min(low, dot.Value, dot.Value-dot.Below), max(high, dot.Value, dot.Value+dot.Above)
		}
	}
	if low < 0 { // differences
		high = max(high, 0)
	}
	scale(&p.X, low, high, 0)
	if low < high { // whole steps would leave the sides empty
		p.X.Min, p.X.Max = low-0.03*(high-low), high+0.03*(high-low)
	}
	p.Y.Min, p.Y.Max = 0.5-float64(len(d.Rows)), 0.5
	p.Add(&plotter.Grid{Vertical: gridLine})
	if v := d.Chance; (low < 0 || v != 0) && p.X.Min < v && v <= p.X.Max { // differences have 0
		p.Add(&plotter.Line{XYs: plotter.XYs{{X: v, Y: p.Y.Min}, {X: v, Y: p.Y.Max}}, LineStyle: thinLine})
	}
	return p
}

// drawRow draws the background of a row, and its marks and name.
func (d *Dots) drawRow(c draw.Canvas, r Row, l dotsLayout, y, height vg.Length) {
	style := nameStyle
	if r.Emphatic {
		style = bold(style)
		fill(c, fade(ink, 0.07), c.Min.X, y-height/2, c.Max.X-c.Min.X, height)
	}
	for k, mark := range r.Marks {
		glyph := Look{r.Method, mark}.glyph()
		glyph.Color = ink
		c.DrawGlyph(glyph, vg.Point{X: c.Min.X + l.factors[k], Y: y})
	}
	write(c, style, c.Min.X, y, wrap(style, r.Name, l.left)...)
}

// drawLegend names the series, and the line of chance if it is on the axis.
func (d *Dots) drawLegend(c draw.Canvas, x, y vg.Length, chance bool) {
	for _, s := range d.Series {
		c.DrawGlyph(Look{Condition: s.Condition}.glyph(), vg.Point{X: x + glyphSize, Y: y})
		x += 2*glyphSize + gap/2
		write(c, nameStyle, x, y, s.Name)
		x += nameStyle.Width(s.Name) + 2*gap
	}
	if chance {
		c.StrokeLine2(thinLine, x, y-line/2, x, y+line/2)
		write(c, nameStyle, x+gap, y, "chance")
	}
}

// Numbers implements Picture.
func (d *Dots) Numbers() [][]string {
	table := [][]string{append(append([]string{"row"}, d.Factors...), "series", "value", "low", "high")}
	for _, s := range d.Series {
		for _, dot := range s.Dots {
			row := []string{d.Rows[dot.Row].Name}
			for _, m := range d.Rows[dot.Row].Marks {
				row = append(row, [conditions]string{"yes", "no", "other"}[m])
			}
			table = append(table, append(row, s.Name, number(dot.Value), number(dot.Value-dot.Below), number(dot.Value+dot.Above)))
		}
	}
	return table
}

package plot

import (
	"math"

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

const (
	laneHeight vg.Length = 8.5 // of one series in a row
	rowGap     vg.Length = 4
	axisHeight vg.Length = 24
	nameWidth  vg.Length = 96 // above which names are wrapped
)

var (
	nameStyle   = textStyle(smallSize, draw.XLeft, draw.YCenter)
	numberStyle = textStyle(smallSize, draw.XRight, draw.YCenter)
	factorStyle = textStyle(smallSize, draw.XCenter, draw.YBottom)
)

func (d *Dots) rowHeight() vg.Length {
	lanes := len(d.Series)
	for _, r := range d.Rows {
		lanes = max(lanes, len(wrap(bold(nameStyle), r.Name, d.leftWidth())))
	}
	return laneHeight*vg.Length(lanes) + rowGap
}

// head is the height of what is above the rows: the legend and the names of factors.
func (d *Dots) head() vg.Length {
	var lines vg.Length
	if len(d.Series) > 1 {
		lines++
	}
	if len(d.Factors) > 0 {
		lines += 2
	}
	return line*lines + gap
}

// Size implements Picture.
func (d *Dots) Size() (width, height vg.Length) {
	return column, d.head() + d.rowHeight()*vg.Length(len(d.Rows)) + axisHeight
}

// Draw implements Picture.
func (d *Dots) Draw(c draw.Canvas) {
	left, right := d.leftWidth(), vg.Length(0)
	for _, s := range d.Series {
		for _, dot := range s.Dots {
			right = max(right, numberStyle.Width(dot.Text))
		}
	}
	p := d.axis()
	middle := draw.Crop(c, left+gap, -right-2*gap, 0, -d.head())
	p.Draw(middle)
	data := p.DataCanvas(middle)
	x, y := p.Transforms(&data)
	for i, r := range d.Rows {
		if r.Emphatic {
			low, high := y(float64(-i)-0.5), y(float64(-i)+0.5)
			fill(c, fade(ink, 0.07), c.Min.X, low, c.Max.X-c.Min.X, high-low)
		}
		d.drawName(c, r, left, y(float64(-i)))
	}
	for i, s := range d.Series {
		for _, dot := range s.Dots {
			at := vg.Point{X: x(dot.Value), Y: y(float64(-dot.Row)) + laneHeight*(vg.Length(len(d.Series)-1)/2-vg.Length(i))}
			look := Look{d.Rows[dot.Row].Method, s.Condition}
			if dot.Below+dot.Above > 0 {
				c.StrokeLine2(look.bar(), x(dot.Value-dot.Below), at.Y, x(dot.Value+dot.Above), at.Y)
			}
			c.DrawGlyph(look.glyph(), at)
			write(c, numberStyle, c.Max.X-gap/2, at.Y, dot.Text)
		}
	}
	d.drawLegend(c, left+gap, d.Chance != 0 && p.X.Min < d.Chance && d.Chance <= p.X.Max)
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
	scale(&p.X, low, high, 5, 0)
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

// leftWidth is the width of names or marks.
func (d *Dots) leftWidth() vg.Length {
	if len(d.Factors) > 0 {
		return d.factorAt(len(d.Factors))
	}
	var width vg.Length
	for _, r := range d.Rows {
		width = max(width, min(bold(nameStyle).Width(r.Name), nameWidth))
	}
	return width
}

// factorAt is the middle of a column of marks, that after the last for their number.
func (d *Dots) factorAt(k int) vg.Length {
	x := -gap / 2
	for i := range k {
		x += d.factorWidth(i)
	}
	return x + d.factorWidth(k)/2
}

func (d *Dots) factorWidth(k int) vg.Length {
	if k == len(d.Factors) {
		return 0
	}
	return widest(factorStyle, wrap(factorStyle, d.Factors[k], 0)...) + gap
}

func (d *Dots) drawName(c draw.Canvas, r Row, width, y vg.Length) {
	for k, mark := range r.Marks {
		glyph := Look{r.Method, mark}.glyph()
		glyph.Color = ink
		c.DrawGlyph(glyph, vg.Point{X: c.Min.X + d.factorAt(k), Y: y})
	}
	style := nameStyle
	if r.Emphatic {
		style = bold(style)
	}
	lines := wrap(style, r.Name, width)
	for i, words := range lines {
		write(c, style, c.Min.X, y+(vg.Length(len(lines)-1)/2-vg.Length(i))*laneHeight, words)
	}
}

// drawLegend draws what is above the rows, with the line of chance if it is on the axis.
func (d *Dots) drawLegend(c draw.Canvas, left vg.Length, chance bool) {
	for k, f := range d.Factors {
		lines := wrap(factorStyle, f, 0)
		for i, words := range lines {
			at := vg.Point{X: c.Min.X + d.factorAt(k), Y: c.Max.Y - d.head() + gap/2 + line*vg.Length(len(lines)-1-i)}
			c.FillText(factorStyle, at, words)
		}
	}
	if len(d.Series) < 2 { // the caption suffices
		return
	}
	at := vg.Point{X: c.Min.X + left, Y: c.Max.Y - line/2}
	for _, s := range d.Series {
		glyph := Look{Condition: s.Condition}.glyph()
		c.DrawGlyph(glyph, vg.Point{X: at.X + glyphSize, Y: at.Y})
		at.X += 2*glyphSize + gap/2
		write(c, nameStyle, at.X, at.Y, s.Name)
		at.X += nameStyle.Width(s.Name) + 2*gap
	}
	if chance {
		c.StrokeLine2(thinLine, at.X, at.Y-line/2, at.X, at.Y+line/2)
		write(c, nameStyle, at.X+gap, at.Y, "chance")
	}
}

// Numbers implements Picture.
func (d *Dots) Numbers() [][]string {
	table := [][]string{append(append([]string{"row"}, d.Factors...), "series", "value", "low", "high")}
	for _, s := range d.Series {
		for _, dot := range s.Dots {
			r := d.Rows[dot.Row]
			row := []string{r.Name}
			for _, m := range r.Marks {
				row = append(row, [conditions]string{"yes", "no", "other"}[m])
			}
			table = append(table, append(row, s.Name, number(dot.Value), number(dot.Value-dot.Below), number(dot.Value+dot.Above)))
		}
	}
	return table
}

package plot

import (
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Heat is a matrix of numbers from 0 to 1 drawn as colours.
type Heat struct {
	Rows, Cols         []string // names, from the top and from the left
	RowTitle, ColTitle string
	Unit               string // of the numbers
	Values             [][]float64
	Blocks             []Block // from the top
	Percent            bool    // writes each number into its cell if there is room
}

// Block is a range of rows below a line, up to the next block. Its name is written to the
// right of them.
type Block struct {
	Row  int // its first
	Name string
}

// Sizes of a heat map, in points. Row names fit into the height of a cell.
const (
	cell        vg.Length = 10
	percentCell vg.Length = 20
	mostNumbers           = 25 // rows up to which cells have numbers
	barHeight   vg.Length = 8
	barWidth    vg.Length = 160
	gap         vg.Length = 4
)

// heatLayout has the sizes of the parts of a heat map.
type heatLayout struct {
	side          vg.Length // of a cell
	left          vg.Length // of the names of rows, with their title
	head          vg.Length // of the names of columns
	turned        bool      // whether the names of columns are longer than a cell is wide
	top           vg.Length // of everything above the cells
	width, height vg.Length
}

var (
	rowName   = textStyle(smallSize, draw.XRight, draw.YCenter)
	heatTitle = textStyle(labelSize, draw.XCenter, draw.YBottom)
)

func upright(s text.Style) text.Style {
	s.Rotation = math.Pi / 2
	return s
}

func (h *Heat) layout() heatLayout {
	l := heatLayout{side: cell}
	if h.numbers() {
		l.side = percentCell
	}
	titles := 2 * labelSize
	l.left = widest(rowName, h.Rows) + gap + titles
	l.head = smallSize + gap
	if w := widest(rowName, h.Cols); w > l.side-gap/2 {
		l.turned = true
		l.head = w + gap
	}
	l.top = 2*labelSize + barHeight + 3*gap + titles + l.head
	cells := l.side * vg.Length(len(h.Cols))
	right := gap
	for _, b := range h.Blocks {
		right = max(right, gap+rowName.Width(b.Name))
	}
	// The last number of the bar is wider than the bar.
	l.width = 2*margin + l.left + max(cells+right, barWidth+percentCell)
	l.height = 2*margin + l.top + l.side*vg.Length(len(h.Rows))
	return l
}

func (h *Heat) numbers() bool { return h.Percent && len(h.Rows) <= mostNumbers }

// widest returns the length of the longest name.
func widest(s text.Style, names []string) vg.Length {
	var w vg.Length
	for _, name := range names {
		w = max(w, s.Width(name))
	}
	return w
}

// Size implements Picture.
func (h *Heat) Size() (width, height vg.Length) {
	l := h.layout()
	return l.width, l.height
}

// Draw implements Picture.
func (h *Heat) Draw(c draw.Canvas) {
	l := h.layout()
	corner := vg.Point{X: c.Min.X + l.left, Y: c.Max.Y - l.top} // the upper left of the cells
	h.drawBar(c, corner.X)
	h.drawCells(c, corner, l.side)
	h.drawNames(c, corner, l)
}

// drawBar draws the scale of colours at the top.
func (h *Heat) drawBar(c draw.Canvas, left vg.Length) {
	label := textStyle(tickSize, draw.XLeft, draw.YTop)
	c.FillText(label, vg.Point{X: left, Y: c.Max.Y}, h.Unit)
	top := c.Max.Y - labelSize - gap
	step := barWidth / vg.Length(len(ramp))
	for i, shade := range ramp {
		fill(c, shade, left+step*vg.Length(i), top-barHeight, step, barHeight)
	}
	frame(c, left, top-barHeight, barWidth, barHeight)
	label.XAlign = draw.XCenter
	for _, v := range []float64{0, 0.25, 0.5, 0.75, 1} {
		c.FillText(label, vg.Point{X: left + barWidth*vg.Length(v), Y: top - barHeight - gap/2}, h.number(v))
	}
}

// number formats a value in the unit of the picture.
func (h *Heat) number(v float64) string {
	if h.Percent {
		return strconv.FormatFloat(100*v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func (h *Heat) drawCells(c draw.Canvas, corner vg.Point, side vg.Length) {
	width, height := side*vg.Length(len(h.Cols)), side*vg.Length(len(h.Rows))
	inCell := textStyle(smallSize, draw.XCenter, draw.YCenter)
	for i, row := range h.Values {
		y := corner.Y - side*vg.Length(i+1)
		for k, v := range row {
			x := corner.X + side*vg.Length(k)
			if n := shadeOf(v); n > 0 { // white needs no fill
				fill(c, ramp[n], x, y, side, side)
			}
			if number := h.number(v); h.numbers() && number != "0" {
				inCell.Color = ink
				if v > 0.5 {
					inCell.Color = white
				}
				c.FillText(inCell, vg.Point{X: x + side/2, Y: y + side/2}, number)
			}
		}
	}
	style := draw.LineStyle{Color: soft, Width: thinWidth}
	name := textStyle(smallSize, draw.XLeft, draw.YCenter)
	for _, b := range h.Blocks {
		y := corner.Y - side*vg.Length(b.Row)
		c.StrokeLine2(style, corner.X, y, corner.X+width, y)
		c.FillText(name, vg.Point{X: corner.X + width + gap, Y: y - side/2}, b.Name)
	}
	frame(c, corner.X, corner.Y-height, width, height)
}

func (h *Heat) drawNames(c draw.Canvas, corner vg.Point, l heatLayout) {
	width, height := l.side*vg.Length(len(h.Cols)), l.side*vg.Length(len(h.Rows))
	for i, name := range h.Rows {
		c.FillText(rowName, vg.Point{X: corner.X - gap, Y: corner.Y - l.side*(vg.Length(i)+0.5)}, name)
	}
	style := textStyle(smallSize, draw.XCenter, draw.YBottom)
	if l.turned {
		style = upright(textStyle(smallSize, draw.XLeft, draw.YCenter))
	}
	for k, name := range h.Cols {
		c.FillText(style, vg.Point{X: corner.X + l.side*(vg.Length(k)+0.5), Y: corner.Y + gap}, name)
	}
	c.FillText(heatTitle, vg.Point{X: corner.X + width/2, Y: corner.Y + l.head + gap}, h.ColTitle)
	side := upright(heatTitle)
	side.YAlign = draw.YTop
	c.FillText(side, vg.Point{X: c.Min.X, Y: corner.Y - min(height, 300)/2}, h.RowTitle)
}

// seam is the overlap of rectangles, so that no white line appears between them where
// edges are smoothed.
const seam vg.Length = 0.2

func fill(c draw.Canvas, shade color.Color, x, y, width, height vg.Length) {
	c.SetColor(shade)
	c.Fill(vg.Rectangle{Min: vg.Point{X: x, Y: y - seam}, Max: vg.Point{X: x + width + seam, Y: y + height}}.Path())
}

func frame(c draw.Canvas, x, y, width, height vg.Length) {
	c.SetLineStyle(draw.LineStyle{Color: ink, Width: thinWidth})
	c.Stroke(vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + width, Y: y + height}}.Path())
}

// ramp runs from white to dark blue in steps of equal perceived lightness.
var ramp = func() []color.Color {
	blues, err := moreland.NewLuminance([]color.Color{
		color.NRGBA{8, 24, 88, 255}, color.NRGBA{34, 94, 168, 255}, color.NRGBA{127, 190, 220, 255}, white,
	})
	if err != nil {
		panic("plot: colour ramp: " + err.Error()) // colours must be given from dark to light
	}
	blues.SetMin(0)
	blues.SetMax(1)
	colors := blues.Palette(64).Colors()
	slices.Reverse(colors)
	return colors
}()

// shadeOf returns the index into ramp of a number from 0 to 1.
func shadeOf(v float64) int {
	return int(min(max(v, 0), 1)*float64(len(ramp)-1) + 0.5)
}

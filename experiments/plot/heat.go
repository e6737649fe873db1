package plot

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Heat is a matrix of numbers from 0 to 1 drawn as shades of grey. It is as wide as a
// column, or as a page if the names of columns need it.
type Heat struct {
	Rows               []string // names, from the top
	Cols               []string // names, from the left; nil for none
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

// Sizes of a heat map, in points. Names of rows fit into the height of a cell.
const (
	leastCell  vg.Length = 7.2
	mostCell   vg.Length = 20
	roomyCell  vg.Length = 12 // from which there is room for a number
	seam       vg.Length = 0.3
	scaleWidth vg.Length = 50
)

// heatLayout has the sizes of the parts of a heat map.
type heatLayout struct {
	width       vg.Length // of the picture
	cell        vg.Point
	left        vg.Length // of the names of rows, with their title
	head        vg.Length // of the names of columns
	turned      bool      // whether the names of columns are longer than a cell is wide
	top         vg.Length // of everything above the cells
	cells, rows vg.Length // width and height of all cells
}

func (h *Heat) layout() heatLayout {
	cols := vg.Length(1)
	if len(h.Values) > 0 {
		cols = max(cols, vg.Length(len(h.Values[0])))
	}
	var right vg.Length
	for _, b := range h.Blocks {
		right = max(right, gap+nameStyle.Width(b.Name))
	}
	l := heatLayout{width: column, left: line + widest(nameStyle, h.Rows...) + gap}
	room := func() vg.Length { return (l.width - l.left - right - 1) / cols }
	if len(h.Cols) > 0 && room() < leastCell {
		l.width = page
	}
	if len(h.Cols) > 0 && room() < leastCell { // more than a page can hold
		l.width = l.left + right + leastCell*cols + 1
	}
	l.cell.X = min(room(), mostCell)
	l.cell.Y = max(leastCell, min(l.cell.X, roomyCell))
	if len(h.Cols) > 0 {
		l.head = line
		if w := widest(nameStyle, h.Cols...); w > l.cell.X-2 {
			l.turned = true
			l.head = w + gap
		}
	}
	l.top = 2*line + l.head + gap
	l.cells, l.rows = l.cell.X*cols, l.cell.Y*vg.Length(len(h.Rows))
	return l
}

// Size implements Picture.
func (h *Heat) Size() (width, height vg.Length) {
	l := h.layout()
	return l.width, l.top + max(l.rows, nameStyle.Width(h.RowTitle)) + 1
}

// Draw implements Picture.
func (h *Heat) Draw(c draw.Canvas) {
	l := h.layout()
	corner := vg.Point{X: c.Min.X + l.left, Y: c.Max.Y - l.top} // the upper left of the cells
	h.drawScale(c)
	h.drawCells(c, corner, l)
	h.drawNames(c, corner, l)
}

// drawScale draws the scale of shades at the top.
func (h *Heat) drawScale(c draw.Canvas) {
	y := c.Max.Y - line/2
	label := fmt.Sprintf("%s: %s", h.Unit, h.number(0))
	write(c, nameStyle, c.Min.X, y, label)
	x := c.Min.X + nameStyle.Width(label) + gap
	const steps = 10
	for i := range steps + 1 {
		width := scaleWidth / (steps + 1)
		fill(c, fade(ink, float64(i)/steps), x+width*vg.Length(i), y-glyphSize, width-seam, 2*glyphSize)
	}
	frame(c, x, y-glyphSize, scaleWidth, 2*glyphSize)
	write(c, nameStyle, x+scaleWidth+gap, y, h.number(h.most()))
}

// most is the number drawn as black: the largest, rounded up to a tenth.
func (h *Heat) most() float64 {
	if h.Percent {
		return 1
	}
	most := 0.1
	for _, row := range h.Values {
		most = max(most, math.Ceil(10*slices.Max(row)-1e-6)/10)
	}
	return most
}

// number formats a value in the unit of the picture.
func (h *Heat) number(v float64) string {
	if h.Percent {
		return strconv.FormatFloat(100*v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func (h *Heat) drawCells(c draw.Canvas, corner vg.Point, l heatLayout) {
	inCell := textStyle(smallSize, draw.XCenter, draw.YCenter)
	most := h.most()
	for i, row := range h.Values {
		y := corner.Y - l.cell.Y*vg.Length(i+1)
		for k, v := range row {
			x := corner.X + l.cell.X*vg.Length(k)
			v = min(max(v/most, 0), 1)
			if v >= 0.01 {
				fill(c, fade(ink, v), x, y, l.cell.X-seam, l.cell.Y-seam)
			}
			if number := h.number(row[k]); h.Percent && l.cell.X >= roomyCell && number != "0" {
				inCell.Color = ink
				if v > 0.5 {
					inCell.Color = white
				}
				write(c, inCell, x+l.cell.X/2, y+l.cell.Y/2, number)
			}
		}
	}
	for _, b := range h.Blocks {
		y := corner.Y - l.cell.Y*vg.Length(b.Row)
		c.StrokeLine2(draw.LineStyle{Color: soft, Width: thinWidth}, corner.X, y, corner.X+l.cells, y)
		write(c, nameStyle, corner.X+l.cells+gap, y-l.cell.Y/2, b.Name)
	}
	frame(c, corner.X, corner.Y-l.rows, l.cells, l.rows)
}

func (h *Heat) drawNames(c draw.Canvas, corner vg.Point, l heatLayout) {
	for i, name := range h.Rows {
		write(c, numberStyle, corner.X-gap/2, corner.Y-l.cell.Y*(vg.Length(i)+0.5), name)
	}
	style := textStyle(smallSize, draw.XCenter, draw.YBottom)
	if l.turned {
		style = upright(nameStyle)
	}
	for k, name := range h.Cols {
		c.FillText(style, vg.Point{X: corner.X + l.cell.X*(vg.Length(k)+0.5), Y: corner.Y + gap/2}, name)
	}
	c.FillText(factorStyle, vg.Point{X: corner.X + l.cells/2, Y: corner.Y + l.head + gap/2}, h.ColTitle)
	side := textStyle(smallSize, draw.XRight, draw.YTop)
	c.FillText(upright(side), vg.Point{X: c.Min.X, Y: corner.Y}, h.RowTitle)
}

// Numbers implements Picture.
func (h *Heat) Numbers() [][]string {
	header := []string{h.RowTitle}
	table := [][]string{nil}
	for i, row := range h.Values {
		cells := []string{h.Rows[i]}
		for k, v := range row {
			if i == 0 {
				name := fmt.Sprintf("%s %d", h.ColTitle, k+1)
				if k < len(h.Cols) {
					name = h.Cols[k]
				}
				header = append(header, name)
			}
			cells = append(cells, number(v))
		}
		table = append(table, cells)
	}
	table[0] = header
	return table
}

func fill(c draw.Canvas, shade color.Color, x, y, width, height vg.Length) {
	c.SetColor(shade)
	c.Fill(vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + width, Y: y + height}}.Path())
}

func frame(c draw.Canvas, x, y, width, height vg.Length) {
	c.SetLineStyle(draw.LineStyle{Color: ink, Width: thinWidth})
	c.Stroke(vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + width, Y: y + height}}.Path())
}

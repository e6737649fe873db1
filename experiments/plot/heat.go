package plot

import (
	"fmt"
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
	width           vg.Length // of the picture
	left, head, top vg.Length // of the names of rows, with their title, of columns, and of everything above the cells
	cell, all       vg.Point  // one cell, and all of them
}

func (h *Heat) layout() heatLayout {
	cols := vg.Length(max(1, h.cols()))
	l := heatLayout{width: column, left: line + widest(nameStyle, h.Rows...) + gap}
	sides := l.left + 1
	for _, b := range h.Blocks {
		sides = max(sides, l.left+1+gap+nameStyle.Width(b.Name))
	}
	if need := sides + leastCell*cols; len(h.Cols) > 0 && need > column {
		l.width = max(page, need)
	}
	l.cell.X = min((l.width-sides)/cols, mostCell)
	l.cell.Y = max(leastCell, min(l.cell.X, roomyCell))
	l.all = vg.Point{X: l.cell.X * cols, Y: l.cell.Y * vg.Length(len(h.Rows))}
	if len(h.Cols) > 0 {
		l.head = line
	}
	if w := widest(nameStyle, h.Cols...); w > l.cell.X-2 {
		l.head = w + gap
	}
	l.top = 2*line + l.head + gap
	return l
}

func (h *Heat) cols() int {
	if len(h.Values) == 0 {
		return 0
	}
	return len(h.Values[0])
}

// Size implements Picture.
func (h *Heat) Size() (width, height vg.Length) {
	l := h.layout()
	return l.width, l.top + max(l.all.Y, nameStyle.Width(h.RowTitle)) + 1
}

// Draw implements Picture.
func (h *Heat) Draw(c draw.Canvas) {
	l := h.layout()
	corner := vg.Point{X: c.Min.X + l.left, Y: c.Max.Y - l.top} // the upper left of the cells
	h.drawScale(c)
	h.drawCells(c, corner, l.cell)
	for _, b := range h.Blocks {
		y := corner.Y - l.cell.Y*vg.Length(b.Row)
		c.StrokeLine2(draw.LineStyle{Color: soft, Width: thinWidth}, corner.X, y, corner.X+l.all.X, y)
		write(c, nameStyle, corner.X+l.all.X+gap, y-l.cell.Y/2, b.Name)
	}
	c.SetLineStyle(frameLine)
	c.Stroke(box(corner.X, corner.Y-l.all.Y, l.all.X, l.all.Y))
	for i, name := range h.Rows {
		write(c, numberStyle, corner.X-gap/2, corner.Y-l.cell.Y*(vg.Length(i)+0.5), name)
	}
	head := cellStyle
	head.YAlign = draw.YBottom
	style := head
	if l.head > line { // the names of columns are longer than a cell is wide
		style = upright(nameStyle)
	}
	for k, name := range h.Cols {
		c.FillText(style, vg.Point{X: corner.X + l.cell.X*(vg.Length(k)+0.5), Y: corner.Y + gap/2}, name)
	}
	c.FillText(head, vg.Point{X: corner.X + l.all.X/2, Y: corner.Y + l.head + gap/2}, h.ColTitle)
	c.FillText(upright(textStyle(smallSize, draw.XRight, draw.YTop)), vg.Point{X: c.Min.X, Y: corner.Y}, h.RowTitle)
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
	c.SetLineStyle(frameLine)
	c.Stroke(box(x, y-glyphSize, scaleWidth, 2*glyphSize))
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

func (h *Heat) drawCells(c draw.Canvas, corner, cell vg.Point) {
	most := h.most()
	for i, row := range h.Values {
		y := corner.Y - cell.Y*vg.Length(i+1)
		for k, v := range row {
			x := corner.X + cell.X*vg.Length(k)
			shade := min(max(v/most, 0), 1)
			if shade >= 0.01 {
				fill(c, fade(ink, shade), x, y, cell.X-seam, cell.Y-seam)
			}
			if number := h.number(v); h.Percent && cell.X >= roomyCell && number != "0" {
				style := cellStyle
				if shade > 0.5 {
					style.Color = white
				}
				write(c, style, x+cell.X/2, y+cell.Y/2, number)
			}
		}
	}
}

// Numbers implements Picture.
func (h *Heat) Numbers() [][]string {
	header := append([]string{h.RowTitle}, h.Cols...)
	for k := len(h.Cols); k < h.cols(); k++ {
		header = append(header, fmt.Sprintf("%s %d", h.ColTitle, k+1))
	}
	table := [][]string{header}
	for i, row := range h.Values {
		cells := []string{h.Rows[i]}
		for _, v := range row {
			cells = append(cells, number(v))
		}
		table = append(table, cells)
	}
	return table
}

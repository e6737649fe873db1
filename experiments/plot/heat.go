package plot

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/lago-train/lago-train/internal/table"
)

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
		c.Fill(vg.Rectangle{Min: vg.Point{X: left + vg.Length(i)*width, Y: c.Min.Y}, Max: vg.Point{X: left + vg.Length(i+1)*width, Y: c.Max.Y}}.Path())
	}
	c.StrokeLines(gridLine, []vg.Point{c.Min, {X: c.Min.X, Y: c.Max.Y}, c.Max, {X: c.Max.X, Y: c.Min.Y}, c.Min})
}

// Plot implements plot.Plotter: a cell for each number, which is written if there is room.
func (h *Heat) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	numbered := x(1)-x(0) >= roomyCell
	style := textStyle
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	for i, row := range h.Values {
		for k, v := range row {
			left, low, right, high := x(float64(k)-0.5), y(-float64(i)-0.5), x(float64(k)+0.5), y(0.5-float64(i))
			if shade := h.shade(v); shade.A > 0 {
				c.SetColor(shade)
				c.Fill(vg.Rectangle{Min: vg.Point{X: left, Y: low}, Max: vg.Point{X: right, Y: high}}.Path())
			}
			if style.Color = ink; v > h.most()/2 {
				style.Color = white
			}
			if number := fmt.Sprintf("%.0f", 100*v); numbered && number != "0" {
				c.FillText(style, vg.Point{X: (left + right) / 2, Y: (low+high)/2 + style.FontExtents().Descent/2}, number)
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

// Numbers implements Picture.
func (h *Heat) Numbers() *table.Table {
	t := table.New("", append([]string{h.RowTitle}, h.Cols...)...)
	for i, row := range h.Values {
		cells := []any{h.Rows[i]}
		for _, v := range row {
			cells = append(cells, number(v))
		}
		t.Row(cells...)
	}
	return t
}

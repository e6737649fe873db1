package plot

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes, in points.
const (
	margin     vg.Length = 6
	labelSize  vg.Length = 10
	tickSize   vg.Length = 9
	smallSize  vg.Length = 8
	lineWidth  vg.Length = 1.5
	thinWidth  vg.Length = 0.5
	glyphSize  vg.Length = 3
	legendGap  vg.Length = 10
	legendSkip vg.Length = 3
)

var (
	white = color.NRGBA{255, 255, 255, 255}
	ink   = color.NRGBA{34, 34, 34, 255}
	soft  = color.NRGBA{136, 136, 136, 255}
	faint = color.NRGBA{221, 221, 221, 255}

	gridLine = draw.LineStyle{Color: faint, Width: thinWidth}
)

// look distinguishes a series by colour, shape and dashes.
type look struct {
	color  color.NRGBA
	shape  draw.GlyphDrawer
	dashes []vg.Length
}

// looks have the colours of Okabe & Ito that contrast with white.
var looks = []look{
	{color.NRGBA{0, 114, 178, 255}, draw.CircleGlyph{}, nil},
	{color.NRGBA{213, 94, 0, 255}, draw.BoxGlyph{}, []vg.Length{6, 2}},
	{color.NRGBA{0, 158, 115, 255}, draw.PyramidGlyph{}, []vg.Length{2, 2}},
	{color.NRGBA{204, 121, 167, 255}, draw.SquareGlyph{}, []vg.Length{8, 2, 2, 2}},
	{color.NRGBA{230, 159, 0, 255}, draw.TriangleGlyph{}, []vg.Length{4, 4}},
	{color.NRGBA{0, 0, 0, 255}, draw.RingGlyph{}, []vg.Length{1, 3}},
}

func lookOf(i int) look { return looks[i%len(looks)] }

func (l look) line() draw.LineStyle {
	return draw.LineStyle{Color: l.color, Width: lineWidth, Dashes: l.dashes}
}

func (l look) glyph() draw.GlyphStyle {
	return draw.GlyphStyle{Color: l.color, Radius: glyphSize, Shape: l.shape}
}

// shade is the colour of a band, which lines show through.
func (l look) shade() color.Color {
	c := l.color
	c.A = 50
	return c
}

// textStyle returns a style in the font of all figures.
func textStyle(size vg.Length, x draw.XAlignment, y draw.YAlignment) text.Style {
	return text.Style{
		Color: ink, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
		XAlign: x, YAlign: y, Handler: plot.DefaultTextHandler,
	}
}

// newPlot returns an empty plot in the style of all figures.
func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = textStyle(labelSize, 0, 0).Font
		a.Tick.Label.Font = textStyle(tickSize, 0, 0).Font
		a.Label.TextStyle.Color, a.Tick.Label.Color = ink, ink
		a.LineStyle.Color, a.Tick.LineStyle.Color = ink, ink
		a.Label.Padding, a.Tick.Length = 4, 4
		a.Padding = 0
	}
	return p
}

// newLegend returns an empty legend.
func newLegend() plot.Legend {
	l := plot.NewLegend()
	l.TextStyle = textStyle(tickSize, draw.XLeft, draw.YBottom)
	l.Top, l.Left = true, true
	l.Padding = legendSkip
	return l
}

// drawBeside draws a plot with its legend to the right.
func drawBeside(c draw.Canvas, p *plot.Plot, l *plot.Legend) {
	width := l.Rectangle(c).Size().X
	if width == 0 {
		p.Draw(c)
		return
	}
	right := draw.Crop(c, c.Max.X-c.Min.X-width, 0, 0, 0)
	l.Draw(right)
	p.Draw(draw.Crop(c, 0, -width-legendGap, 0, 0))
}

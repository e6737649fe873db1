package plot

import (
	"image/color"
	"math"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Widths of figures: of one column, and of both with the space between.
const (
	column vg.Length = 89 * vg.Millimeter
	page   vg.Length = 183 * vg.Millimeter
)

// Sizes, in points.
const (
	margin    vg.Length = 4
	gap       vg.Length = 4
	titleSize vg.Length = 8
	smallSize vg.Length = 7
	line      vg.Length = 9 // from one line of text to the next
	lineWidth vg.Length = 1.2
	barWidth  vg.Length = 0.8
	thinWidth vg.Length = 0.5
	glyphSize vg.Length = 2.4
)

var (
	white = color.NRGBA{255, 255, 255, 255}
	ink   = color.NRGBA{34, 34, 34, 255}
	soft  = color.NRGBA{136, 136, 136, 255}
	faint = color.NRGBA{221, 221, 221, 255}

	gridLine = draw.LineStyle{Color: faint, Width: thinWidth}
	thinLine = draw.LineStyle{Color: soft, Width: thinWidth, Dashes: []vg.Length{2, 2}}
)

// Look says how a series is drawn.
type Look struct {
	Method    string // has its hue; grey for an unknown one
	Condition Condition
}

// Condition is a marker and a dash pattern.
type Condition int

// The conditions. What they stand for is up to the figure.
const (
	Solid  Condition = iota // discs
	Dashed                  // circles
	Dotted                  // diamonds
	conditions
)

// hues are those of the variants of LAGO, Okabe & Ito (2008) for colour-blind readers, and
// of the baselines. All contrast with white and with the dark background of pages.
var hues = map[string]color.NRGBA{
	"singletons":    {0, 158, 115, 255},
	"semantic-hard": {0, 114, 178, 255},
	"k-soft":        {213, 94, 0, 255},
	"semantic-soft": {204, 121, 167, 255},

	"eszsl":  {230, 159, 0, 255},
	"ale":    {86, 180, 233, 255},
	"sync":   {138, 111, 209, 255},
	"sje":    {166, 118, 29, 255},
	"devise": {102, 166, 30, 255},
	"dap":    {231, 41, 138, 255},
	"iap":    {191, 91, 23, 255},
	"kernel": {31, 150, 170, 255},

	"mixed": ink, // LAGO with a variant chosen for each part of a rotation
}

func (l Look) color() color.NRGBA {
	if hue, ok := hues[l.Method]; ok {
		return hue
	}
	return soft
}

func (l Look) line() draw.LineStyle {
	dashes := [conditions][]vg.Length{nil, {4, 2}, {1, 2}}
	return draw.LineStyle{Color: l.color(), Width: lineWidth, Dashes: dashes[l.Condition%conditions]}
}

func (l Look) bar() draw.LineStyle { return draw.LineStyle{Color: l.color(), Width: barWidth} }

func (l Look) glyph() draw.GlyphStyle {
	shapes := [conditions]draw.GlyphDrawer{draw.CircleGlyph{}, circle{}, diamond{}}
	return draw.GlyphStyle{Color: l.color(), Radius: glyphSize, Shape: shapes[l.Condition%conditions]}
}

// shade is the colour of a band, which lines show through.
func (l Look) shade() color.Color { return fade(l.color(), 0.2) }

func fade(c color.NRGBA, alpha float64) color.NRGBA {
	c.A = uint8(math.Round(255 * alpha))
	return c
}

// circle is empty: the line below does not show through.
type circle struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (circle) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	c.DrawGlyph(draw.GlyphStyle{Color: white, Radius: s.Radius, Shape: draw.CircleGlyph{}}, at)
	c.SetLineStyle(draw.LineStyle{Color: s.Color, Width: barWidth})
	var p vg.Path
	p.Move(vg.Point{X: at.X + s.Radius - barWidth/2, Y: at.Y})
	p.Arc(at, s.Radius-barWidth/2, 0, 2*math.Pi)
	p.Close()
	c.Stroke(p)
}

type diamond struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (diamond) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	r := 1.2 * s.Radius
	c.FillPolygon(s.Color, []vg.Point{{X: at.X - r, Y: at.Y}, {X: at.X, Y: at.Y + r}, {X: at.X + r, Y: at.Y}, {X: at.X, Y: at.Y - r}})
}

// textStyle returns a style in the font of all figures.
func textStyle(size vg.Length, x draw.XAlignment, y draw.YAlignment) text.Style {
	return text.Style{
		Color: ink, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
		XAlign: x, YAlign: y, Handler: plot.DefaultTextHandler,
	}
}

func bold(s text.Style) text.Style {
	s.Font.Weight = xfont.WeightBold
	return s
}

func upright(s text.Style) text.Style {
	s.Rotation = math.Pi / 2
	return s
}

// write draws a text whose middle, that of its digits and low letters, is at y.
func write(c draw.Canvas, s text.Style, x, y vg.Length, words string) {
	c.FillText(s, vg.Point{X: x, Y: y + 0.12*s.Font.Size}, words)
}

// widest returns the length of the longest name.
func widest(s text.Style, names ...string) vg.Length {
	var w vg.Length
	for _, name := range names {
		w = max(w, s.Width(name))
	}
	return w
}

// newPlot returns an empty plot in the style of all figures.
func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font = textStyle(smallSize, 0, 0).Font
		a.Tick.Label.Font = textStyle(smallSize, 0, 0).Font
		a.Label.TextStyle.Color, a.Tick.Label.Color = ink, ink
		a.LineStyle.Color, a.Tick.LineStyle.Color = ink, ink
		a.LineStyle.Width, a.Tick.LineStyle.Width = thinWidth, thinWidth
		a.Label.Padding, a.Tick.Length = 2, 3
		a.Padding = 0
	}
	return p
}

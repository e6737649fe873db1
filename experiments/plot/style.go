package plot

import (
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

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
	line      vg.Length = 9   // from one line of text to the next
	tightLine vg.Length = 8.5 // beside the picture
	lineWidth vg.Length = 1.2
	barWidth  vg.Length = 0.8
	thinWidth vg.Length = 0.5
	glyphSize vg.Length = 2.4
)

// Colours that ForPage knows, line styles and text styles.
var (
	white = color.NRGBA{255, 255, 255, 255}
	ink   = color.NRGBA{34, 34, 34, 255}
	soft  = color.NRGBA{136, 136, 136, 255}
	faint = color.NRGBA{221, 221, 221, 255}

	gridLine  = draw.LineStyle{Color: faint, Width: thinWidth}
	frameLine = draw.LineStyle{Color: ink, Width: thinWidth}
	thinLine  = draw.LineStyle{Color: soft, Width: thinWidth, Dashes: []vg.Length{2, 2}}

	titleStyle   = bold(textStyle(titleSize, draw.XLeft, draw.YTop))
	captionStyle = textStyle(smallSize, draw.XLeft, draw.YTop)
	nameStyle    = textStyle(smallSize, draw.XLeft, draw.YCenter)
	numberStyle  = textStyle(smallSize, draw.XRight, draw.YCenter)
	cellStyle    = textStyle(smallSize, draw.XCenter, draw.YCenter)
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
	return draw.GlyphStyle{Color: l.color(), Radius: glyphSize, Shape: l.Condition % conditions}
}

// shade is the colour of a band, which lines show through.
func (l Look) shade() color.Color { return fade(l.color(), 0.2) }

func fade(c color.NRGBA, alpha float64) color.NRGBA {
	c.A = uint8(math.Round(255 * alpha))
	return c
}

// DrawGlyph implements draw.GlyphDrawer. The line below does not show through circles.
func (k Condition) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	if k == Dotted {
		r := 1.2 * s.Radius
		c.FillPolygon(s.Color, []vg.Point{{X: at.X - r, Y: at.Y}, {X: at.X, Y: at.Y + r}, {X: at.X + r, Y: at.Y}, {X: at.X, Y: at.Y - r}})
		return
	}
	draw.CircleGlyph{}.DrawGlyph(c, s, at)
	if k == Dashed {
		c.DrawGlyph(draw.GlyphStyle{Color: white, Radius: s.Radius - barWidth, Shape: Solid}, at)
	}
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

// write draws lines of text whose middle, that of digits and low letters, is at y.
func write(c draw.Canvas, s text.Style, x, y vg.Length, lines ...string) {
	y += tightLine*vg.Length(len(lines)-1)/2 + 0.12*s.Font.Size
	for i, words := range lines {
		c.FillText(s, vg.Point{X: x, Y: y - tightLine*vg.Length(i)}, words)
	}
}

// wrap breaks a text into lines of at most the given width, except longer words.
func wrap(s text.Style, words string, width vg.Length) (lines []string) {
	for _, word := range strings.Fields(words) {
		if last := len(lines) - 1; last >= 0 && s.Width(lines[last]+" "+word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// widest returns the length of the longest name.
func widest(s text.Style, names ...string) (w vg.Length) {
	for _, name := range names {
		w = max(w, s.Width(name))
	}
	return w
}

func box(x, y, width, height vg.Length) vg.Path {
	return vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + width, Y: y + height}}.Path()
}

func fill(c draw.Canvas, shade color.Color, x, y, width, height vg.Length) {
	c.SetColor(shade)
	c.Fill(box(x, y, width, height))
}

// newPlot returns an empty plot in the style of all figures.
func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font, a.Tick.Label.Font = nameStyle.Font, nameStyle.Font
		a.Label.TextStyle.Color, a.Tick.Label.Color = ink, ink
		a.LineStyle.Color, a.Tick.LineStyle.Color = ink, ink
		a.LineStyle.Width, a.Tick.LineStyle.Width = thinWidth, thinWidth
		a.Label.Padding, a.Tick.Length = 2, 3
		a.Padding = 0
	}
	return p
}

const (
	apart   = 1e-3 // the smallest range of an axis, in percent or epochs
	largest = 1e9  // bounds the axes: far beyond it, steps of an axis are lost to rounding
)

// scale sets the range of an axis to whole steps of 1, 2 or 5 times a power of ten
// around low and high, and labels them. There are at most five steps between the two at the
// ends, none smaller than least. Values beyond largest are not drawn.
func scale(a *plot.Axis, low, high, least float64) {
	low, high = min(max(low, -largest), largest), min(max(high, -largest), largest)
	if !(low <= high) { // no data, or NaN
		low, high = 0, 0
	}
	if high-low < apart {
		low, high = low-0.5, high+0.5
	}
	least = max((high-low)/5, least)
	unit := math.Pow(10, math.Floor(math.Log10(least)))
	step := 10 * unit
	for _, factor := range []float64{5, 2, 1} {
		if factor*unit >= least {
			step = factor * unit
		}
	}
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	// The tolerance keeps 0.3/0.1 at three steps.
	first, last := math.Floor(low/step+1e-9), math.Ceil(high/step-1e-9)
	var ticks plot.ConstantTicks
	for i := first; i <= last; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step, 'f', decimals, 64)})
	}
	a.Min, a.Max, a.Tick.Marker = first*step, last*step, ticks
}

// dataTicks has a tick at every value, with a label where there is room; scale is the
// length of the axis per unit.
func dataTicks(values []float64, scale float64) (ticks plot.ConstantTicks) {
	end := math.Inf(-1) // of the last label
	for _, v := range slices.Compact(slices.Sorted(slices.Values(values))) {
		t := plot.Tick{Value: v}
		label := strconv.FormatFloat(v, 'g', 4, 64)
		if half := float64(nameStyle.Width(label)) / 2; v*scale-half > end {
			t.Label, end = label, v*scale+half+float64(gap)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// number writes a number for CSV files, empty for NaN.
func number(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

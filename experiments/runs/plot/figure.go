// Package plot draws figures for a two-column paper with gonum/plot from two kinds of pictures: lines with
// bands or error bars, and dots with error bars. WriteFiles writes SVG; ForPage draws for an
// HTML page in the page's colours.
//
// A figure has one accent colour for what it is about, and grey for the rest. Dashes and markers are
// conditions. Axes of percentages stay within 0 and 100.
package plot

import (
	"fmt"
	"html"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
)

// Picture can be drawn.
type Picture interface{ chart() *chart }

// Figure is a picture with the text that explains it. Files have the title above and the
// caption below the picture; pages write both beside it.
type Figure struct {
	Name    string // of its file, without the extension
	Title   string
	Caption string // the data set, n, what error bars are, and the chance level
	Picture Picture
}

// WriteFiles writes each figure into an SVG file of dir, which it creates if necessary, and returns the
// paths.
func WriteFiles(write func(path string, write func(io.Writer) error) error, dir string,
	figures ...Figure,
) (paths []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, invalid.Folder(dir, "a folder", err)
	}
	for _, f := range figures {
		path := filepath.Join(dir, f.Name+".svg")
		if err := write(path, f.write); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

func (f Figure) write(w io.Writer) error {
	picture := f.Picture.chart()
	picture.Title.Text, picture.caption = wrap(f.Title, column), wrap(f.Caption, column)
	to := svgCanvas{vgsvg.New(picture.size())}
	c := draw.New(to)
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	picture.draw(c)
	_, err := to.WriteTo(w)
	return err
}

// ForPage returns the picture of a figure, without its text, as an SVG element of an HTML page, without size
// and background, and in the page's colours: texts and axes have currentColor, the grid var(--rule),
// secondary lines var(--soft), and the focus var(--accent).
func ForPage(f Figure) (string, error) {
	picture := f.Picture.chart()
	c := svgCanvas{vgsvg.New(picture.size())}
	picture.draw(draw.New(c))
	var b strings.Builder
	_, err := c.WriteTo(&b)
	_, element, _ := strings.Cut(b.String(), "viewBox")
	// vgsvg writes no colour where it fills with black.
	return `<svg role="img" fill="currentColor" aria-label="` + html.EscapeString(f.Title) + `" viewBox` +
		pageColors.Replace(element), err
}

var pageColors = strings.NewReplacer(
	":#000000", ":currentColor", ":#DDDDDD", ":var(--rule,#ddd)", ":#888888", ":var(--soft,#888)",
	":#0072B2", ":var(--accent,#0072b2)",
)

// svgCanvas replaces what SVG cannot hold in texts, and names fonts of the same widths as the one that texts
// are measured with. Where none of them is installed texts have the measured widths, too, so that none
// touches another.
type svgCanvas struct{ *vgsvg.Canvas }

func (c svgCanvas) FillString(f font.Face, at vg.Point, words string) {
	words = format.Printable(words)
	c.Canvas.FillString(f, at, fmt.Sprintf("\x1f%.2f\x1f%s", f.Width(words).Points(), words)) // see measured
}

var measured = regexp.MustCompile("<text ([^>]*)>\x1f([0-9.]+)\x1f")

func (c svgCanvas) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	if _, err := c.Canvas.WriteTo(&b); err != nil {
		return 0, err
	}
	const family, families = "font-family:Liberation Sans;", "font-family:'Liberation " +
		"Sans',Arimo,Arial,Helvetica,sans-serif;"
	text := strings.ReplaceAll(b.String(), family, families)
	text = measured.ReplaceAllString(text, `<text textLength="$2" $1>`)
	n, err := io.WriteString(w, text)
	return int64(n), err
}

const column vg.Length = 89 * vg.Millimeter

// Sizes, in points.
const (
	margin      vg.Length = 4
	line        vg.Length = 10 // from one line of text to the next
	lineWidth   vg.Length = 1.2
	barWidth    vg.Length = 0.8
	glyphSize   vg.Length = 2.4
	sampleWidth vg.Length = 16 // of a line in the legend
)

// Colours that ForPage knows, and styles.
var (
	ink   = color.NRGBA{0, 0, 0, 255}
	soft  = color.NRGBA{136, 136, 136, 255}
	faint = color.NRGBA{221, 221, 221, 255}
	// for what a figure is about, of Okabe & Ito (2008), for colour-blind readers
	accent = color.NRGBA{0, 114, 178, 255}

	gridLine  = draw.LineStyle{Color: faint, Width: 0.5}
	thinLine  = draw.LineStyle{Color: soft, Width: 0.5, Dashes: []vg.Length{2, 2}}
	textStyle = text.Style{
		Color: ink, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, 8), YAlign: draw.YTop,
		Handler: plot.DefaultTextHandler,
	}
)

// Condition is a marker and a dash pattern.
type Condition int

// The conditions. What they stand for is up to the figure.
const (
	Solid  Condition = iota // discs
	Dashed                  // circles
	Dotted                  // triangles
	Small                   // small discs
	conditions
)

func (s Series) color() color.NRGBA {
	if s.Focus {
		return accent
	}
	return soft
}

func (s Series) line() draw.LineStyle {
	dashes := [conditions][]vg.Length{nil, {4, 2}, {1, 2}, nil}
	return draw.LineStyle{Color: s.color(), Width: lineWidth, Dashes: dashes[s.Condition%conditions]}
}

func (s Series) bar() draw.LineStyle { return draw.LineStyle{Color: s.color(), Width: barWidth} }

func (s Series) glyph() draw.GlyphStyle {
	shapes := [conditions]draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.RingGlyph{}, draw.PyramidGlyph{}, draw.CircleGlyph{},
	}
	radius := glyphSize
	if s.Condition == Small {
		radius /= 2
	}
	return draw.GlyphStyle{Color: s.color(), Radius: radius, Shape: shapes[s.Condition%conditions]}
}

// grey is translucent, so that 0 is the colour of the page. Other colours are opaque.
func grey(alpha float64) color.NRGBA { return color.NRGBA{A: uint8(math.Round(255 * alpha))} }

func wrap(words string, width vg.Length) string {
	var lines []string
	for _, word := range strings.Fields(words) {
		if last := len(lines) - 1; last >= 0 && textStyle.Width(lines[last]+" "+word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return strings.Join(lines, "\n")
}

type chart struct {
	*plot.Plot
	data    vg.Length // height of the area of the data
	legend  [2]plot.Legend
	entries int    // of both columns of the legend
	caption string // below the legend
}

func newChart(x, y string) *chart {
	c := &chart{Plot: plot.New()}
	c.BackgroundColor = nil
	c.Title.TextStyle.Font, c.Title.Padding = textStyle.Font, margin
	c.X.Label.Text, c.Y.Label.Text = x, y
	for _, a := range []*plot.Axis{&c.X, &c.Y} {
		a.Label.TextStyle.Font, a.Tick.Label.Font = textStyle.Font, textStyle.Font
		a.Label.Padding, a.Tick.Length, a.Padding = 2, 3, 0
		a.Tick.Marker = plot.TickerFunc(ticks)
	}
	for i := range c.legend {
		c.legend[i] = plot.NewLegend()
		c.legend[i].TextStyle.Font, c.legend[i].ThumbnailWidth = textStyle.Font, sampleWidth
		c.legend[i].Top, c.legend[i].Left, c.legend[i].Padding = true, true, 1.5
	}
	return c
}

// ticks are the default ones, labelled without trailing zeros.
func ticks(low, high float64) []plot.Tick {
	list := plot.DefaultTicks{}.Ticks(low, high)
	for i, t := range list {
		if !t.IsMinor() {
			list[i].Label = strconv.FormatFloat(t.Value, 'g', 4, 64)
		}
	}
	return list
}

func (c *chart) explain(name string, samples ...plot.Thumbnailer) {
	c.legend[c.entries%2].Add(wrap(name, column/2-sampleWidth-2*margin), samples...)
	c.entries++
}

// nameRows names the rows of the Y axis, from the top: row i is at -i.
func (c *chart) nameRows(names []string) {
	c.Y.Min, c.Y.Max = 0.5-float64(len(names)), 0.5
	c.Y.Tick.Length, c.Y.Width, c.Y.Padding = 0, 0, margin
	var ticks plot.ConstantTicks
	for i, name := range names {
		ticks = append(ticks, plot.Tick{Value: -float64(i), Label: name})
	}
	c.Y.Tick.Marker = ticks
}

func (c *chart) below() (legend, caption vg.Length) {
	for i := range c.legend {
		legend = max(legend, c.legend[i].Rectangle(draw.Canvas{}).Size().Y)
	}
	if c.entries > 0 {
		legend += margin
	}
	if c.caption != "" {
		caption = textStyle.Height(c.caption) + margin
	}
	return legend, caption
}

func (c *chart) size() (width, height vg.Length) {
	legend, caption := c.below()
	ample := draw.Canvas{Rectangle: vg.Rectangle{Max: vg.Point{X: 20 * column, Y: 20 * column}}}
	around := ample.Size().Y - c.DataCanvas(ample).Size().Y // titles and ticks
	return column + 2*margin, around + c.data + legend + caption + 2*margin
}

func (c *chart) draw(on draw.Canvas) {
	on = draw.Crop(on, margin, -margin, margin, -margin)
	legend, caption := c.below()
	on.FillText(textStyle, vg.Point{X: on.Min.X, Y: on.Min.Y + caption - margin}, c.caption)
	c.Draw(draw.Crop(on, 0, 0, legend+caption, 0))
	for i := range c.legend {
		c.legend[i].Draw(draw.Crop(on, vg.Length(i)*column/2, 0, caption,
			legend+caption-margin-(on.Max.Y-on.Min.Y)))
	}
}

// percentEnd is where an axis of percentages ends that shows values up to most: at a multiple of
// 10, and never above 100.
func percentEnd(most float64) float64 { return min(max(10*math.Ceil(most/10), 10), 100) }

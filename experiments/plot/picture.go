package plot

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"html"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/lago-train/lago-train/internal/atomicfile"
)

// Picture can be drawn.
type Picture interface {
	// Size includes labels and legend.
	Size() (width, height vg.Length)
	// Draw fills a canvas of that size.
	Draw(draw.Canvas)
	// Numbers returns what is drawn, as a table with a header.
	Numbers() [][]string
}

// Figure is a picture with the text that explains it, which files have above the picture
// and pages beside it.
type Figure struct {
	Title   string
	Caption string // the data set, n, what error bars are, and the chance level
	Picture Picture
}

// dpi is the resolution of PNG files.
const dpi = 300

// WriteFile writes a figure in the format of the file's extension: pdf, png, csv for its
// numbers, otherwise SVG.
func WriteFile(path string, f Figure) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		width, height := f.size()
		switch filepath.Ext(path) {
		case ".csv":
			return csv.NewWriter(w).WriteAll(f.Picture.Numbers())
		case ".png":
			c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))}
			f.draw(draw.New(c))
			_, err := c.WriteTo(w)
			return err
		case ".pdf":
			c := pdfCanvas{vgpdf.New(width, height)}
			f.draw(draw.New(c))
			_, err := c.WriteTo(w)
			return err
		}
		c := vgsvg.New(width, height)
		f.draw(draw.New(c))
		return writeSVG(w, c, f.Title)
	})
}

// ForPage returns the picture of a figure, without its text, as an SVG element of an HTML
// page. It has no background, and the page's colours: texts and axes have currentColor, the
// grid var(--rule), secondary lines var(--soft), and texts on dark ground var(--paper).
func ForPage(f Figure) (string, error) {
	c := vgsvg.New(f.Picture.Size())
	f.Picture.Draw(draw.New(c))
	var b strings.Builder
	if err := writeSVG(&b, c, f.Title); err != nil {
		return "", err
	}
	_, element, _ := strings.Cut(b.String(), "<svg")
	return `<svg role="img"` + pageColors.Replace(element), nil
}

// pageColors replaces the second colour for translucent ink, which vgsvg rounds.
var pageColors = strings.NewReplacer(
	styleOf(ink), ":currentColor", ":#212121", ":currentColor", styleOf(faint), ":var(--rule,#ddd)", styleOf(soft), ":var(--soft,#888)", styleOf(white), ":var(--paper,#fff)",
)

// styleOf returns how vgsvg writes a colour in a style attribute.
func styleOf(c color.NRGBA) string { return fmt.Sprintf(":#%02X%02X%02X", c.R, c.G, c.B) }

// writeSVG writes text as text, with control characters replaced. The title is for screen
// readers and browsers.
func writeSVG(w io.Writer, c *vgsvg.Canvas, title string) error {
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	// Add fallback fonts, and a title after the start tag, which ends in a namespace.
	const startTagEnd = `xmlns:xlink="http://www.w3.org/1999/xlink">`
	svg := bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:"+families+";"))
	svg = bytes.Replace(svg, []byte(startTagEnd),
		fmt.Appendf(nil, "%s\n<title>%s</title>", startTagEnd, html.EscapeString(title)), 1)
	svg = bytes.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar // SVG must not hold most of them
		}
		return r
	}, svg)
	_, err := w.Write(svg)
	return err
}

// families are the fonts named in SVG: the one that texts were measured with, and fonts
// of the same widths.
const families = "'Liberation Sans',Arimo,Arial,Helvetica,sans-serif"

var (
	titleStyle   = bold(textStyle(titleSize, draw.XLeft, draw.YTop))
	captionStyle = textStyle(smallSize, draw.XLeft, draw.YTop)
)

// heading returns the lines above the picture.
func (f Figure) heading() (title, caption []string) {
	width, _ := f.Picture.Size()
	return wrap(titleStyle, f.Title, width), wrap(captionStyle, f.Caption, width)
}

func (f Figure) size() (width, height vg.Length) {
	width, height = f.Picture.Size()
	title, caption := f.heading()
	return width + 2*margin, height + 2*margin + line*vg.Length(len(title)+len(caption)) + gap
}

// draw draws the figure on white.
func (f Figure) draw(c draw.Canvas) {
	c.SetColor(white)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	title, caption := f.heading()
	for i, words := range append(title, caption...) {
		style := captionStyle
		if i < len(title) {
			style = titleStyle
		}
		c.FillText(style, vg.Point{X: c.Min.X, Y: c.Max.Y - line*vg.Length(i)}, words)
	}
	_, height := f.Picture.Size()
	c.Max.Y = c.Min.Y + height
	f.Picture.Draw(c)
}

// wrap breaks a text into lines of at most the given width, except longer words.
func wrap(s text.Style, words string, width vg.Length) []string {
	var lines []string
	for _, word := range strings.Fields(words) {
		if last := len(lines) - 1; last >= 0 && s.Width(lines[last]+" "+word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// number writes a number for CSV files, empty for NaN.
func number(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

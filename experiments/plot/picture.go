package plot

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"io"
	"path/filepath"
	"strings"
	"unicode"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/lago-train/lago-train/internal/atomicfile"
)

// Picture is a figure that can be drawn.
type Picture interface {
	// Size includes labels and legend.
	Size() (width, height vg.Length)
	// Draw fills a canvas of that size.
	Draw(draw.Canvas)
}

// dpi is the resolution of PNG files, enough for print at half a column.
const dpi = 200

// WriteFile writes a picture to a file: PNG if its name ends in .png, otherwise SVG.
func WriteFile(path string, p Picture, title string) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		if filepath.Ext(path) == ".png" {
			return writePNG(w, p)
		}
		return WriteSVG(w, p, title)
	})
}

func writePNG(w io.Writer, p Picture) error {
	width, height := p.Size()
	c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))
	drawOnWhite(p, draw.New(c))
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// WriteSVG writes a picture as SVG, with text as text and control characters replaced. The
// title is for screen readers and browsers.
func WriteSVG(w io.Writer, p Picture, title string) error {
	return writeSVG(w, p, title, drawOnWhite)
}

func writeSVG(w io.Writer, p Picture, title string, drawOn func(Picture, draw.Canvas)) error {
	c := vgsvg.New(p.Size())
	drawOn(p, draw.New(c))
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

// ForPage returns a picture as an SVG element of an HTML page. It has no background, and
// the page's colours: texts and axes have currentColor, the grid var(--rule), secondary
// lines var(--soft), and texts on dark ground var(--paper).
func ForPage(p Picture, title string) (string, error) {
	var b strings.Builder
	if err := writeSVG(&b, p, title, drawInside); err != nil {
		return "", err
	}
	_, element, _ := strings.Cut(b.String(), "<svg")
	return `<svg role="img"` + pageColors.Replace(element), nil
}

var pageColors = strings.NewReplacer(
	styleOf(ink), ":currentColor", styleOf(faint), ":var(--rule,#ddd)", styleOf(soft), ":var(--soft,#888)", styleOf(white), ":var(--paper,#fff)",
)

// styleOf returns how vgsvg writes a colour in a style attribute.
func styleOf(c color.NRGBA) string { return fmt.Sprintf(":#%02X%02X%02X", c.R, c.G, c.B) }

// families are the fonts named in SVG: the one that texts were measured with, and fonts
// of the same widths.
const families = "'Liberation Sans',Arimo,Arial,Helvetica,sans-serif"

func drawOnWhite(p Picture, c draw.Canvas) {
	c.SetColor(white)
	c.Fill(c.Rectangle.Path())
	drawInside(p, c)
}

func drawInside(p Picture, c draw.Canvas) { p.Draw(draw.Crop(c, margin, -margin, margin, -margin)) }

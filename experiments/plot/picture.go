package plot

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"path/filepath"
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
	c := vgsvg.New(p.Size())
	drawOnWhite(p, draw.New(c))
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

func drawOnWhite(p Picture, c draw.Canvas) {
	c.SetColor(white)
	c.Fill(c.Rectangle.Path())
	p.Draw(draw.Crop(c, margin, -margin, margin, -margin))
}

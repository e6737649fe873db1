// Package plot draws figures for a two-column paper with gonum/plot from two kinds of pictures: lines with
// bands or error bars, and dots with error bars. WriteFiles writes SVG or PNG; ForPage draws for an
// HTML page in the page's colours.
//
// A figure has one accent colour for what it is about, and grey for the rest, unless the hue of
// lines is their method, the same in every figure. Dashes and markers are conditions. Axes of
// percentages stay within 0 and 100.
package plot

import (
	"html"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
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

// Format is the format of a file, and its extension.
type Format string

// The formats.
const (
	SVG Format = "svg"
	PNG Format = "png"
)

// dpi is the resolution of PNG files.
const dpi = 300

// WriteFiles writes each figure into a file of dir, which it creates if necessary, and returns the paths.
func WriteFiles(write func(path string, write func(io.Writer) error) error, dir string, format Format,
	figures ...Figure,
) (paths []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, invalid.File(dir, err)
	}
	for _, f := range figures {
		path := filepath.Join(dir, f.Name+"."+string(format))
		if err := write(path, func(w io.Writer) error { return f.write(w, format) }); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

func (f Figure) write(w io.Writer, format Format) error {
	picture := f.Picture.chart()
	picture.Title.Text, picture.caption = wrap(f.Title, column), wrap(f.Caption, column)
	width, height := picture.size()
	var to interface {
		vg.CanvasSizer
		io.WriterTo
	}
	to = svgCanvas{vgsvg.New(width, height)}
	if format == PNG {
		to = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))}
	}
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

// svgCanvas replaces what SVG cannot hold in texts, and names fonts of the same widths as the
// one that texts are measured with.
type svgCanvas struct{ *vgsvg.Canvas }

func (c svgCanvas) FillString(f font.Face, at vg.Point, words string) {
	c.Canvas.FillString(f, at, format.Printable(words))
}

func (c svgCanvas) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	if _, err := c.Canvas.WriteTo(&b); err != nil {
		return 0, err
	}
	const family, families = "font-family:Liberation Sans;", "font-family:'Liberation " +
		"Sans',Arimo,Arial,Helvetica,sans-serif;"
	n, err := io.WriteString(w, strings.ReplaceAll(b.String(), family, families))
	return int64(n), err
}

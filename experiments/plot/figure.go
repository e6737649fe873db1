// Package plot draws figures for a two-column paper with gonum/plot from three kinds of
// pictures: lines with bands or error bars, dots with error bars, and heat maps. They are 89 mm
// wide with text of 7 and 8 points. WriteFiles writes SVG, PDF, PNG or the numbers as CSV;
// ForPage draws for an HTML page in the page's colours. PDF files have ? for characters beyond
// Latin-1.
//
// The hue of a series is its method, the same in every figure; dashes and markers are its
// condition, such as validation or test. Heat maps are grey.
package plot

import (
	"bytes"
	"encoding/csv"
	"html"
	"image/color"
	"io"
	"path/filepath"
	"strings"
	"unicode"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/lago-train/lago-train/internal/fileio"
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
	Name    string // of its file, without the extension
	Title   string
	Caption string // the data set, n, what error bars are, and the chance level
	Picture Picture
	Detail  bool // a supplement to another figure
}

// Format is the format of a file, and its extension.
type Format string

// The formats.
const (
	SVG Format = "svg"
	PDF Format = "pdf"
	PNG Format = "png"
	CSV Format = "csv" // the numbers of the picture
)

// dpi is the resolution of PNG files.
const dpi = 300

// WriteFiles writes each figure into a file of dir, which must exist, and returns the paths.
func WriteFiles(dir string, format Format, figures ...Figure) ([]string, error) {
	var paths []string
	for _, f := range figures {
		path := filepath.Join(dir, f.Name+"."+string(format))
		if err := fileio.Write(path, func(w io.Writer) error { return f.write(w, format) }); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

func (f Figure) write(w io.Writer, format Format) error {
	width, height := f.size()
	var c vg.CanvasWriterTo
	switch format {
	case CSV:
		return csv.NewWriter(w).WriteAll(f.Picture.Numbers())
	case PNG:
		c = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))}
	case PDF:
		c = pdfCanvas{vgpdf.New(width, height)}
	default:
		c = svgCanvas{vgsvg.New(width, height), f.Title}
	}
	f.draw(draw.NewCanvas(c, width, height))
	_, err := c.WriteTo(w)
	return err
}

// ForPage returns the picture of a figure, without its text, as an SVG element of an HTML
// page. It has no background, and the page's colours: texts and axes have currentColor, the
// grid var(--rule), secondary lines var(--soft), and texts on dark ground var(--paper).
func ForPage(f Figure) (string, error) {
	c := svgCanvas{vgsvg.New(f.Picture.Size()), f.Title}
	f.Picture.Draw(draw.New(c))
	var b strings.Builder
	_, err := c.WriteTo(&b)
	_, element, _ := strings.Cut(b.String(), "<svg")
	return `<svg role="img"` + pageColors.Replace(element), err
}

// pageColors replaces ink, which vgsvg rounds where it is translucent, faint, soft and white.
var pageColors = strings.NewReplacer(
	":#222222", ":currentColor", ":#212121", ":currentColor", ":#DDDDDD", ":var(--rule,#ddd)", ":#888888", ":var(--soft,#888)", ":#FFFFFF", ":var(--paper,#fff)",
)

// families are the fonts named in SVG: the one that texts were measured with, and fonts
// of the same widths.
const families = "'Liberation Sans',Arimo,Arial,Helvetica,sans-serif"

// svgCanvas writes text as text, with control characters replaced. The title is for screen
// readers and browsers.
type svgCanvas struct {
	*vgsvg.Canvas
	title string
}

func (c svgCanvas) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	if _, err := c.Canvas.WriteTo(&b); err != nil {
		return 0, err
	}
	const startTagEnd = `xmlns:xlink="http://www.w3.org/1999/xlink">` // a namespace
	svg := strings.NewReplacer(
		"font-family:Liberation Sans;", "font-family:"+families+";",
		startTagEnd, startTagEnd+"\n<title>"+html.EscapeString(c.title)+"</title>",
	).Replace(b.String())
	n, err := io.WriteString(w, strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar // SVG must not hold most of them
		}
		return r
	}, svg))
	return int64(n), err
}

// heading returns the lines above the picture, and how many of them are the title.
func (f Figure) heading() (lines []string, titles int) {
	width, _ := f.Picture.Size()
	lines = wrap(titleStyle, f.Title, width)
	return append(lines, wrap(captionStyle, f.Caption, width)...), len(lines)
}

func (f Figure) size() (width, height vg.Length) {
	width, height = f.Picture.Size()
	lines, _ := f.heading()
	return width + 2*margin, height + 2*margin + line*vg.Length(len(lines)) + gap
}

// draw draws the figure on white.
func (f Figure) draw(c draw.Canvas) {
	c.SetColor(white)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	lines, titles := f.heading()
	for i, words := range lines {
		style := captionStyle
		if i < titles {
			style = titleStyle
		}
		c.FillText(style, vg.Point{X: c.Min.X, Y: c.Max.Y - line*vg.Length(i)}, words)
	}
	_, height := f.Picture.Size()
	c.Max.Y = c.Min.Y + height
	f.Picture.Draw(c)
}

// pdfCanvas works around vgpdf: it takes colours that are multiplied by their alpha as if
// they were not, does not find bold fonts under their names, and writes UTF-8 as
// Windows-1252.
type pdfCanvas struct{ *vgpdf.Canvas }

func (c pdfCanvas) SetColor(of color.Color) {
	if of != nil { // as for a line without width
		of = straight{color.NRGBAModel.Convert(of).(color.NRGBA)}
	}
	c.Canvas.SetColor(of)
}

func (c pdfCanvas) FillString(f font.Face, at vg.Point, words string) {
	if f.Font.Weight == xfont.WeightBold {
		f.Font.Variant, f.Font.Weight = f.Font.Variant+"Bold", xfont.WeightNormal
	}
	c.Canvas.FillString(f, at, windows1252(words))
}

type straight struct{ color.NRGBA }

func (s straight) RGBA() (r, g, b, a uint32) {
	return 0x101 * uint32(s.R), 0x101 * uint32(s.G), 0x101 * uint32(s.B), 0x101 * uint32(s.A)
}

// windows1252 encodes a text, with ? for characters beyond Latin-1.
func windows1252(words string) string {
	var b []byte
	for _, r := range words {
		if r > unicode.MaxLatin1 {
			r = '?'
		}
		b = append(b, byte(r))
	}
	return string(b)
}

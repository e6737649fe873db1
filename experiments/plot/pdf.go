package plot

import (
	"image/color"
	"unicode"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
)

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

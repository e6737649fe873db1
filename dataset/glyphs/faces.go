package glyphs

import (
	"sync"

	"codeberg.org/go-fonts/dejavu/dejavusans"
	"codeberg.org/go-fonts/dejavu/dejavusansbold"
	"codeberg.org/go-fonts/dejavu/dejavusansmono"
	"codeberg.org/go-fonts/dejavu/dejavusansoblique"
	"codeberg.org/go-fonts/dejavu/dejavuserif"
	"codeberg.org/go-fonts/dejavu/dejavuserifbold"
	"codeberg.org/go-fonts/dejavu/dejavuserifitalic"
	"codeberg.org/go-fonts/latin-modern/lmmono10regular"
	"codeberg.org/go-fonts/latin-modern/lmroman10bold"
	"codeberg.org/go-fonts/latin-modern/lmroman10italic"
	"codeberg.org/go-fonts/latin-modern/lmroman10regular"
	"codeberg.org/go-fonts/latin-modern/lmsans10bold"
	"codeberg.org/go-fonts/latin-modern/lmsans10oblique"
	"codeberg.org/go-fonts/latin-modern/lmsans10regular"
	"codeberg.org/go-fonts/liberation/liberationmonoregular"
	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansitalic"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"codeberg.org/go-fonts/liberation/liberationserifbold"
	"codeberg.org/go-fonts/liberation/liberationserifitalic"
	"codeberg.org/go-fonts/liberation/liberationserifregular"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// A face is one typeface. Its traits are properties that change the shapes of some of its
// letters; letters.txt says what they mean and refers to them.
type face struct {
	name   string
	font   []byte // TrueType or OpenType
	traits string
}

var faces = []face{
	{"Go Regular", goregular.TTF, "barred"},
	{"Go Bold", gobold.TTF, "barred"},
	{"Go Italic", goitalic.TTF, "barred slanted onestorey"},
	{"Liberation Sans", liberationsansregular.TTF, ""},
	{"Liberation Sans Bold", liberationsansbold.TTF, ""},
	{"Liberation Sans Italic", liberationsansitalic.TTF, "slanted"},
	{"DejaVu Sans", dejavusans.TTF, "lowj"},
	{"DejaVu Sans Bold", dejavusansbold.TTF, "lowj"},
	{"DejaVu Sans Oblique", dejavusansoblique.TTF, "slanted lowj"},
	{"Latin Modern Sans", lmsans10regular.TTF, "twostorey"},
	{"Latin Modern Sans Bold", lmsans10bold.TTF, "twostorey"},
	{"Latin Modern Sans Oblique", lmsans10oblique.TTF, "slanted twostorey"},
	{"Liberation Serif", liberationserifregular.TTF, "serif twostorey"},
	{"Liberation Serif Bold", liberationserifbold.TTF, "serif twostorey"},
	{"Liberation Serif Italic", liberationserifitalic.TTF, "serif slanted cursive onestorey twostorey"},
	{"DejaVu Serif", dejavuserif.TTF, "serif lowj"},
	{"DejaVu Serif Bold", dejavuserifbold.TTF, "serif lowj"},
	{"DejaVu Serif Italic", dejavuserifitalic.TTF, "serif slanted cursive onestorey lowj"},
	{"Latin Modern Roman", lmroman10regular.TTF, "serif twostorey"},
	{"Latin Modern Roman Bold", lmroman10bold.TTF, "serif twostorey"},
	{"Latin Modern Roman Italic", lmroman10italic.TTF, "serif slanted cursive onestorey"},
	{"Go Mono", gomono.TTF, "serif mono"},
	{"Liberation Mono", liberationmonoregular.TTF, "mono barred"},
	{"DejaVu Sans Mono", dejavusansmono.TTF, "mono barred"},
	{"Latin Modern Mono", lmmono10regular.TTF, "serif mono twostorey"},
}

// An outline is the contour of one letter in one face.
type outline struct {
	sfnt.Segments
	em     float64 // the unit of the coordinates
	middle float64 // of the points, from left to right, in em
}

// point returns a point in em: x from the middle of the letter, y downwards from the baseline.
func (o outline) point(p fixed.Point26_6) (x, y float64) {
	return float64(p.X)/o.em - o.middle, float64(p.Y) / o.em
}

// outlines returns the contours of every class in every face.
var outlines = sync.OnceValue(func() [][]outline {
	all := make([][]outline, len(letters.classes))
	for _, f := range faces {
		font := must(sfnt.Parse(f.font))
		em := fixed.I(int(font.UnitsPerEm()))
		unit := float64(em)
		for z, c := range letters.classes {
			segments := must(font.LoadGlyph(nil, must(font.GlyphIndex(nil, []rune(c.name)[0])), em, nil))
			bounds := segments.Bounds()
			all[z] = append(all[z], outline{segments, unit, (float64(bounds.Min.X)/unit + float64(bounds.Max.X)/unit) / 2})
		}
	}
	return all
})

// must returns what is made from a part of this program, which has no mistakes.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

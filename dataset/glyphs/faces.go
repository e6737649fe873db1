package glyphs

import (
	"cmp"
	"fmt"
	"slices"
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

// A trait is a property of a typeface that changes the shapes of some of its letters;
// letters.txt refers to them.
type trait string

const (
	serif     trait = "serif"     // stems end in serifs
	mono      trait = "mono"      // every letter is as wide as the others
	slanted   trait = "slanted"   // italic or oblique
	cursive   trait = "cursive"   // a true italic: f descends, small letters end in strokes of a pen
	barred    trait = "barred"    // I and J have bars, though the face may have no serifs
	oneStorey trait = "onestorey" // a is a bowl and a stem
	twoStorey trait = "twostorey" // g has two closed counters
	lowJ      trait = "lowj"      // J goes below the baseline
)

var traits = []trait{serif, mono, slanted, cursive, barred, oneStorey, twoStorey, lowJ}

// A face is one typeface.
type face struct {
	name   string
	font   []byte // TrueType or OpenType
	traits []trait
}

func (f face) has(t trait) bool { return slices.Contains(f.traits, t) }

var faces = []face{
	{"Go Regular", goregular.TTF, []trait{barred}},
	{"Go Bold", gobold.TTF, []trait{barred}},
	{"Go Italic", goitalic.TTF, []trait{barred, slanted, oneStorey}},
	{"Liberation Sans", liberationsansregular.TTF, nil},
	{"Liberation Sans Bold", liberationsansbold.TTF, nil},
	{"Liberation Sans Italic", liberationsansitalic.TTF, []trait{slanted}},
	{"DejaVu Sans", dejavusans.TTF, []trait{lowJ}},
	{"DejaVu Sans Bold", dejavusansbold.TTF, []trait{lowJ}},
	{"DejaVu Sans Oblique", dejavusansoblique.TTF, []trait{slanted, lowJ}},
	{"Latin Modern Sans", lmsans10regular.TTF, []trait{twoStorey}},
	{"Latin Modern Sans Bold", lmsans10bold.TTF, []trait{twoStorey}},
	{"Latin Modern Sans Oblique", lmsans10oblique.TTF, []trait{slanted, twoStorey}},
	{"Liberation Serif", liberationserifregular.TTF, []trait{serif, twoStorey}},
	{"Liberation Serif Bold", liberationserifbold.TTF, []trait{serif, twoStorey}},
	{"Liberation Serif Italic", liberationserifitalic.TTF, []trait{serif, slanted, cursive, oneStorey, twoStorey}},
	{"DejaVu Serif", dejavuserif.TTF, []trait{serif, lowJ}},
	{"DejaVu Serif Bold", dejavuserifbold.TTF, []trait{serif, lowJ}},
	{"DejaVu Serif Italic", dejavuserifitalic.TTF, []trait{serif, slanted, cursive, oneStorey, lowJ}},
	{"Latin Modern Roman", lmroman10regular.TTF, []trait{serif, twoStorey}},
	{"Latin Modern Roman Bold", lmroman10bold.TTF, []trait{serif, twoStorey}},
	{"Latin Modern Roman Italic", lmroman10italic.TTF, []trait{serif, slanted, cursive, oneStorey}},
	{"Go Mono", gomono.TTF, []trait{serif, mono}},
	{"Liberation Mono", liberationmonoregular.TTF, []trait{mono, barred}},
	{"DejaVu Sans Mono", dejavusansmono.TTF, []trait{mono, barred}},
	{"Latin Modern Mono", lmmono10regular.TTF, []trait{serif, mono, twoStorey}},
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
		font, err := sfnt.Parse(f.font)
		for z, c := range letters.classes {
			var o outline
			if err == nil {
				o, err = loadOutline(font, []rune(c.name)[0])
			}
			if err != nil { // a font of this program
				panic(fmt.Sprintf("glyphs: %s of %s: %v", c.name, f.name, err))
			}
			all[z] = append(all[z], o)
		}
	}
	return all
})

func loadOutline(f *sfnt.Font, r rune) (outline, error) {
	glyph, err := f.GlyphIndex(nil, r)
	if err != nil || glyph == 0 {
		return outline{}, cmp.Or(err, sfnt.ErrNotFound)
	}
	em := fixed.I(int(f.UnitsPerEm()))
	segments, err := f.LoadGlyph(nil, glyph, em, nil)
	unit, bounds := float64(em), segments.Bounds()
	return outline{segments, unit, (float64(bounds.Min.X)/unit + float64(bounds.Max.X)/unit) / 2}, err
}

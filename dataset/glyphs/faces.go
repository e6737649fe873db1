package glyphs

import (
	"cmp"
	"fmt"
	"math"
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

// An outline is the contour of one letter in one face, in units of the em: y downwards
// from the baseline, x from the middle of its points.
type outline []segment

type segment struct {
	op     sfnt.SegmentOp
	points [3]point // as many as the operation takes
}

type point struct{ x, y float64 }

// outlines returns the contours of every class in every face.
var outlines = sync.OnceValue(func() [][]outline {
	all := make([][]outline, len(letters.classes))
	var buf sfnt.Buffer
	for _, f := range faces {
		font, err := sfnt.Parse(f.font)
		for z, c := range letters.classes {
			var o outline
			if err == nil {
				o, err = loadOutline(font, &buf, []rune(c.name)[0])
			}
			if err != nil { // a font of this program
				panic(fmt.Sprintf("glyphs: %s of %s: %v", c.name, f.name, err))
			}
			all[z] = append(all[z], o)
		}
	}
	return all
})

// loadOutline moves the outline sideways, so that it reaches equally far to both sides of 0.
func loadOutline(f *sfnt.Font, buf *sfnt.Buffer, r rune) (outline, error) {
	glyph, err := f.GlyphIndex(buf, r)
	if err != nil || glyph == 0 {
		return nil, cmp.Or(err, sfnt.ErrNotFound)
	}
	em := fixed.I(int(f.UnitsPerEm()))
	segments, err := f.LoadGlyph(buf, glyph, em, nil)
	if err != nil {
		return nil, err
	}
	o := make(outline, len(segments))
	for i, s := range segments {
		o[i].op = s.Op
		for j, p := range s.Args {
			o[i].points[j] = point{float64(p.X) / float64(em), float64(p.Y) / float64(em)}
		}
	}
	left, right := math.Inf(1), math.Inf(-1)
	for p := range o.all {
		left, right = min(left, p.x), max(right, p.x)
	}
	for p := range o.all {
		p.x -= (left + right) / 2
	}
	return o, nil
}

// all iterates over the points of the outline, which the loop may change.
func (o outline) all(yield func(*point) bool) {
	count := map[sfnt.SegmentOp]int{sfnt.SegmentOpMoveTo: 1, sfnt.SegmentOpLineTo: 1, sfnt.SegmentOpQuadTo: 2, sfnt.SegmentOpCubeTo: 3}
	for i := range o {
		for j := range count[o[i].op] {
			if !yield(&o[i].points[j]) {
				return
			}
		}
	}
}

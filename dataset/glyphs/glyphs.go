// Package glyphs generates a zero-shot data set of synthetic glyphs: letters and digits of 25 typefaces,
// rendered on demand, with classes described by the shapes of the letters. It needs no file and no network.
//
// A class is a letter or digit. A sample is that letter in one of the typefaces, shifted, turned, scaled,
// sheared, blurred and noisy; its features are histograms of oriented gradients. The attributes are what one
// would tell somebody who has never seen the letter: a stem on the left, a bar at the foot, one closed
// counter. letters.txt says which letter has which in these typefaces; p(attribute|class) is the share of the
// typefaces in which the class has the attribute.
//
// It is a small problem to try methods on. Accuracies on it say nothing about photographs.
package glyphs

import (
	_ "embed"
	"encoding/csv"
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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
	"golang.org/x/image/vector"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/parallel"
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

// A class has three samples of each typeface.
const samples = 75

// Source is that of the data set, which a folder of the same name does not have.
const Source = "letters and digits of 25 typefaces, seed 0"

// Make generates the data set, class by class. It is the same for any number of processors;
// other architectures may round differently.
func Make() *dataset.Dataset {
	classes := letters.classes
	attributes, u := letters.describe()
	d := &dataset.Dataset{
		Name: "glyphs", Source: Source, Features: dataset.NewMatrix[float32](len(classes)*samples, dims),
		Attributes: attributes, Groups: letters.groups, Descriptions: u,
	}
	subsets := map[string]*[]int{"train": &d.Split.Train, "val": &d.Split.Val, "test": &d.Split.Test}
	for z, l := range classes {
		d.Classes = append(d.Classes, l.name)
		*subsets[l.part] = append(*subsets[l.part], z)
		for i := range samples {
			if l.part != "test" && isHeldOut(i) {
				d.TestSeen = append(d.TestSeen, len(d.Labels))
			}
			d.Labels = append(d.Labels, z)
		}
	}
	parallel.For(len(d.Labels), 1, func(lo, hi int) {
		for row := lo; row < hi; row++ {
			hog(Image(row), d.Features.Row(row))
		}
	})
	return d
}

// isHeldOut selects every fifth sample of a seen class for generalised zero-shot learning.
// Samples take the typefaces in turn, so the choice moves by one in every round of them,
// and each typeface remains in training.
func isHeldOut(i int) bool { return (i+i/len(faces))%5 == 4 }

// Image renders the sample of a row of the features of Make in 48 x 48 pixels. Its random numbers depend on
// its class and place only.
func Image(row int) *image.Gray {
	z, i := row/samples, row%samples
	rng := rand.New(rand.NewPCG(0, uint64(z)<<32|uint64(i)))
	return render(outlines()[z][i%len(faces)], rng)
}

//go:embed letters.txt
var lettersText string

var letters = parseTable(lettersText)

type table struct {
	groups  []string // the columns, as in "foot"
	classes []letter
}

type letter struct {
	name  string // one character
	part  string // train, val or test
	cells []string
}

// parseTable reads lines of cells separated by spaces. The first names the columns: class,
// part and the groups. Empty lines and lines that start with # are ignored.
func parseTable(text string) table {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.Comment, r.TrimLeadingSpace = ' ', '#', true
	rows := must(r.ReadAll())
	t := table{groups: rows[0][2:]}
	for _, cells := range rows[1:] {
		t.classes = append(t.classes, letter{cells[0], cells[1], cells[2:]})
	}
	return t
}

// value returns what a cell, "value" or "value,trait:value,...", says of a face: the value of
// the last trait that the face has. "" is none.
func value(cell string, f face) string {
	value := ""
	for part := range strings.SplitSeq(cell, ",") {
		name, exception, isException := strings.Cut(part, ":")
		switch {
		case !isException:
			value = part
		case slices.Contains(strings.Fields(f.traits), name):
			value = exception
		}
	}
	return strings.TrimPrefix(value, "-")
}

// describe returns the values of each group, in the order in which classes first have them,
// and classes x attributes: the share of the faces in which a class has an attribute.
func (t table) describe() (all []dataset.Attribute, u dataset.Matrix[float64]) {
	count := make(map[dataset.Attribute][]float64) // of the faces, by class
	for k, group := range t.groups {
		for z, l := range t.classes {
			for _, f := range faces {
				v := value(l.cells[k], f)
				a := dataset.Attribute{Name: group + "::" + v, Group: k}
				if v != "" && count[a] == nil {
					all = append(all, a)
					count[a] = make([]float64, len(t.classes))
				}
				if v != "" {
					count[a][z]++
				}
			}
		}
	}
	u = dataset.NewMatrix[float64](len(t.classes), len(all))
	for m, a := range all {
		for z, n := range count[a] {
			u.Row(z)[m] = n / float64(len(faces))
		}
	}
	return all, u
}

func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// A picture has side x side pixels. A capital is about 26 pixels high, and ascenders and
// descenders fit whichever way a letter is turned.
const (
	side     = 48
	em       = 36.0 // pixels
	baseline = 33.5
)

type outline struct {
	sfnt.Segments
	em     float64 // the unit of the coordinates
	middle float64 // of the points, from left to right, in em
}

// point returns a point in em: x from the middle of the letter, y downwards from the baseline.
func (o outline) point(p fixed.Point26_6) (x, y float64) {
	return float64(p.X)/o.em - o.middle, float64(p.Y) / o.em
}

var outlines = sync.OnceValue(func() [][]outline {
	all := make([][]outline, len(letters.classes))
	for _, f := range faces {
		font := must(sfnt.Parse(f.font))
		em := fixed.I(int(font.UnitsPerEm()))
		unit := float64(em)
		for z, c := range letters.classes {
			segments := must(font.LoadGlyph(nil, must(font.GlyphIndex(nil, []rune(c.name)[0])), em, nil))
			bounds := segments.Bounds()
			all[z] = append(all[z], outline{
				segments, unit, (float64(bounds.Min.X)/unit + float64(bounds.Max.X)/unit) / 2,
			})
		}
	}
	return all
})

// The variation of the samples of a letter: standard deviations in pixels and radians, and ranges.
const (
	shiftSD = 1.5
	turnSD  = 0.08
	shearSD = 0.08
	sizeSD  = 0.06 // of the logarithm, for both directions together
	widthSD = 0.04 // of the logarithm, for the width alone
	noiseSD = 0.06 // of the range from black to white

	minBlur, maxBlur         = 0.6, 1.6
	minContrast, maxContrast = 0.5, 1.0
)

// render draws a letter in dark ink on light paper, shifted, turned, scaled and sheared about the
// middle of a capital, blurred and noisy.
func render(o outline, rng *rand.Rand) *image.Gray {
	// At most two standard deviations, so that letters stay in their pictures; a bold W
	// sometimes loses the tip of a serif.
	normal := func(sd float64) float64 { return sd * min(max(rng.NormFloat64(), -2), 2) }
	between := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }

	sin, cos := math.Sincos(normal(turnSD))
	size := math.Exp(normal(sizeSD))
	width := size * math.Exp(normal(widthSD))
	shear := normal(shearSD)
	dx, dy := normal(shiftSD), normal(shiftSD)
	place := func(x, y float64) (left, top float32) {
		const middle = 0.36 // of the em, above the baseline
		px, py := x*em, (y+middle)*em
		return float32(side/2 + dx + cos*width*px + (cos*shear-sin*size)*py),
			float32(baseline - middle*em + dy + sin*width*px + (sin*shear+cos*size)*py)
	}
	blurSD, contrast := between(minBlur, maxBlur), between(minContrast, maxContrast)
	im := image.NewGray(image.Rect(0, 0, side, side))
	for i, ink := range blur(coverage(o, place), blurSD) {
		light := 0.5 + contrast*(0.5-ink) + noiseSD*rng.NormFloat64()
		im.Pix[i] = uint8(math.Round(255 * min(max(light, 0), 1)))
	}
	return im
}

func coverage(o outline, place func(x, y float64) (left, top float32)) []float64 {
	r := vector.NewRasterizer(side, side)
	for _, s := range o.Segments {
		x0, y0 := place(o.point(s.Args[0]))
		x1, y1 := place(o.point(s.Args[1]))
		x2, y2 := place(o.point(s.Args[2]))
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			r.ClosePath()
			r.MoveTo(x0, y0)
		case sfnt.SegmentOpLineTo:
			r.LineTo(x0, y0)
		case sfnt.SegmentOpQuadTo:
			r.QuadTo(x0, y0, x1, y1)
		case sfnt.SegmentOpCubeTo:
			r.CubeTo(x0, y0, x1, y1, x2, y2)
		}
	}
	r.ClosePath()
	mask := image.NewAlpha(r.Bounds())
	r.Draw(mask, mask.Bounds(), image.Opaque, image.Point{})

	ink := make([]float64, len(mask.Pix))
	for i, v := range mask.Pix {
		ink[i] = float64(v) / math.MaxUint8
	}
	return ink
}

// blur convolves a picture with a Gaussian, rows first. There is no ink beyond its edges.
func blur(im []float64, sd float64) []float64 {
	const radius = 4
	var kernel [2*radius + 1]float64
	sum := 0.0
	for i := range kernel {
		t := float64(i-radius) / sd
		kernel[i] = math.Exp(-t * t / 2)
		sum += kernel[i]
	}
	along := func(im []float64, step, across int) []float64 {
		out := make([]float64, len(im))
		for line := range side {
			for pixel := range side {
				var s float64
				for i, k := range kernel {
					if j := pixel + i - radius; j >= 0 && j < side {
						s += k * im[line*across+j*step]
					}
				}
				out[line*across+pixel*step] = s / sum
			}
		}
		return out
	}
	return along(along(im, 1, side), side, 1)
}

// Histograms of oriented gradients after Dalal and Triggs (CVPR 2005): gradients vote for
// their orientation, weighted by strength, in their cell, and cells are normalised over the
// cells around them. There are two sizes of cells.
const (
	orientations = 8 // from 0 to half a turn: black on white equals white on black
	grid         = 4 // pixels; cells consist of squares of this size
	squares      = side / grid
	epsilon      = 0.02 // keeps blocks of noise small
)

const dims = (squares/2*squares/2 + squares/4*squares/4) * orientations

// A histogram is the strength of the gradients by orientation.
type histogram [orientations]float64

func hog(im *image.Gray, dst []float32) {
	fine := vote(im)
	for _, size := range []int{2, 4} { // squares along an edge of a cell
		n := squares / size
		cells := make([]histogram, n*n) // means of their squares
		for i, h := range fine {
			for o, v := range h {
				cells[i/squares/size*n+i%squares/size][o] += v / float64(size*size*grid*grid)
			}
		}
		dst = normalise(cells, n, dst)
	}
}

// vote returns the histograms of the squares, row by row. A gradient between two orientations votes for both.
func vote(im *image.Gray) []histogram {
	light := func(x, y int) float64 {
		x, y = min(max(x, 0), side-1), min(max(y, 0), side-1)
		return float64(im.Pix[y*im.Stride+x]) / math.MaxUint8
	}
	h := make([]histogram, squares*squares)
	for y := range side {
		for x := range side {
			gx, gy := light(x+1, y)-light(x-1, y), light(x, y+1)-light(x, y-1)
			strength := math.Hypot(gx, gy)
			turn := math.Atan2(gy, gx) / math.Pi // -1 to 1, with period 1
			position := (turn + 1) * orientations
			low := math.Floor(position)
			part := position - low
			square := &h[y/grid*squares+x/grid]
			square[int(low)%orientations] += strength * (1 - part)
			square[int(low+1)%orientations] += strength * part
		}
	}
	return h
}

// normalise writes n x n cells into dst, each divided by the root of the mean energy of
// itself and the cells around it, and returns the rest of dst.
func normalise(cells []histogram, n int, dst []float32) []float32 {
	for y := range n {
		for x := range n {
			var energy, count float64
			for row := max(y-1, 0); row <= min(y+1, n-1); row++ {
				for col := max(x-1, 0); col <= min(x+1, n-1); col++ {
					for _, v := range cells[row*n+col] {
						energy += v * v
					}
					count++
				}
			}
			scale := 1 / math.Sqrt(energy/count+epsilon*epsilon)
			for o, v := range cells[y*n+x] {
				dst[o] = float32(v * scale)
			}
			dst = dst[orientations:]
		}
	}
	return dst
}

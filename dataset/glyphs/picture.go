package glyphs

import (
	"image"
	"math"
	"math/rand/v2"
	"sync"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// A picture has side x side pixels. A capital is about 26 pixels high, and ascenders and
// descenders fit whichever way a letter is turned.
const (
	side     = 48
	em       = 36.0 // pixels
	baseline = 33.5
)

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

// The variation of the samples of a letter: standard deviations in pixels and radians,
// and ranges.
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

// coverage returns how much of each pixel is ink, from 0 to 1.
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
			for at := range side {
				var s float64
				for i, k := range kernel {
					if j := at + i - radius; j >= 0 && j < side {
						s += k * im[line*across+j*step]
					}
				}
				out[line*across+at*step] = s / sum
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

// dims is the number of features of a picture.
const dims = (squares/2*squares/2 + squares/4*squares/4) * orientations

// A histogram is the strength of the gradients by orientation.
type histogram [orientations]float64

// hog writes the dims features of a picture into dst.
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

// vote returns the histograms of the squares, row by row. A gradient between two
// orientations votes for both.
func vote(im *image.Gray) []histogram {
	at := func(x, y int) float64 {
		x, y = min(max(x, 0), side-1), min(max(y, 0), side-1)
		return float64(im.Pix[y*im.Stride+x]) / math.MaxUint8
	}
	h := make([]histogram, squares*squares)
	for y := range side {
		for x := range side {
			gx, gy := at(x+1, y)-at(x-1, y), at(x, y+1)-at(x, y-1)
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
			for by := max(y-1, 0); by <= min(y+1, n-1); by++ {
				for bx := max(x-1, 0); bx <= min(x+1, n-1); bx++ {
					for _, v := range cells[by*n+bx] {
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

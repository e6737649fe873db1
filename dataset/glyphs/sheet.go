package glyphs

import (
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/lago-train/lago-train/internal/invalid"
)

// A printer draws the samples of a data set.
type printer struct {
	options  Options
	table    *table
	outlines [][]outline // class x face
}

func newPrinter(o Options) (*printer, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	t, err := letters()
	if err != nil {
		return nil, err
	}
	all, err := outlines()
	if err != nil {
		return nil, err
	}
	return &printer{o, t, all}, nil
}

// sample draws sample i of class z. The faces take turns, so that a class is seen
// in each of them equally often. Every sample has random numbers of its own, so
// that it is the same whichever is drawn first and however many there are.
func (p *printer) sample(z, i int) *image.Gray {
	rng := rand.New(rand.NewPCG(p.options.Seed, uint64(z)<<32|uint64(i)))
	return render(p.outlines[z][i%len(faces)], rng)
}

// Image draws sample i of a class, counted from 0: the picture, 48 x 48 pixels,
// from which Make takes the features of the i-th row of that class. A class or a
// sample that the data set does not have is a *invalid.Error.
func Image(o Options, class string, i int) (*image.Gray, error) {
	p, err := newPrinter(o)
	if err != nil {
		return nil, err
	}
	z := slices.IndexFunc(p.table.classes, func(l letter) bool { return l.name == class })
	if z < 0 {
		return nil, &invalid.Error{
			Where: "glyphs", Field: "class",
			Want: "one of its letters and digits", Got: strconv.Quote(class),
		}
	}
	if n := p.options.SamplesPerClass; i < 0 || i >= n {
		return nil, &invalid.Error{
			Where: "glyphs", Field: "sample of " + class,
			Want: fmt.Sprintf("0 to %d", n-1), Got: strconv.Itoa(i),
		}
	}
	return p.sample(z, i), nil
}

// ContactSheet writes a PNG of all samples, one row a class in the order of the
// data set. The first 25 of a row show each typeface once.
func ContactSheet(w io.Writer, o Options) error {
	p, err := newPrinter(o)
	if err != nil {
		return err
	}
	classes, samples := len(p.table.classes), p.options.SamplesPerClass
	sheet := image.NewGray(image.Rect(0, 0, samples*side, classes*side))
	for z := range classes {
		for i := range samples {
			im := p.sample(z, i)
			draw.Draw(sheet, im.Bounds().Add(image.Pt(i*side, z*side)), im, image.Point{}, draw.Src)
		}
	}
	return png.Encode(w, sheet)
}

// Package images lists photographs and makes them inputs of a network, as torchvision
// does: RGB, the shorter side resized by antialiased bilinear interpolation, the centre
// cropped, and each channel normalised by the mean and deviation of ImageNet.
//
// JPEG, PNG, WebP, GIF (the first frame), BMP and TIFF are decoded in Go. Crops of lossless
// images have the pixels that Pillow gives; of JPEG they differ by a few levels, because
// decoders round differently. As in torchvision, transparency and the orientation in EXIF
// data are ignored.
//
// Package model/resnet computes the features.
package images

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // the formats that image.Decode knows
	_ "image/jpeg"
	_ "image/png"
	"math"

	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

// DefaultSize is the side of the inputs of a ResNet in pixels.
const DefaultSize = 224

// Preprocessing returns that of torchvision, for inputs of size x size pixels: with
// dataset.Crop the shorter side becomes 256/224 of the size.
func Preprocessing(fit dataset.Fit, size int) dataset.ImagePreprocessing {
	p := dataset.ImagePreprocessing{Fit: fit, Size: size, Mean: [3]float64{0.485, 0.456, 0.406}, Std: [3]float64{0.229, 0.224, 0.225}}
	if fit == dataset.Crop {
		p.Resize = int(math.Round(float64(size) * 256 / 224))
	}
	return p
}

// Load decodes an image and writes its pixels to dst, preprocessed: size x size x 3, the
// channels of a pixel adjacent. Errors name the file.
func Load(ctx context.Context, m Image, p dataset.ImagePreprocessing, dst []float32) error {
	x, err := decode(ctx, m.Path)
	if err != nil {
		return err
	}
	if m.Box != nil {
		x, err = x.crop(m.Box)
	}
	if err == nil {
		x, err = x.square(p)
	}
	if err != nil {
		return invalid.At(m.Path, err)
	}
	for i, v := range x.rgb {
		dst[i] = (float32(v)/255 - float32(p.Mean[i%3])) / float32(p.Std[i%3])
	}
	return nil
}

// Thumbnail returns an image whose longer side has at most the given number of pixels.
func Thumbnail(ctx context.Context, path string, side int) (image.Image, error) {
	x, err := decode(ctx, path)
	if err != nil {
		return nil, err
	}
	if longer := max(x.w, x.h); longer > side {
		x = x.resize(max(x.w*side/longer, 1), max(x.h*side/longer, 1))
	}
	m := image.NewNRGBA(image.Rect(0, 0, x.w, x.h))
	for i := range x.w * x.h {
		copy(m.Pix[4*i:], x.rgb[3*i:3*i+3])
		m.Pix[4*i+3] = 255
	}
	return m, nil
}

// maxRatio is the largest ratio of the sides of an image that is cropped, which bounds the
// memory of the resized one.
const maxRatio = 200

func (p *pixels) square(o dataset.ImagePreprocessing) (*pixels, error) {
	if o.Fit == dataset.Squash {
		return p.resize(o.Size, o.Size), nil
	}
	shorter, longer := min(p.w, p.h), max(p.w, p.h)
	if longer > maxRatio*shorter {
		return nil, &invalid.Error{Want: fmt.Sprintf("a longer side of at most %d times the shorter one", maxRatio), Got: fmt.Sprintf("%d x %d pixels", p.w, p.h)}
	}
	w, h := o.Resize*p.w/shorter, o.Resize*p.h/shorter
	x := p.resize(w, h)
	left, top := int(math.RoundToEven(float64(w-o.Size)/2)), int(math.RoundToEven(float64(h-o.Size)/2))
	return x.part(image.Rect(left, top, left+o.Size, top+o.Size)), nil
}

// part copies a rectangle.
func (p *pixels) part(r image.Rectangle) *pixels {
	to := newPixels(r.Dx(), r.Dy())
	for y := range to.h {
		copy(to.rgb[3*y*to.w:3*(y+1)*to.w], p.rgb[3*((r.Min.Y+y)*p.w+r.Min.X):])
	}
	return to
}

// crop returns the part of an image in a box.
func (p *pixels) crop(b *Box) (*pixels, error) {
	r := image.Rect(int(math.Floor(b.X)), int(math.Floor(b.Y)), int(math.Ceil(b.X+b.Width)), int(math.Ceil(b.Y+b.Height))).Intersect(image.Rect(0, 0, p.w, p.h))
	if r.Empty() {
		return nil, &invalid.Error{Field: "bounding box", Want: fmt.Sprintf("a part of %d x %d pixels", p.w, p.h), Got: fmt.Sprintf("%g x %g from (%g, %g)", b.Width, b.Height, b.X, b.Y)}
	}
	return p.part(r), nil
}

// resize returns the image in w x h pixels, by bilinear interpolation that averages over
// all pixels that one of the result covers (antialiasing). Coefficients and intermediate
// pixels are rounded as Pillow does.
func (p *pixels) resize(w, h int) *pixels {
	if w != p.w {
		to := newPixels(w, p.h)
		for x, k := range filters(p.w, w) {
			for y := range p.h {
				k.apply(to.rgb[3*(y*w+x):], p.rgb[3*(y*p.w+k.first):], 3)
			}
		}
		p = to
	}
	if h != p.h {
		to := newPixels(p.w, h)
		for y, k := range filters(p.h, h) {
			for x := range p.w {
				k.apply(to.rgb[3*(y*p.w+x):], p.rgb[3*(k.first*p.w+x):], 3*p.w)
			}
		}
		p = to
	}
	return p
}

// filter is a pixel of the result: the weights of consecutive pixels from the first on.
type filter struct {
	first   int
	weights []int32 // times 2^filterBits
}

const filterBits = 32 - 8 - 2

// filters returns the filters that resize a line of pixels.
func filters(from, to int) []filter {
	scale := float64(from) / float64(to)
	support := max(scale, 1)
	all := make([]filter, to)
	for i := range all {
		centre := (float64(i) + 0.5) * scale
		first, end := max(int(centre-support+0.5), 0), min(int(centre+support+0.5), from)
		weights := make([]float64, end-first)
		var sum float64
		for j := range weights {
			weights[j] = max(1-math.Abs((float64(first+j)-centre+0.5)/support), 0)
			sum += weights[j]
		}
		all[i] = filter{first, make([]int32, len(weights))}
		for j, v := range weights {
			all[i].weights[j] = int32(0.5 + v/sum*(1<<filterBits))
		}
	}
	return all
}

// apply writes one pixel of three channels; step is the distance of the pixels in src.
func (f filter) apply(dst, src []uint8, step int) {
	const half = 1 << (filterBits - 1)
	var r, g, b int32 = half, half, half
	at := 0
	for _, k := range f.weights {
		s := src[at : at+3 : at+3]
		r += int32(s[0]) * k
		g += int32(s[1]) * k
		b += int32(s[2]) * k
		at += step
	}
	dst[0], dst[1], dst[2] = clamp(r>>filterBits), clamp(g>>filterBits), clamp(b>>filterBits)
}

func clamp(v int32) uint8 { return uint8(min(max(v, 0), 255)) }

// The largest image, in bytes of the file and in pixels. A small file can decode to many
// gigabytes.
const (
	maxBytes  = 1 << 28
	maxPixels = 100_000_000
)

// pixels are the colours of an image, row by row: red, green and blue.
type pixels struct {
	w, h int
	rgb  []uint8
}

func newPixels(w, h int) *pixels { return &pixels{w, h, make([]uint8, 3*w*h)} }

// decode reads an image. Errors are *invalid.Error, or the context's.
func decode(ctx context.Context, path string) (*pixels, error) {
	data, err := fileio.ReadFile(ctx, path, maxBytes)
	if err != nil {
		return nil, err
	}
	bad := func(err error) error {
		e := &invalid.Error{Where: path, Want: "a JPEG, PNG, WebP, GIF, BMP or TIFF image", Err: err}
		if errors.Is(err, image.ErrFormat) {
			e.Got, e.Err = "another format", nil
		}
		return e
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case err != nil:
		return nil, bad(err)
	case config.Width < 1 || config.Height < 1 || config.Width > maxPixels/config.Height:
		return nil, &invalid.Error{Where: path, Want: fmt.Sprintf("an image of 1 to %d pixels", maxPixels), Got: fmt.Sprintf("%d x %d", config.Width, config.Height)}
	}
	m, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, bad(err)
	}
	p := newPixels(config.Width, config.Height)
	switch m := m.(type) {
	case *image.YCbCr:
		p.drawYCbCr(m, format == "webp")
	case *image.NYCbCrA:
		p.drawYCbCr(&m.YCbCr, true)
	default:
		p.draw(m)
	}
	return p, nil
}

// draw copies the colours of an image without its transparency.
func (p *pixels) draw(m image.Image) {
	bounds := m.Bounds().Intersect(image.Rect(0, 0, p.w, p.h)) // the first frame of a GIF can be smaller
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			var r, g, b uint8
			switch c := m.At(x, y).(type) {
			case color.RGBA:
				r, g, b = c.R, c.G, c.B
			case color.NRGBA64:
				r, g, b = uint8(c.R>>8), uint8(c.G>>8), uint8(c.B>>8)
			case color.RGBA64:
				r, g, b = uint8(c.R>>8), uint8(c.G>>8), uint8(c.B>>8)
			default: // gray and CMYK, for example
				n := color.NRGBAModel.Convert(c).(color.NRGBA)
				r, g, b = n.R, n.G, n.B
			}
			copy(p.rgb[3*(y*p.w+x):], []uint8{r, g, b})
		}
	}
}

// drawYCbCr converts the colours of JPEG, and of WebP with a loss. Like libjpeg, which
// Pillow uses, it interpolates chroma that has half the resolution; image.YCbCr repeats it.
func (p *pixels) drawYCbCr(m *image.YCbCr, videoRange bool) {
	cb, cr := chroma{plane: m.Cb, YCbCr: m}, chroma{plane: m.Cr, YCbCr: m}
	convert := fullToRGB
	if videoRange {
		convert = videoToRGB
	}
	for y := range p.h {
		cb.line(y, p)
		cr.line(y, p)
		luma := m.Y[m.YOffset(m.Rect.Min.X, m.Rect.Min.Y+y):]
		for x := range p.w {
			i := 3 * (y*p.w + x)
			p.rgb[i], p.rgb[i+1], p.rgb[i+2] = convert(luma[x], cb.full[x], cr.full[x])
		}
	}
}

// chroma is one of the planes of colour differences.
type chroma struct {
	*image.YCbCr
	plane []uint8
	sums  []int   // 4 times a line in the resolution of the plane, but in that of the image in y
	full  []uint8 // the same line in the resolution of the image
}

// line interpolates line y of an image: 3/4 of the nearest sample and 1/4 of the next one,
// in the directions with half the resolution. The roundings are libjpeg's.
func (c *chroma) line(y int, p *pixels) {
	if c.full == nil {
		c.full, c.sums = make([]uint8, p.w), make([]int, p.w)
	}
	top, left, ratio := c.Rect.Min.Y, c.Rect.Min.X, c.SubsampleRatio
	step, other := 1, y
	if ratio == image.YCbCrSubsampleRatio422 || ratio == image.YCbCrSubsampleRatio420 {
		step = 2
	}
	switch high := ratio == image.YCbCrSubsampleRatio440 || ratio == image.YCbCrSubsampleRatio420; {
	case high && y%2 == 0:
		other = max(y-2, 0)
	case high && y+1 < p.h:
		other = y + 1
	}
	n := (p.w + step - 1) / step
	for i := range n {
		x := left + i*step
		c.sums[i] = 3*int(c.plane[c.COffset(x, top+y)]) + int(c.plane[c.COffset(x, top+other)])
	}
	even, odd := 8, 7
	if ratio == image.YCbCrSubsampleRatio422 {
		even, odd = 4, 8
	}
	for x := range c.full {
		switch {
		case step == 1:
			c.full[x] = uint8((c.sums[x] + 1 + y%2) / 4)
		case x%2 == 0:
			c.full[x] = uint8((3*c.sums[x/2] + c.sums[max(x/2-1, 0)] + even) / 16)
		default:
			c.full[x] = uint8((3*c.sums[x/2] + c.sums[min(x/2+1, n-1)] + odd) / 16)
		}
	}
}

// fullToRGB converts colours with a luma of 0 to 255, as in JPEG, with the rounding of
// libjpeg. That of color.YCbCrToRGB differs by up to a level.
func fullToRGB(y, cb, cr uint8) (r, g, b uint8) {
	const half = 1 << 15
	l, u, v := int32(y), int32(cb)-128, int32(cr)-128
	return clamp(l + (91881*v+half)>>16), clamp(l + (-22554*u-46802*v+half)>>16), clamp(l + (116130*u+half)>>16)
}

// videoToRGB converts BT.601 colours with a luma of 16 to 235, as in WebP.
func videoToRGB(y, cb, cr uint8) (r, g, b uint8) {
	const one, half = 1 << 16, 1 << 15
	l, u, v := 76309*(int32(y)-16)+half, int32(cb)-128, int32(cr)-128 // 76309 is 255/219 of one
	return clamp((l + 104597*v) / one), clamp((l - 25675*u - 53279*v) / one), clamp((l + 132201*u) / one)
}

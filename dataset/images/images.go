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
	"context"
	"fmt"
	"image"
	"math"

	"github.com/lago-train/lago-train/dataset"
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
		if x, err = x.crop(m.Box); err != nil {
			return invalid.At(m.Path, err)
		}
	}
	x, err = x.square(p)
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
	return x.part(left, top, o.Size, o.Size), nil
}

// part copies a rectangle.
func (p *pixels) part(left, top, w, h int) *pixels {
	to := newPixels(w, h)
	for y := range h {
		copy(to.rgb[3*y*w:3*(y+1)*w], p.rgb[3*((top+y)*p.w+left):])
	}
	return to
}

// crop returns the part of an image in a box.
func (p *pixels) crop(b *Box) (*pixels, error) {
	r := image.Rect(int(math.Floor(b.X)), int(math.Floor(b.Y)), int(math.Ceil(b.X+b.Width)), int(math.Ceil(b.Y+b.Height))).Intersect(image.Rect(0, 0, p.w, p.h))
	if r.Empty() {
		return nil, &invalid.Error{Field: "bounding box", Want: fmt.Sprintf("a part of %d x %d pixels", p.w, p.h), Got: fmt.Sprintf("%g x %g from (%g, %g)", b.Width, b.Height, b.X, b.Y)}
	}
	return p.part(r.Min.X, r.Min.Y, r.Dx(), r.Dy()), nil
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

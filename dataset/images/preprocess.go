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

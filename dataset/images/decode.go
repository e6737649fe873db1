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

	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"

	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
)

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
	data, err := input.ReadFile(ctx, path, maxBytes)
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
	b := m.Bounds().Intersect(image.Rect(0, 0, p.w, p.h)) // the first frame of a GIF can be smaller
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			to := p.rgb[3*(y*p.w+x):]
			switch m := m.(type) {
			case *image.NRGBA:
				copy(to[:3], m.Pix[m.PixOffset(x, y):])
			case *image.RGBA:
				copy(to[:3], m.Pix[m.PixOffset(x, y):])
			case *image.NRGBA64:
				c := m.NRGBA64At(x, y)
				to[0], to[1], to[2] = uint8(c.R>>8), uint8(c.G>>8), uint8(c.B>>8)
			case *image.RGBA64:
				c := m.RGBA64At(x, y)
				to[0], to[1], to[2] = uint8(c.R>>8), uint8(c.G>>8), uint8(c.B>>8)
			default: // gray, palettes, and CMYK, for example
				c := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
				to[0], to[1], to[2] = c.R, c.G, c.B
			}
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

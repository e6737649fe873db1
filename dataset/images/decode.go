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
	sums  []int   // of a line in the resolution of the plane
	full  []uint8 // the same line in that of the image
}

// line interpolates line y of an image: 3/4 of the nearest sample and 1/4 of the next one,
// in both directions.
func (c *chroma) line(y int, p *pixels) {
	if c.full == nil {
		c.full, c.sums = make([]uint8, p.w), make([]int, (p.w+1)/2)
	}
	top, left := c.Rect.Min.Y, c.Rect.Min.X
	near := c.plane[c.COffset(left, top+y):]
	switch c.SubsampleRatio {
	case image.YCbCrSubsampleRatio422:
		for i := range c.sums {
			c.sums[i] = 4 * int(near[i])
		}
		c.widen(4, 8) // (3 near + next + 1 or 2) / 4
	case image.YCbCrSubsampleRatio420:
		next := c.plane[c.COffset(left, top+neighbour(y, p.h)):]
		for i := range c.sums {
			c.sums[i] = 3*int(near[i]) + int(next[i])
		}
		c.widen(8, 7)
	case image.YCbCrSubsampleRatio440:
		next := c.plane[c.COffset(left, top+neighbour(y, p.h)):]
		for x := range c.full {
			c.full[x] = uint8((3*int(near[x]) + int(next[x]) + 1 + y%2) / 4)
		}
	default:
		for x := range c.full {
			c.full[x] = c.plane[c.COffset(left+x, top+y)]
		}
	}
}

// neighbour returns a line whose chroma is next to that of line y: above for even lines,
// below for odd ones, within h lines.
func neighbour(y, h int) int {
	if y%2 == 0 {
		return max(y-2, 0)
	}
	if y+1 < h {
		return y + 1
	}
	return y
}

// widen interpolates sums, which are 4 times the samples, to twice the number of columns.
// The two roundings are libjpeg's, for even and odd columns.
func (c *chroma) widen(even, odd int) {
	last := len(c.sums) - 1
	for x := range c.full {
		i, rounding := x/2, even
		next := max(i-1, 0)
		if x%2 == 1 {
			next, rounding = min(i+1, last), odd
		}
		c.full[x] = uint8((3*c.sums[i] + c.sums[next] + rounding) / 16)
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

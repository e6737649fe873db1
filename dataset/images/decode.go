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
	p.draw(m, format == "webp")
	return p, nil
}

// draw copies the colours of an image without its transparency. videoRange is the range of
// YCbCr in WebP.
func (p *pixels) draw(m image.Image, videoRange bool) {
	b := m.Bounds().Intersect(image.Rect(0, 0, p.w, p.h)) // the first frame of a GIF can be smaller
	if alpha, ok := m.(*image.NYCbCrA); ok {
		m = &alpha.YCbCr
	}
	if y, ok := m.(*image.YCbCr); ok {
		p.drawYCbCr(y, videoRange)
		return
	}
	at := colours(m)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			i := 3 * (y*p.w + x)
			p.rgb[i], p.rgb[i+1], p.rgb[i+2] = at(x, y)
		}
	}
}

// colours returns the function that reads the colour of a pixel, without transparency.
func colours(m image.Image) func(x, y int) (r, g, b uint8) {
	switch m := m.(type) {
	case *image.NRGBA:
		return func(x, y int) (r, g, b uint8) { c := m.NRGBAAt(x, y); return c.R, c.G, c.B }
	case *image.RGBA:
		return func(x, y int) (r, g, b uint8) { c := m.RGBAAt(x, y); return c.R, c.G, c.B }
	case *image.Gray:
		return func(x, y int) (r, g, b uint8) { c := m.GrayAt(x, y); return c.Y, c.Y, c.Y }
	case *image.Gray16:
		return func(x, y int) (r, g, b uint8) { c := uint8(m.Gray16At(x, y).Y >> 8); return c, c, c }
	case *image.NRGBA64:
		return func(x, y int) (r, g, b uint8) {
			c := m.NRGBA64At(x, y)
			return uint8(c.R >> 8), uint8(c.G >> 8), uint8(c.B >> 8)
		}
	case *image.RGBA64:
		return func(x, y int) (r, g, b uint8) {
			c := m.RGBA64At(x, y)
			return uint8(c.R >> 8), uint8(c.G >> 8), uint8(c.B >> 8)
		}
	case *image.Paletted:
		palette := make([][3]uint8, 256)
		for i, c := range m.Palette {
			n, ok := c.(color.NRGBA)
			if !ok {
				n = color.NRGBAModel.Convert(c).(color.NRGBA)
			}
			palette[i] = [3]uint8{n.R, n.G, n.B}
		}
		return func(x, y int) (r, g, b uint8) { c := palette[m.ColorIndexAt(x, y)]; return c[0], c[1], c[2] }
	}
	return func(x, y int) (r, g, b uint8) { // CMYK, for example
		c := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
		return c.R, c.G, c.B
	}
}

// Package images lists photographs and makes them inputs of a network, as torchvision
// and Pillow do: RGB, the shorter side resized by antialiased bilinear or bicubic interpolation, the
// centre cropped, and each channel normalised by a mean and deviation.
//
// JPEG, PNG, WebP, GIF (the first frame), BMP and TIFF are decoded in Go. Crops of lossless images differ
// from Pillow's by rounding, those of JPEG by a few levels, because decoders round differently. As in
// torchvision, transparency is ignored. As in browsers, photographs are turned as their EXIF data say.
//
// Packages model/network/resnet and model/network/vit compute the features.
package images

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // the formats that image.Decode knows
	_ "image/jpeg"
	_ "image/png"
	"math"
	"strings"

	_ "golang.org/x/image/bmp"
	"golang.org/x/image/draw"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/invalid"
)

// DefaultSize is the side of the inputs of a network in pixels.
const DefaultSize = 224

// The mean and deviation of ImageNet.
var (
	ImageNetMean = [3]float64{0.485, 0.456, 0.406}
	ImageNetStd  = [3]float64{0.229, 0.224, 0.225}
)

// Preprocessing returns that of torchvision, for inputs of size x size pixels: with
// dataset.Crop the shorter side becomes 256/224 of the size.
func Preprocessing(fit dataset.Fit, size int) dataset.ImagePreprocessing {
	p := dataset.ImagePreprocessing{Fit: fit, Size: size, Upright: true, Mean: ImageNetMean, Std: ImageNetStd}
	if fit == dataset.Crop {
		p.Resize = int(math.Round(float64(size) * 256 / 224))
	}
	return p
}

// Load decodes an image and writes its pixels to dst, preprocessed: size x size x 3, the
// channels of a pixel adjacent. Errors name the file.
func Load(ctx context.Context, m Image, p dataset.ImagePreprocessing, dst []float32) error {
	x, err := decode(ctx, m, p.Upright)
	if err != nil {
		return err
	}
	scaled, err := scale(x, p)
	if err != nil {
		return invalid.At(m.Path, err)
	}
	for i := range p.Size * p.Size {
		c := scaled.RGBA64At(i%p.Size, i/p.Size)
		for j, v := range []uint16{c.R, c.G, c.B} {
			dst[3*i+j] = (float32(v)/math.MaxUint16 - float32(p.Mean[j])) / float32(p.Std[j])
		}
	}
	return nil
}

// Thumbnail returns an image whose longer side has at most the given number of pixels.
func Thumbnail(ctx context.Context, path string, side int) (image.Image, error) {
	x, err := decode(ctx, Image{Path: path}, true)
	if err != nil {
		return nil, err
	}
	w, h := x.Rect.Dx(), x.Rect.Dy()
	longer := max(w, h)
	if longer <= side {
		return x, nil
	}
	to := image.NewRGBA(image.Rect(0, 0, max(w*side/longer, 1), max(h*side/longer, 1)))
	draw.BiLinear.Scale(to, to.Rect, x, x.Rect, draw.Src, nil)
	return to, nil
}

// maxRatio is the largest ratio of the sides of an image that is cropped, which bounds the
// memory of the resized one.
const maxRatio = 200

// scale returns the size x size pixels of an image. Bilinear ones have 16 bits, so that only the
// result of both directions is rounded.
func scale(x *image.RGBA, p dataset.ImagePreprocessing) (image.RGBA64Image, error) {
	from := x.Rect
	w, h := from.Dx(), from.Dy()
	shorter, longer := min(w, h), max(w, h)
	out := image.NewRGBA64(image.Rect(0, 0, p.Size, p.Size))
	to := out.Rect
	switch {
	case p.Fit == dataset.Squash:
	case longer > maxRatio*shorter:
		return nil, invalid.Expected("", fmt.Sprintf("%d x %d pixels", w, h),
			"a longer side of at most %d times the shorter one", maxRatio)
	default: // beyond the edges of out, so that it has the centre
		w, h = p.Resize*w/shorter, p.Resize*h/shorter
		left, top := math.RoundToEven(float64(w-p.Size)/2), math.RoundToEven(float64(h-p.Size)/2)
		if p.Filter == dataset.Bicubic { // for networks that round down
			left, top = math.Floor(float64(w-p.Size)/2), math.Floor(float64(h-p.Size)/2)
		}
		to = image.Rect(0, 0, w, h).Sub(image.Pt(int(left), int(top)))
	}
	if p.Filter == dataset.Bicubic {
		lines := image.NewRGBA64(image.Rect(0, 0, p.Size, from.Dy()))
		draw.CatmullRom.Scale(lines, image.Rect(to.Min.X, 0, to.Max.X, from.Dy()), x, from, draw.Src, nil)
		x, from = levels(lines), lines.Rect
		to.Min.X, to.Max.X = 0, p.Size
		draw.CatmullRom.Scale(out, to, x, from, draw.Src, nil)
		return levels(out), nil
	}
	draw.BiLinear.Scale(out, to, x, from, draw.Src, nil)
	return out, nil
}

// levels rounds an image to 8 bits, as Pillow does after each direction: what a bicubic filter
// overshoots is cut off there.
func levels(x *image.RGBA64) *image.RGBA {
	y := image.NewRGBA(x.Rect)
	for i := range y.Pix {
		v := int(x.Pix[2*i])<<8 | int(x.Pix[2*i+1])
		y.Pix[i] = uint8((v*math.MaxUint8 + math.MaxUint16/2) / math.MaxUint16)
	}
	return y
}

// The largest image that is decoded, in bytes of the file and in pixels. A small file can decode to
// many gigabytes.
const (
	MaxBytes  = 1 << 28
	maxPixels = 64_000_000
)

func notAnImage(path string, data []byte, err error) error {
	other := fileio.FormatOf(data)
	switch {
	case len(data) == 0:
		other.Name = "an empty file"
	case other.Name == fileio.Picture: // that is damaged
		other.Name = ""
	}
	return &invalid.Error{
		Where: path, Want: "a JPEG, PNG, WebP, GIF, BMP or TIFF image",
		Got: cmp.Or(other.Name, strings.TrimPrefix(err.Error(), "image: ")), Hint: other.Hint,
	}
}

// decode decodes an image, and may turn it upright. The result is opaque. Errors are *invalid.Error, or the
// context's.
func decode(ctx context.Context, file Image, turn bool) (_ *image.RGBA, err error) {
	data := file.Data
	if data == nil {
		if data, err = fileio.ReadRegularFile(ctx, file.Path, MaxBytes); err != nil {
			return nil, err
		}
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, notAnImage(file.Path, data, err)
	}
	if config.Width < 1 || config.Height < 1 || config.Width > maxPixels/config.Height {
		return nil, &invalid.Error{
			Where: file.Path, Want: fmt.Sprintf("an image of 1 to %d pixels", maxPixels),
			Got:  fmt.Sprintf("%d x %d", config.Width, config.Height),
			Hint: "Make the image smaller: networks see some hundred pixels of each side.",
		}
	}
	m, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, notAnImage(file.Path, data, err)
	}
	p := image.NewRGBA(image.Rect(0, 0, config.Width, config.Height))
	switch m := m.(type) {
	case *image.YCbCr:
		drawYCbCr(p, m, format == "webp")
	case *image.NYCbCrA:
		drawYCbCr(p, &m.YCbCr, true)
	default:
		draw.Draw(p, p.Rect, image.Black, image.Point{}, draw.Src) // the first frame of a GIF can be smaller
		bounds := m.Bounds().Intersect(p.Rect)
		for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
			for x := bounds.Min.X; x < bounds.Max.X; x++ {
				p.SetRGBA(x, y, opaque(m.At(x, y)))
			}
		}
	}
	if turn {
		p = upright(p, orientation(data, format))
	}
	return p, nil
}

func opaque(c color.Color) color.RGBA {
	if c, deep := c.(color.NRGBA64); deep { // the conversion would drop what is transparent
		return color.RGBA{uint8(c.R >> 8), uint8(c.G >> 8), uint8(c.B >> 8), math.MaxUint8}
	}
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	return color.RGBA{n.R, n.G, n.B, math.MaxUint8}
}

// exifMarkers precede the EXIF data in the files of a format.
var exifMarkers = map[string]string{"jpeg": "Exif\x00\x00", "png": "eXIf", "webp": "EXIF"}

// orientation returns how the pixels of an image file are stored, from 1 (upright) to 8, as the EXIF
// data of JPEG, PNG and WebP say, which are TIFF data, and those of TIFF. It is 1 if they do not.
func orientation(data []byte, format string) int {
	if marker := exifMarkers[format]; marker != "" {
		before, exif, _ := bytes.Cut(data, []byte(marker))
		if format == "jpeg" && bytes.Contains(before, []byte("\xff\xda")) { // it is within the pixels
			return 1
		}
		if format == "webp" { // a size follows
			exif = bytes.TrimPrefix(exif[min(4, len(exif)):], []byte("Exif\x00\x00"))
		}
		data = exif
	}
	var order binary.ByteOrder
	switch {
	case len(data) >= 8 && string(data[:4]) == "II*\x00":
		order = binary.LittleEndian
	case len(data) >= 8 && string(data[:4]) == "MM\x00*":
		order = binary.BigEndian
	default:
		return 1
	}
	start := int(order.Uint32(data[4:]))
	if start < 8 || start > len(data)-2 {
		return 1
	}
	const orientationTag, size = 0x0112, 12 // of a field of the first directory
	fields := data[start+2:]
	for range order.Uint16(data[start:]) {
		if len(fields) < size {
			break
		}
		if o := int(order.Uint16(fields[8:])); order.Uint16(fields) == orientationTag && o >= 1 && o <= 8 {
			return o
		}
		fields = fields[size:]
	}
	return 1
}

// upright returns an image as people see it, from its stored pixels and their orientation: 2 is
// mirrored, 3 turned by 180 degrees, 4 both; 5 to 8 exchange rows and columns.
func upright(stored *image.RGBA, orientation int) *image.RGBA {
	if orientation == 1 {
		return stored
	}
	w, h := stored.Rect.Dx(), stored.Rect.Dy()
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	if orientation > 4 {
		out = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			from, line := x, y
			if orientation > 4 {
				from, line = y, x
			}
			switch orientation {
			case 2, 3, 7, 8:
				from = w - 1 - from
			}
			switch orientation {
			case 3, 4, 6, 7:
				line = h - 1 - line
			}
			copy(out.Pix[out.PixOffset(x, y):][:4], stored.Pix[stored.PixOffset(from, line):][:4])
		}
	}
	return out
}

// drawYCbCr converts the colours of JPEG, and of WebP with a loss. Like libjpeg, which
// Pillow uses, it interpolates chroma that has half the resolution; image.YCbCr repeats it.
func drawYCbCr(p *image.RGBA, m *image.YCbCr, videoRange bool) {
	w := m.Rect.Dx()
	cb := chroma{m, m.Cb, make([]int, w), make([]uint8, w)}
	cr := chroma{m, m.Cr, make([]int, w), make([]uint8, w)}
	convert := fullToRGB
	if videoRange {
		convert = videoToRGB
	}
	for y := range m.Rect.Dy() {
		cb.line(y)
		cr.line(y)
		for x := range w {
			r, g, b := convert(m.Y[m.YOffset(x, y)], cb.full[x], cr.full[x])
			p.SetRGBA(x, y, color.RGBA{r, g, b, math.MaxUint8})
		}
	}
}

type chroma struct {
	*image.YCbCr
	plane []uint8
	sums  []int   // 4 times a line in the resolution of the plane, but in that of the image in y
	full  []uint8 // the same line in the resolution of the image
}

// line interpolates line y of an image: 3/4 of the nearest sample and 1/4 of the next one,
// in the directions with half the resolution. The roundings are libjpeg's.
func (c *chroma) line(y int) {
	ratio, step, other := c.SubsampleRatio, 1, y
	if ratio == image.YCbCrSubsampleRatio422 || ratio == image.YCbCrSubsampleRatio420 {
		step = 2
	}
	switch high := ratio == image.YCbCrSubsampleRatio440 || ratio == image.YCbCrSubsampleRatio420; {
	case high && y%2 == 0:
		other = max(y-2, 0)
	case high && y+1 < c.Rect.Dy():
		other = y + 1
	}
	n := (len(c.full) + step - 1) / step
	for i := range n {
		c.sums[i] = 3*int(c.plane[c.COffset(i*step, y)]) + int(c.plane[c.COffset(i*step, other)])
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

func clamp(v int32) uint8 { return uint8(min(max(v, 0), math.MaxUint8)) }

// fullToRGB converts colours with a luma of 0 to 255, as in JPEG, with the rounding of
// libjpeg. That of color.YCbCrToRGB differs by up to a level.
func fullToRGB(y, cb, cr uint8) (r, g, b uint8) {
	const half = 1 << 15
	l, u, v := int32(y), int32(cb)-128, int32(cr)-128
	return clamp(l + (91881*v+half)>>16), clamp(l + (-22554*u-46802*v+half)>>16), clamp(l +
		(116130*u+half)>>16)
}

// videoToRGB converts BT.601 colours with a luma of 16 to 235, as in WebP.
func videoToRGB(y, cb, cr uint8) (r, g, b uint8) {
	const unit, half = 1 << 16, 1 << 15
	l, u, v := 76309*(int32(y)-16)+half, int32(cb)-128, int32(cr)-128 // 76309 is 255/219 of unit
	return clamp((l + 104597*v) / unit), clamp((l - 25675*u - 53279*v) / unit), clamp((l + 132201*u) / unit)
}

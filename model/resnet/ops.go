package resnet

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"github.com/lago-train/lago-train/internal/parallel"
)

// images are arrays of n x h x w x channels.
type images struct{ n, h, w, channels int }

func (s images) size() int { return s.n * s.h * s.w * s.channels }

// strided returns the rows or columns after a window of a size slid over length of them.
func strided(length, size, stride, pad int) int { return (length+2*pad-size)/stride + 1 }

// convolution is a layer for images of one size.
type convolution struct {
	layer
	from, to images
	tiles    int       // parts of the pixels, whose patches are in memory at a time
	scratch  sync.Pool // of *[]float32, the patches of a tile
}

// tilePixels is about how many pixels of the result a tile has: enough for a fast product,
// and few enough that their patches stay in the cache.
const tilePixels = 256

func newConvolution(l layer, from images) *convolution {
	c := &convolution{layer: l, from: from, to: images{from.n, strided(from.h, l.size, l.stride, l.pad), strided(from.w, l.size, l.stride, l.pad), l.out}}
	pixels := c.to.n * c.to.h * c.to.w
	// A power of two, so that the tiles are shared out evenly. It depends on the sizes alone:
	// results do not depend on the number of workers.
	c.tiles = 1
	for pixels/(2*c.tiles) >= tilePixels {
		c.tiles *= 2
	}
	most := (pixels + c.tiles - 1) / c.tiles
	c.scratch.New = func() any {
		s := make([]float32, most*c.depth())
		return &s
	}
	return c
}

// depth is the length of a patch.
func (c *convolution) depth() int { return c.size * c.size * c.in }

// forward computes ReLU(patches kernel' + bias + out), where out, which holds the
// shortcut, counts only if the layer has one.
func (c *convolution) forward(out []float32, in [][]float32) {
	x, kernel, bias := in[0], in[1], in[2]
	pixels, depth := c.to.n*c.to.h*c.to.w, c.depth()
	var beta float32
	if c.shortcut {
		beta = 1
	}
	parallel.For(c.tiles, 1, func(lo, hi int) {
		scratch := c.scratch.Get().(*[]float32)
		defer c.scratch.Put(scratch)
		for t := lo; t < hi; t++ {
			first, end := t*pixels/c.tiles, (t+1)*pixels/c.tiles
			patches := *scratch
			if c.size == 1 && c.stride == 1 {
				patches = x[first*depth:]
			} else {
				for p := first; p < end; p++ {
					c.patch(patches[(p-first)*depth:(p-first+1)*depth], x, p)
				}
			}
			y := out[first*c.out : end*c.out]
			blas32.Implementation().Sgemm(blas.NoTrans, blas.Trans, end-first, c.out, depth, 1, patches, depth, kernel, depth, beta, y, c.out)
			finish(y, bias, c.withReLU)
		}
	})
}

// patch copies the inputs of a pixel of the result, zero beyond the edges.
func (c *convolution) patch(dst, x []float32, pixel int) {
	left, top := pixel%c.to.w*c.stride-c.pad, pixel/c.to.w%c.to.h*c.stride-c.pad
	sample := pixel / (c.to.w * c.to.h)
	width := c.size * c.in
	// The columns of the kernel that are within the image.
	begin, end := max(0, -left)*c.in, min(c.size, c.from.w-left)*c.in
	for i := range c.size {
		row := dst[i*width : (i+1)*width]
		if top+i < 0 || top+i >= c.from.h {
			clear(row)
			continue
		}
		clear(row[:begin])
		clear(row[end:])
		at := ((sample*c.from.h+top+i)*c.from.w + left) * c.in
		copy(row[begin:end], x[at+begin:at+end])
	}
}

// finish adds the bias of each channel, and sets what is negative to zero.
func finish(y, bias []float32, withReLU bool) {
	for ; len(y) > 0; y = y[len(bias):] {
		row := y[:len(bias)]
		if !withReLU {
			for i, b := range bias {
				row[i] += b
			}
			continue
		}
		for i, b := range bias {
			bits := math.Float32bits(row[i] + b)
			row[i] = math.Float32frombits(bits &^ uint32(int32(bits)>>31)) // without a branch, which would be mispredicted
		}
	}
}

// maxPooling is that after the stem: 3 x 3 pixels, stride 2.
type maxPooling struct{ from, to images }

func newMaxPooling(from images) *maxPooling {
	return &maxPooling{from, images{from.n, strided(from.h, 3, 2, 1), strided(from.w, 3, 2, 1), from.channels}}
}

func (m *maxPooling) forward(out []float32, in [][]float32) {
	x, c := in[0], m.from.channels
	parallel.For(m.to.n*m.to.h, 1, func(lo, hi int) {
		for line := lo; line < hi; line++ {
			sample, top := line/m.to.h, line%m.to.h*2-1
			for j := range m.to.w {
				y := out[(line*m.to.w+j)*c : (line*m.to.w+j+1)*c]
				for k := range y {
					y[k] = 0 // the ReLU before leaves nothing smaller
				}
				for r := max(top, 0); r < min(top+3, m.from.h); r++ {
					for s := max(2*j-1, 0); s < min(2*j+2, m.from.w); s++ {
						at := ((sample*m.from.h+r)*m.from.w + s) * c
						for k, v := range x[at : at+c] {
							y[k] = max(y[k], v)
						}
					}
				}
			}
		}
	})
}

// averagePooling is the mean over the pixels.
type averagePooling struct{ from images }

func (a averagePooling) forward(out []float32, in [][]float32) {
	c, pixels := a.from.channels, a.from.h*a.from.w
	sums := make([]float64, c)
	for i := range a.from.n {
		clear(sums)
		for x := in[0][i*pixels*c : (i+1)*pixels*c]; len(x) > 0; x = x[c:] {
			for k, v := range x[:c] {
				sums[k] += float64(v)
			}
		}
		for k, s := range sums {
			out[i*c+k] = float32(s / float64(pixels))
		}
	}
}

package resnet

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/model/network"
)

// MinSize is the smallest side of images, for which the last stage has one pixel.
const MinSize = 32

// Graph compiles the network for batches of images of size x size pixels.
func (n *Network) Graph(samples, size int) (*network.Graph, error) {
	if size < MinSize {
		return nil, &invalid.Error{
			Field: "size", Want: fmt.Sprintf("at least %d pixels", MinSize), Got: fmt.Sprint(size),
		}
	}
	b := &builder{Network: n, Graph: network.NewGraph(samples, size, n.dims)}
	in := array{samples, size, size, 3}
	first := newConvolution(stem, in)
	shape, maxima := maxPooling(first.to)
	for i := range b.buffers { // none of the results is larger than four times the pooled one
		b.buffers[i] = make([]float32, 4*shape.size())
	}
	x := b.convolve(first, b.Input("images", b.Images.Data, in.n, in.h, in.w, in.channels), nil, 0)
	x = network.Apply("max pooling", b.view(1, shape), maxima, x)
	at := 1
	for _, block := range n.residual(n.StrideIn1x1) {
		x, at, shape = b.block(block, x, at, shape)
	}
	network.Apply("average pooling", b.Output(), averagePooling(shape), x)
	b.Compile()
	return b.Graph, nil
}

// builder adds the ops of a network to a graph. They write to four buffers in turn: the
// input of a block, a projection of it, and two convolutions are needed at a time.
type builder struct {
	*Network
	*network.Graph
	buffers [4][]float32
}

// block adds a residual block, whose input is in a buffer, and returns its result, the
// buffer, and the size. The result replaces the shortcut.
func (b *builder) block(l block, x *G.Node, at int, from array) (y *G.Node, buffer int, to array) {
	free := slices.DeleteFunc([]int{0, 1, 2, 3}, func(i int) bool { return i == at })
	shortcut, buffer := x, at
	if l.shortcut != nil {
		buffer = free[2]
		shortcut = b.convolve(newConvolution(*l.shortcut, from), x, nil, buffer)
	}
	last := len(l.layers) - 1
	for i, layer := range l.layers[:last] {
		c := newConvolution(layer, from)
		x, from = b.convolve(c, x, nil, free[i]), c.to
	}
	c := newConvolution(l.layers[last], from)
	return b.convolve(c, x, shortcut, buffer), buffer, c.to
}

// convolve adds a convolution that writes to a buffer, which holds the shortcut, if any.
func (b *builder) convolve(c *convolution, x, shortcut *G.Node, buffer int) *G.Node {
	w := b.weights[c.conv]
	inputs := []*G.Node{
		x, b.Input(c.conv+".weight", w.kernel, c.depth(), c.out), b.Input(c.norm, w.bias, c.out),
	}
	if shortcut != nil {
		inputs = append(inputs, shortcut)
	}
	return network.Apply(c.conv, b.view(buffer, c.to), c.forward, inputs...)
}

func (b *builder) view(buffer int, s array) *tensor.Dense {
	return network.Dense(b.buffers[buffer][:s.size()], s.n, s.h, s.w, s.channels)
}

// array is the size of n x h x w x channels.
type array struct{ n, h, w, channels int }

func (s array) size() int { return s.n * s.h * s.w * s.channels }

// strided returns the size after a window slid over the pixels.
func (s array) strided(size, stride, pad, channels int) array {
	steps := func(length int) int { return (length+2*pad-size)/stride + 1 }
	return array{s.n, steps(s.h), steps(s.w), channels}
}

// convolution is a layer for images of one size.
type convolution struct {
	layer
	from, to array
	tiles    int       // parts of the pixels, whose patches are in memory at a time
	scratch  sync.Pool // of *[]float32, the patches of a tile
}

// tilePixels is about how many pixels of the result a tile has: enough for a fast product,
// and few enough that their patches stay in the cache.
const tilePixels = 256

func newConvolution(l layer, from array) *convolution {
	c := &convolution{layer: l, from: from, to: from.strided(l.size, l.stride, l.pad, l.out), tiles: 1}
	pixels := c.to.n * c.to.h * c.to.w
	// A power of two, so that the tiles are shared out evenly. It depends on the sizes alone:
	// results do not depend on the number of workers.
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

// forward computes ReLU(patches kernel + bias + out), where out, which holds the
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
			blas32.Implementation().Sgemm(blas.NoTrans, blas.NoTrans, end-first, c.out, depth, 1, patches,
				depth, kernel, c.out, beta, y, c.out)
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
			// without a branch, which would be mispredicted
			row[i] = math.Float32frombits(bits &^ uint32(int32(bits)>>31))
		}
	}
}

// maxPooling is that after the stem: 3 x 3 pixels, stride 2.
func maxPooling(from array) (to array, f network.Forward) {
	c := from.channels
	to = from.strided(3, 2, 1, c)
	return to, func(out []float32, in [][]float32) {
		parallel.For(to.n*to.h, 1, func(lo, hi int) {
			for line := lo; line < hi; line++ {
				sample, top := line/to.h, line%to.h*2-1
				for j := range to.w {
					y := out[(line*to.w+j)*c : (line*to.w+j+1)*c]
					clear(y) // the ReLU before leaves nothing smaller
					for r := max(top, 0); r < min(top+3, from.h); r++ {
						for s := max(2*j-1, 0); s < min(2*j+2, from.w); s++ {
							at := ((sample*from.h+r)*from.w + s) * c
							for k, v := range in[0][at : at+c] {
								y[k] = max(y[k], v)
							}
						}
					}
				}
			}
		})
	}
}

// averagePooling is the mean over the pixels.
func averagePooling(from array) network.Forward {
	c, pixels := from.channels, from.h*from.w
	return func(out []float32, in [][]float32) {
		for i := range from.n {
			sums := make([]float64, c)
			for x := range slices.Chunk(in[0][i*pixels*c:(i+1)*pixels*c], c) {
				for k, v := range x {
					sums[k] += float64(v)
				}
			}
			for k, s := range sums {
				out[i*c+k] = float32(s / float64(pixels))
			}
		}
	}
}

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

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/graphop"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
)

// MinSize is the smallest side of images, for which the last stage has one pixel.
const MinSize = 32

// Graph computes the features of batches of images of one size.
type Graph struct {
	// Images are samples x (size x size x 3), row by row of each image and with the channels
	// last, normalised. Features reads them.
	Images dataset.Matrix[float32]

	vm       G.VM
	features dataset.Matrix[float32] // samples x D
}

// Graph compiles the network for batches of n images of size x size pixels.
func (n *Network) Graph(samples, size int) (*Graph, error) {
	if size < MinSize {
		return nil, &invalid.Error{Field: "size", Want: fmt.Sprintf("at least %d pixels", MinSize), Got: fmt.Sprint(size)}
	}
	g := &Graph{Images: dataset.NewMatrix[float32](samples, size*size*3), features: dataset.NewMatrix[float32](samples, n.Dims)}
	b := &builder{Network: n, graph: G.NewGraph()}
	in := images{samples, size, size, 3}
	first := newConvolution(stem, in)
	shape, maxima := maxPooling(first.to)
	for i := range b.buffers { // none of the results is larger than four times the pooled one
		b.buffers[i] = make([]float32, 4*shape.size())
	}
	x := b.convolve(first, b.input("images", g.Images.Data, in.n, in.h, in.w, in.channels), nil, 0)
	x = apply("max pooling", b.view(1, shape), maxima, x)
	at := 1
	for _, block := range n.residual(n.StrideIn1x1) {
		x, at, shape = b.block(block, x, at, shape)
	}
	apply("average pooling", dense(g.features.Data, samples, n.Dims), averagePooling(shape), x)
	g.vm = G.NewTapeMachine(b.graph)
	return g, nil
}

// Features returns the average-pooled units of the Images, samples x D. They are valid
// until the next call.
func (g *Graph) Features() (dataset.Matrix[float32], error) {
	g.vm.Reset()
	if err := g.vm.RunAll(); err != nil {
		return g.features, fmt.Errorf("running the network: %w", err)
	}
	return g.features, nil
}

// builder adds the ops of a network to a graph. They write to four buffers in turn: the
// input of a block, a projection of it, and two convolutions are needed at a time.
type builder struct {
	*Network
	graph   *G.ExprGraph
	buffers [4][]float32
}

// block adds a residual block, whose input is in a buffer, and returns its result, the
// buffer, and the size. The result replaces the shortcut.
func (b *builder) block(l block, x *G.Node, at int, from images) (y *G.Node, buffer int, to images) {
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
	inputs := []*G.Node{x, b.input(c.conv+".weight", w.kernel, c.out, c.depth()), b.input(c.norm, w.bias, c.out)}
	if shortcut != nil {
		inputs = append(inputs, shortcut)
	}
	return apply(c.conv, b.view(buffer, c.to), c.forward, inputs...)
}

func (b *builder) view(buffer int, s images) *tensor.Dense {
	return dense(b.buffers[buffer][:s.size()], s.n, s.h, s.w, s.channels)
}

func (b *builder) input(name string, data []float32, shape ...int) *G.Node {
	return G.NewTensor(b.graph, tensor.Float32, len(shape), G.WithName(name), G.WithShape(shape...), G.WithValue(dense(data, shape...)))
}

func dense(data []float32, shape ...int) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(data))
}

// op is a Gorgonia op on slices of float32, which writes its result to memory that the
// graph shares between ops. It has no gradient.
type op struct {
	graphop.Op
	forward forward
	out     *tensor.Dense
}

// forward computes an op.
type forward func(out []float32, in [][]float32)

// apply adds an op to the graph of its inputs. It panics if Gorgonia refuses the node, as
// only a mistake in this package makes it do.
func apply(name string, out *tensor.Dense, f forward, inputs ...*G.Node) *G.Node {
	return G.Must(G.ApplyOp(&op{graphop.New(name, tensor.Float32, out.Shape(), inputs), f, out}, inputs...))
}

func (o *op) Do(inputs ...G.Value) (G.Value, error) {
	in := make([][]float32, len(inputs))
	for i, v := range inputs {
		in[i] = v.(*tensor.Dense).Float32s()
	}
	o.forward(o.out.Float32s(), in)
	return o.out, nil
}

// images are arrays of n x h x w x channels.
type images struct{ n, h, w, channels int }

func (s images) size() int { return s.n * s.h * s.w * s.channels }

// strided returns the size after a window slid over the pixels.
func (s images) strided(size, stride, pad, channels int) images {
	steps := func(length int) int { return (length+2*pad-size)/stride + 1 }
	return images{s.n, steps(s.h), steps(s.w), channels}
}

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
func maxPooling(from images) (to images, f forward) {
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
func averagePooling(from images) forward {
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

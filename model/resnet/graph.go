package resnet

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/invalid"
)

// MinSize is the smallest side of images, for which the last stage has one pixel.
const MinSize = 32

// Graph computes the features of batches of images of one size.
type Graph struct {
	// Images are samples x (size x size x 3), row by row of each image and with the channels
	// last, normalised. Features reads them.
	Images dataset.Matrix[float32]

	vm       G.VM
	features []float32 // samples x D
	dims     int
}

// Graph compiles the network for batches of n images of size x size pixels.
func (n *Network) Graph(samples, size int) (*Graph, error) {
	if size < MinSize {
		return nil, &invalid.Error{Field: "size", Want: fmt.Sprintf("at least %d pixels", MinSize), Got: fmt.Sprint(size)}
	}
	g := &Graph{Images: dataset.NewMatrix[float32](samples, size*size*3), features: make([]float32, samples*n.Dims), dims: n.Dims}
	b := &builder{Network: n, graph: G.NewGraph()}
	in := images{samples, size, size, 3}
	first := newConvolution(stem, in)
	pool := newMaxPooling(first.to)
	for i := range b.buffers { // none of the results is larger than four times the pooled one
		b.buffers[i] = make([]float32, 4*pool.to.size())
	}
	x := b.convolve(first, b.input("images", g.Images.Data, in.n, in.h, in.w, in.channels), nil, 0)
	x = apply("max pooling", b.view(1, pool.to), pool.forward, x)
	at, shape := 1, pool.to
	for _, block := range n.residual(n.StrideIn1x1) {
		x, at, shape = b.block(block, x, at, shape)
	}
	apply("average pooling", dense(g.features, samples, n.Dims), averagePooling{shape}.forward, x)
	g.vm = G.NewTapeMachine(b.graph)
	return g, nil
}

// Features returns the average-pooled units of the Images, samples x D. They are valid
// until the next call.
func (g *Graph) Features() (dataset.Matrix[float32], error) {
	g.vm.Reset()
	if err := g.vm.RunAll(); err != nil {
		return dataset.Matrix[float32]{}, fmt.Errorf("running the network: %w", err)
	}
	return dataset.Matrix[float32]{Rows: g.Images.Rows, Cols: g.dims, Data: g.features}, nil
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
	free := make([]int, 0, len(b.buffers))
	for i := range b.buffers {
		if i != at {
			free = append(free, i)
		}
	}
	shortcut, buffer := x, at
	if l.shortcut != nil {
		buffer = free[2]
		shortcut = b.convolve(newConvolution(*l.shortcut, from), x, nil, buffer)
	}
	for i, layer := range l.layers {
		c := newConvolution(layer, from)
		if layer.shortcut {
			return b.convolve(c, x, shortcut, buffer), buffer, c.to
		}
		x, from = b.convolve(c, x, nil, free[i]), c.to
	}
	panic("a block without a shortcut")
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

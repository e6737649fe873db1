// Package resnet computes features of images with a ResNet (He et al., "Deep Residual Learning for Image
// Recognition", CVPR 2016): ResNet-18, -34, -50, -101 and -152, as a Gorgonia graph.
//
// New takes the weights from the tensors of a file with the names of torchvision, recognises the network, and
// folds batch normalisation into the convolutions. A graph then maps batches of preprocessed images to the
// average-pooled units before the classifier.
//
// Arrays are in the order samples, rows, columns, channels: a convolution is then the product of image
// patches (im2col) and weights, with shortcut, bias and ReLU added while the result is in the cache.
package resnet

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/model/network"
)

type architecture struct {
	name       string
	bottleneck bool   // blocks of 1x1, 3x3 and 1x1 convolutions, not of two 3x3
	blocks     [4]int // in each stage
}

var architectures = []architecture{
	{"resnet18", false, [4]int{2, 2, 2, 2}},
	{"resnet34", false, [4]int{3, 4, 6, 3}},
	{"resnet50", true, [4]int{3, 4, 6, 3}},
	{"resnet101", true, [4]int{3, 4, 23, 3}},
	{"resnet152", true, [4]int{3, 8, 36, 3}},
}

type layer struct {
	conv, norm         string // names of the tensors, without ".weight" etc.
	in, out            int    // channels
	size, stride, pad  int    // of the kernel, in pixels
	shortcut, withReLU bool   // what is added to the result before the ReLU
}

type block struct {
	layers   []layer
	shortcut *layer // projection of the input; nil: the input itself
}

var stem = layer{conv: "conv1", norm: "bn1", in: 3, out: 64, size: 7, stride: 2, pad: 3, withReLU: true}

// residual returns the blocks in order. strideFirst moves the stride of bottlenecks from
// the 3x3 convolution (torchvision) to the first 1x1 (the original networks).
func (a architecture) residual(strideFirst bool) []block {
	sizes, strided, expansion := []int{3, 3}, 0, 1
	if a.bottleneck {
		sizes, strided, expansion = []int{1, 3, 1}, 1, 4
	}
	if strideFirst {
		strided = 0
	}
	var all []block
	in := stem.out
	for stage, n := range a.blocks {
		width := stem.out << stage
		for i := range n {
			name, stride := fmt.Sprintf("layer%d.%d.", stage+1, i), 1
			if stage > 0 && i == 0 {
				stride = 2
			}
			var b block
			from := in
			for j, size := range sizes {
				l := layer{conv: fmt.Sprintf("%sconv%d", name, j+1), norm: fmt.Sprintf("%sbn%d", name, j+1)}
				l.in, l.out, l.size, l.stride, l.pad, l.withReLU = from, width, size, 1, size/2, true
				if j == strided {
					l.stride = stride
				}
				if j == len(sizes)-1 {
					l.out, l.shortcut = expansion*width, true
				}
				b.layers, from = append(b.layers, l), l.out
			}
			if stride != 1 || in != from {
				b.shortcut = &layer{in: in, out: from, size: 1, stride: stride}
				b.shortcut.conv, b.shortcut.norm = name+"downsample.0", name+"downsample.1"
			}
			all, in = append(all, b), from
		}
	}
	return all
}

func (a architecture) layers(strideFirst bool) []layer {
	all := []layer{stem}
	for _, b := range a.residual(strideFirst) {
		all = append(all, b.layers...)
		if b.shortcut != nil {
			all = append(all, *b.shortcut)
		}
	}
	return all
}

// recognise returns the architecture that has the kind and the number of blocks of a file's
// third stage, or the first one.
func recognise(has func(tensor string) bool) architecture {
	third := func(block int) bool { return has(fmt.Sprintf("layer3.%d.conv1.weight", block)) }
	i := slices.IndexFunc(architectures, func(a architecture) bool {
		n := a.blocks[2]
		return third(n-1) && !third(n) && a.bottleneck == has("layer1.0.conv3.weight")
	})
	return architectures[max(i, 0)]
}

const (
	epsilon   = 1e-5            // added to the variances of batch normalisation, as in torchvision and timm
	strideKey = "stride_in_1x1" // of the metadata that says where bottlenecks have their stride
)

// Network is a ResNet with its weights.
type Network struct {
	// StrideIn1x1 is set if bottlenecks have their stride in the first 1x1 convolution, as in
	// the original networks, and not in the 3x3, as in torchvision's.
	StrideIn1x1 bool

	architecture
	dims    int
	weights map[string]folded // by the name of the convolution
}

func (n *Network) Name() string { return n.name }

func (n *Network) Dims() int { return n.dims }

// Preprocessing implements network.Network: that of torchvision.
func (n *Network) Preprocessing(fit dataset.Fit, size int) dataset.ImagePreprocessing {
	return images.Preprocessing(fit, cmp.Or(size, images.DefaultSize))
}

type folded struct {
	kernel []float32 // size x size x in x out
	bias   []float32 // out
}

var unneeded = regexp.MustCompile(`^(fc|head|classifier)(\.|$)|\.num_batches_tracked$`)

// New returns the network of the tensors of a file, but the classifier. strideIn1x1 overrides the metadata,
// unless it is nil. Tensors of another network are an *invalid.Error that names the first that does not fit.
func New(f *safetensors.File, strideIn1x1 *bool) (*Network, error) {
	r := network.NewReader(f)
	a := recognise(func(name string) bool { return r.Shape(name) != nil })
	n := &Network{architecture: a, weights: make(map[string]folded)}
	if err := n.setStride(f.Metadata, strideIn1x1); err != nil {
		return nil, err
	}
	r.Architecture = a.name
	for _, l := range a.layers(n.StrideIn1x1) {
		n.weights[l.conv], n.dims = fold(r, l), l.out
	}
	r.Rest(unneeded.MatchString)
	return n, r.Err
}

// setStride sets StrideIn1x1.
func (n *Network) setStride(metadata map[string]string, given *bool) error {
	if text, ok := metadata[strideKey]; ok {
		var err error
		if n.StrideIn1x1, err = strconv.ParseBool(text); err != nil {
			return invalid.Expected("metadata "+strideKey, invalid.Quote(text), "true or false")
		}
	}
	if given != nil {
		n.StrideIn1x1 = *given
	}
	if n.StrideIn1x1 && !n.bottleneck {
		return invalid.Expected("stride in the 1x1 convolution", n.name, "a network with such convolutions")
	}
	return nil
}

// fold takes a convolution, and multiplies the batch normalisation after it into it:
// (w x - mean) scale / sqrt(var + eps) + shift.
func fold(r *network.Reader, l layer) folded {
	kernel := r.Take(l.conv+".weight", l.out, l.in, l.size, l.size)
	scale, shift := r.Take(l.norm+".weight", l.out), r.Take(l.norm+".bias", l.out)
	mean, variance := r.Take(l.norm+".running_mean", l.out), r.Take(l.norm+".running_var", l.out)
	if r.Err != nil || kernel == nil {
		return folded{}
	}
	f := folded{bias: make([]float32, l.out)}
	for o, filter := range slices.Collect(slices.Chunk(kernel, l.in*l.size*l.size)) {
		factor := float64(scale[o]) / math.Sqrt(float64(variance[o])+epsilon)
		f.bias[o] = float32(float64(shift[o]) - float64(mean[o])*factor)
		for i, v := range filter {
			filter[i] = float32(float64(v) * factor)
		}
	}
	f.kernel = channelsLast(kernel, l)
	return f
}

// channelsLast reorders a kernel from out x in x size x size to size x size x in x out, which the
// product reads row by row.
func channelsLast(kernel []float32, l layer) []float32 {
	pixels, reordered := l.size*l.size, make([]float32, len(kernel))
	parallel.For(pixels*l.in, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			p, c := i/l.in, i%l.in
			for o := range l.out {
				reordered[i*l.out+o] = kernel[(o*l.in+c)*pixels+p]
			}
		}
	})
	return reordered
}

// MinSize is the smallest side of images, for which the last stage has one pixel.
const MinSize = 32

// Graph compiles the network for batches of images of size x size pixels.
func (n *Network) Graph(samples, size int) (*network.Graph, error) {
	if size < MinSize {
		return nil, invalid.Expected("size", size, "at least %d pixels", MinSize)
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

type array struct{ n, h, w, channels int }

func (s array) size() int { return s.n * s.h * s.w * s.channels }

// strided returns the size after a window slid over the pixels.
func (s array) strided(size, stride, pad, channels int) array {
	steps := func(length int) int { return (length+2*pad-size)/stride + 1 }
	return array{s.n, steps(s.h), steps(s.w), channels}
}

type convolution struct {
	layer
	from, to array
	tiles    int // parts of the pixels, whose patches are in memory at a time
}

// tilePixels is about how many pixels of the result a tile has: enough for a fast product,
// and few enough that their patches stay in the cache.
const tilePixels = 256

func newConvolution(l layer, from array) *convolution {
	c := &convolution{layer: l, from: from, to: from.strided(l.size, l.stride, l.pad, l.out), tiles: 1}
	// It depends on the sizes alone, so that results do not depend on the number of workers.
	for c.to.size()/c.to.channels/(2*c.tiles) >= tilePixels {
		c.tiles *= 2
	}
	return c
}

func (c *convolution) depth() int { return c.size * c.size * c.in }

// forward computes ReLU(patches kernel + bias + out), where out, which holds the
// shortcut, counts only if the layer has one.
func (c *convolution) forward(out []float32, in [][]float32) {
	x, kernel, bias, depth := in[0], in[1], in[2], c.depth()
	pixels := c.to.n * c.to.h * c.to.w
	var beta float32
	if c.shortcut {
		beta = 1
	}
	parallel.For(c.tiles, 1, func(lo, hi int) {
		var patches, scratch []float32 // of a tile
		for t := lo; t < hi; t++ {
			first, end := t*pixels/c.tiles, (t+1)*pixels/c.tiles
			if c.size == 1 && c.stride == 1 {
				patches = x[first*depth:]
			} else {
				scratch = slices.Grow(scratch[:0], (end-first)*depth)[:(end-first)*depth]
				patches = scratch
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

// finish adds the bias of each channel and, if asked, sets what is negative to zero.
func finish(y, bias []float32, withReLU bool) {
	var negative uint32 // bits that are cleared, without a branch, which would be mispredicted
	if withReLU {
		negative = math.MaxUint32
	}
	for ; len(y) > 0; y = y[len(bias):] {
		row := y[:len(bias)]
		for i, b := range bias {
			bits := math.Float32bits(row[i] + b)
			row[i] = math.Float32frombits(bits &^ (uint32(int32(bits)>>31) & negative))
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

// Package resnet computes features of images with a ResNet (He et al., "Deep Residual Learning for Image
// Recognition", CVPR 2016): ResNet-18, -34, -50, -101 and -152, as a Gorgonia graph.
//
// New takes the weights from the tensors of a file with the names of torchvision, recognises the network, and
// folds batch normalisation into the convolutions. A graph then maps batches of preprocessed images to the
// average-pooled units before the classifier. Networks are not trained here, so the ops have no gradients.
//
// Arrays are in the order samples, rows, columns, channels: a convolution is then the product of image
// patches (im2col), whose channels are adjacent, and weights, with shortcut, bias and ReLU added while the
// result is in the cache. Package dataset/images decodes and preprocesses images.
package resnet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/parallel"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/model/network"
)

// architecture is one of the networks.
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

// layer is a convolution and the batch normalisation after it.
type layer struct {
	conv, norm         string // names of the tensors, without ".weight" etc.
	in, out            int    // channels
	size, stride, pad  int    // of the kernel, in pixels
	shortcut, withReLU bool   // what is added to the result before the ReLU
}

// block is a residual block.
type block struct {
	layers   []layer
	shortcut *layer // projection of the input; nil: the input itself
}

// stem is the first convolution, before the max pooling.
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
				b.shortcut = &layer{
					conv: name + "downsample.0", norm: name + "downsample.1", in: in, out: from, size: 1,
					stride: stride,
				}
			}
			all, in = append(all, b), from
		}
	}
	return all
}

// layers returns all convolutions in the order of the network.
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
	blocks := 0
	for has(fmt.Sprintf("layer3.%d.conv1.weight", blocks)) {
		blocks++
	}
	i := slices.IndexFunc(architectures, func(a architecture) bool {
		return a.blocks[2] == blocks && a.bottleneck == has("layer1.0.conv3.weight")
	})
	return architectures[max(i, 0)]
}

// epsilon is added to the variances of batch normalisation, as in torchvision and timm.
const epsilon = 1e-5

// strideKey is the metadata that says where bottlenecks have their stride.
const strideKey = "stride_in_1x1"

// Network is a ResNet with its weights.
type Network struct {
	// StrideIn1x1 is set if bottlenecks have their stride in the first 1x1 convolution, as in
	// the original networks, and not in the 3x3, as in torchvision's.
	StrideIn1x1 bool

	architecture
	dims    int
	weights map[string]folded // by the name of the convolution
}

// Name implements network.Network.
func (n *Network) Name() string { return n.name }

// Dims implements network.Network.
func (n *Network) Dims() int { return n.dims }

// Preprocessing implements network.Network: that of torchvision.
func (n *Network) Preprocessing(fit dataset.Fit, size int) dataset.ImagePreprocessing {
	return images.Preprocessing(fit, cmp.Or(size, images.DefaultSize))
}

// folded is a convolution with the batch normalisation after it.
type folded struct {
	kernel []float32 // size x size x in x out
	bias   []float32 // out
}

// New returns the network of the tensors of a file, but the classifier. strideIn1x1 overrides the metadata,
// unless it is nil. Tensors of another network are an *invalid.Error that names the first that does not fit.
func New(f *safetensors.File, strideIn1x1 *bool) (*Network, error) {
	r := network.NewReader(f)
	a := recognise(func(name string) bool { return r.Shape(name) != nil })
	n := &Network{architecture: a, weights: make(map[string]folded)}
	if err := n.setStride(f.Metadata, strideIn1x1); err != nil {
		return nil, err
	}
	r.Of = a.name
	for _, l := range a.layers(n.StrideIn1x1) {
		n.weights[l.conv], n.dims = fold(r, l), l.out
	}
	r.Rest(func(name string) bool {
		part, _, _ := strings.Cut(name, ".")
		return slices.Contains([]string{"fc", "head", "classifier"}, part) ||
			strings.HasSuffix(name, ".num_batches_tracked")
	})
	return n, r.Err
}

// setStride sets StrideIn1x1.
func (n *Network) setStride(metadata map[string]string, given *bool) error {
	if text, ok := metadata[strideKey]; ok {
		value, err := strconv.ParseBool(text)
		if err != nil {
			return &invalid.Error{
				Field: "metadata " + strideKey, Want: "true or false", Got: invalid.Quote(text),
			}
		}
		n.StrideIn1x1 = value
	}
	if given != nil {
		n.StrideIn1x1 = *given
	}
	if n.StrideIn1x1 && !n.bottleneck {
		return &invalid.Error{
			Field: "stride in the 1x1 convolution", Want: "a network with such convolutions", Got: n.name,
		}
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
		if variance[o] < 0 {
			r.Err = &invalid.Error{
				Field: fmt.Sprintf("tensor %q", l.norm+".running_var"), Want: "variances of 0 or more",
				Got: fmt.Sprint(variance[o]),
			}
			return f
		}
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

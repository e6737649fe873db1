package resnet

import (
	"fmt"
	"slices"
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

// dims is the number of features, D.
func (a architecture) dims() int {
	if a.bottleneck {
		return 2048
	}
	return 512
}

// residual returns the blocks in order. strideFirst moves the stride of bottlenecks from
// the 3x3 convolution (torchvision) to the first 1x1 (the original networks).
func (a architecture) residual(strideFirst bool) []block {
	var all []block
	in := stem.out
	for stage, n := range a.blocks {
		width := stem.out << stage
		out := width
		if a.bottleneck {
			out *= 4
		}
		for i := range n {
			name, stride := fmt.Sprintf("layer%d.%d.", stage+1, i), 1
			if stage > 0 && i == 0 {
				stride = 2
			}
			sizes, widths, strided := []int{3, 3}, []int{width, out}, 0
			if a.bottleneck {
				sizes, widths, strided = []int{1, 3, 1}, []int{width, width, out}, 1
				if strideFirst {
					strided = 0
				}
			}
			var b block
			from := in
			for j, size := range sizes {
				l := layer{
					conv: fmt.Sprintf("%sconv%d", name, j+1), norm: fmt.Sprintf("%sbn%d", name, j+1),
					in: from, out: widths[j], size: size, stride: 1, pad: size / 2, withReLU: true, shortcut: j == len(sizes)-1,
				}
				if j == strided {
					l.stride = stride
				}
				b.layers = append(b.layers, l)
				from = widths[j]
			}
			if stride != 1 || in != out {
				b.shortcut = &layer{conv: name + "downsample.0", norm: name + "downsample.1", in: in, out: out, size: 1, stride: stride}
			}
			all, in = append(all, b), out
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

// nearest returns the architecture whose convolutions have most names in common with a
// file's.
func nearest(has func(tensor string) bool) architecture {
	unlike := func(a architecture) int {
		n := 0
		for _, l := range a.layers(false) {
			if has(l.conv + ".weight") {
				n++
			} else {
				n--
			}
		}
		return -n
	}
	return slices.MinFunc(architectures, func(a, b architecture) int { return unlike(a) - unlike(b) })
}

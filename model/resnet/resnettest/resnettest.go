// Package resnettest makes weights of networks by a formula, so that tests need no file of
// weights. Those of PyTorch's reference features are made in the same way.
package resnettest

import (
	"fmt"
	"io"
	"math"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/safetensors"
)

// Formula makes n numbers in [-1, 1) from a name: FNV-1a of the name seeds SplitMix64.
func Formula(name string, n int) []float64 {
	h := uint64(0xcbf29ce484222325)
	for _, c := range []byte(name) {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	x := make([]float64, n)
	for i := range x {
		z := h + uint64(i+1)*0x9E3779B97F4A7C15
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		z ^= z >> 31
		x[i] = float64(z>>40)/(1<<23) - 1
	}
	return x
}

// Layer makes the tensors of a convolution, out x in x size x size, and of the batch
// normalisation after it, which is weaker at the end of a block.
func Layer(conv, norm string, out, in, size int, endsBlock bool) []safetensors.Tensor {
	scale := 1.0
	if endsBlock {
		scale = 4
	}
	tensor := func(name string, value func(u float64) float64, shape ...int) safetensors.Tensor {
		n := 1
		for _, s := range shape {
			n *= s
		}
		t := safetensors.Tensor{Name: name, Shape: shape, F32: make([]float32, n)}
		for i, u := range Formula(name, n) {
			t.F32[i] = float32(value(u))
		}
		return t
	}
	bound := math.Sqrt(6 / float64(in*size*size))
	return []safetensors.Tensor{
		tensor(conv+".weight", func(u float64) float64 { return u * bound }, out, in, size, size),
		tensor(norm+".weight", func(u float64) float64 { return (1 + u/4) / scale }, out),
		tensor(norm+".bias", func(u float64) float64 { return u / 10 }, out),
		tensor(norm+".running_mean", func(u float64) float64 { return u / 10 }, out),
		tensor(norm+".running_var", func(u float64) float64 { return 1 + u/2 }, out),
	}
}

// WriteResNet18 writes the weights of a ResNet-18.
func WriteResNet18(path string) error {
	tensors := Layer("conv1", "bn1", 64, 3, 7, false)
	in := 64
	for stage := range 4 {
		out := 64 << stage
		for block := range 2 {
			name := fmt.Sprintf("layer%d.%d.", stage+1, block)
			tensors = append(tensors, Layer(name+"conv1", name+"bn1", out, in, 3, false)...)
			tensors = append(tensors, Layer(name+"conv2", name+"bn2", out, out, 3, true)...)
			if in != out {
				tensors = append(tensors, Layer(name+"downsample.0", name+"downsample.1", out, in, 1, false)...)
			}
			in = out
		}
	}
	return fileio.Write(path, func(w io.Writer) error { return safetensors.Write(w, tensors, nil) })
}

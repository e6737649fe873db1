package networktest

import (
	"fmt"
	"math"

	"github.com/lago-train/lago-train/internal/safetensors"
)

// Layer makes the tensors of a convolution, out x in x size x size, and of the batch
// normalisation after it, which is weaker at the end of a block.
func Layer(conv, norm string, out, in, size int, endsBlock bool) []safetensors.Tensor {
	scale := 1.0
	if endsBlock {
		scale = 4
	}
	bound := math.Sqrt(6 / float64(in*size*size))
	tenth := func(u float64) float64 { return u / 10 }
	return []safetensors.Tensor{
		tensor(conv+".weight", func(u float64) float64 { return u * bound }, out, in, size, size),
		tensor(norm+".weight", func(u float64) float64 { return (1 + u/4) / scale }, out),
		tensor(norm+".bias", tenth, out),
		tensor(norm+".running_mean", tenth, out),
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
				tensors = append(tensors,
					Layer(name+"downsample.0", name+"downsample.1", out, in, 1, false)...)
			}
			in = out
		}
	}
	return write(path, tensors)
}

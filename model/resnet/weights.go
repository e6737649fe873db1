package resnet

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/internal/finite"
	"github.com/lago-train/lago-train/internal/input"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/safetensors"
)

// epsilon is added to the variances of batch normalisation, as in torchvision and timm.
const epsilon = 1e-5

// strideKey is the metadata that says where bottlenecks have their stride.
const strideKey = "stride_in_1x1"

// Network is a ResNet with its weights.
type Network struct {
	Architecture string // as in "resnet50"
	Dims         int    // number of features, D
	SHA256       string // of the file of weights, in hex
	// StrideIn1x1 is set if bottlenecks have their stride in the first 1x1 convolution, as in
	// the original networks, and not in the 3x3, as in torchvision's.
	StrideIn1x1 bool

	architecture
	weights map[string]folded // by the name of the convolution
}

// folded is a convolution with the batch normalisation after it.
type folded struct {
	kernel []float32 // out x size x size x in
	bias   []float32 // out
}

// Read reads the weights of a network from a safetensors file, in float32, float16 or
// bfloat16. The classifier (fc) is ignored. strideIn1x1 overrides the metadata of the
// file, unless it is nil. A file of another network is an *invalid.Error that names the
// first tensor that does not fit.
func Read(ctx context.Context, path string, strideIn1x1 *bool) (*Network, error) {
	file, _, err := input.OpenRegular(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // nothing was written
	sum := sha256.New()
	f, err := safetensors.Read(bufio.NewReaderSize(io.TeeReader(file, sum), 1<<20), path)
	if err != nil {
		return nil, err
	}
	n, err := newNetwork(f, strideIn1x1)
	if err != nil {
		return nil, invalid.At(path, err)
	}
	n.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return n, nil
}

func newNetwork(f *safetensors.File, strideIn1x1 *bool) (*Network, error) {
	tensors := make(map[string]safetensors.Tensor, len(f.Tensors))
	for _, t := range f.Tensors {
		tensors[t.Name] = t
	}
	a := nearest(func(name string) bool { _, ok := tensors[name]; return ok })
	n := &Network{Architecture: a.name, Dims: a.dims(), architecture: a, weights: make(map[string]folded)}
	if err := n.setStride(f.Metadata, strideIn1x1); err != nil {
		return nil, err
	}
	r := reader{tensors: tensors, architecture: a.name}
	for _, l := range a.layers(n.StrideIn1x1) {
		n.weights[l.conv] = r.fold(l)
	}
	if r.err != nil {
		return nil, r.err
	}
	for _, t := range f.Tensors {
		if _, unused := tensors[t.Name]; unused && !strings.HasPrefix(t.Name, "fc.") && !strings.HasSuffix(t.Name, ".num_batches_tracked") {
			return nil, &invalid.Error{Field: fmt.Sprintf("tensor %q", t.Name), Want: "only tensors of " + a.name, Hint: supported}
		}
	}
	return n, nil
}

const supported = "The networks are ResNet-18, -34, -50, -101 and -152 in torchvision's or timm's form."

// setStride sets StrideIn1x1.
func (n *Network) setStride(metadata map[string]string, given *bool) error {
	if text, ok := metadata[strideKey]; ok {
		value, err := strconv.ParseBool(text)
		if err != nil {
			return &invalid.Error{Field: "metadata " + strideKey, Want: "true or false", Got: invalid.Quote(text)}
		}
		n.StrideIn1x1 = value
	}
	if given != nil {
		n.StrideIn1x1 = *given
	}
	if n.StrideIn1x1 && !n.bottleneck {
		return &invalid.Error{Field: "stride in the 1x1 convolution", Want: "a network with such convolutions", Got: n.Architecture}
	}
	return nil
}

// reader takes tensors of known shapes, and keeps the first error.
type reader struct {
	tensors      map[string]safetensors.Tensor
	architecture string
	err          error
}

// take removes a tensor and returns its numbers, or zeros after an error.
func (r *reader) take(name string, shape ...int) []float32 {
	size := 1
	for _, n := range shape {
		size *= n
	}
	t, ok := r.tensors[name]
	delete(r.tensors, name)
	e := &invalid.Error{
		Field: fmt.Sprintf("tensor %q", name), Want: fmt.Sprintf("float32, float16 or bfloat16 of shape %v, as in %s", shape, r.architecture), Hint: supported,
	}
	switch {
	case !ok:
		e.Got = "none"
	case !slices.Equal(t.Shape, shape):
		e.Got = fmt.Sprintf("shape %v", t.Shape)
	case len(t.F32) != size:
		e.Got = "other numbers"
	case !finite.All(t.F32):
		e.Want, e.Got, e.Hint = "finite numbers", "NaN or infinity", "The file is damaged."
	default:
		return t.F32
	}
	if r.err == nil {
		r.err = e
	}
	return make([]float32, size)
}

// fold takes a convolution, and multiplies the batch normalisation after it into it:
// (w x - mean) scale / sqrt(var + eps) + shift.
func (r *reader) fold(l layer) folded {
	kernel := r.take(l.conv+".weight", l.out, l.in, l.size, l.size)
	scale, shift := r.take(l.norm+".weight", l.out), r.take(l.norm+".bias", l.out)
	mean, variance := r.take(l.norm+".running_mean", l.out), r.take(l.norm+".running_var", l.out)
	if r.err != nil {
		return folded{}
	}
	f := folded{kernel: kernel, bias: make([]float32, l.out)}
	channelsLast(kernel, l)
	depth := l.in * l.size * l.size
	for o := range l.out {
		if variance[o] < 0 {
			r.err = &invalid.Error{Field: fmt.Sprintf("tensor %q", l.norm+".running_var"), Want: "variances of 0 or more", Got: fmt.Sprint(variance[o])}
			return f
		}
		factor := float64(scale[o]) / math.Sqrt(float64(variance[o])+epsilon)
		f.bias[o] = float32(float64(shift[o]) - float64(mean[o])*factor)
		for i, v := range kernel[o*depth : (o+1)*depth] {
			kernel[o*depth+i] = float32(float64(v) * factor)
		}
	}
	return f
}

// channelsLast reorders a kernel from out x in x size x size to out x size x size x in.
func channelsLast(kernel []float32, l layer) {
	pixels := l.size * l.size
	filter := make([]float32, l.in*pixels)
	for row := kernel; len(row) > 0; row = row[len(filter):] {
		copy(filter, row)
		for c := range l.in {
			for p := range pixels {
				row[p*l.in+c] = filter[c*pixels+p]
			}
		}
	}
}

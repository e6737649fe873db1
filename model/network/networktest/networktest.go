// Package networktest has the reference of networks: weights by a formula, so that tests need no
// file of weights, and PyTorch's features of crops of images with the same weights.
package networktest

import (
	"fmt"
	"image"
	_ "image/png" // crops
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model/network"
)

// Formula makes n numbers in [-1, 1) from a name: FNV-1a of the name seeds SplitMix64.
func Formula(name string, n int) []float32 {
	h := uint64(0xcbf29ce484222325)
	for _, c := range []byte(name) {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	x := make([]float32, n)
	for i := range x {
		z := h + uint64(i+1)*0x9E3779B97F4A7C15
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		z ^= z >> 31
		x[i] = float32(float64(z>>40)/(1<<23) - 1)
	}
	return x
}

// tensor makes a tensor whose numbers are a function of the formula's.
func tensor(name string, value func(u float64) float64, shape ...int) safetensors.Tensor {
	n := 1
	for _, size := range shape {
		n *= size
	}
	t := safetensors.Tensor{Name: name, Shape: shape, F32: Formula(name, n)}
	for i, u := range t.F32 { // exact: a number of the formula has 24 bits
		t.F32[i] = float32(value(float64(u)))
	}
	return t
}

func write(path string, tensors []safetensors.Tensor) error {
	return fileio.Write(path, func(w io.Writer) error { return safetensors.Write(w, tensors, nil) })
}

// CheckFeatures compares the features of n crops of a folder with PyTorch's in an .npy file, to a
// part of the largest feature of each image.
func CheckFeatures(t *testing.T, w network.Network, n int, crops, reference string, tolerance float64) {
	t.Helper()
	const size = 224
	want := testkit.Must(features.ReadAll(t.Context(), reference))(t)
	if w.Dims() != want.Cols {
		t.Fatalf("%d features, expected %d", w.Dims(), want.Cols)
	}
	paths := testkit.Must(filepath.Glob(filepath.Join(crops, "*.png")))(t)
	n = min(n, len(paths))
	g, p := testkit.Must(w.Graph(n, size))(t), w.Preprocessing(dataset.Crop, size)
	for i, path := range paths[:n] {
		f := testkit.Must(os.Open(path))(t)
		m, _, err := image.Decode(f)
		testkit.NoError(t, err)
		testkit.NoError(t, f.Close())
		for pixel := range size * size {
			r, green, b, _ := m.At(pixel%size, pixel/size).RGBA()
			for c, v := range []uint32{r, green, b} {
				g.Images.Row(i)[3*pixel+c] = (float32(v>>8)/255 - float32(p.Mean[c])) / float32(p.Std[c])
			}
		}
	}
	got := testkit.Must(g.Features())(t)
	for i, path := range paths[:n] {
		largest := math.Max(float64(slices.Max(want.Row(i))), -float64(slices.Min(want.Row(i))))
		for j, v := range want.Row(i) {
			if d := math.Abs(float64(got.Row(i)[j]) - float64(v)); !(d <= tolerance*largest) {
				t.Fatalf("%s: feature %d differs by %g, of at most %g", path, j, d, largest)
			}
		}
	}
}

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

// Transformer is the size of a vision transformer: the projection is 0 for DINOv2.
type Transformer struct{ Width, Depth, Patch, Grid, Projection int }

// Transformers are those of the reference.
var Transformers = map[string]Transformer{
	"dinov2-tiny": {128, 2, 14, 37, 0}, "dinov2-small": {384, 12, 14, 37, 0},
	"clip-tiny": {128, 2, 32, 7, 64}, "clip-vit-base-patch32": {768, 12, 32, 7, 512},
}

// Tensors makes the weights of a vision transformer.
func (s Transformer) Tensors() (list []safetensors.Tensor) {
	d := s.Width
	add := func(name string, shape ...int) {
		list = append(list, tensor(name, func(u float64) float64 {
			switch {
			case strings.Contains(name, "token") || strings.Contains(name, "position") ||
				strings.Contains(name, "class_embedding"):
				return u / 2
			case strings.Contains(name, "lambda1"):
				return (1 + u/4) / 4
			case strings.Contains(name, "norm") && strings.HasSuffix(name, "weight"):
				return 1 + u/4
			case strings.Contains(name, "norm") || strings.HasSuffix(name, "bias"):
				return u / 10
			}
			fanIn := 1
			for _, size := range shape[1:] {
				fanIn *= size
			}
			return u * math.Sqrt(3/float64(fanIn))
		}, shape...))
	}
	norm := func(name string) { add(name+".weight", d); add(name+".bias", d) }
	linear := func(name string, out, in int) { add(name+".weight", out, in); add(name+".bias", out) }
	if s.Projection == 0 {
		add("embeddings.cls_token", 1, 1, d)
		add("embeddings.mask_token", 1, d)
		add("embeddings.position_embeddings", 1, 1+s.Grid*s.Grid, d)
		add("embeddings.patch_embeddings.projection.weight", d, 3, s.Patch, s.Patch)
		add("embeddings.patch_embeddings.projection.bias", d)
	} else {
		add("vision_model.embeddings.class_embedding", d)
		add("vision_model.embeddings.patch_embedding.weight", d, 3, s.Patch, s.Patch)
		add("vision_model.embeddings.position_embedding.weight", 1+s.Grid*s.Grid, d)
		norm("vision_model.pre_layrnorm")
	}
	for i := range s.Depth {
		layer, parts, norms, out := fmt.Sprintf("encoder.layer.%d.", i), "attention.attention.query "+
			"attention.attention.key attention.attention.value", "norm", "attention.output.dense"
		if s.Projection > 0 {
			layer, parts, norms, out = fmt.Sprintf("vision_model.encoder.layers.%d.",
				i), "self_attn.q_proj self_attn.k_proj self_attn.v_proj", "layer_norm", "self_attn.out_proj"
		} else {
			add(layer+"layer_scale1.lambda1", d)
			add(layer+"layer_scale2.lambda1", d)
		}
		norm(layer + norms + "1")
		norm(layer + norms + "2")
		for _, part := range append(strings.Fields(parts), out) {
			linear(layer+part, d, d)
		}
		linear(layer+"mlp.fc1", 4*d, d)
		linear(layer+"mlp.fc2", d, 4*d)
	}
	if s.Projection == 0 {
		norm("layernorm")
		return list
	}
	norm("vision_model.post_layernorm")
	add("visual_projection.weight", s.Projection, d)
	return list
}

// WriteTransformer writes the weights of one of the Transformers.
func WriteTransformer(path, name string) error { return write(path, Transformers[name].Tensors()) }

package vit

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/internal/testkit"
	_ "github.com/lago-train/lago-train/internal/testkit/fastblas" // for products
	"github.com/lago-train/lago-train/model/network/networktest"
)

func formula(tb testing.TB, name string) *Network {
	tb.Helper()
	return testkit.Must(New(&safetensors.File{Tensors: networktest.Transformers[name].Tensors()}, ""))(tb)
}

// The features of an image do not depend on the others of its batch, and are those of pure Go.
func TestBatches(t *testing.T) {
	n := formula(t, "clip-tiny")
	alone, both := testkit.Must(n.Graph(1, 96))(t), testkit.Must(n.Graph(2, 96))(t)
	for i := range both.Images.Data {
		both.Images.Data[i] = float32(math.Sin(float64(i * i)))
	}
	copy(alone.Images.Data, both.Images.Row(1))
	x, y := testkit.Must(alone.Features())(t), testkit.Must(both.Features())(t)
	for j, v := range x.Row(0) {
		testkit.Near(t, "feature", float64(v), float64(y.Row(1)[j]), 1e-5)
	}
	again := slices.Clone(y.Data)
	testkit.Equal(t, "a second run", testkit.Must(both.Features())(t).Data, again)
	testkit.Fails(n.Graph(1, 100))(t, "size: expected a multiple of the 32 pixels", "found 100")
	n.patch = 1
	testkit.Fails(n.Graph(1, 224))(t, "size: expected at most 90 pixels, since patches of clip-vit-128x2-patch32 have 1, found 224")
}

func TestFunctions(t *testing.T) {
	for i := range 20000 {
		x := float64(i)/500 - 20
		at := []float32{float32(x), float32(x)}
		x = float64(at[0])
		gelu.apply(at[:1])
		quickGELU.apply(at[1:])
		testkit.Near(t, "GELU", float64(at[0]), x*math.Erfc(-x/math.Sqrt2)/2, 4e-7*max(1, math.Abs(x)))
		testkit.Near(t, "quick GELU", float64(at[1]), x/(1+math.Exp(-1.702*x)), 4e-7*max(1, math.Abs(x)))
	}
	nan := []float32{float32(math.NaN())}
	if gelu.apply(nan); nan[0] == nan[0] {
		t.Error("NaN disappears")
	}
}

// The usual size is 224, and that of the positions of a CLIP.
func TestUsualSize(t *testing.T) {
	for want, of := range map[int]networktest.Transformer{224: {Width: 64, Depth: 1, Patch: 14, Grid: 37}, 42: {Width: 64, Depth: 1, Patch: 14, Grid: 3, Projection: 8}} {
		n := testkit.Must(New(&safetensors.File{Tensors: of.Tensors()}, ""))(t)
		testkit.Equal(t, n.Name(), n.Preprocessing(dataset.Squash, 0).Size, want)
	}
}

// A file that does not fit is refused with the tensor.
func TestRefused(t *testing.T) {
	dino, clip := networktest.Transformer{Width: 64, Depth: 1, Patch: 2, Grid: 3}, networktest.Transformer{Width: 64, Depth: 1, Patch: 2, Grid: 3, Projection: 8}
	without := func(name string) func([]safetensors.Tensor) []safetensors.Tensor {
		return func(list []safetensors.Tensor) []safetensors.Tensor {
			return slices.DeleteFunc(list, func(t safetensors.Tensor) bool { return strings.HasSuffix(t.Name, name) })
		}
	}
	with := func(name string, shape ...int) func([]safetensors.Tensor) []safetensors.Tensor {
		return func(list []safetensors.Tensor) []safetensors.Tensor {
			n, _ := matrix.Count(shape, math.MaxInt32)
			return append(without(name)(list), safetensors.Tensor{Name: name, Shape: shape, F32: make([]float32, n)})
		}
	}
	wide := func([]safetensors.Tensor) (list []safetensors.Tensor) { // 3.8 MB, of which a layer would need terabytes
		const d = 320_000
		for name, shape := range map[string][]int{
			"embeddings.cls_token": {d}, "embeddings.position_embeddings": {2, d}, "embeddings.patch_embeddings.projection.weight": {d, 3, 1, 1},
			"embeddings.patch_embeddings.projection.bias": {d}, "encoder.layer.0.norm1.weight": {d}, "encoder.layer.0.norm1.bias": {d},
			"encoder.layer.0.norm2.weight": {d}, "encoder.layer.0.norm2.bias": {d},
		} {
			list = append(list, with(name, shape...)(nil)...)
		}
		return list
	}
	for want, c := range map[string]struct {
		size   networktest.Transformer
		change func([]safetensors.Tensor) []safetensors.Tensor
	}{
		`tensor "encoder.layer.0.mlp.fc1.weight": expected float32, float16 or bfloat16 of shape [256 64], as in dinov2-64x1, found none`:                 {dino, without("mlp.fc1.weight")}, // SwiGLU
		`tensor "embeddings.position_embeddings": expected positions of the class token and of a square grid, of width 64, found shape [1 9 64]`:          {dino, with("embeddings.position_embeddings", 1, 9, 64)},
		`tensor "embeddings.patch_embeddings.projection.weight": expected width x 3 x patch x patch, with a width of heads of 64, found shape [60 3 2 2]`: {dino, with("embeddings.patch_embeddings.projection.weight", 60, 3, 2, 2)},
		`tensor "visual_projection.weight": expected features x 64, at least one, found shape [0 64]`:                                                     {clip, with("visual_projection.weight", 0, 64)},
		`tensor "encoder.layer.0.attention.attention.query.weight": expected float32, float16 or bfloat16 of shape [320000 320000]`:                       {networktest.Transformer{}, wide},
	} {
		f := &safetensors.File{Tensors: c.change(c.size.Tensors())}
		if !Is(f) {
			t.Errorf("%s: not recognised", want)
		}
		testkit.Fails(New(f, ""))(t, want, "DINOv2")
	}
	text := with("text_model.encoder.weight", 3)(clip.Tensors())
	if _, err := New(&safetensors.File{Tensors: text}, ""); err != nil || Needs("text_model.encoder.weight") || !Needs("layernorm.weight") || Is(&safetensors.File{}) {
		t.Errorf("the text encoder is not left out: %v", err)
	}
	n, err := New(&safetensors.File{Tensors: without("visual_projection.weight")(clip.Tensors())}, GELU)
	if testkit.NoError(t, err); n.Dims() != 64 || n.Name() != "clip-vit-64x1-patch2-unprojected-gelu" {
		t.Errorf("without projection, %s has %d features", n.Name(), n.Dims())
	}
}

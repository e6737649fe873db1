// Package vittest makes weights of vision transformers by the formula of resnettest, so that tests
// need no file of weights. Those of PyTorch's reference features are made in the same way.
package vittest

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/model/resnet/resnettest"
)

// Size is the size of a network: the projection is 0 for DINOv2.
type Size struct{ Width, Depth, Patch, Grid, Projection int }

// Sizes are those of the reference.
var Sizes = map[string]Size{
	"dinov2-tiny": {128, 2, 14, 37, 0}, "dinov2-small": {384, 12, 14, 37, 0},
	"clip-tiny": {128, 2, 32, 7, 64}, "clip-vit-base-patch32": {768, 12, 32, 7, 512},
}

// Tensors makes the tensors of a network.
func Tensors(s Size) (list []safetensors.Tensor) {
	d := s.Width
	add := func(name string, shape ...int) {
		n, fanIn := 1, 1
		for i, size := range shape {
			n *= size
			if i > 0 {
				fanIn *= size
			}
		}
		t := safetensors.Tensor{Name: name, Shape: shape, F32: make([]float32, n)}
		for i, u := range resnettest.Formula(name, n) {
			switch {
			case strings.Contains(name, "token") || strings.Contains(name, "position") || strings.Contains(name, "class_embedding"):
				u /= 2
			case strings.Contains(name, "lambda1"):
				u = (1 + u/4) / 4
			case strings.Contains(name, "norm") && strings.HasSuffix(name, "weight"):
				u = 1 + u/4
			case strings.Contains(name, "norm") || strings.HasSuffix(name, "bias"):
				u /= 10
			default:
				u *= math.Sqrt(3 / float64(fanIn))
			}
			t.F32[i] = float32(u)
		}
		list = append(list, t)
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
		layer, parts, norms, out := fmt.Sprintf("encoder.layer.%d.", i), "attention.attention.query attention.attention.key attention.attention.value", "norm", "attention.output.dense"
		if s.Projection > 0 {
			layer, parts, norms, out = fmt.Sprintf("vision_model.encoder.layers.%d.", i), "self_attn.q_proj self_attn.k_proj self_attn.v_proj", "layer_norm", "self_attn.out_proj"
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

// Write writes the weights of a network of the reference.
func Write(path, name string) error {
	return fileio.Write(path, func(w io.Writer) error { return safetensors.Write(w, Tensors(Sizes[name]), nil) })
}

package networktest

import (
	"fmt"
	"math"
	"strings"

	"github.com/lago-train/lago-train/internal/safetensors"
)

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

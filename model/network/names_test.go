package network

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/internal/testkit"
)

func headerOf(names string) *safetensors.File {
	f := &safetensors.File{HeaderOnly: true}
	for name := range strings.FieldsSeq(names) {
		f.Tensors = append(f.Tensors, safetensors.Tensor{Name: name, Shape: []int{6, 2}})
	}
	return f
}

func TestRename(t *testing.T) {
	for _, c := range []struct{ file, want, needed string }{
		{"conv1.weight layer1.0.conv1.weight fc.bias", "conv1.weight layer1.0.conv1.weight fc.bias", "conv1.weight fc.bias layer1.0.conv1.weight"},
		{
			"module.encoder_q.conv1.weight module.encoder_q.layer1.0.conv1.weight module.queue", "conv1.weight layer1.0.conv1.weight",
			"module.encoder_q.conv1.weight module.encoder_q.layer1.0.conv1.weight",
		},
		{
			"resnet.embedder.embedder.convolution.weight resnet.embedder.embedder.normalization.running_var " +
				"resnet.encoder.stages.3.layers.0.layer.2.convolution.weight resnet.encoder.stages.0.layers.10.layer.0.normalization.bias " +
				"resnet.encoder.stages.1.layers.0.shortcut.convolution.weight resnet.encoder.stages.1.layers.0.shortcut.normalization.weight classifier.1.bias",
			"conv1.weight bn1.running_var layer4.0.conv3.weight layer1.10.bn1.bias layer2.0.downsample.0.weight layer2.0.downsample.1.weight", "",
		},
		{
			"cls_token pos_embed patch_embed.proj.weight blocks.11.norm1.bias blocks.0.ls2.gamma blocks.0.attn.qkv.weight norm.weight",
			"embeddings.cls_token embeddings.position_embeddings embeddings.patch_embeddings.projection.weight encoder.layer.11.norm1.bias " +
				"encoder.layer.0.layer_scale2.lambda1 encoder.layer.0.attention.attention.query.weight encoder.layer.0.attention.attention.key.weight " +
				"encoder.layer.0.attention.attention.value.weight layernorm.weight", "",
		},
		{"dinov2.embeddings.patch_embeddings.projection.weight dinov2.layernorm.bias classifier.bias", "embeddings.patch_embeddings.projection.weight layernorm.bias", ""},
		{
			"visual.conv1.weight visual.ln_pre.weight visual.transformer.resblocks.3.attn.in_proj_bias visual.proj transformer.resblocks.0.ln_1.bias",
			"vision_model.embeddings.patch_embedding.weight vision_model.pre_layrnorm.weight vision_model.encoder.layers.3.self_attn.q_proj.bias " +
				"vision_model.encoder.layers.3.self_attn.k_proj.bias vision_model.encoder.layers.3.self_attn.v_proj.bias visual_projection.weight", "",
		},
	} {
		to, needed, err := Rename(headerOf(c.file))
		testkit.NoError(t, err)
		var got []string
		for _, tensor := range to.Tensors {
			got = append(got, tensor.Name)
		}
		testkit.Equal(t, c.file, got, strings.Fields(c.want))
		if got := strings.Join(slices.Sorted(maps.Keys(needed)), " "); c.needed != "" && got != c.needed {
			t.Errorf("%s: needed %s", c.file, got)
		}
	}
	for file, want := range map[string]string{
		"":    "tensors: expected those of a ResNet, DINOv2 or CLIP, found none",
		"a b": `found 2 others, as "a". The networks are`,
		"student.conv1.weight teacher.conv1.weight": "tensors: expected one network, found several, that begin with student. and teacher. Keep one of them.",
	} {
		_, _, err := Rename(headerOf(file))
		testkit.WantError(t, err, want)
	}
}

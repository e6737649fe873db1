package network

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/safetensors"
)

// naming is a way in which the tensors of a network are named in published files.
type naming struct {
	title string
	// anchor is a tensor of each such network. What is before it in a file, as "module.", is before all
	// names of the network; tensors without it are no part of it.
	anchor string
	// rules replace parts of names by those of package resnet or vit. A tensor whose name then has parts
	// with | between them is cut into as many along its first axis; one that ends in ^T is transposed.
	rules []rule
}

type rule struct{ from, to string }

var namings = []naming{
	{
		title: "a CLIP of OpenAI or open_clip", anchor: "ln_pre.weight",
		rules: []rule{
			{`^class_embedding$`, "vision_model.embeddings.class_embedding"},
			{`^positional_embedding$`, "vision_model.embeddings.position_embedding.weight"},
			{`^conv1\.`, "vision_model.embeddings.patch_embedding."},
			{`^ln_pre\.`, "vision_model.pre_layrnorm."},
			{`^transformer\.resblocks\.(\d+)\.`, "vision_model.encoder.layers.$1."},
			{`\.ln_([12])\.`, ".layer_norm$1."},
			{`\.attn\.in_proj_`, ".self_attn.q_proj|k_proj|v_proj."},
			{`\.attn\.out_proj\.`, ".self_attn.out_proj."},
			{`\.mlp\.c_fc\.`, ".mlp.fc1."},
			{`\.mlp\.c_proj\.`, ".mlp.fc2."},
			{`^ln_post\.`, "vision_model.post_layernorm."},
			{`^proj$`, "visual_projection.weight^T"},
		},
	},
	{title: "a CLIP of Hugging Face", anchor: "vision_model.embeddings.patch_embedding.weight"},
	{title: "a vision transformer of Hugging Face, as DINOv2", anchor: "embeddings.patch_embeddings.projection.weight"},
	{
		title: "a vision transformer of timm or DINOv2's authors", anchor: "patch_embed.proj.weight",
		rules: []rule{
			{`^(cls|mask)_token$`, "embeddings.${1}_token"},
			{`^pos_embed$`, "embeddings.position_embeddings"},
			{`^patch_embed\.proj\.`, "embeddings.patch_embeddings.projection."},
			{`^blocks\.(\d+)\.`, "encoder.layer.$1."},
			{`\.ls([12])\.gamma$`, ".layer_scale$1.lambda1"},
			{`\.attn\.qkv\.`, ".attention.attention.query|key|value."},
			{`\.attn\.proj\.`, ".attention.output.dense."},
			{`^norm\.`, "layernorm."},
		},
	},
	{
		title: "a ResNet of Hugging Face", anchor: "embedder.embedder.convolution.weight",
		rules: []rule{
			{`^embedder\.embedder\.convolution\.`, "conv1."},
			{`^embedder\.embedder\.normalization\.`, "bn1."},
			{`^encoder\.stages\.(\d+)\.layers\.(\d+)\.`, "layer<$1>.$2."},
			{`\.layer\.(\d+)\.convolution\.`, ".conv<$1>."},
			{`\.layer\.(\d+)\.normalization\.`, ".bn<$1>."},
			{`\.shortcut\.convolution\.`, ".downsample.0."},
			{`\.shortcut\.normalization\.`, ".downsample.1."},
		},
	},
	{title: "a ResNet of torchvision or timm", anchor: "conv1.weight"},
}

// others are networks that are not supported, by a part of a name.
var others = []struct{ part, title string }{
	{".stages.0.blocks.0.", "a ConvNeXt or Swin transformer"},
	{"features.0.0.", "a MobileNet, EfficientNet or ConvNeXt"},
	{"features.0.weight", "a VGG or AlexNet"},
	{"conv_stem.", "an EfficientNet"},
	{"word_embeddings", "a language model"},
	{".attn.", "a transformer"},
	{"attention", "a transformer"},
}

// prefixes lists what is before the anchor of a naming in the shortest names of a file that have it.
func (m naming) prefixes(f *safetensors.File) (list []string) {
	for _, t := range f.Tensors {
		prefix, ok := strings.CutSuffix(t.Name, m.anchor)
		if !ok || prefix != "" && !strings.HasSuffix(prefix, ".") {
			continue
		}
		if len(list) > 0 && len(prefix) < len(list[0]) {
			list = nil
		}
		if len(list) == 0 || len(prefix) == len(list[0]) {
			list = append(list, prefix)
		}
	}
	return list
}

// increment writes <n> as n+1.
var increment = regexp.MustCompile(`<\d+>`)

// rename returns the name of a tensor, without prefix, in package resnet or vit.
func (m naming) rename(name string) string {
	for _, r := range m.rules {
		name = regexp.MustCompile(r.from).ReplaceAllString(name, r.to)
	}
	return increment.ReplaceAllStringFunc(name, func(text string) string {
		n, _ := strconv.Atoi(text[1 : len(text)-1]) // digits
		return strconv.Itoa(n + 1)
	})
}

// Rename returns the tensors of the network in a file of weights, under the names of package resnet or vit, and
// by the names of the file those that it needs. like is what the names look like. The error is an
// *invalid.Error if they are those of no network that is known, or of several.
func Rename(f *safetensors.File) (to *safetensors.File, needed map[string]bool, like string, err error) {
	for _, m := range namings {
		prefixes := m.prefixes(f)
		if len(prefixes) == 0 {
			continue
		}
		if len(prefixes) > 1 {
			return nil, nil, "", &invalid.Error{Field: "tensors", Want: "one network", Got: "several, that begin with " + format.List(prefixes, "and"), Hint: "Keep one of them."}
		}
		to, needed = &safetensors.File{Metadata: f.Metadata, HeaderOnly: f.HeaderOnly}, map[string]bool{}
		for _, t := range f.Tensors {
			name, ok := strings.CutPrefix(t.Name, prefixes[0])
			if !ok {
				continue
			}
			needed[t.Name] = true
			t.Name = m.rename(name)
			to.Tensors = append(to.Tensors, cut(t)...)
		}
		return to, needed, fmt.Sprintf("The names are those of %s, as %q.", m.title, f.Tensors[0].Name), nil
	}
	e := &invalid.Error{Field: "tensors", Want: "those of a ResNet, DINOv2 or CLIP", Got: "none"}
	names := make([]string, 0, len(f.Tensors))
	for _, t := range f.Tensors {
		names = append(names, t.Name)
	}
	if slices.Sort(names); len(names) > 0 {
		e.Got = fmt.Sprintf("%d, as %q and %q", len(names), names[0], names[len(names)-1])
	}
	for _, o := range others {
		if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, o.part) }) {
			e.Got += ", which look like " + o.title
			break
		}
	}
	return nil, nil, "", e
}

// cut splits or transposes a tensor as its name says: see naming.
func cut(t safetensors.Tensor) []safetensors.Tensor {
	if name, ok := strings.CutSuffix(t.Name, "^T"); ok && len(t.Shape) == 2 {
		rows, cols := t.Shape[0], t.Shape[1]
		turned := safetensors.Tensor{Name: name, Shape: []int{cols, rows}}
		if t.F32 != nil {
			turned.F32 = make([]float32, len(t.F32))
			for i, v := range t.F32 {
				turned.F32[i%cols*rows+i/cols] = v
			}
		}
		return []safetensors.Tensor{turned}
	}
	words := strings.Split(t.Name, ".")
	at := slices.IndexFunc(words, func(word string) bool { return strings.Contains(word, "|") })
	if at < 0 {
		return []safetensors.Tensor{t}
	}
	parts := strings.Split(words[at], "|")
	if len(t.Shape) == 0 || t.Shape[0]%len(parts) != 0 {
		return []safetensors.Tensor{t}
	}
	list := make([]safetensors.Tensor, len(parts))
	for i, part := range parts {
		words[at] = part
		list[i] = safetensors.Tensor{Name: strings.Join(words, "."), Shape: slices.Clone(t.Shape)}
		list[i].Shape[0] /= len(parts)
		if n := len(t.F32) / len(parts); t.F32 != nil {
			list[i].F32 = t.F32[i*n : (i+1)*n]
		}
	}
	return list
}

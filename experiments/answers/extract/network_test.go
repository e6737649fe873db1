package extract

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lago-train/lago-train/internal/fileio"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/internal/testkit"
	"github.com/lago-train/lago-train/model/network/networktest"
	"github.com/lago-train/lago-train/model/network/vit"
)

func cosine(x, y []float32) float64 {
	var xy, xx, yy float64
	for i, v := range x {
		a, b := float64(v), float64(y[i])
		xy, xx, yy = xy+a*b, xx+a*a, yy+b*b
	}
	return xy / math.Sqrt(xx*yy)
}

// A network is recognised by its tensors, and what fits none is refused.
func TestReadNetwork(t *testing.T) {
	dir := t.TempDir()
	for name, write := range map[string]func(path string) error{
		"resnet18":               networktest.WriteResNet18,
		"clip-vit-128x2-patch32": func(path string) error { return networktest.WriteTransformer(path, "clip-tiny") },
	} {
		path := filepath.Join(dir, name)
		testkit.NoError(t, write(path))
		w := testkit.Must(ReadNetwork(t.Context(), path, NetworkOptions{}))(t)
		if sum := sha256.Sum256([]byte(testkit.Read(t, path))); w.Name() != name || w.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%s with SHA-256 %s, expected %s with %x", w.Name(), w.SHA256, name, sum)
		}
	}
	yes := true
	_, err := ReadNetwork(t.Context(), filepath.Join(dir, "clip-vit-128x2-patch32"), NetworkOptions{StrideIn1x1: &yes})
	testkit.WantError(t, err, "stride in the 1x1 convolution: expected a ResNet")
	_, err = ReadNetwork(t.Context(), dir, NetworkOptions{})
	testkit.WantError(t, err, dir)
	text := filepath.Join(dir, "text")
	testkit.NoError(t, fileio.Write(text, func(w io.Writer) error {
		return safetensors.Write(w, []safetensors.Tensor{{Name: "text_model.embeddings", Shape: []int{1}, F32: []float32{0}}}, nil)
	}))
	_, err = ReadNetwork(t.Context(), text, NetworkOptions{})
	testkit.WantError(t, err, text+`: tensors: expected those of a ResNet, DINOv2 or CLIP, found 1 other, as "text_model.embeddings"`)
	_, err = ReadNetwork(t.Context(), filepath.Join(dir, "resnet18"), NetworkOptions{Activation: vit.GELU})
	testkit.WantError(t, err, "activation: expected a CLIP, found a ResNet")
}

// Networks with the names of other publishers give the same features, bit for bit; what else is in the
// file is left out. Another activation gives other features under another name.
func TestPublishedNames(t *testing.T) {
	dir, image := t.TempDir(), networktest.Formula("image", 224*224*3)
	features := func(file string, tensors []safetensors.Tensor, o NetworkOptions) (string, []float32) {
		path := filepath.Join(dir, file)
		testkit.NoError(t, fileio.Write(path, func(w io.Writer) error { return safetensors.Write(w, tensors, nil) }))
		w := testkit.Must(ReadNetwork(t.Context(), path, o))(t)
		g := testkit.Must(w.Graph(1, 224))(t)
		copy(g.Images.Data, image)
		return w.Name(), slices.Clone(testkit.Must(g.Features())(t).Data)
	}
	for name, c := range map[string]struct{ prefix, fused, names string }{
		"dinov2-tiny": {"", "attention.attention.query attn.qkv", `embeddings.cls_token cls_token embeddings.mask_token mask_token
			embeddings.position_embeddings pos_embed embeddings.patch_embeddings.projection patch_embed.proj encoder.layer. blocks.
			layer_scale1.lambda1 ls1.gamma layer_scale2.lambda1 ls2.gamma attention.output.dense attn.proj layernorm norm`},
		"clip-tiny": {"visual.", "self_attn.q_proj. attn.in_proj_", `vision_model.embeddings.class_embedding class_embedding
			vision_model.embeddings.position_embedding.weight positional_embedding vision_model.embeddings.patch_embedding conv1
			vision_model.pre_layrnorm ln_pre vision_model.encoder.layers. transformer.resblocks. layer_norm ln_ self_attn.out_proj attn.out_proj
			mlp.fc1 mlp.c_fc mlp.fc2 mlp.c_proj vision_model.post_layernorm ln_post visual_projection.weight proj`},
	} {
		tensors := networktest.Transformers[name].Tensors()
		query, fused, _ := strings.Cut(c.fused, " ")
		published := []safetensors.Tensor{{Name: "transformer.resblocks.0.ln_1.weight", Shape: []int{1}, F32: []float32{1}}} // of the text
		if c.prefix == "" {
			published = nil
		}
		for i, tensor := range tensors {
			switch rows, cols := tensor.Shape[0], len(tensor.F32)/tensor.Shape[0]; {
			case strings.Contains(tensor.Name, query): // query, key and value follow each other, each with a bias
				tensor.Shape = append([]int{3 * rows}, tensor.Shape[1:]...)
				tensor.Name = strings.Replace(tensor.Name, query, fused, 1)
				tensor.F32 = slices.Concat(tensor.F32, tensors[i+2].F32, tensors[i+4].F32)
			case strings.Contains(tensor.Name, "attention.attention.") || strings.Contains(tensor.Name, "k_proj") || strings.Contains(tensor.Name, "v_proj"):
				continue
			case tensor.Name == "visual_projection.weight":
				turned := make([]float32, len(tensor.F32))
				for i, v := range tensor.F32 {
					turned[i%cols*rows+i/cols] = v
				}
				tensor.Shape, tensor.F32 = []int{cols, rows}, turned
			}
			tensor.Name = c.prefix + strings.NewReplacer(strings.Fields(c.names)...).Replace(tensor.Name)
			published = append(published, tensor)
		}
		is, want := features(name, tensors, NetworkOptions{})
		if same, got := features(name+"-published", published, NetworkOptions{}); same != is || !slices.Equal(got, want) {
			t.Errorf("%s: other features of %s", is, same)
		}
		if name == "clip-tiny" {
			if same, got := features(name+"-gelu", published, NetworkOptions{Activation: vit.GELU}); same != is+"-gelu" || slices.Equal(got, want) || vit.ActivationOf(same) != vit.GELU {
				t.Errorf("another activation gives the features of %s under the name %s", is, same)
			}
		}
	}
}

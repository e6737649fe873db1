// Package vit computes features of images with a vision transformer, as a Gorgonia graph: DINOv2
// (Oquab et al., "DINOv2: Learning Robust Visual Features without Supervision", 2023), whose
// feature is the class token, and the image encoder of CLIP (Radford et al., "Learning
// Transferable Visual Models From Natural Language Supervision", ICML 2021), whose feature is the
// projected class token, or the class token itself where the file has no projection.
//
// New takes the weights from the tensors of a file with the names of the published ones. Width, depth, patch
// and grid follow from their shapes. Networks are not trained here, so the ops have no gradients. Layer
// scales are folded into the products before them, and queries, keys and values are one product.
package vit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/images"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/model/network"
)

// gelued ends the names of CLIPs with GELU, so that features of either activation are told apart.
const gelued = "-gelu"

// unprojected ends the names of CLIPs without projection, whose features are of another space.
const unprojected = "-unprojected"

// ActivationOf returns the activation of a CLIP by its name, "" for the usual one.
func ActivationOf(name string) Activation {
	if strings.HasSuffix(name, gelued) {
		return GELU
	}
	return ""
}

// headDims is the number of dimensions of an attention head, in all members of both families.
const headDims = 64

// Activation is that of the MLPs.
type Activation string

const (
	QuickGELU Activation = "quick_gelu" // of CLIP as OpenAI published it
	GELU      Activation = "gelu"       // of DINOv2, and of most CLIPs of open_clip
)

// family is what differs between the families.
type family struct {
	name      string
	clip      bool
	epsilon   float64 // of layer norms
	resize    int     // pixels of the shorter side for 224
	mean, std [3]float64

	// The names of tensors; those of a layer follow its number.
	class, positions, patches, layers             string
	norm1, norm2, query, key, value, out, last    string
	activation                                    *activation
	sizes                                         map[int]string // by width
	unneeded                                      []string       // prefixes of other tensors
	scale1, scale2, before, patchBias, projection string         // "" for none
}

var families = []family{
	{
		name: "dinov2", epsilon: 1e-6, resize: 256, mean: images.ImageNetMean, std: images.ImageNetStd,
		activation: gelu,
		class:      "embeddings.cls_token", positions: "embeddings.position_embeddings",
		patches:   "embeddings.patch_embeddings.projection.weight",
		patchBias: "embeddings.patch_embeddings.projection.bias",
		layers:    "encoder.layer.", norm1: "norm1", norm2: "norm2", query: "attention.attention.query",
		key:   "attention.attention.key",
		value: "attention.attention.value", out: "attention.output.dense", last: "layernorm",
		scale1: "layer_scale1.lambda1", scale2: "layer_scale2.lambda1",
		sizes:    map[int]string{384: "small", 768: "base", 1024: "large"},
		unneeded: []string{"embeddings.mask_token"},
	},
	{
		name: "clip-vit", clip: true, epsilon: 1e-5, resize: 224, activation: quickGELU,
		mean:      [3]float64{0.48145466, 0.4578275, 0.40821073},
		std:       [3]float64{0.26862954, 0.26130258, 0.27577711},
		class:     "vision_model.embeddings.class_embedding",
		positions: "vision_model.embeddings.position_embedding.weight",
		patches:   "vision_model.embeddings.patch_embedding.weight", before: "vision_model.pre_layrnorm",
		layers: "vision_model.encoder.layers.", norm1: "layer_norm1", norm2: "layer_norm2",
		query: "self_attn.q_proj", key: "self_attn.k_proj",
		value: "self_attn.v_proj", out: "self_attn.out_proj", last: "vision_model.post_layernorm",
		projection: "visual_projection.weight",
		sizes:      map[int]string{768: "base", 1024: "large"}, unneeded: []string{
			"text_model.", "text_projection.", "logit_scale", "vision_model.embeddings.position_ids",
		},
	},
}

// Network is a vision transformer with its weights.
type Network struct {
	family
	name        string
	width, grid int // d; the positions are of a grid x grid
	patch       int // pixels of a side
	class       []float32
	positions   []float32 // (1 + grid^2) x d, the class token first
	patches     linear    // of the values of a patch: rows, columns, channels
	before      *norm     // nil for none
	layers      []layer
	last        norm
	projection  *linear // nil for none
}

// linear is a product: weight is out x in; bias may be nil.
type linear struct {
	weight, bias []float32
	out, in      int
}

type norm struct{ weight, bias []float32 }

// layer is x + out(attention(qkv(norm1 x))), then x + fc2(activation(fc1(norm2 x))).
type layer struct {
	norm1, norm2       norm
	qkv, out, fc1, fc2 linear
}

// Is reports whether the tensors of a file are those of a vision transformer.
func Is(f *safetensors.File) bool {
	return slices.ContainsFunc(families, func(m family) bool { _, ok := f.Tensor(m.patches); return ok })
}

// Needs reports whether a tensor of a file is one that New may need.
func Needs(tensor string) bool {
	return !slices.ContainsFunc(families, func(m family) bool { return m.ignores(tensor) })
}

func (m family) ignores(tensor string) bool {
	return slices.ContainsFunc(m.unneeded, func(prefix string) bool {
		return strings.HasPrefix(tensor, prefix)
	})
}

// New returns the network of the tensors of a file. The activation of a CLIP, which no tensor shows, is
// QuickGELU unless another is given. Tensors of another network are an *invalid.Error that names the
// first that does not fit.
func New(f *safetensors.File, given Activation) (*Network, error) {
	r := network.NewReader(f)
	m := families[0]
	for _, other := range families {
		if r.Shape(other.patches) != nil {
			m = other
		}
	}
	n := &Network{family: m}
	if err := n.measure(r); err != nil {
		return nil, err
	}
	d, depth := n.width, 0
	for r.Shape(fmt.Sprintf("%s%d.%s.weight", m.layers, depth, m.norm1)) != nil {
		depth++
	}
	size := m.sizes[d]
	if size == "" {
		size = fmt.Sprintf("%dx%d", d, depth)
	}
	n.name = m.name + "-" + size
	if m.clip {
		n.name += fmt.Sprintf("-patch%d", n.patch)
		if r.Shape(m.projection) == nil {
			n.name += unprojected
		}
	}
	if given != "" && !m.clip {
		return nil, invalid.Expected("activation", n.name, "a CLIP, whose weights do not show it")
	}
	if given == GELU {
		n.family.activation = gelu
		n.name += gelued
	}
	r.Architecture = n.name
	n.class, n.positions = r.Take(m.class, r.Shape(m.class)...), r.Take(m.positions, r.Shape(m.positions)...)
	n.patches = linear{weight: r.Take(m.patches, d, 3, n.patch, n.patch), out: d, in: 3 * n.patch * n.patch}
	channelsLast(n.patches.weight, n.patch*n.patch)
	if m.patchBias != "" {
		n.patches.bias = r.Take(m.patchBias, d)
	}
	if m.before != "" {
		before := n.norm(r, m.before)
		n.before = &before
	}
	for i := range max(depth, 1) {
		n.layers = append(n.layers, n.layer(r, fmt.Sprintf("%s%d.", m.layers, i)))
	}
	n.last = n.norm(r, m.last)
	if shape := r.Shape(m.projection); shape != nil {
		dims := shape[0]
		n.projection = &linear{weight: r.Take(m.projection, dims, d), out: dims, in: d}
	}
	r.Rest(m.ignores)
	return n, r.Err
}

// measure sets the sizes that the shapes of the embeddings say.
func (n *Network) measure(r *network.Reader) error {
	m := n.family
	wrong := func(tensor, want string, args ...any) error {
		return &invalid.Error{
			Field: fmt.Sprintf("tensor %q", tensor), Want: fmt.Sprintf(want, args...),
			Got: fmt.Sprintf("shape %v", r.Shape(tensor)), Hint: network.Supported,
		}
	}
	patches := r.Shape(m.patches)
	if len(patches) != 4 || patches[0] < 1 || patches[0]%headDims != 0 || patches[2] < 1 {
		return wrong(m.patches, "width x 3 x patch x patch, with a width of heads of %d", headDims)
	}
	n.width, n.patch = patches[0], patches[2]
	if class, _ := matrix.Count(r.Shape(m.class), math.MaxInt32); class != n.width {
		return wrong(m.class, "%d numbers", n.width)
	}
	positions, _ := matrix.Count(r.Shape(m.positions), math.MaxInt32)
	tokens := positions / n.width
	if n.grid = int(math.Sqrt(float64(tokens - 1))); tokens < 2 || n.grid*n.grid != tokens-1 ||
		positions != tokens*n.width {
		return wrong(m.positions, "positions of the class token and of a square grid, of width %d", n.width)
	}
	if shape := r.Shape(m.projection); shape != nil && (len(shape) != 2 || shape[0] < 1) {
		return wrong(m.projection, "features x %d, at least one", n.width)
	}
	return nil
}

func (n *Network) norm(r *network.Reader, name string) norm {
	return norm{r.Take(name+".weight", n.width), r.Take(name+".bias", n.width)}
}

func take(r *network.Reader, name string, out, in int) linear {
	return linear{r.Take(name+".weight", out, in), r.Take(name+".bias", out), out, in}
}

func (n *Network) layer(r *network.Reader, name string) layer {
	m, d := n.family, n.width
	l := layer{norm1: n.norm(r, name+m.norm1), norm2: n.norm(r, name+m.norm2), qkv: linear{out: 3 * d, in: d}}
	q, k, v := take(r, name+m.query, d, d), take(r, name+m.key, d, d), take(r, name+m.value, d, d)
	l.qkv.weight = slices.Concat(q.weight, k.weight, v.weight)
	l.qkv.bias = slices.Concat(q.bias, k.bias, v.bias)
	l.out, l.fc1 = take(r, name+m.out, d, d), take(r, name+"mlp.fc1", 4*d, d)
	l.fc2 = take(r, name+"mlp.fc2", d, 4*d)
	if m.scale1 != "" {
		scale1, scale2 := r.Take(name+m.scale1, d), r.Take(name+m.scale2, d)
		if r.Err == nil {
			l.out.scale(scale1)
			l.fc2.scale(scale2)
		}
	}
	return l
}

func (l *linear) scale(factors []float32) {
	for o, s := range factors {
		l.bias[o] *= s
		for i := range l.in {
			l.weight[o*l.in+i] *= s
		}
	}
}

// channelsLast reorders kernels from channels x pixels to pixels x channels.
func channelsLast(kernels []float32, pixels int) {
	for kernel := range slices.Chunk(kernels, 3*pixels) {
		from := slices.Clone(kernel)
		for c := range 3 {
			for p := range pixels {
				kernel[3*p+c] = from[c*pixels+p]
			}
		}
	}
}

func (n *Network) Name() string { return n.name }

func (n *Network) Dims() int {
	if n.projection != nil {
		return n.projection.out
	}
	return n.width
}

// Preprocessing implements network.Network: the shorter side resized by bicubic interpolation to
// 256 (DINOv2) or 224 (CLIP) pixels for a size of 224, and the family's mean and deviation. The usual size is
// 224 for DINOv2, which takes many, and that of the positions for CLIP.
func (n *Network) Preprocessing(fit dataset.Fit, size int) dataset.ImagePreprocessing {
	if size == 0 {
		if size = images.DefaultSize; n.clip {
			size = n.grid * n.patch
		}
	}
	p := dataset.ImagePreprocessing{
		Fit: fit, Size: size, Upright: true, Filter: dataset.Bicubic, Mean: n.mean, Std: n.std,
	}
	if fit == dataset.Crop {
		p.Resize = int(math.Round(float64(size*n.resize) / 224))
	}
	return p
}

// resampled returns the positions of a grid of side x side patches: those of the weights, by bicubic
// interpolation with a = -0.75 between the centres of the patches, repeated at the edges.
func (n *Network) resampled(side int) []float32 {
	if side == n.grid {
		return n.positions
	}
	d, from := n.width, n.positions[n.width:]
	to := slices.Clone(n.positions[:d])
	type taps struct {
		at     [4]int
		weight [4]float64
	}
	line := make([]taps, side)
	for i := range line {
		centre := (float64(i)+0.5)*float64(n.grid)/float64(side) - 0.5
		first := math.Floor(centre)
		for k := range 4 {
			x := math.Abs(centre - first - float64(k-1))
			w := ((1.25*x-2.25)*x)*x + 1
			if x > 1 {
				w = ((-0.75*x+3.75)*x-6)*x + 3
			}
			line[i].at[k], line[i].weight[k] = min(max(int(first)+k-1, 0), n.grid-1), w
		}
	}
	sum := make([]float64, d)
	for _, row := range line {
		for _, column := range line {
			clear(sum)
			for i, y := range row.at {
				for j, x := range column.at {
					w := row.weight[i] * column.weight[j]
					for c, v := range from[(y*n.grid+x)*d : (y*n.grid+x+1)*d] {
						sum[c] += w * float64(v)
					}
				}
			}
			for _, v := range sum {
				to = append(to, float32(v))
			}
		}
	}
	return to
}

// Package network has what networks that compute features of images have in common: the
// interface that extraction and prediction know them by, the graph of Gorgonia for a batch, and
// the tensors of a file of weights. Package model/network/resnet and model/network/vit are networks.
package network

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/matrix"
	"github.com/lago-train/lago-train/internal/safetensors"
	"github.com/lago-train/lago-train/model"
)

// Network is a network with its weights.
type Network interface {
	// Name is that of the architecture, as in "resnet50".
	Name() string
	// Dims is the number of features, D.
	Dims() int
	// Preprocessing makes images inputs of size x size pixels, 0 for the usual size, as those that the
	// network was trained on.
	Preprocessing(fit dataset.Fit, size int) dataset.ImagePreprocessing
	// Graph compiles the network for batches of images of size x size pixels. The error is an
	// *invalid.Error that names the size.
	Graph(samples, size int) (*Graph, error)
}

// Graph computes the features of batches of images of one size.
type Graph struct {
	// Images are samples x (size x size x 3), row by row of each image and with the channels
	// last, normalised. Features reads them.
	Images dataset.Matrix[float32]

	graph    *G.ExprGraph
	vm       G.VM
	features dataset.Matrix[float32] // samples x D
}

// NewGraph returns a graph without ops.
func NewGraph(samples, size, dims int) *Graph {
	return &Graph{
		Images:   dataset.NewMatrix[float32](samples, size*size*3),
		features: dataset.NewMatrix[float32](samples, dims), graph: G.NewGraph(),
	}
}

// Output is the value of the last op, the features.
func (g *Graph) Output() *tensor.Dense {
	return Dense(g.features.Data, g.features.Rows, g.features.Cols)
}

// Compile ends the construction.
func (g *Graph) Compile() { g.vm = G.NewTapeMachine(g.graph) }

// Input adds a node that reads data.
func (g *Graph) Input(name string, data []float32, shape ...int) *G.Node {
	return G.NewTensor(g.graph, tensor.Float32, len(shape), G.WithName(name), G.WithShape(shape...),
		G.WithValue(Dense(data, shape...)))
}

// Features returns the features of the Images, samples x D. They are valid until the next call.
func (g *Graph) Features() (dataset.Matrix[float32], error) {
	g.vm.Reset()
	if err := g.vm.RunAll(); err != nil {
		return g.features, fmt.Errorf("running the network: %w", err)
	}
	return g.features, nil
}

// Dense returns a value in the memory of data.
func Dense(data []float32, shape ...int) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(data))
}

// op is a Gorgonia op on slices of float32, which writes its result to memory that the
// graph shares between ops. It has no gradient.
type op struct {
	model.Op
	forward Forward
	out     *tensor.Dense
}

// Forward computes an op.
type Forward func(out []float32, in [][]float32)

// Apply adds an op to the graph of its inputs. It panics if Gorgonia refuses the node, as
// only a mistake in a network makes it do.
func Apply(name string, out *tensor.Dense, f Forward, inputs ...*G.Node) *G.Node {
	return G.Must(G.ApplyOp(&op{model.NewOp(name, tensor.Float32, out.Shape(), inputs), f, out}, inputs...))
}

func (o *op) Do(inputs ...G.Value) (G.Value, error) {
	in := make([][]float32, len(inputs))
	for i, v := range inputs {
		in[i] = v.(*tensor.Dense).Float32s()
	}
	o.forward(o.out.Float32s(), in)
	return o.out, nil
}

// Supported says which networks there are.
const Supported = "The networks are ResNet-18, -34, -50, -101 and -152, DINOv2 without registers (small, " +
	"base, large) and CLIP's image encoder."

// Reader takes tensors of known shapes from a file, and keeps the first error. Of the header of a file
// it checks the shapes.
type Reader struct {
	Architecture string // for errors
	Err          error  // an *invalid.Error that names the tensor

	tensors map[string]safetensors.Tensor
	count   int // of the tensors before any was taken
	header  bool
}

// NewReader returns a reader of the tensors of a file.
func NewReader(f *safetensors.File) *Reader {
	r := &Reader{
		tensors: make(map[string]safetensors.Tensor, len(f.Tensors)), count: len(f.Tensors),
		header: f.HeaderOnly,
	}
	for _, t := range f.Tensors {
		r.tensors[t.Name] = t
	}
	return r
}

// Shape returns the shape of a tensor that was not taken, nil if there is none.
func (r *Reader) Shape(name string) []int { return r.tensors[name].Shape }

// Take removes a tensor and returns its numbers, nil of a header.
func (r *Reader) Take(name string, shape ...int) []float32 {
	t, ok := r.tensors[name]
	delete(r.tensors, name)
	e := &invalid.Error{
		Field: fmt.Sprintf("tensor %q", name),
		Want:  fmt.Sprintf("float32, float16 or bfloat16 of shape %v, as in %s", shape, r.Architecture),
		Hint:  Supported,
	}
	switch {
	case !ok:
		e.Got = fmt.Sprintf("none among the %s of the file", format.Count(r.count, "tensor"))
	case !slices.Equal(t.Shape, shape):
		e.Got = fmt.Sprintf("shape %v", t.Shape)
	case r.header:
		return nil
	case t.F32 == nil:
		e.Got = "other numbers"
	case matrix.NotFinite(t.F32) >= 0:
		e.Want, e.Got, e.Hint = "finite numbers", "NaN or infinity", "The file is damaged."
	default:
		return t.F32
	}
	r.Err = cmp.Or(r.Err, error(e))
	return nil
}

// Rest sets an error unless all tensors were taken but those that the network does not need.
func (r *Reader) Rest(unneeded func(name string) bool) {
	for _, name := range slices.Sorted(maps.Keys(r.tensors)) {
		if !unneeded(name) {
			r.Err = cmp.Or(r.Err, error(&invalid.Error{
				Field: fmt.Sprintf("tensor %q", name), Want: "only tensors of " + r.Architecture,
				Hint: Supported,
			}))
		}
	}
}

// naming is a way in which the tensors of a network are named in published files.
type naming struct {
	// anchor is a tensor of each such network. What is before it in a file, as "module.", is before all
	// names of the network; tensors without it are no part of it.
	anchor string
	// rules replace parts of names by those of package resnet or vit. A tensor whose name then has parts
	// with | between them is cut into as many along its first axis; one that ends in ^T is transposed.
	rules []rule
}

type rule struct{ from, to string }

var namings = []naming{
	{ // a CLIP of OpenAI or open_clip
		"ln_pre.weight", []rule{
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
	{"vision_model.embeddings.patch_embedding.weight", nil}, // a CLIP of Hugging Face
	{"embeddings.patch_embeddings.projection.weight", nil},  // a DINOv2 of Hugging Face
	{ // a DINOv2 of timm or its authors
		"patch_embed.proj.weight", []rule{
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
	{ // a ResNet of Hugging Face
		"embedder.embedder.convolution.weight", []rule{
			{`^embedder\.embedder\.convolution\.`, "conv1."},
			{`^embedder\.embedder\.normalization\.`, "bn1."},
			{`^encoder\.stages\.(\d+)\.layers\.(\d+)\.`, "layer<$1>.$2."},
			{`\.layer\.(\d+)\.convolution\.`, ".conv<$1>."},
			{`\.layer\.(\d+)\.normalization\.`, ".bn<$1>."},
			{`\.shortcut\.convolution\.`, ".downsample.0."},
			{`\.shortcut\.normalization\.`, ".downsample.1."},
		},
	},
	{"conv1.weight", nil}, // a ResNet of torchvision or timm
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

// Rename returns the tensors of the network in a file of weights, under the names of package resnet or vit,
// and by the names of the file those that it needs. The error is an *invalid.Error if they are those of no
// network that is known, or of several.
func Rename(f *safetensors.File) (to *safetensors.File, needed map[string]bool, err error) {
	for _, m := range namings {
		prefixes := m.prefixes(f)
		if len(prefixes) == 0 {
			continue
		}
		if len(prefixes) > 1 {
			return nil, nil, &invalid.Error{
				Field: "tensors", Want: "one network",
				Got: "several, that begin with " + format.List(prefixes, "and"), Hint: "Keep one of them.",
			}
		}
		to, needed = &safetensors.File{Metadata: f.Metadata, HeaderOnly: f.HeaderOnly}, map[string]bool{}
		for _, t := range f.Tensors {
			if name, ok := strings.CutPrefix(t.Name, prefixes[0]); ok {
				needed[t.Name] = true
				t.Name = m.rename(name)
				to.Tensors = append(to.Tensors, cut(t)...)
			}
		}
		return to, needed, nil
	}
	e := &invalid.Error{
		Field: "tensors", Want: "those of a ResNet, DINOv2 or CLIP", Got: "none", Hint: Supported,
	}
	if n := len(f.Tensors); n > 0 {
		e.Got = fmt.Sprintf("%s, as %q", format.Count(n, "other"), f.Tensors[0].Name)
	}
	return nil, nil, e
}

// between matches a name with parts that have | between them.
var between = regexp.MustCompile(`^(.*\.)([^.]*\|[^.]*)(\..*)$`)

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
	parts := between.FindStringSubmatch(t.Name)
	if parts == nil {
		return []safetensors.Tensor{t}
	}
	names := strings.Split(parts[2], "|")
	if len(t.Shape) == 0 || t.Shape[0]%len(names) != 0 {
		return []safetensors.Tensor{t}
	}
	list := make([]safetensors.Tensor, len(names))
	for i, name := range names {
		list[i] = safetensors.Tensor{Name: parts[1] + name + parts[3], Shape: slices.Clone(t.Shape)}
		list[i].Shape[0] /= len(names)
		if n := len(t.F32) / len(names); t.F32 != nil {
			list[i].F32 = t.F32[i*n : (i+1)*n]
		}
	}
	return list
}

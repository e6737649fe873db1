// Package network has what networks that compute features of images have in common: the
// interface that extraction and prediction know them by, the graph of Gorgonia for a batch, and
// the tensors of a file of weights. Package model/network/resnet and model/network/vit are networks.
package network

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/format"
	"github.com/lago-train/lago-train/internal/graphop"
	"github.com/lago-train/lago-train/internal/invalid"
	"github.com/lago-train/lago-train/internal/numeric"
	"github.com/lago-train/lago-train/internal/safetensors"
)

// Network is a network with its weights.
type Network interface {
	// Name is that of the architecture, as in "resnet50".
	Name() string
	// Dims is the number of features, D.
	Dims() int
	// Preprocessing makes images inputs of size x size pixels, as those that the network was
	// trained on.
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
	return &Graph{Images: dataset.NewMatrix[float32](samples, size*size*3), features: dataset.NewMatrix[float32](samples, dims), graph: G.NewGraph()}
}

// Output is the value of the last op, the features.
func (g *Graph) Output() *tensor.Dense {
	return Dense(g.features.Data, g.features.Rows, g.features.Cols)
}

// Compile ends the construction.
func (g *Graph) Compile() { g.vm = G.NewTapeMachine(g.graph) }

// Input adds a node that reads data.
func (g *Graph) Input(name string, data []float32, shape ...int) *G.Node {
	return G.NewTensor(g.graph, tensor.Float32, len(shape), G.WithName(name), G.WithShape(shape...), G.WithValue(Dense(data, shape...)))
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
	graphop.Op
	forward Forward
	out     *tensor.Dense
}

// Forward computes an op.
type Forward func(out []float32, in [][]float32)

// Apply adds an op to the graph of its inputs. It panics if Gorgonia refuses the node, as
// only a mistake in a network makes it do.
func Apply(name string, out *tensor.Dense, f Forward, inputs ...*G.Node) *G.Node {
	return G.Must(G.ApplyOp(&op{graphop.New(name, tensor.Float32, out.Shape(), inputs), f, out}, inputs...))
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
const Supported = "The networks are ResNet-18, -34, -50, -101 and -152, DINOv2 without registers (small, base, large) and CLIP's image encoder."

// Reader takes tensors of known shapes from a file, and keeps the first error. Of the header of a file
// it checks the shapes.
type Reader struct {
	Of  string // the architecture, for errors
	Err error  // an *invalid.Error that names the tensor

	tensors map[string]safetensors.Tensor
	count   int // of the tensors before any was taken
	header  bool
}

// NewReader returns a reader of the tensors of a file.
func NewReader(f *safetensors.File) *Reader {
	r := &Reader{tensors: make(map[string]safetensors.Tensor, len(f.Tensors)), count: len(f.Tensors), header: f.HeaderOnly}
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
		Field: fmt.Sprintf("tensor %q", name), Want: fmt.Sprintf("float32, float16 or bfloat16 of shape %v, as in %s", shape, r.Of), Hint: Supported,
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
	case numeric.NotFinite(t.F32) >= 0:
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
			r.Err = cmp.Or(r.Err, error(&invalid.Error{Field: fmt.Sprintf("tensor %q", name), Want: "only tensors of " + r.Of, Hint: Supported}))
		}
	}
}

package model

import (
	"fmt"
	"unsafe"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/internal/graphop"
)

// kernel is an op of a Gorgonia graph that computes on plain slices. It allocates its
// output once and reuses it at each step, because the machine drops its own registers
// at every Reset. A kernel therefore belongs to one graph. A kernel and its gradient
// may share scratch memory: the gradient runs later in the same step.
type kernel[T Float] struct {
	name    string
	shape   tensor.Shape // of the output; empty for a scalar
	forward func(out []T, in [][]T)

	// gradients holds one entry per input: nil where no gradient is needed.
	gradients []gradient[T]

	// onto, if not nil, is the last input, whose memory the output overwrites.
	onto *G.Node

	graphop.Op
	out  G.Value
	args [][]T
}

// gradient makes the node of the gradient by one input, from the kernel's inputs, its
// output and the gradient by the output.
type gradient[T Float] func(inputs G.Nodes, output, grad *G.Node) *G.Node

// apply adds the kernel to the graph of its inputs. It panics if Gorgonia refuses the
// node, as only a mistake in this package makes it do.
func (k kernel[T]) apply(inputs ...*G.Node) *G.Node {
	k.Op = graphop.New(k.name, dtype[T](), k.shape, inputs)
	k.args = make([][]T, len(inputs))
	if k.onto == nil {
		k.out = newValue[T](k.shape)
	}
	return G.Must(G.ApplyOp(&k, inputs...))
}

// by makes a gradient computed by another kernel, whose inputs are those of the first,
// then its output, then the gradient by the output.
func by[T Float](k kernel[T]) gradient[T] {
	return func(inputs G.Nodes, output, grad *G.Node) *G.Node {
		all := append(append(G.Nodes{}, inputs...), output, grad)
		return k.apply(all...)
	}
}

func (k *kernel[T]) Do(inputs ...G.Value) (G.Value, error) {
	for i, v := range inputs {
		k.args[i] = values[T](v)
	}
	out := k.out
	if k.onto != nil {
		out = inputs[len(inputs)-1]
	}
	k.forward(values[T](out), k.args)
	return out, nil
}

func (k *kernel[T]) SymDiff(inputs G.Nodes, output, grad *G.Node) (G.Nodes, error) {
	nodes := make(G.Nodes, len(inputs))
	for i, g := range k.gradients {
		if g != nil {
			nodes[i] = g(inputs, output, grad)
		}
	}
	return nodes, nil
}

func (k *kernel[T]) DiffWRT(inputs int) []bool {
	wrt := make([]bool, inputs)
	for i, g := range k.gradients {
		wrt[i] = g != nil
	}
	return wrt
}

func dtype[T Float]() tensor.Dtype {
	var zero T
	if unsafe.Sizeof(zero) == 4 {
		return tensor.Float32
	}
	return tensor.Float64
}

func newValue[T Float](shape tensor.Shape) G.Value {
	if len(shape) > 0 {
		return tensor.New(tensor.WithShape(shape...), tensor.Of(dtype[T]()))
	}
	if dtype[T]() == tensor.Float32 {
		return G.NewF32(0)
	}
	return G.NewF64(0)
}

// values returns the numbers of a value without copying or boxing them. Value.Data
// would box them at every op of every step.
func values[T Float](v G.Value) []T {
	switch v := v.(type) {
	case *tensor.Dense:
		if dtype[T]() == tensor.Float32 {
			return any(v.Float32s()).([]T)
		}
		return any(v.Float64s()).([]T)
	case *G.F32:
		return any(unsafe.Slice((*float32)(v), 1)).([]T)
	case *G.F64:
		return any(unsafe.Slice((*float64)(v), 1)).([]T)
	}
	panic(fmt.Sprintf("model: a kernel got a %T", v))
}

// input makes a node that reads data at each step.
func input[T Float](g *G.ExprGraph, name string, data []T, shape ...int) *G.Node {
	t := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(data))
	return G.NewTensor(g, dtype[T](), len(shape), G.WithName(name), G.WithShape(shape...), G.WithValue(t))
}

func inputMatrix[T Float](g *G.ExprGraph, name string, m dataset.Matrix[T]) *G.Node {
	return input(g, name, m.Data, m.Rows, m.Cols)
}

func sum[T Float](x []T) float64 {
	var s float64
	for _, v := range x {
		s += float64(v)
	}
	return s
}

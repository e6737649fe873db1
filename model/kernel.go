package model

import (
	"encoding/binary"
	"fmt"
	"hash"
	"hash/fnv"
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/internal/matrix"
)

// kernel is an op of a Gorgonia graph that computes on plain slices. It keeps the memory of its output,
// because the machine drops its own registers at every Reset. A kernel therefore belongs to one graph. A
// kernel and its gradients may share scratch memory: the gradients run later in the same step.
type kernel struct {
	name    string
	from    []operand // the inputs
	to      operand   // the output
	forward func()    // computes to from from, at each step

	// phase, if not nil, counts phases. At the first step of one, begin, if not nil, runs before
	// forward. An output that is remembered is computed only then. No op of Gorgonia's that writes
	// over its operand may read it.
	phase      *int
	begin      func()
	remembered bool
	begun      int // the last phase

	Op
}

// operand is a *value[float32] or a *value[float64].
type operand interface {
	source() *G.Node // of an input
	memory() G.Value // of an output
	// sets the numbers of an input, or the gradient with respect to an output
	bind(v G.Value)
	differentiable() bool                   // whether an input has a gradient
	derivative() (dx operand, write func()) // of such an input
}

type value[T Float] struct {
	node  *G.Node // of an input
	out   G.Value // of an output
	shape tensor.Shape
	data  []T
	grad  []T // of an output: the gradient with respect to it, while those of the inputs are computed

	// gradient computes that of an input into dx. It is nil where there is none.
	gradient func(dx []T)
}

func input[T Float](node *G.Node) *value[T] {
	return &value[T]{node: node, shape: node.Shape()}
}

func output[T Float](shape ...int) *value[T] {
	v := &value[T]{shape: shape}
	switch {
	case len(shape) > 0:
		v.out = tensor.New(tensor.WithShape(shape...), tensor.Of(dtype[T]()))
	case dtype[T]() == tensor.Float32:
		v.out = G.NewF32(0)
	default:
		v.out = G.NewF64(0)
	}
	v.data = numbers[T](v.out)
	return v
}

func (x *value[T]) numbers() []T {
	if x == nil {
		return nil
	}
	return x.data
}

func (x *value[T]) matrix() matrix.Matrix[T] { return matrix.Of(x.data, x.shape[1]) }

func (x *value[T]) source() *G.Node      { return x.node }
func (x *value[T]) memory() G.Value      { return x.out }
func (x *value[T]) differentiable() bool { return x.gradient != nil }

func (x *value[T]) bind(v G.Value) {
	if x.out != nil {
		x.grad = numbers[T](v)
	} else {
		x.data = numbers[T](v)
	}
}

func (x *value[T]) derivative() (operand, func()) {
	dx := output[T](x.shape...)
	return dx, func() { x.gradient(dx.data) }
}

// apply adds a kernel to the graph of its inputs.
func apply(k kernel) *G.Node {
	var inputs G.Nodes
	for _, x := range k.from {
		inputs = append(inputs, x.source())
	}
	return k.apply(inputs)
}

// apply adds a kernel to the graph of some nodes. The first of them are those of from. It panics if
// Gorgonia refuses the node, as only a mistake in this package makes it do.
func (k kernel) apply(inputs G.Nodes) *G.Node {
	to := k.to.memory()
	k.Op, k.begun = NewOp(k.name, to.Dtype(), to.Shape(), inputs), -1
	return G.Must(G.ApplyOp(&k, inputs...))
}

func (k *kernel) Do(inputs ...G.Value) (G.Value, error) {
	first := k.phase != nil && k.begun != *k.phase
	if k.remembered && !first {
		return k.to.memory(), nil
	}
	for i, x := range k.from {
		x.bind(inputs[i])
	}
	if first {
		k.begun = *k.phase
		if k.begin != nil {
			k.begin()
		}
	}
	k.forward()
	return k.to.memory(), nil
}

// SymDiff implements gorgonia.SDOp. The node of a gradient has dy, y and the inputs of the kernel as its
// inputs. It reads dy alone: the kernel has read the others before, in the same step.
func (k *kernel) SymDiff(inputs G.Nodes, y, dy *G.Node) (G.Nodes, error) {
	gradients := make(G.Nodes, len(k.from))
	for i, x := range k.from {
		if x.differentiable() {
			dx, write := x.derivative()
			d := kernel{name: "gradient of " + k.name, from: []operand{k.to}, to: dx, forward: write}
			gradients[i] = d.apply(append(G.Nodes{dy, y}, inputs...))
		}
	}
	return gradients, nil
}

func (k *kernel) DiffWRT(int) []bool {
	wrt := make([]bool, len(k.from))
	for i, x := range k.from {
		wrt[i] = x.differentiable()
	}
	return wrt
}

func dtype[T Float]() tensor.Dtype { return tensor.Dtype{Type: reflect.TypeFor[T]()} }

// numbers returns the numbers of a value without copying or boxing them. Value.Data would
// box them at every op of every step.
func numbers[T Float](v G.Value) []T {
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

// variable makes a node without an op, whose data are read at each step.
func variable[T Float](g *G.ExprGraph, name string, data []T, shape ...int) *G.Node {
	t := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(data))
	return G.NewTensor(g, dtype[T](), len(shape), G.WithName(name), G.WithShape(shape...), G.WithValue(t))
}

func variableMatrix[T Float](g *G.ExprGraph, name string, m matrix.Matrix[T]) *G.Node {
	return variable(g, name, m.Data, m.Rows, m.Cols)
}

// constant makes a constant node. Gorgonia takes two of one type, shape and first and last
// numbers for the same.
func constant[T Float](g *G.ExprGraph, name string, m matrix.Matrix[T]) *G.Node {
	t := tensor.New(tensor.WithShape(m.Rows, m.Cols), tensor.WithBacking(m.Data))
	return g.AddNode(G.NewConstant(t, G.WithName(name)))
}

func scalar[T Float](g *G.ExprGraph, name string, x float64) *G.Node {
	return g.AddNode(G.NewConstant(T(x), G.WithName(name)))
}

func sum[T Float](x []T) float64 {
	var s float64
	for _, v := range x {
		s += float64(v)
	}
	return s
}

// Op is what all fused ops of this program share as ops of a Gorgonia graph: names, types, shapes and hashes.
// An op embeds Op and adds Do, and SymDiff and DiffWRT if it has a gradient.
type Op struct {
	name   string
	shape  tensor.Shape // of the output; empty for a scalar
	inputs int
	typ    hm.Type
	id     uint64
}

var ops atomic.Uint64

// NewOp returns the description of an op on some nodes, with an output of a type and shape.
func NewOp(name string, of tensor.Dtype, shape tensor.Shape, inputs []*G.Node) Op {
	types := make([]hm.Type, 0, len(inputs)+1)
	for _, n := range inputs {
		types = append(types, n.Type())
	}
	var out hm.Type = of
	if len(shape) > 0 {
		out = G.TensorType{Dims: len(shape), Of: of}
	}
	return Op{name, shape, len(inputs), hm.NewFnType(append(types, out)...), ops.Add(1)}
}

// The methods below implement gorgonia.Op. The output is memory that the op keeps.

func (o Op) Type() hm.Type                                  { return o.typ }
func (o Op) InferShape(...G.DimSizer) (tensor.Shape, error) { return o.shape, nil }
func (o Op) Arity() int                                     { return o.inputs }
func (o Op) ReturnsPtr() bool                               { return true }
func (o Op) CallsExtern() bool                              { return false }
func (o Op) OverwritesInput() int                           { return -1 }
func (o Op) String() string                                 { return o.name }

// WriteHash is unique to each op, so that Gorgonia, which merges nodes of equal hash, never
// merges two: each keeps memory.
func (o Op) WriteHash(h hash.Hash) {
	h.Write(binary.LittleEndian.AppendUint64([]byte(o.name), o.id)) //nolint:errcheck // a hash does not fail
}

func (o Op) Hashcode() uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

// Package graphop implements what all ops of this program share as ops of a Gorgonia graph: names, types,
// shapes and hashes. An op embeds Op and adds Do, and SymDiff and DiffWRT if it has a gradient.
package graphop

import (
	"encoding/binary"
	"hash"
	"hash/fnv"
	"sync/atomic"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Op is the part of gorgonia.Op that does not compute.
type Op struct {
	name   string
	shape  tensor.Shape // of the output; empty for a scalar
	inputs int
	typ    hm.Type
	id     uint64
}

var ops atomic.Uint64

// New returns the description of an op on some nodes, with an output of a type and shape.
func New(name string, of tensor.Dtype, shape tensor.Shape, inputs []*G.Node) Op {
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

package resnet

import (
	"encoding/binary"
	"hash"
	"hash/fnv"
	"sync/atomic"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// op is a Gorgonia op on slices of float32, which writes its result to memory that the
// graph shares between ops. It has no gradient.
type op struct {
	name    string
	forward func(out []float32, in [][]float32)

	id     uint64
	out    *tensor.Dense
	inputs int
	typ    hm.Type
}

var ops atomic.Uint64

// apply adds an op to the graph of its inputs. It panics if Gorgonia refuses the node, as
// only a mistake in this package makes it do.
func apply(name string, out *tensor.Dense, forward func(out []float32, in [][]float32), inputs ...*G.Node) *G.Node {
	types := make([]hm.Type, 0, len(inputs)+1)
	for _, n := range inputs {
		types = append(types, n.Type())
	}
	types = append(types, G.TensorType{Dims: out.Dims(), Of: tensor.Float32})
	o := &op{name: name, forward: forward, id: ops.Add(1), out: out, inputs: len(inputs), typ: hm.NewFnType(types...)}
	return G.Must(G.ApplyOp(o, inputs...))
}

func (o *op) Do(inputs ...G.Value) (G.Value, error) {
	in := make([][]float32, len(inputs))
	for i, v := range inputs {
		in[i] = v.(*tensor.Dense).Float32s()
	}
	o.forward(o.out.Float32s(), in)
	return o.out, nil
}

func (o *op) Type() hm.Type                                  { return o.typ }
func (o *op) InferShape(...G.DimSizer) (tensor.Shape, error) { return o.out.Shape(), nil }
func (o *op) Arity() int                                     { return o.inputs }
func (o *op) ReturnsPtr() bool                               { return true }
func (o *op) CallsExtern() bool                              { return false }
func (o *op) OverwritesInput() int                           { return -1 }
func (o *op) String() string                                 { return o.name }

// WriteHash is unique to each op, because Gorgonia merges nodes of equal hash.
func (o *op) WriteHash(h hash.Hash) {
	h.Write(binary.LittleEndian.AppendUint64([]byte(o.name), o.id)) //nolint:errcheck // a hash does not fail
}

func (o *op) Hashcode() uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

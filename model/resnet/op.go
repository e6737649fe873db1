package resnet

import (
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/internal/graphop"
)

// op is a Gorgonia op on slices of float32, which writes its result to memory that the
// graph shares between ops. It has no gradient.
type op struct {
	graphop.Op
	forward func(out []float32, in [][]float32)
	out     *tensor.Dense
}

// apply adds an op to the graph of its inputs. It panics if Gorgonia refuses the node, as
// only a mistake in this package makes it do.
func apply(name string, out *tensor.Dense, forward func(out []float32, in [][]float32), inputs ...*G.Node) *G.Node {
	return G.Must(G.ApplyOp(&op{graphop.New(name, tensor.Float32, out.Shape(), inputs), forward, out}, inputs...))
}

func (o *op) Do(inputs ...G.Value) (G.Value, error) {
	in := make([][]float32, len(inputs))
	for i, v := range inputs {
		in[i] = v.(*tensor.Dense).Float32s()
	}
	o.forward(o.out.Float32s(), in)
	return o.out, nil
}

package graphop_test

import (
	"fmt"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/lago-train/lago-train/internal/graphop"
)

func ExampleNew() {
	x := G.NewMatrix(G.NewGraph(), tensor.Float32, G.WithShape(2, 3), G.WithName("x"))
	shape := tensor.Shape{2}
	a, b := graphop.New("sum", tensor.Float32, shape, []*G.Node{x}), graphop.New("sum", tensor.Float32, shape, []*G.Node{x})
	fmt.Println(a, a.Arity(), a.Type(), a.Hashcode() == b.Hashcode())
	// Output: sum 1 Matrix float32 → Vector float32 false
}

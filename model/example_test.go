package model_test

import (
	"fmt"
	"log"
	"math"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

// Three animals without training images, described by their attributes. The detectors
// are set by hand: each attribute is one of the features.
func Example() {
	var (
		attributes = []string{"coat::striped", "coat::spotted", "size::large", "size::small"}
		groups     = []int{0, 0, 1, 1} // coat or size
		classes    = []string{"zebra", "leopard", "hamster"}
		u          = dataset.Matrix[float64]{Rows: 3, Cols: 4, Data: []float64{
			0.9, 0.0, 0.9, 0.0, // zebra
			0.0, 0.9, 0.5, 0.1, // leopard
			0.1, 0.1, 0.0, 1.0, // hamster
		}}
	)
	config := model.Config{
		Variant:    model.SemanticHard,
		Prior:      model.PerAttribute,
		Complement: model.DeMorgan,
		Zeta:       10,
	}
	description, err := config.Describe(u, groups)
	if err != nil {
		log.Fatal(err)
	}

	// V is one-hot by group, so that Gamma nearly is. W is the identity.
	params := &model.Parameters[float64]{
		W: dataset.NewMatrix[float64](4, 4),
		B: make([]float64, 4),
		V: dataset.NewMatrix[float64](4, 2),
	}
	for m, k := range groups {
		params.W.Row(m)[m] = 1
		params.V.Row(m)[k] = 1
	}

	// X -> A
	x := dataset.Matrix[float64]{Rows: 1, Cols: 4, Data: []float64{-2, 1, 1, -3}} // no stripes, perhaps spots, rather large
	a := dataset.NewMatrix[float64](1, 4)
	params.Logits(x, a)
	model.Sigmoid(a.Data)
	for m, p := range a.Data {
		fmt.Printf("p(%s | x) = %.2f\n", attributes[m], p)
	}

	// A -> G -> Z
	forward, err := model.NewForward(config, description, params)
	if err != nil {
		log.Fatal(err)
	}
	logP := dataset.NewMatrix[float64](1, len(classes))
	if err := forward.LogP(a, logP); err != nil {
		log.Fatal(err)
	}
	best := 0
	for z, l := range logP.Data {
		fmt.Printf("log p(%s | x) = %.2f\n", classes[z], l)
		if l > logP.Data[best] {
			best = z
		}
	}
	fmt.Printf("predicted: %s, p = %.2f\n", classes[best], math.Exp(logP.Data[best]))
	// Output:
	// p(coat::striped | x) = 0.12
	// p(coat::spotted | x) = 0.73
	// p(size::large | x) = 0.73
	// p(size::small | x) = 0.05
	// log p(zebra | x) = -1.67
	// log p(leopard | x) = -0.25
	// log p(hamster | x) = -3.50
	// predicted: leopard, p = 0.78
}

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
		groups  = []int{0, 0, 1, 1} // of coat::striped, coat::spotted, size::large, size::small
		classes = []string{"zebra", "leopard", "hamster"}
		u       = dataset.Matrix[float64]{Rows: 3, Cols: 4, Data: []float64{
			0.9, 0.0, 0.9, 0.0, // zebra
			0.0, 0.9, 0.5, 0.1, // leopard
			0.1, 0.1, 0.0, 1.0, // hamster
		}}
	)
	config := model.Config{Variant: model.SemanticHard, Prior: model.PerAttribute, Complement: model.DeMorgan, Zeta: 10}
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

	// X -> A -> G -> Z of a sample without stripes, perhaps with spots, rather large
	a := dataset.NewMatrix[float64](1, 4)
	params.Logits(dataset.Matrix[float64]{Rows: 1, Cols: 4, Data: []float64{-2, 1, 1, -3}}, a)
	model.Sigmoid(a.Data, a.Data)
	forward, err := model.NewForward(config, description, params)
	if err != nil {
		log.Fatal(err)
	}
	logP := dataset.NewMatrix[float64](1, len(classes))
	if err := forward.LogP(a, logP); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("detected: %.2f\n", a.Data)
	for z, l := range logP.Data {
		fmt.Printf("p(%s | x) = %.2f\n", classes[z], math.Exp(l))
	}
	// Output:
	// detected: [0.12 0.73 0.73 0.05]
	// p(zebra | x) = 0.19
	// p(leopard | x) = 0.78
	// p(hamster | x) = 0.03
}

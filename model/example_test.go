package model_test

import (
	"fmt"
	"log"
	"math"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/model"
)

// Three animals that no one has shown the model, described by what they look like.
// Detectors that are set by hand see each attribute in a feature of its own.
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
		sample = []float64{-2, 1, 1, -3} // no stripes, perhaps spots, rather large
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
	detector, err := model.NewDetector(params, 1)
	if err != nil {
		log.Fatal(err)
	}
	copy(detector.X.Row(0), sample)
	_, a, err := detector.Run()
	if err != nil {
		log.Fatal(err)
	}
	for m, p := range a {
		fmt.Printf("p(%s | x) = %.2f\n", attributes[m], p)
	}

	// A -> G -> Z
	problem := model.Problem{Config: config, Classes: description, Semantic: groups, Batch: 1}
	judge, err := model.NewJudge(problem, params)
	if err != nil {
		log.Fatal(err)
	}
	copy(judge.A.Row(0), a)
	logP, err := judge.Run()
	if err != nil {
		log.Fatal(err)
	}
	model.LogNormalise(logP, len(classes))
	best := 0
	for z, l := range logP {
		fmt.Printf("log p(%s | x) = %.2f\n", classes[z], l)
		if l > logP[best] {
			best = z
		}
	}
	fmt.Printf("it is a %s, p = %.2f\n", classes[best], math.Exp(logP[best]))
	// Output:
	// p(coat::striped | x) = 0.12
	// p(coat::spotted | x) = 0.73
	// p(size::large | x) = 0.73
	// p(size::small | x) = 0.05
	// log p(zebra | x) = -1.67
	// log p(leopard | x) = -0.25
	// log p(hamster | x) = -3.50
	// it is a leopard, p = 0.78
}

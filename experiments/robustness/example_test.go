package robustness_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/robustness"
	"github.com/lago-train/lago-train/model"
)

func ExampleRunNoise() {
	l, remove := testlab.ForExample()
	defer remove()
	r, err := robustness.RunNoise(context.Background(), l, robustness.NoiseConfig{
		Models: robustness.Models{Variants: testlab.Full(l, model.SemanticHard)}, Ratios: []float64{0, 0.5}, Seeds: 2,
	})
	if err != nil {
		log.Fatal(err)
	}
	m := r.Methods[0]
	for i, ratio := range r.Ratios {
		fmt.Println(m.Method, ratio, len(m.Accuracy[i].Values), "seeds")
	}
	// Output:
	// semantic-hard 0 2 seeds
	// semantic-hard 0.5 2 seeds
}

package comparison_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lago-train/lago-train/experiments/comparison"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/model"
	"github.com/lago-train/lago-train/model/preprocess"
)

func Example() {
	l, remove := testlab.ForExample()
	defer remove()
	r, err := comparison.Run(context.Background(), l, tuning.Config{
		Methods: []string{"semantic-hard", "eszsl"}, LAGO: testlab.Full(l, model.SemanticHard),
		Seeds: 2, Epochs: 4, Patience: 4, Preprocess: preprocess.None,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range r.Methods {
		fmt.Println(m.Label(), "tried", m.Tried)
	}
	// Output:
	// LAGO-Semantic-Hard tried 1
	// ESZSL tried 35
}

package comparison_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lago-train/lago-train/experiments/comparison"
	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/tuning"
	"github.com/lago-train/lago-train/model"
)

func Example() {
	l, remove := testlab.ForExample()
	defer remove()
	r, err := comparison.Run(context.Background(), l, tuning.Config{
		Methods: []string{"semantic-hard", "eszsl"}, LAGO: testlab.Full(l, model.SemanticHard),
		Common: testlab.Config(l, protocol.DevThenTest), Budget: 4,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range r.Methods {
		fmt.Println(m.Label(), "tried", m.Tried)
	}
	// Output:
	// LAGO-Semantic-Hard tried 4
	// ESZSL tried 4
}

package reproduction_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/reproduction"
	"github.com/lago-train/lago-train/model"
)

func Example() {
	l, remove := testlab.ForExample()
	defer remove()
	r, err := reproduction.Run(context.Background(), l, testlab.Full(l, model.Singletons, model.SemanticHard))
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range r.Table {
		fmt.Println(row.Method)
	}
	// Output:
	// ESZSL
	// LAGO-Singletons
	// LAGO-Semantic-Hard
}

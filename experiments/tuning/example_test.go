package tuning_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/tuning"
)

func ExampleSearch() {
	l, remove := testlab.ForExample()
	defer remove()
	c := testlab.Config(l, protocol.OnlyDev)
	found, err := tuning.Search(context.Background(), l, c, tuning.SearchOptions{Budget: 5, Fixed: []string{"preprocess"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Trials, "trials of", found.Space)
	// Output: 5 trials of [lr ridge beta lambda]
}

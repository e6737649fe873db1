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
	found, err := tuning.Search(context.Background(), l, c, tuning.SearchOptions{Budget: 4, Folds: 2, Fixed: []string{"preprocess", "alpha", "prior"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(found.Tried), "settings of", found.Space)
	// Output: 4 settings of [lr bias_factor ridge beta lambda]
}

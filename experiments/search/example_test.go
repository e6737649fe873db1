package search_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/search"
	"github.com/lago-train/lago-train/experiments/tuning"
)

func ExampleWriteText() {
	l, remove := testlab.ForExample()
	defer remove()
	c := testlab.Config(l, protocol.OnlyDev)
	found, err := tuning.Search(context.Background(), l, c, tuning.SearchOptions{Budget: 4, Folds: 2})
	if err != nil {
		log.Fatal(err)
	}
	var text strings.Builder
	if err := search.WriteText(&text, found, "search.json"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.SplitN(text.String(), "\n", 2)[0])
	// Output: semantic-hard on simulated-small: the best 4 of 4 settings by validation accuracy, the mean over 2 folds; 14 runs
}

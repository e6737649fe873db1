package runs_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/protocol"
	"github.com/lago-train/lago-train/experiments/runs"
)

func ExampleFilter_List() {
	l, remove := testlab.ForExample()
	defer remove()
	if _, err := protocol.Run(context.Background(), l, testlab.Config(l, protocol.DevThenTest)); err != nil {
		log.Fatal(err)
	}
	list, err := runs.Filter{Stage: "dev"}.List(l.Root)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range list.Runs {
		fmt.Println(r.Variant, r.Stage, r.Status)
	}
	// Output:
	// semantic-hard dev epochs
	// semantic-hard dev epochs
}

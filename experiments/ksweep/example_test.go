package ksweep_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lago-train/lago-train/experiments/internal/testlab"
	"github.com/lago-train/lago-train/experiments/ksweep"
	"github.com/lago-train/lago-train/model"
)

func Example() {
	l, remove := testlab.ForExample()
	defer remove()
	c := testlab.Full(l, model.KSoft)[0]
	r, err := ksweep.Run(context.Background(), l, c, []int{2, 4})
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range append(r.Points, r.Lines...) {
		fmt.Println(p.Variant, p.K)
	}
	// Output:
	// k-soft 2
	// k-soft 4
	// singletons 9
	// semantic-hard 3
}

package split_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lago-train/lago-train/dataset/catalog"
	"github.com/lago-train/lago-train/dataset/split"
)

func ExamplePropose() {
	d, err := catalog.Open(context.Background(), "glyphs", catalog.Options{})
	if err != nil {
		log.Fatal(err)
	}
	s, err := split.Propose(d, split.Options{Val: 10, Test: 12, Seed: 1, Tolerance: split.Tolerance})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(s.Train), len(s.Val), len(s.Test), "classes,", len(split.Leaks(d, s, split.Tolerance)), "leaks")
	// Output: 30 10 12 classes, 0 leaks
}

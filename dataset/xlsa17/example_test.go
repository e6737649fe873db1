package xlsa17_test

import (
	"context"
	"fmt"

	"github.com/lago-train/lago-train/dataset/xlsa17"
)

func ExampleLoad() {
	d, err := xlsa17.Load(context.Background(), "testdata/compressed", xlsa17.Options{NoCache: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Features.Rows, "samples of", d.Features.Cols, "dimensions")
	for _, part := range d.Split.Subsets() {
		fmt.Println(part.Name, len(part.Classes), "classes")
	}
	fmt.Println("groups", d.Groups)
	// Output:
	// 108 samples of 24 dimensions
	// train 6 classes
	// val 3 classes
	// test 3 classes
	// groups [shape colour habitat size]
}

package features_test

import (
	"context"
	"fmt"
	"io"
	"log"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/features"
)

func ExampleReader_Read() {
	r, err := features.Open(context.Background(), "../../internal/npy/testdata/f8.npy")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = r.Close() }() // nothing was written
	fmt.Println(r.Cols(), "features per sample")
	block := dataset.NewMatrix[float32](2, r.Cols())
	for {
		n, err := r.Read(block)
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(block.Data[:n*block.Cols])
	}
	// Output:
	// 3 features per sample
	// [0 1 -2.5 3.25 4 5]
	// [6 -7.125 8 9 10 11.5]
	// [0.5 -0.25 2048]
}

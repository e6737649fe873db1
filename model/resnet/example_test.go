package resnet_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lago-train/lago-train/model/resnet"
)

func ExampleRead() {
	n, err := resnet.Read(context.Background(), "resnet101.safetensors", nil)
	if err != nil {
		log.Fatal(err)
	}
	g, err := n.Graph(8, 224)
	if err != nil {
		log.Fatal(err)
	}
	// Fill g.Images with 8 preprocessed images, see package dataset/images.
	x, err := g.Features()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Rows, "x", x.Cols) // 8 x 2048
}

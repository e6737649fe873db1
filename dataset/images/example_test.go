package images_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lago-train/lago-train/dataset"
	"github.com/lago-train/lago-train/dataset/images"
)

func Example() {
	list, err := images.List("photographs") // photographs/CLASS/NAME.jpg
	if err != nil {
		log.Fatal(err)
	}
	p := images.Preprocessing(dataset.Crop, images.DefaultSize)
	x := make([]float32, 3*p.Size*p.Size)
	if err := images.Load(context.Background(), list[0], p, x); err != nil {
		log.Fatal(err)
	}
	fmt.Println(list[0].Class)
}

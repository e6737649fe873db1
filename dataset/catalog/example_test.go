package catalog_test

import (
	"context"
	"fmt"

	"github.com/lago-train/lago-train/dataset/catalog"
)

func ExampleOpen() {
	d, err := catalog.Open(context.Background(), "glyphs", catalog.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(d.Classes), "classes,", len(d.Split.Test), "of them never trained on")
	// Output: 52 classes, 12 of them never trained on
}
